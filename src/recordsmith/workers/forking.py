"""Keeps iterators and locks correct after a fork: a child process has a copy of everything, but only one thread.

An iterator whose batches other threads prepare would wait for them for ever in the child, and one that reads a file
would share its place with the parent. So iterators refuse to be continued there. Locks and half-done work of other
threads are renewed, so that whatever the child begins itself works.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeVar

from recordsmith.errors import RecordsmithError

__all__ = ["ForkSafeLock", "Renewed", "check_process", "in_own_process", "renew_after_fork"]

T = TypeVar("T")


class Renewed(Protocol):
    """An object that has something to renew in a child process."""

    def after_fork(self) -> None:
        """Renew what other threads may have been at."""
        ...


_renewed: weakref.WeakValueDictionary[int, Renewed] = weakref.WeakValueDictionary()


def check_process(owner: int) -> None:
    """Refuse to continue an iterator in another process than the one that began it."""
    if os.getpid() != owner:
        raise RecordsmithError(
            "This iterator was created in another process, before a fork, and cannot continue here.",
            found=f"process {os.getpid()}",
            expected=f"process {owner}",
            advice="Start iterating over the dataset, the loader or the file in the child process.",
        )


def in_own_process(items: Iterator[T]) -> Iterator[T]:
    """Give the items of an iterator, in the process that asked for the first of them."""
    owner = os.getpid()
    for item in items:
        yield item
        check_process(owner)


def renew_after_fork(thing: Renewed) -> None:
    """Have a thing renewed in every child process, for as long as it lives."""
    _renewed[id(thing)] = thing


class ForkSafeLock:
    """A lock that is free in a child process, whoever held it in the parent."""

    def __init__(self, kind: Callable[[], Any] = threading.Lock) -> None:
        self._kind = kind
        self._lock = kind()
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Take a new lock: the thread that may have held the other one is not in this process."""
        self._lock = self._kind()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def __reduce__(self) -> tuple[Any, ...]:
        return ForkSafeLock, (self._kind,)


def _after_fork() -> None:
    for thing in list(_renewed.values()):
        thing.after_fork()


os.register_at_fork(after_in_child=_after_fork)
