"""Ends a command on SIGTERM and SIGHUP as on Ctrl-C: temporary files are removed, and finished work is kept."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

__all__ = ["TerminatedError", "ends_cleanly"]

_SIGNALS = (signal.SIGTERM, signal.SIGHUP)


class TerminatedError(KeyboardInterrupt):
    """The command received a signal to end: it cleans up as after Ctrl-C.

    Attributes:
        exit_code: as shells say it: 128 and the number of the signal.
    """

    def __init__(self, number: int) -> None:
        super().__init__()
        self.exit_code = 128 + number


@contextlib.contextmanager
def ends_cleanly() -> Iterator[None]:
    """Raise TerminatedError in the block when the process receives a signal to end.

    A signal that is ignored, as SIGHUP is under nohup, stays so, and so does one that somebody handles already.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may say what a signal does
        return
    ours = [number for number in _SIGNALS if signal.getsignal(number) is signal.SIG_DFL]
    for number in ours:
        signal.signal(number, _end)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


def _end(number: int, _: FrameType | None) -> None:
    raise TerminatedError(number)
