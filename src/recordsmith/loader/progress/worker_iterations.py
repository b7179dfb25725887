"""The part of an iteration that one of PyTorch's worker processes makes, and what it agrees on with the others.

Batch i of an iteration is made by worker i modulo their number, and DataLoader takes from them in turn. All of them
must begin with the same epoch, and it must not depend on which of them is faster:

- A worker process begins its first iteration with the epoch that was next when the process was started. All workers of
  an iteration are started before the consumer can receive a batch of it, so all of them have inherited the same number.
- Persistent workers begin again with the number in shared memory, which only the consumer's process writes. The first
  of them to begin writes down the iteration and its epoch, and the others find it there.

Some clients begin an iteration and throw it away: Lightning does to see whether it can, and torchdata does to restore a
state whose epoch had ended. DataLoader asks its workers for batches anyway, before anyone wants them. So workers
do not count. An iteration counts as an epoch when the consumer receives a batch: see torch_deliveries.py.

torchdata restores each worker to its own place. A place says which worker gave the batch before it, and from that
follows which worker makes the next one. Only whether the whole epoch was over cannot be known from the place of one
worker: all of them write theirs into shared memory before any of them begins.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import os
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recordsmith.loader.engine.cursor import Cursor
from recordsmith.loader.engine.feeding import epoch_after
from recordsmith.loader.progress.consumer_numbers import MOST_WORKERS, REMEMBERED, Row
from recordsmith.loader.progress.progress import Progress

__all__ = ["Worker", "WorkerIteration", "WorkerPlace", "restore_worker"]

_MOST_BITS = 62  # of a number


@dataclass(frozen=True)
class Worker:
    """One of the worker processes of a DataLoader.

    Attributes:
        number: which one, from 0.
        count: how many there are.
        base_seed: a random number that all of them know.
    """

    number: int
    count: int
    base_seed: int

    @property
    def consumer(self) -> int:
        """The process that the DataLoader is in."""
        parent = multiprocessing.parent_process()
        return os.getppid() if parent is None or parent.pid is None else parent.pid


@dataclass(frozen=True)
class WorkerPlace:
    """A place that a worker has reached.

    Attributes:
        cursor: the place.
        last: which worker gave the batch before it.
    """

    cursor: Cursor
    last: int


def restore_worker(progress: Progress, worker: Worker, place: WorkerPlace) -> None:
    """Tell the other worker processes where this one was restored to, before any of them begins."""
    is_start = _is_start(progress, place.cursor)
    after = place.cursor.epoch if is_start else epoch_after(progress.plan, place.cursor.epoch)
    with progress.held(worker.consumer) as row:
        slot = worker.number % MOST_WORKERS
        row[Row.AFTER][slot] = after
        row[Row.IS_START][slot] = is_start
        row[Row.LAST][slot] = place.last
        row[Row.WORKER_NEXT] = row[Row.AFTER][: worker.count].max()
        row[Row.WORKER_RESTORES] += 1


class WorkerIteration:
    """One worker's part of an iteration. Make it when DataLoader begins, before any worker is asked for a batch.

    Args:
        progress: what the processes share.
        worker: which of them this is.
        again: how often this process began an iteration before.
        restored: the place that this iteration was restored to.

    Attributes:
        key: a number of the iteration, the same in all worker processes.
    """

    def __init__(self, progress: Progress, worker: Worker, again: int, restored: WorkerPlace | None) -> None:
        self._progress = progress
        self._worker = worker
        self.key = _key(worker.consumer, worker.base_seed, progress.counted_iterations, again)
        self._restored = restored
        self._place: WorkerPlace | None = None
        if again and restored is None:
            with progress.held(worker.consumer) as row:
                self._place = self._joined(row)

    @property
    def place(self) -> WorkerPlace:
        """The place after the last batch that was given; before the first one, where the iteration will begin."""
        with self._progress.held(self._worker.consumer) as row:
            return self._place or self._restored or self._first(row)

    def begin(self) -> tuple[Cursor, tuple[int, int]]:
        """Return where the iteration begins, and which of the batches from there this worker makes."""
        with self._progress.held(self._worker.consumer) as row:
            if self._restored is not None:
                self._place = self._restored_place(row, self._restored)
            elif self._place is not None:
                self._progress.check_restores(row)  # not before: DataLoader reports no error of `__iter__`
            place = self._place = self._place or self._first(row)
        worker = self._worker
        return place.cursor, ((worker.number - place.last - 1) % worker.count, worker.count)

    def reach(self, place: Cursor) -> None:
        """Note the place after a batch that was given."""
        self._place = WorkerPlace(place, self._worker.number)

    def _restored_place(self, row: npt.NDArray[np.int64], place: WorkerPlace) -> WorkerPlace:
        """Return the own place, or the beginning of the next epoch if another worker gave the last batch of this."""
        count = self._worker.count
        starts = np.where(row[Row.IS_START][:count], row[Row.AFTER][:count], -1)
        first = int(starts.argmax())
        if starts[first] > place.cursor.epoch:
            return WorkerPlace(Cursor(int(starts[first])), int(row[Row.LAST][first]))
        return place

    def _first(self, row: npt.NDArray[np.int64]) -> WorkerPlace:
        """Return where the first iteration of this process begins."""
        epoch = self._progress.first_epoch(row)
        return WorkerPlace(self._progress.place_in(epoch), self._worker.count - 1)

    def _joined(self, row: npt.NDArray[np.int64]) -> WorkerPlace:
        """Return where the iteration begins that the other workers make parts of."""
        places = np.flatnonzero(row[Row.KEYS] == self.key)
        bit = 1 << self._worker.number if self._worker.count <= _MOST_BITS else 0
        if len(places) and row[Row.BEGUN][places[0]] & bit:
            row[Row.KEYS][places[0]] = 0  # an iteration before this one, when PyTorch was seeded the same
            places = places[:0]
        if len(places):
            place = int(places[0])
        else:
            place = int(row[Row.ITERATIONS]) % REMEMBERED
            row[Row.KEYS][place], row[Row.EPOCHS][place] = self.key, self._progress.later_epoch(row)
            row[Row.BEGUN][place] = 0
            row[Row.ITERATIONS] += 1
        row[Row.BEGUN][place] |= bit
        epoch = int(row[Row.EPOCHS][place])
        return WorkerPlace(self._progress.later_place(row, epoch), self._worker.count - 1)


def _is_start(progress: Progress, place: Cursor) -> bool:
    """Say whether an iteration begins at a place."""
    return place == Cursor(place.epoch) and place.epoch % (progress.plan.epochs_fed or 1) == 0


def _key(*parts: int) -> int:
    """Return the number of an iteration, which is never 0."""
    digest = hashlib.blake2b("/".join(map(str, parts)).encode(), digest_size=7).digest()
    return int.from_bytes(digest, "little") + 1
