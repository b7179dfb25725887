"""Requests that Ctrl-C ends at once.

obstore waits for an answer outside of Python, and Python looks at Ctrl-C only between its own steps: a server that does
not answer would keep the program until the time limit. So requests are made by daemon threads, which a program does
not wait for at its end, and whoever wants the result waits for it in Python.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from typing import TypeVar

__all__ = ["begun", "interruptible", "interruptible_in_order"]

T = TypeVar("T")
R = TypeVar("R")


def interruptible(work: Callable[[], R]) -> R:
    """Return `work()`; in the main thread so that Ctrl-C does not wait for it.

    >>> interruptible(lambda: 1 + 1)
    2
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    return begun(lambda _: work(), None).result()


def interruptible_in_order(work: Callable[[T], R], items: Iterable[T], *, at_once: int) -> Iterator[R]:
    """Give `work(item)` for each item, in order, with at most `at_once` of them under way.

    >>> list(interruptible_in_order(str.upper, "abc", at_once=2))
    ['A', 'B', 'C']
    """
    waiting: deque[Future[R]] = deque()
    for item in items:
        waiting.append(begun(work, item))
        if len(waiting) >= at_once:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


def begun(work: Callable[[T], R], item: T) -> Future[R]:
    """Return the future of `work(item)`, which a thread does that a program does not wait for at its end."""
    future: Future[R] = Future()

    def run() -> None:
        try:
            future.set_result(work(item))
        except BaseException as error:  # noqa: BLE001 - it is raised where the result is asked for
            future.set_exception(error)

    threading.Thread(target=run, name="recordsmith-request", daemon=True).start()
    return future
