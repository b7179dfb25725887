"""Warnings about chains that work and are probably not what was meant. Their codes are the doctor's."""

from __future__ import annotations

import sys

__all__ = ["PipelineWarning", "caller_level"]


class PipelineWarning(UserWarning):
    """A chain that works and is probably not what was meant.

    Attributes:
        code: the rule's code, which `recordsmith rule` explains.

    >>> PipelineWarning("P002", "shuffle after repeat").code
    'P002'
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{message} [{code}]")
        self.code = code


def caller_level() -> int:
    """Return the stacklevel of the first caller outside recordsmith."""
    level, frame = 1, sys._getframe(1)  # noqa: SLF001 - documented, and what the warnings module itself uses
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] == __name__.split(".")[0]:
        level, frame = level + 1, frame.f_back  # type: ignore[assignment]
    return level
