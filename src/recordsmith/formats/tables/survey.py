"""Reads every chunk of a table once, on several threads, to infer its types."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

__all__ = ["on_threads"]

T = TypeVar("T")
R = TypeVar("R")


def on_threads(function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
    """Give the results of a function in the order of the items, with no more at hand than there are cores.

    >>> list(on_threads(abs, [-1, 2, -3]))
    [1, 2, 3]
    """
    threads = min(4, len(os.sched_getaffinity(0)))  # each has some 50 MB at hand
    waiting: deque[Future[R]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        try:
            for item in items:
                waiting.append(pool.submit(function, item))
                if len(waiting) > threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
