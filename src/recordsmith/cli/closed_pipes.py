"""Handles output whose reader closes early, such as `head`: the rest is discarded, and the exit code stays the same."""

from __future__ import annotations

import io
import os
import stat
import sys
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer as Buffer

__all__ = ["survive_closed_pipes"]


def survive_closed_pipes() -> None:
    """Let standard output and standard error, where they are pipes, take writes after their reader has gone."""
    sys.stdout = _surviving(sys.stdout)
    sys.stderr = _surviving(sys.stderr)


def _surviving(stream: TextIO) -> TextIO:
    try:
        descriptor = stream.fileno()
        mode = os.fstat(descriptor).st_mode
    except (AttributeError, OSError, ValueError):  # none, closed, or not a file at all
        return stream
    if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
        return stream
    stream.flush()
    return io.TextIOWrapper(
        io.BufferedWriter(_Pipe(descriptor, "w", closefd=False)),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream is sys.stderr,
    )


class _Pipe(io.FileIO):
    """A pipe that becomes the null device once nobody reads it."""

    def write(self, data: Buffer, /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            return super().write(data)
