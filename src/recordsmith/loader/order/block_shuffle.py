"""Shuffling what can only be read in order: many files side by side, and an exact shuffle of what is in memory."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from recordsmith.dataset import StoredDataset
from recordsmith.keyed_random import stream_key
from recordsmith.loader.order.read_blocks import Blocks, Schedule
from recordsmith.loader.order.record_order import (
    Int64s,
    Order,
    OrderedRecords,
    ShuffleKind,
    groups,
    keyed_permutation,
)
from recordsmith.workers.forking import ForkSafeLock

__all__ = ["BlockShuffled", "block_shuffle", "block_shuffles"]

_KEPT = 4  # epochs whose schedule stays known


@dataclass(frozen=True, eq=False)
class BlockShuffled(Order):
    """Another order, whose records rise, shuffled window by window.

    Which record stands where follows from the seed, the epoch and the position, as in an exact shuffle.

    Args:
        inner: the order before; its records rise.
        blocks: how the files are read.
        edges: the first position of `inner` in each block; and last its length.
        seed: another seed, another sequence of orders.
        reshuffle: take another order in each epoch.
    """

    inner: Order
    blocks: Blocks
    edges: Int64s
    seed: int
    reshuffle: bool = True
    length: int = field(init=False)
    _layouts: dict[int, _Layout] = field(init=False, default_factory=dict, repr=False)
    _lock: ForkSafeLock = field(init=False, default_factory=ForkSafeLock, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", self.inner.length)

    def at(self, epoch: int, positions: Int64s) -> OrderedRecords:
        """Return the records at these positions."""
        return self.inner.at(epoch, self._layout(epoch).at(positions))

    def schedule(self, epoch: int) -> Schedule:
        """Return how the files are read in an epoch."""
        return self._layout(epoch).schedule

    def windows_of(self, numbers: Int64s, epochs: Int64s, rows: range) -> list[tuple[int, int]]:
        """Return the epochs and windows that rows of the dataset are in, without repeats."""
        blocks = self.blocks.holding(rows.start + numbers * rows.step)
        return [
            (epoch, window)
            for epoch, mine in groups(epochs)
            for window in np.unique(self.schedule(epoch).windows[blocks[mine]]).tolist()
        ]

    def windows_at(self, epoch: int, positions: Int64s) -> tuple[int, ...]:
        """Return the epoch, and the window that each of some positions is in."""
        return epoch, *self._layout(epoch).windows_at(positions).tolist()

    @property
    def shuffle(self) -> tuple[ShuffleKind, int]:
        """The rows of a window are mixed."""
        return "blocks", max(1, self.length // max(1, self.parts))

    @property
    def parts(self) -> int:
        """How many windows an epoch has."""
        return self._layout(0).windows

    def _layout(self, epoch: int) -> _Layout:
        key = stream_key(self.seed, f"blocks/{epoch if self.reshuffle else 0}")
        with self._lock:
            layout = self._layouts.get(key)
            if layout is None:
                if len(self._layouts) >= _KEPT:
                    del self._layouts[next(iter(self._layouts))]
                layout = self._layouts[key] = _Layout(self.blocks.shuffled(key), self.edges, key)
        return layout

    def __getstate__(self) -> dict[str, object]:
        names = ("inner", "blocks", "edges", "seed", "reshuffle", "length")
        return {name: getattr(self, name) for name in names}

    def __setstate__(self, state: dict[str, object]) -> None:
        for name, value in {**state, "_layouts": {}, "_lock": ForkSafeLock()}.items():
            object.__setattr__(self, name, value)


class _Layout:
    """The order of one epoch."""

    def __init__(self, schedule: Schedule, edges: Int64s, key: int) -> None:
        self.schedule = schedule
        self._key = key
        self._firsts = edges[:-1][schedule.order]  # where each block begins in the order before
        rows = np.diff(edges)[schedule.order]
        self._block_starts = np.concatenate([[0], np.cumsum(rows)])  # and where its rows are, before they are mixed
        windows = schedule.windows[schedule.order]  # they rise
        self.windows = int(windows[-1]) + 1 if len(windows) else 0
        self._window_starts = self._block_starts[np.searchsorted(windows, np.arange(self.windows + 1))]

    def windows_at(self, positions: Int64s) -> npt.NDArray[np.intp]:
        return np.searchsorted(self._window_starts, positions, side="right") - 1

    def at(self, positions: Int64s) -> Int64s:
        windows = self.windows_at(positions)
        mixed = np.empty_like(positions)
        for window, mine in groups(windows):
            first, stop = int(self._window_starts[window]), int(self._window_starts[window + 1])
            permutation = keyed_permutation(stop - first, stream_key(self._key, f"window/{window}"))
            mixed[mine] = first + permutation.at(positions[mine] - first)
        blocks = np.searchsorted(self._block_starts, mixed, side="right") - 1
        found: npt.NDArray[np.int64] = self._firsts[blocks] + mixed - self._block_starts[blocks]
        return found


def block_shuffle(dataset: StoredDataset, order: Order, seed: int, *, reshuffle: bool) -> BlockShuffled | None:
    """Return a shuffle in windows of an order; None for an order that jumps about in the files already."""
    rows = dataset.record_range()
    if not order.rises or rows.step < 1 or not order.length:
        return None
    blocks = Blocks.of(dataset)
    return BlockShuffled(order, blocks, _first_positions(order, rows, blocks.starts), seed, reshuffle)


def block_shuffles(order: Order) -> list[BlockShuffled | None]:
    """Return, for each dataset that an order draws from, the block shuffle that it goes through."""
    if isinstance(order, BlockShuffled):
        return [order]
    return [found for inner in order.inner_orders for found in block_shuffles(inner)] or [None]


def _first_positions(order: Order, rows: range, records: Int64s) -> Int64s:
    """Return for each of these records how many positions of the order have records before it."""
    low, high = np.zeros_like(records), np.full_like(records, order.length)
    while (low < high).any():
        middle = (low + high) // 2
        here = order.at(0, np.minimum(middle, order.length - 1)).numbers
        before = (rows.start + here * rows.step < records) & (middle < order.length)
        searching = low < high
        low = np.where(searching & before, middle + 1, low)
        high = np.where(searching & ~before, middle, high)
    return low
