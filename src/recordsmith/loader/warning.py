"""Warnings about chains that work and are probably not what was meant. Their codes are the doctor's."""

from __future__ import annotations

__all__ = ["PipelineWarning"]


class PipelineWarning(UserWarning):
    """A chain that works, but is probably a mistake.

    Attributes:
        code: the rule's code, which `recordsmith rule` explains.

    >>> PipelineWarning("P002", "shuffle after repeat").code
    'P002'
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{message} [{code}]")
        self.code = code
