"""Tells the cache when each block of a remote file is used next: the order of reading is known beforehand.

The cache keeps the blocks that are used soonest (see `recordsmith.storage.ranged.block_cache`). That matters only where
the files do not fit into it; then, before an epoch:

- in windows, each block is used once per epoch, and the schedule of the next epoch says when.
- in any other order, the uses of each block in this epoch and its first use in the next one are looked up, up to some
  million records. It is done in the background.

Only the order of the uses counts. As times they are estimated from the speed so far, rather too late than too early:
the cache takes a block whose time has passed for forgotten.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from recordsmith.dataset import StoredDataset
from recordsmith.loader.order.block_shuffle import BlockShuffled
from recordsmith.loader.order.record_order import Order
from recordsmith.storage.ranged.block_cache import BLOCK
from recordsmith.storage.ranged.opening import is_ranged, open_object
from recordsmith.storage.ranged.remote_object import in_background

__all__ = ["NextUses"]

Int64s = npt.NDArray[np.int64]

_SPEED = 20e6  # bytes per second, until it is measured
_LATER = 2.0  # how many times later than by the speed so far
_MOST = 4 << 20  # uses of blocks: 8 bytes each
_AT_ONCE = 1 << 20  # positions that are looked up at a time


class NextUses:
    """What the cache is told about the datasets of a loader.

    Args:
        datasets: the datasets, which the order numbers through.
        order: the order.
        shuffles: the shuffle in windows of each dataset; None if there is none.
    """

    def __init__(self, datasets: tuple[StoredDataset, ...], order: Order, shuffles: list[BlockShuffled | None]) -> None:
        self._datasets, self._order, self._shuffles = datasets, order, shuffles
        self._epoch: int | None = None
        self._begun, self._begun_at, self._at = 0.0, 0, 0
        self._record_bytes = 1.0
        self._windows: dict[int, int] = {}  # by dataset: the epoch whose windows the cache knows

    def reached_window(self, number: int, epoch: int) -> None:
        """Say that a window of a dataset is read, in an epoch as its shuffle counts them."""
        dataset, shuffle = self._datasets[number], self._shuffles[number]
        if shuffle is not None and self._windows.get(number) != epoch:
            self._windows[number] = epoch
            if not _fits_in_cache(dataset):
                _tell_windows(dataset, shuffle, epoch)

    def reached(self, epoch: int, position: int) -> None:
        """Say how far the reading is; at the beginning of an epoch, tell the cache about it."""
        self._at = position
        if epoch == self._epoch:
            return
        self._epoch = epoch
        self._begun, self._begun_at = time.monotonic(), position
        starts = np.cumsum([0, *(len(dataset) for dataset in self._datasets)])
        for number, (dataset, shuffle) in enumerate(zip(self._datasets, self._shuffles, strict=True)):
            if not dataset.is_remote or not dataset.places().is_plain or _fits_in_cache(dataset):
                continue
            self._record_bytes = sum(index.end for index in dataset.places().indexes) / max(1, dataset.places().records)
            if shuffle is None and self._order.length + len(_block_starts(dataset)) <= _MOST:
                first = int(starts[number])
                in_background(lambda dataset=dataset, first=first: self._tell(dataset, first, epoch))  # type: ignore[misc]

    def _tell(self, dataset: StoredDataset, first: int, epoch: int) -> None:
        now = _Uses.of(self._order, dataset, first, epoch)
        later = _Uses.of(self._order, dataset, first, epoch + 1)
        blocks = _block_starts(dataset)
        for file, index in enumerate(dataset.places().indexes):
            if is_ranged(index.path):
                open_object(index.path).next_use = self._clock(now, later, int(blocks[file]))

    def _clock(self, now: _Uses, later: _Uses, first_block: int) -> Callable[[int], float]:
        length = self._order.length

        def when(block: int) -> float:
            position = now.after(first_block + block, self._at)
            if position is None:
                position = length + (later.first(first_block + block, default=length))
            return time.time() + (position - self._at) * self._pace() * _LATER

        return when

    def _pace(self) -> float:
        """Return how many seconds a record takes."""
        rows, seconds = self._at - self._begun_at, time.monotonic() - self._begun
        return seconds / rows if rows > 0 and seconds > 5 else self._record_bytes / _SPEED


class _Uses:
    """At which positions of an epoch each block is used: those of one block after the other, each time rising."""

    def __init__(self, blocks: Int64s, positions: Int64s, count: int) -> None:
        by_block = np.argsort(blocks, kind="stable")
        self._positions = positions[by_block]
        self._starts = np.searchsorted(blocks[by_block], np.arange(count + 1))

    @staticmethod
    def of(order: Order, dataset: StoredDataset, first: int, epoch: int) -> _Uses:
        """Look up the uses of a dataset's blocks; `first` is the number of its first row in the order."""
        table, rows = dataset.places(), dataset.record_range()
        starts = _block_starts(dataset)
        offsets = [np.asarray(index.offsets[:]).astype(np.int64) for index in table.indexes]
        edges = np.concatenate([one + BLOCK * starts[file] for file, one in enumerate(offsets)])
        blocks, positions = [], []
        for begin in range(0, order.length, _AT_ONCE):
            at = np.arange(begin, min(begin + _AT_ONCE, order.length), dtype=np.int64)
            numbers = order.at(epoch, at).numbers - first
            mine = (numbers >= 0) & (numbers < len(rows))
            at, records = at[mine], rows.start + numbers[mine] * rows.step
            files, _ = table.at(records)
            place = records + files  # each file has one more offset than records
            head, tail = edges[place] // BLOCK, (edges[place + 1] - 1) // BLOCK
            counts = tail - head + 1
            within = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
            blocks.append(np.repeat(head, counts) + within)
            positions.append(np.repeat(at, counts))
        nothing = [np.empty(0, np.int64)]
        return _Uses(np.concatenate(blocks or nothing), np.concatenate(positions or nothing), int(starts[-1]))

    def after(self, block: int, position: int) -> int | None:
        """Return the first position after this one at which a block is used."""
        mine = self._positions[self._starts[block] : self._starts[block + 1]]
        found = int(np.searchsorted(mine, position, side="right"))
        return int(mine[found]) if found < len(mine) else None

    def first(self, block: int, default: int) -> int:
        """Return the first position at which a block is used."""
        found = self.after(block, -1)
        return default if found is None else found


def _block_starts(dataset: StoredDataset) -> Int64s:
    """Return the first block of each file, counted over all files; and last, how many blocks there are."""
    sizes = [-(-max(1, index.end) // BLOCK) for index in dataset.places().indexes]
    return np.cumsum([0, *sizes]).astype(np.int64)


def _fits_in_cache(dataset: StoredDataset) -> bool:
    remote = [open_object(index.path) for index in dataset.places().indexes if is_ranged(index.path)]
    return not remote or sum(one.size for one in remote) <= remote[0].cache().limit


def _tell_windows(dataset: StoredDataset, shuffle: BlockShuffled, epoch: int) -> None:
    """Note when each block is used after this epoch."""
    blocks, table = shuffle.blocks, dataset.places()
    order = shuffle.schedule(epoch + 1).order
    total = int(blocks.sizes.sum())
    when = np.empty(len(blocks))
    when[order] = time.time() + (total + np.cumsum(blocks.sizes[order])) / _SPEED
    for file, index in enumerate(table.indexes):
        if not is_ranged(index.path):
            continue
        remote = open_object(index.path)
        expected = np.full(-(-remote.size // BLOCK), np.inf)
        mine = np.flatnonzero(blocks.files == file)
        first = np.asarray(index.offsets)[blocks.starts[mine] - table.starts[file]].astype(np.int64)
        last = np.minimum(first + blocks.sizes[mine] - 1, remote.size - 1)
        for edge in (first, last):
            np.minimum.at(expected, edge // BLOCK, when[mine])
        times = np.where(np.isinf(expected), time.time() + 2 * total / _SPEED, expected).tolist()
        remote.next_use = times.__getitem__
