"""Shuffling through a buffer, as tf.data does: for comparison, and for data that can only be read in order."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field

import numpy as np

from recordsmith import _core
from recordsmith.keyed_random import stream_key
from recordsmith.loader.order.record_order import Drawn, Int64s, Order, ShuffleKind, groups
from recordsmith.workers.forking import renew_after_fork

__all__ = ["BufferShuffled"]

_BLOCK = 4096  # positions that are computed together
_EPOCHS_KEPT = 4  # a shuffle or a mix around it asks for several at a time
_KEPT = 64  # blocks that stay known, because threads ask for them a little out of order


@dataclass(frozen=True)
class BufferShuffled(Order):
    """Another order after a shuffle through a buffer.

    It is computed from the start of the epoch on; going back, as resuming does, computes it again. That costs some ten
    nanoseconds a position, and no data is read for it.

    >>> from recordsmith.loader.order.record_order import Records
    >>> order = BufferShuffled(Records(100), seed=0, buffer=10)
    >>> sorted(order.at(0, np.arange(100)).numbers.tolist()) == list(range(100))
    True
    """

    inner: Order
    seed: int
    buffer: int
    reshuffle: bool = True
    length: int = field(init=False)
    _sequences: OrderedDict[int, _Sequence] = field(init=False, default_factory=OrderedDict, compare=False, repr=False)
    _lock: threading.Lock = field(init=False, default_factory=threading.Lock, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", self.inner.length)
        renew_after_fork(self)

    @property
    def shuffle(self) -> tuple[ShuffleKind, int]:
        """As many rows are mixed as are in the buffer."""
        return "buffer", min(self.buffer, self.length)

    def after_fork(self) -> None:
        """Compute again: another thread may have been in the middle of it."""
        object.__setattr__(self, "_sequences", OrderedDict())
        object.__setattr__(self, "_lock", threading.Lock())

    def at(self, epoch: int, positions: Int64s) -> Drawn:
        """Return the records at these positions."""
        key = stream_key(self.seed, f"buffer/{epoch if self.reshuffle else 0}")
        with self._lock:
            sequence = self._sequences.get(key)
            if sequence is None:
                while len(self._sequences) >= _EPOCHS_KEPT:
                    self._sequences.popitem(last=False)
                sequence = self._sequences[key] = _Sequence(self.length, min(self.buffer, self.length), key)
            inner = sequence.at(positions)
        return self.inner.at(epoch, inner)

    def __getstate__(self) -> dict[str, object]:
        return {"inner": self.inner, "seed": self.seed, "buffer": self.buffer, "reshuffle": self.reshuffle}

    def __setstate__(self, state: dict[str, object]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, value)
        self.after_fork()
        self.__post_init__()


class _Sequence:
    """The order of one epoch, in blocks of which the last ones are kept."""

    def __init__(self, length: int, buffer: int, key: int) -> None:
        self._arguments = (length, buffer, key)
        self._restart()

    def _restart(self) -> None:
        self._shuffle = _core.BufferShuffle(*self._arguments)
        self._blocks: OrderedDict[int, Int64s] = OrderedDict()
        self._produced = 0

    def at(self, positions: Int64s) -> Int64s:
        blocks = positions // _BLOCK
        found = np.empty_like(positions)
        for block, mine in groups(blocks):
            found[mine] = self._block(block)[positions[mine] - block * _BLOCK]
        return found

    def _block(self, number: int) -> Int64s:
        if number not in self._blocks and number < self._produced:
            self._restart()
        while number not in self._blocks:
            self._blocks[self._produced] = self._shuffle.next(_BLOCK)
            self._produced += 1
            if len(self._blocks) > _KEPT:
                self._blocks.popitem(last=False)
        return self._blocks[number]
