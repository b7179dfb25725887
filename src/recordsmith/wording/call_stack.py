"""Finds the line of the caller's code that a warning is about."""

from __future__ import annotations

import sys

__all__ = ["caller_level"]


def caller_level() -> int:
    """Return the stacklevel of the first caller outside recordsmith: how deep we are in it differs from way to way."""
    level, frame = 1, sys._getframe(1)  # noqa: SLF001 - documented, and what the warnings module itself uses
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] == __name__.split(".")[0]:
        level, frame = level + 1, frame.f_back  # type: ignore[assignment]
    return level
