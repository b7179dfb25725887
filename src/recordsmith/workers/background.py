"""Threads that work in the background of a program, and do not keep it from ending.

Before 3.14, Python ends a daemon thread where it asks for the GIL while the interpreter ends. In the middle of the C++
code of a library, such as numpy's `unique`, this aborts the whole program. So these threads are told to stop before
that, and the end of the program waits a few seconds for them.
"""

from __future__ import annotations

import atexit
import threading
import time
from collections.abc import Callable

__all__ = ["start_in_background"]

_PATIENCE = 5.0  # seconds, for all threads together

_stops: dict[threading.Thread, Callable[[], object]] = {}


def start_in_background(work: Callable[[], object], *, name: str, stop: Callable[[], object]) -> threading.Thread:
    """Start a daemon thread; if the program ends first, `stop` is called, after which `work` should return soon.

    >>> ready = threading.Event()
    >>> start_in_background(ready.set, name="example", stop=lambda: None).join(60)
    >>> ready.is_set()
    True
    """

    def run() -> None:
        try:
            work()
        finally:
            _stops.pop(threading.current_thread(), None)

    thread = threading.Thread(target=run, name=name, daemon=True)
    _stops[thread] = stop
    try:
        thread.start()
    except RuntimeError:  # the system gives no more threads
        del _stops[thread]
        raise
    return thread


@atexit.register
def _stop_all() -> None:
    running = dict(_stops)
    for stop in running.values():
        stop()
    until = time.monotonic() + _PATIENCE
    for thread in running:
        thread.join(max(0.0, until - time.monotonic()))
