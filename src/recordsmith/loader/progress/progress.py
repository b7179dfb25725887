"""How far feeding has come: which epoch is next, and what the consumer has received of the last one.

A loader and all outputs made from it (to_torch, to_tf, to_jax) share one Progress. So every new iteration is a new
epoch, whatever it is an iteration over. An epoch counts as begun when its first batch is asked for. The numbers that
PyTorch's worker processes need are in memory that all of them share: see worker_iterations.py.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from recordsmith.errors import PipelineError
from recordsmith.loader.engine.cursor import Cursor
from recordsmith.loader.engine.feeding import epoch_after, place_to_begin
from recordsmith.loader.plan import Plan
from recordsmith.loader.progress.shared_numbers import OwnNumbers, SharedNumbers
from recordsmith.workers.forking import ForkSafeLock

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["REMEMBERED", "Numbers", "Progress"]

REMEMBERED = 255
"""Iterations whose epoch worker processes can still find, and worker processes that can be restored together."""

Place = Cursor | Callable[[], Cursor]


class Numbers:
    """The numbers that processes share, by name."""

    NEXT = 0  # the epoch of the next iteration
    RESTORES = 1  # how often the loader was restored
    ITERATIONS = 2  # how many iterations worker processes have begun
    KEYS = slice(3, 3 + REMEMBERED)  # the last of those,
    EPOCHS = slice(3 + REMEMBERED, 3 + 2 * REMEMBERED)  # and their epochs
    # Which worker processes have begun each, as bits.
    BEGUN = slice(3 + 5 * REMEMBERED, 3 + 6 * REMEMBERED)
    # Of each worker process that was restored: the epoch of the iteration after its place, whether its place is the
    # beginning of that iteration, and which worker gave the batch before its place.
    AFTER = slice(3 + 2 * REMEMBERED, 3 + 3 * REMEMBERED)
    IS_START = slice(3 + 3 * REMEMBERED, 3 + 4 * REMEMBERED)
    LAST = slice(3 + 4 * REMEMBERED, 3 + 5 * REMEMBERED)
    COUNT = 3 + 6 * REMEMBERED


class Progress:
    """How far feeding has come.

    Attributes:
        plan: what is fed.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._reached: Place = Cursor()
        self._numbers: OwnNumbers = OwnNumbers(Numbers.COUNT)
        self._owner = os.getpid()  # the process that uses the numbers, beside its worker processes
        self._restored = Cursor()  # where the epoch of this number begins
        self._restores = 0  # that this process knows of
        self._iterations = 0  # of worker processes that this process knows of
        self._lock = ForkSafeLock()

    def begin(self) -> Cursor:
        """Begin an iteration, and return where."""
        with self._lock:
            if self._is_guest:
                self._take_own()
            with self._numbers.held() as numbers:
                epoch = int(numbers[Numbers.NEXT])
                numbers[Numbers.NEXT] = epoch_after(self.plan, epoch)
                self._iterations = int(numbers[Numbers.ITERATIONS])
            self._reached = start = self.place_in(epoch)
            self._restored = Cursor()  # should this epoch be asked for again, it is whole
        return start

    def upcoming(self) -> Cursor:
        """Return where the next iteration will begin."""
        with self.held() as numbers:
            return self.place_in(int(numbers[Numbers.NEXT]))

    def reach(self, place: Place) -> None:
        """Note the place after what the consumer has received last; a framework that holds batches ready is asked."""
        self._reached = place

    def move(self, place: Cursor) -> None:
        """Let the next iteration begin at a place."""
        if self._is_guest:
            self._take_own()
        with self.held() as numbers:
            self._restored = place_to_begin(self.plan, place)
            self._reached = place
            numbers[Numbers.NEXT] = self._restored.epoch
            numbers[Numbers.KEYS] = 0
            numbers[Numbers.RESTORES] += 1
            self._restores, self._iterations = int(numbers[Numbers.RESTORES]), int(numbers[Numbers.ITERATIONS])

    def set_epoch(self, epoch: int) -> None:
        """Let the next iteration be of this number; one that was restored in the middle continues there."""
        if isinstance(epoch, bool) or not hasattr(epoch, "__index__") or epoch < 0:
            raise PipelineError("An epoch is a whole number, at least 0.", found=repr(epoch))
        first = int(epoch) * (self.plan.epochs_fed or 1)
        with self.held() as numbers:
            is_restored = first <= self._restored.epoch < epoch_after(self.plan, first)
            numbers[Numbers.NEXT] = self._restored.epoch if is_restored else first

    def place(self) -> Cursor:
        """Return the place after what the consumer has received last, or explain why it is not known here."""
        with self.held() as numbers:
            if self._iterations != numbers[Numbers.ITERATIONS] and not self._is_guest:
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

    @contextmanager
    def held(self) -> Iterator[npt.NDArray[np.int64]]:
        """Give the numbers to one thread of one process at a time."""
        with self._lock, self._numbers.held() as numbers:
            yield numbers

    def check_restores(self, numbers: npt.NDArray[np.int64]) -> None:
        """Refuse to begin in a worker process that does not know that the loader was restored."""
        if self._restores != numbers[Numbers.RESTORES]:
            raise PipelineError(
                "The loader was restored while worker processes of a DataLoader ran, and these do not know it.",
                advice="Make the DataLoader after loader.restore(state).",
            )

    def place_in(self, epoch: int) -> Cursor:
        """Return where an epoch begins."""
        return self._restored if self._restored.epoch == epoch else Cursor(epoch)

    @property
    def _is_guest(self) -> bool:
        """Whether another process owns the numbers: this one is a worker process of it, or a fork."""
        return isinstance(self._numbers, SharedNumbers) and os.getpid() != self._owner

    def _take_own(self) -> None:
        """Take numbers for this process and its workers, as they are now."""
        shared = SharedNumbers(Numbers.COUNT)
        with self._numbers.held() as old, shared.held() as new:
            new[:] = old
        self._numbers, self._owner = shared, os.getpid()

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_reached": self._reached() if callable(self._reached) else self._reached}
