"""The part of an iteration that one of PyTorch's worker processes makes, and what it agrees on with the others.

Batch i of an iteration is made by worker i modulo their number, and DataLoader takes from them in turn. Workers that
begin an iteration know DataLoader's base seed, which is the same for all of them, and how often they were asked to
begin. The first of them writes the iteration and its epoch into shared memory, and the others find it there.

DataLoader asks every worker for two batches before anyone wants one, and some clients begin an iteration and throw it
away: Lightning does to see whether it can, and torchdata does to restore a state whose epoch had ended. So an iteration
counts as an epoch when a worker is asked for a third batch. One that gives fewer counts when it ends.

torchdata restores each worker to its own place. A place says which worker gave the batch before it, and from that
follows which worker makes the next one. Only whether the whole epoch was over cannot be known from the place of one
worker: all of them write theirs into shared memory before any of them begins.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

from recordsmith.loader.engine.cursor import Cursor
from recordsmith.loader.engine.feeding import epoch_after
from recordsmith.loader.progress.progress import REMEMBERED, Numbers, Progress

__all__ = ["Worker", "WorkerIteration", "WorkerPlace", "restore_worker"]

_ASKED_AHEAD = 2  # DataLoader's default prefetch_factor
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
    with progress.held() as numbers:
        slot = worker.number % REMEMBERED
        numbers[Numbers.AFTER][slot] = after
        numbers[Numbers.IS_START][slot] = is_start
        numbers[Numbers.LAST][slot] = place.last
        numbers[Numbers.NEXT] = numbers[Numbers.AFTER][: worker.count].max()
        numbers[Numbers.KEYS] = 0  # base seeds are restored too, and come again
        numbers[Numbers.ITERATIONS] += 1


class WorkerIteration:
    """One worker's part of an iteration.

    Args:
        progress: what the processes share.
        worker: which of them this is.
        again: how often this process began an iteration before.
        restored: the place that this iteration was restored to.
    """

    def __init__(self, progress: Progress, worker: Worker, again: int, restored: WorkerPlace | None) -> None:
        self._progress = progress
        self._worker = worker
        self._key = _key(worker.base_seed, again)
        self._restored = restored
        self._place: WorkerPlace | None = None
        self._epoch = 0  # that it began with
        self._asked = 0
        self._is_counted = False

    @property
    def place(self) -> WorkerPlace:
        """The place after the last batch that was given; before the first one, where the iteration will begin."""
        if self._place is not None:
            return self._place
        if self._restored is not None:
            return self._restored
        with self._progress.held() as numbers:
            epoch = _epoch_of(numbers, self._key)
        return WorkerPlace(self._progress.place_in(epoch), self._worker.count - 1)

    def begin(self) -> tuple[Cursor, tuple[int, int]]:
        """Return where the iteration begins, and which of the batches from there this worker makes."""
        with self._progress.held() as numbers:
            place = self._restored_place(numbers) if self._restored is not None else self._joined(numbers)
        self._place, self._epoch = place, place.cursor.epoch
        worker = self._worker
        return place.cursor, ((worker.number - place.last - 1) % worker.count, worker.count)

    def ask(self) -> None:
        """Note that a batch is asked for."""
        self._asked += 1
        if self._asked > _ASKED_AHEAD:
            self._count()

    def reach(self, place: Cursor) -> None:
        """Note the place after a batch that was given."""
        self._place = WorkerPlace(place, self._worker.number)

    def end(self) -> None:
        """Note that there are no more batches."""
        if self._restored is None:
            self._count()

    def _count(self) -> None:
        if not self._is_counted:
            self._is_counted = True
            after = epoch_after(self._progress.plan, self._epoch)
            with self._progress.held() as numbers:
                numbers[Numbers.NEXT] = max(after, int(numbers[Numbers.NEXT]))

    def _restored_place(self, numbers: np.ndarray[tuple[int], np.dtype[np.int64]]) -> WorkerPlace:
        """Return the own place, or the beginning of the next epoch if another worker gave the last batch of this."""
        place = self._restored or WorkerPlace(Cursor(), 0)
        count = self._worker.count
        starts = np.where(numbers[Numbers.IS_START][:count], numbers[Numbers.AFTER][:count], -1)
        first = int(starts.argmax())
        if starts[first] > place.cursor.epoch:
            return WorkerPlace(Cursor(int(starts[first])), int(numbers[Numbers.LAST][first]))
        return place

    def _joined(self, numbers: np.ndarray[tuple[int], np.dtype[np.int64]]) -> WorkerPlace:
        """Return where the iteration begins that the other workers make parts of."""
        self._progress.check_restores(numbers)
        places = np.flatnonzero(numbers[Numbers.KEYS] == self._key)
        bit = 1 << self._worker.number if self._worker.count <= _MOST_BITS else 0
        if len(places) and numbers[Numbers.BEGUN][places[0]] & bit:
            numbers[Numbers.KEYS][places[0]] = 0  # an iteration before this one, when PyTorch was seeded the same
            places = places[:0]
        if len(places):
            place = int(places[0])
        else:
            place = int(numbers[Numbers.ITERATIONS]) % REMEMBERED
            numbers[Numbers.KEYS][place], numbers[Numbers.EPOCHS][place] = self._key, numbers[Numbers.NEXT]
            numbers[Numbers.BEGUN][place] = 0
            numbers[Numbers.ITERATIONS] += 1
        numbers[Numbers.BEGUN][place] |= bit
        epoch = int(numbers[Numbers.EPOCHS][place])
        return WorkerPlace(self._progress.place_in(epoch), self._worker.count - 1)


def _is_start(progress: Progress, place: Cursor) -> bool:
    """Say whether an iteration begins at a place."""
    return place == Cursor(place.epoch) and place.epoch % (progress.plan.epochs_fed or 1) == 0


def _epoch_of(numbers: np.ndarray[tuple[int], np.dtype[np.int64]], key: int) -> int:
    """Return the epoch of an iteration that another process has begun, or else the next one."""
    places = np.flatnonzero(numbers[Numbers.KEYS] == key)
    return int(numbers[Numbers.EPOCHS][places[0]] if len(places) else numbers[Numbers.NEXT])


def _key(base_seed: int, again: int) -> int:
    """Return the number of an iteration, which is never 0."""
    digest = hashlib.blake2b(f"{base_seed}/{again}".encode(), digest_size=7).digest()
    return int.from_bytes(digest, "little") + 1
