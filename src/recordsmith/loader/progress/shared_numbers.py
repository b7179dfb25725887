"""Whole numbers in memory that several processes share, by fork and by spawn."""

from __future__ import annotations

import fcntl
import mmap
import os
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["SharedNumbers", "is_spawning"]


class SharedNumbers:
    """Some 64-bit numbers that processes share, all 0 at first.

    They go along to a process that multiprocessing starts; a copy that is pickled otherwise has numbers of its own. Who
    changes them holds them, and the system releases them should the process die meanwhile.
    """

    def __init__(self, count: int, file: int | None = None) -> None:
        if file is None:
            file = os.memfd_create("recordsmith")
            os.ftruncate(file, 8 * count)
        self._file = file
        self._numbers = np.frombuffer(mmap.mmap(file, 8 * count), np.int64)
        weakref.finalize(self, os.close, file)

    @contextmanager
    def held(self) -> Iterator[npt.NDArray[np.int64]]:
        """Give the numbers to one process at a time; its threads are to take turns themselves."""
        fcntl.lockf(self._file, fcntl.LOCK_EX)
        try:
            yield self._numbers
        finally:
            fcntl.lockf(self._file, fcntl.LOCK_UN)

    def __reduce__(self) -> tuple[Any, ...]:
        if is_spawning():
            from multiprocessing import reduction  # it takes time to import

            return _received, (len(self._numbers), reduction.DupFd(self._file))
        return _copied, (self._numbers.copy(),)


def is_spawning() -> bool:
    """Say whether multiprocessing is pickling what a new process gets."""
    from multiprocessing import context

    return context.get_spawning_popen() is not None


def _received(count: int, file: Any) -> SharedNumbers:
    return SharedNumbers(count, file.detach())


def _copied(numbers: npt.NDArray[np.int64]) -> SharedNumbers:
    shared = SharedNumbers(len(numbers))
    with shared.held() as ours:
        ours[:] = numbers
    return shared
