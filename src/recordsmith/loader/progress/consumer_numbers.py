"""The numbers that a process and its worker processes share: one row for each process that has worker processes.

A process that consumes batches writes its own row: which epoch is next, and how often it was restored. Its worker
processes read that row when they begin again. Two processes that a common parent started have rows of their own, and do
not see each other's epochs.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["MOST_WORKERS", "NUMBERS", "REMEMBERED", "Row", "row_of"]

Int64s = npt.NDArray[np.int64]

MOST_WORKERS = 255
"""Worker processes that can be restored together."""

REMEMBERED = 16
"""Iterations of persistent worker processes whose epoch the others can still find."""

_CONSUMERS = 32
_TABLES = 9 + 3 * MOST_WORKERS


class Row:
    """The numbers of one process, by name."""

    PROCESS = 0
    # Written by the process itself:
    IS_WRITTEN = 1
    NEXT = 2  # the epoch of the next iteration
    RESTORES = 3  # how often the loader was restored,
    BEGUN_RESTORES = 4  # and how often when batches were last received: that place is used up
    TAKEN = 5  # how many of the WORKER_RESTORES were before the process wrote
    # Written by worker processes that were restored:
    WORKER_RESTORES = 6  # how often
    WORKER_NEXT = 7  # the epoch of the iteration after theirs
    ITERATIONS = 8  # of persistent worker processes, which KEYS contains
    # Of each worker process that was restored: the epoch of the iteration after its place, whether its place is the
    # beginning of that iteration, and which worker gave the batch before its place.
    AFTER = slice(9, 9 + MOST_WORKERS)
    IS_START = slice(9 + MOST_WORKERS, 9 + 2 * MOST_WORKERS)
    LAST = slice(9 + 2 * MOST_WORKERS, _TABLES)
    # Of the last iterations of persistent worker processes: a key, the epoch, and who has begun it, as bits.
    KEYS = slice(_TABLES, _TABLES + REMEMBERED)
    EPOCHS = slice(_TABLES + REMEMBERED, _TABLES + 2 * REMEMBERED)
    BEGUN = slice(_TABLES + 2 * REMEMBERED, _TABLES + 3 * REMEMBERED)
    COUNT = _TABLES + 3 * REMEMBERED


NUMBERS = 1 + _CONSUMERS * Row.COUNT
"""How many numbers there are: how many rows were given away, and the rows."""


def row_of(numbers: Int64s, process: int) -> Int64s:
    """Return the row of a process; a process without one is given the next, and the one used longest ago is lost.

    >>> numbers = np.zeros(NUMBERS, np.int64)
    >>> row_of(numbers, 7)[Row.NEXT] = 3
    >>> int(row_of(numbers, 7)[Row.NEXT]), int(row_of(numbers, 8)[Row.NEXT])
    (3, 0)
    """
    rows: Int64s = numbers[1:].reshape(_CONSUMERS, Row.COUNT)
    found = np.flatnonzero(rows[:, Row.PROCESS] == process)
    if len(found):
        mine: Int64s = rows[found[0]]
        return mine
    row: Int64s = rows[int(numbers[0]) % _CONSUMERS]
    numbers[0] += 1
    row[:] = 0
    row[Row.PROCESS] = process
    return row
