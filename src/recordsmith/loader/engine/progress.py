"""How far feeding has come: which epoch is next, and what the consumer has received of the last one.

A loader and all outputs made from it (to_torch, to_tf, to_jax) share one Progress. So every new iteration is a new
epoch, whatever it is an iteration over. An epoch counts as begun when its first batch is asked for.

PyTorch's worker processes make parts of one iteration. They know of it what DataLoader draws for it, a random number
that is the same for all of them, and how often they were asked to begin. The first of them to begin writes the
iteration and its epoch into memory that all share, and the others find it there.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.errors import PipelineError
from recordsmith.loader.engine.cursor import Cursor
from recordsmith.loader.engine.feeding import epoch_after, place_to_begin
from recordsmith.loader.engine.shared_numbers import OwnNumbers, SharedNumbers
from recordsmith.loader.plan import Plan
from recordsmith.workers.forking import ForkSafeLock

__all__ = ["Progress"]

_REMEMBERED = 255  # iterations whose epoch worker processes can still find
_NEXT = 0  # where the epoch of the next iteration is among the numbers,
_RESTORES = 1  # how often the loader was restored,
_ITERATIONS = 2  # how many iterations worker processes have begun,
_KEYS = slice(3, 3 + _REMEMBERED)  # the last of those,
_EPOCHS = slice(3 + _REMEMBERED, 3 + 2 * _REMEMBERED)  # and their epochs
_COUNT = 3 + 2 * _REMEMBERED

Numbers = npt.NDArray[np.int64]
Place = Cursor | Callable[[], Cursor]


class Progress:
    """How far feeding has come.

    Attributes:
        plan: what is fed.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._reached: Place = Cursor()
        self._numbers: OwnNumbers = OwnNumbers(_COUNT)
        self._owner = os.getpid()  # the process that uses the numbers, beside its worker processes
        self._restored = Cursor()  # where the epoch of this number begins
        self._is_restored_alone = False  # only this process was restored to that place: it is a worker process
        self._restores = 0  # that this process knows of
        self._iterations = 0  # of worker processes that this process knows of
        self._begun: dict[int, int] = {}  # how often this worker process began, by the number drawn
        self._lock = ForkSafeLock()

    def begin(self, drawn: int | None = None) -> Cursor:
        """Begin an iteration, and return where. A worker process gives the number that was drawn for the iteration."""
        with self._lock:
            if drawn is None and self._is_guest:
                self._take_own()
            with self._numbers.held() as numbers:
                epoch = self._begin_here(numbers) if drawn is None else self._begin_with_others(numbers, drawn)
            self._reached = start = self._place_in(epoch)
            self._is_restored_alone = False
        return start

    def upcoming(self, drawn: int | None = None) -> Cursor:
        """Return where the next iteration will begin."""
        with self._lock, self._numbers.held() as numbers:
            key = 0 if drawn is None else _key(drawn, self._begun.get(drawn, 0))
            return self._place_in(self._epoch_of(numbers, key) if key else int(numbers[_NEXT]))

    def reach(self, place: Place) -> None:
        """Note the place after what the consumer has received last; a framework that holds batches ready is asked."""
        self._reached = place

    def move(self, place: Cursor) -> None:
        """Let the next iteration begin at a place. Each worker process of one is restored for itself."""
        with self._lock, self._numbers.held() as numbers:
            self._restored, self._is_restored_alone = place_to_begin(self.plan, place), self._is_guest
            self._reached = place
            if not self._is_restored_alone:
                numbers[_NEXT] = self._restored.epoch
                numbers[_RESTORES] += 1
                self._restores, self._iterations = int(numbers[_RESTORES]), int(numbers[_ITERATIONS])

    def place(self) -> Cursor:
        """Return the place after what the consumer has received last, or explain why it is not known here."""
        with self._lock, self._numbers.held() as numbers:
            if self._iterations != numbers[_ITERATIONS] and not self._is_guest:
                raise PipelineError(
                    "It is not known here which batches were received: worker processes of a DataLoader made them.",
                    advice="Iterate with num_workers=0, where loader.state() is exact. With worker processes, use "
                    "torchdata's StatefulDataLoader and its state_dict().",
                )
        return self._reached() if callable(self._reached) else self._reached

    # --- worker processes ---

    def share(self) -> None:
        """Let worker processes that are started from now on count with this one."""
        with self._lock:
            if not isinstance(self._numbers, SharedNumbers):
                self._take_own()

    @property
    def _is_guest(self) -> bool:
        """Whether another process owns the numbers: this one is a worker process of it, or a fork."""
        return isinstance(self._numbers, SharedNumbers) and os.getpid() != self._owner

    def _take_own(self) -> None:
        """Take numbers for this process and its workers, as they are now."""
        shared = SharedNumbers(_COUNT)
        with self._numbers.held() as old, shared.held() as new:
            new[:] = old
            if self._is_restored_alone:
                new[_NEXT] = self._restored.epoch
        self._numbers, self._owner, self._begun = shared, os.getpid(), {}

    def _begin_here(self, numbers: Numbers) -> int:
        epoch = int(numbers[_NEXT])
        numbers[_NEXT] = epoch_after(self.plan, epoch)
        self._iterations = int(numbers[_ITERATIONS])
        return epoch

    def _begin_with_others(self, numbers: Numbers, drawn: int) -> int:
        if self._restores != numbers[_RESTORES] and not self._is_restored_alone:
            raise PipelineError(
                "The loader was restored while worker processes of a DataLoader ran, and these do not know it.",
                advice="Make the DataLoader after loader.restore(state).",
            )
        again = self._begun.get(drawn, 0)
        self._begun[drawn] = again + 1
        key = _key(drawn, again)
        epoch = self._epoch_of(numbers, key)
        if key not in numbers[_KEYS]:
            place = int(numbers[_ITERATIONS]) % _REMEMBERED
            numbers[_KEYS][place], numbers[_EPOCHS][place] = key, epoch
            numbers[_ITERATIONS] += 1
            numbers[_NEXT] = epoch_after(self.plan, epoch)
        self._iterations = int(numbers[_ITERATIONS])
        return epoch

    def _epoch_of(self, numbers: Numbers, key: int) -> int:
        """Return the epoch of an iteration that another process has begun, or else the next one."""
        places = np.flatnonzero(numbers[_KEYS] == key)
        if len(places):
            return int(numbers[_EPOCHS][places[0]])
        return self._restored.epoch if self._is_restored_alone else int(numbers[_NEXT])

    def _place_in(self, epoch: int) -> Cursor:
        return self._restored if self._restored.epoch == epoch else Cursor(epoch)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_reached": self._reached() if callable(self._reached) else self._reached}


def _key(drawn: int, again: int) -> int:
    """Return the number of an iteration, which is never 0."""
    digest = hashlib.blake2b(f"{drawn}/{again}".encode(), digest_size=7).digest()
    return int.from_bytes(digest, "little") + 1
