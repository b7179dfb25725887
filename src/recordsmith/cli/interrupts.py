"""Handles interrupts (Ctrl-C) while a command runs."""

from __future__ import annotations

import contextlib
import signal
from types import FrameType
from typing import Self

__all__ = ["Interrupts"]


class Interrupts:
    """A block in which an interrupt raises KeyboardInterrupt, as ever, and is remembered.

    Others may turn the KeyboardInterrupt into an error of their own: Python's import of a native module makes an
    ImportError of it.

    Attributes:
        seen: there was one.
    """

    def __init__(self) -> None:
        self.seen = False
        self._before: object = None

    def __enter__(self) -> Self:
        if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            with contextlib.suppress(ValueError):  # not the main thread, which gets the signals
                self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)  # type: ignore[arg-type] # what signal() returned

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.seen = True
        signal.default_int_handler(number, frame)
