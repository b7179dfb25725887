"""Drawing from a pipeline in a thread of its own: one that hangs is left behind, and the report says where it hangs."""

from __future__ import annotations

import contextvars
import linecache
import os
import queue
import sys
import sysconfig
import threading
import time
from collections.abc import Callable
from typing import Any

__all__ = ["DrawingThread", "PipelineHangs", "is_users", "needs_own_thread", "place_text"]

_PACKAGE = os.path.dirname(os.path.abspath(sys.modules["recordsmith"].__file__ or ""))
_LIBRARIES = (_PACKAGE + os.sep, sysconfig.get_paths()["stdlib"] + os.sep)


_ABOUT_THREADS = ("only works in main thread", "same thread", "current event loop in thread", "not the main thread")


class PipelineHangs(Exception):  # noqa: N818 - not an error of this program: it becomes a finding
    """The pipeline gave nothing in time; its text says where it is."""


class DrawingThread:
    """Calls functions one after the other in a thread, until the time is over.

    Attributes:
        in_caller: they are called in the caller's thread instead: some objects, as connections of sqlite3, cannot be
            used in another thread than the one that made them.

    >>> DrawingThread(seconds=10).call(lambda: 1 + 1)
    2
    """

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds
        self.in_caller = False
        self._asked: queue.SimpleQueue[Callable[[], Any]] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()
        # A daemon: a thread that hangs must not keep the program from ending.
        context = contextvars.copy_context()
        self._thread = threading.Thread(target=context.run, args=(self._serve,), daemon=True)
        self._thread.start()

    def call(self, function: Callable[[], Any]) -> Any:
        """Return what the function returns, and raise what it raises.

        Raises:
            PipelineHangs: the time is over; do not use the thread any more.
        """
        if self.in_caller:
            return function()
        self._asked.put(function)
        try:
            value, error = self._answers.get(timeout=max(self._until - time.monotonic(), 0.1))
        except queue.Empty:
            raise PipelineHangs(self._place()) from None
        if error is not None:
            raise error
        return value

    def close(self) -> None:
        """End the thread."""
        self._asked.put(_end)

    def _serve(self) -> None:
        while (function := self._asked.get()) is not _end:
            try:
                self._answers.put((function(), None))
            except BaseException as error:  # noqa: BLE001 - raised again in the thread that asked
                self._answers.put((None, error))
            del function

    def _place(self) -> str:
        """Return the innermost line of the user's code: of this thread, or of one that the pipeline started."""
        frames = sys._current_frames()  # noqa: SLF001 - the documented way to see where threads are
        own = self._thread.ident or 0
        others = [number for number in frames if number not in (own, threading.get_ident())]
        for number in (own, *others):
            frame = frames.get(number)
            while frame is not None and not is_users(frame.f_code.co_filename):
                frame = frame.f_back
            if frame is not None:
                return place_text(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)
        return ""


def needs_own_thread(error: BaseException) -> bool:
    """Whether an error says that something cannot be used in another thread.

    >>> needs_own_thread(ValueError("signal only works in main thread of the main interpreter"))
    True
    """
    text = str(error).lower()
    return any(words in text for words in _ABOUT_THREADS)


def _end() -> None:
    """Stand for the end of the work."""


def is_users(file: str) -> bool:
    """Whether a file is the user's, and neither a library's nor ours.

    >>> is_users(os.__file__)
    False
    """
    return "site-packages" not in file and not file.startswith(("<frozen", *_LIBRARIES))


def place_text(file: str, line: int, function: str) -> str:
    """Write a line of the user's code: its file, its number, the function, and what is there.

    >>> place_text("train.py", 7, "load")
    'train.py, line 7, in load'
    """
    text = linecache.getline(file, line).strip()
    code = f": {text[:100]}" if text else ""
    return f"{os.path.basename(file)}, line {line}, in {function}{code}"
