"""Memory that nobody uses any more goes back to the system."""

from __future__ import annotations

import contextlib
import ctypes
import sys

from recordsmith import _core

__all__ = ["release_memory"]


def release_memory() -> None:
    """Let the allocators give back what they keep for later: the core's, Arrow's and the C library's.

    A step of making needs other sizes than the one before it, so what is kept would only add up.
    """
    _core.trim_pool()
    arrow = sys.modules.get("pyarrow")
    if arrow is not None:
        arrow.default_memory_pool().release_unused()
    with contextlib.suppress(AttributeError, OSError):  # of glibc alone
        ctypes.CDLL(None).malloc_trim(0)
