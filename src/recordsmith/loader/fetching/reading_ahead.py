"""Announces the records of remote files before they are read, as far ahead as the network needs.

The order is computed, so what comes next is known. It starts with little, so that the first batch comes soon. Each time
that a thread had to wait for the network, twice as much is announced, up to half of what stays in memory: with a first
byte after 100 ms and 128 MiB under way, more than 1 GB/s arrive.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from recordsmith.storage.ranged.remote_object import MEMORY, waits

__all__ = ["ReadAhead"]

T = TypeVar("T")

_FIRST = 32 << 20
_MOST = MEMORY // 2


class ReadAhead:
    """How many bytes are announced ahead, over all epochs of an iteration: before the first task, and at most later.

    >>> announced = []
    >>> [task for task in ReadAhead(first=2).over("abc", lambda task: announced.append(task) or 1)], announced
    (['a', 'b', 'c'], ['a', 'b', 'c'])
    """

    def __init__(self, first: int = _FIRST, most: int = _MOST) -> None:
        self._bytes, self._most = first, most
        self._waits = waits()

    def over(self, tasks: Iterable[T], announce: Callable[[T], float]) -> Iterator[T]:
        """Give tasks, of which each was announced before; `announce` returns how many bytes one needs."""
        coming = iter(tasks)
        announced: deque[tuple[T, float]] = deque()
        under_way = 0.0
        ended = False
        while not ended or announced:
            if waits() > self._waits:
                self._waits = waits()
                self._bytes = min(self._most, 2 * self._bytes)
            while not ended and (under_way < self._bytes or not announced):
                for task in coming:
                    size = announce(task)
                    announced.append((task, size))
                    under_way += size
                    break
                else:
                    ended = True
            if announced:
                task, size = announced.popleft()
                under_way -= size
                yield task
                self._bytes = min(self._bytes, self._most)
