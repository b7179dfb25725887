"""How far feeding has come: which epoch is next, and what the consumer has received of the last one.

A loader and all outputs made from it (to_torch, to_tf, to_jax) share one Progress. So every new iteration is a new
epoch, whatever it is an iteration over. An epoch counts as begun when its first batch is asked for. What PyTorch's
worker processes need to know is in memory that all of them share: see worker_iterations.py.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from recordsmith.errors import PipelineError
from recordsmith.loader.engine.cursor import Cursor
from recordsmith.loader.engine.feeding import epoch_after, place_to_begin
from recordsmith.loader.plan import Plan
from recordsmith.loader.progress.consumer_numbers import NUMBERS, Row, row_of
from recordsmith.loader.progress.shared_numbers import SharedNumbers, is_spawning
from recordsmith.workers.forking import ForkSafeLock

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["Progress"]

_COUNTED = 64  # iterations of worker processes that are known to have begun

Place = Cursor | Callable[[], Cursor]


class Progress:
    """How far feeding has come.

    Attributes:
        plan: what is fed.
        token: the same number in this process and in its worker processes.
        counted_iterations: how many iterations of worker processes have counted, when this process was started.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.token = _new_token()
        self.counted_iterations = 0
        self._counted: deque[int] = deque(maxlen=_COUNTED)
        self._reached: Place = Cursor()
        self._is_reached_known = True
        self._next = 0  # epoch
        self._restored = Cursor()  # where the epoch of this number begins
        self._restores = 0
        self._taken = (0, 0)  # this process, and how many restores of its worker processes it has taken over
        self._shared: SharedNumbers | None = None
        self._lock = ForkSafeLock()

    def begin(self) -> Cursor:
        """Begin an iteration, and return where."""
        with self._lock:
            epoch = self._next_epoch(os.getpid())
            self._reached = start = self.place_in(epoch)
            self._is_reached_known = True
            self._leave(epoch)
        return start

    def upcoming(self) -> Cursor:
        """Return where the next iteration will begin."""
        with self._lock:
            return self.place_in(self._next_epoch(os.getpid()))

    def reach(self, place: Place) -> None:
        """Note the place after what the consumer has received last; a framework that holds batches ready is asked."""
        self._reached = place

    def move(self, place: Cursor) -> None:
        """Let the next iteration begin at a place."""
        with self._lock:
            self._restored = place_to_begin(self.plan, place)
            self._restores += 1
            self._reached, self._is_reached_known = place, True
            self._next = self._restored.epoch
            self._write()

    def set_epoch(self, epoch: int) -> None:
        """Let the next iteration be of this number; one that was restored in the middle continues there."""
        if isinstance(epoch, bool) or not hasattr(epoch, "__index__") or epoch < 0:
            raise PipelineError("An epoch must be an integer of at least 0.", found=repr(epoch))
        first = int(epoch) * (self.plan.epochs_fed or 1)
        with self._lock:
            is_restored = first <= self._restored.epoch < epoch_after(self.plan, first)
            self._next = self._restored.epoch if is_restored else first
            self._write()

    def place(self) -> Cursor:
        """Return the place after what the consumer has received last, or explain why it is not known here."""
        if not self._is_reached_known:
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
            if self._shared is None:
                self._shared = SharedNumbers(NUMBERS)

    def count_iteration(self, key: int, epoch: int) -> None:
        """Note that a batch was received of an iteration of worker processes that began with an epoch."""
        with self._lock:
            if key in self._counted:
                return
            self._counted.append(key)
            self.counted_iterations += 1
            self._is_reached_known = False
            self._leave(epoch)

    @contextmanager
    def held(self, consumer: int) -> Iterator[npt.NDArray[np.int64]]:
        """Give the shared row of the process that consumes to one thread of one process at a time."""
        if self._shared is None:
            raise RuntimeError("The numbers are not shared with worker processes.")
        with self._lock, self._shared.held() as numbers:
            yield row_of(numbers, consumer)

    def first_epoch(self, row: npt.NDArray[np.int64]) -> int:
        """Return the epoch of the first iteration of a worker process: what was next when the process was started."""
        taken = self._taken[1] if self._taken[0] == row[Row.PROCESS] else 0
        return self._next if row[Row.WORKER_RESTORES] == taken else int(row[Row.WORKER_NEXT])

    def later_epoch(self, row: npt.NDArray[np.int64]) -> int:
        """Return the epoch of a later iteration of a worker process: what its consumer has written since."""
        if row[Row.TAKEN] != row[Row.WORKER_RESTORES]:
            return int(row[Row.WORKER_NEXT])
        return int(row[Row.NEXT]) if row[Row.IS_WRITTEN] else self._next

    def later_place(self, row: npt.NDArray[np.int64], epoch: int) -> Cursor:
        """Return where an epoch begins in a worker process that is not at its first, as its consumer knows it."""
        is_used = row[Row.IS_WRITTEN] and row[Row.BEGUN_RESTORES] == self._restores
        return Cursor(epoch) if is_used else self.place_in(epoch)

    def check_restores(self, row: npt.NDArray[np.int64]) -> None:
        """Refuse to begin in a worker process that does not know that the loader was restored."""
        if row[Row.IS_WRITTEN] and self._restores != row[Row.RESTORES]:
            raise PipelineError(
                "The loader was restored while worker processes of a DataLoader ran, and these do not know it.",
                advice="Make the DataLoader after loader.restore(state).",
            )

    def place_in(self, epoch: int) -> Cursor:
        """Return where an epoch begins."""
        return self._restored if self._restored.epoch == epoch else Cursor(epoch)

    def _next_epoch(self, consumer: int) -> int:
        if self._shared is None:
            return self._next
        with self._shared.held() as numbers:
            return self.first_epoch(row_of(numbers, consumer))

    def _leave(self, epoch: int) -> None:
        """Let the next iteration be the one after an epoch; should this epoch be asked for again, it is whole."""
        self._next = epoch_after(self.plan, epoch)
        self._restored = Cursor()
        self._write(is_begun=True)

    def _write(self, *, is_begun: bool = False) -> None:
        """Tell worker processes that are running, and take over what those that were restored have told."""
        if self._shared is None:
            return
        with self._shared.held() as numbers:
            row = row_of(numbers, os.getpid())
            row[Row.IS_WRITTEN], row[Row.NEXT], row[Row.RESTORES] = 1, self._next, self._restores
            if is_begun:
                row[Row.BEGUN_RESTORES] = self._restores
            row[Row.TAKEN] = row[Row.WORKER_RESTORES]
            self._taken = os.getpid(), int(row[Row.TAKEN])

    def __getstate__(self) -> dict[str, Any]:
        reached = self._reached() if callable(self._reached) else self._reached
        return {**vars(self), "_reached": reached, "token": self.token if is_spawning() else _new_token()}


def _new_token() -> int:
    return int.from_bytes(os.urandom(8), "little")
