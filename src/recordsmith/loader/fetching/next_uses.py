"""Tells the cache when each block of a remote file is used next: the order of reading is known beforehand.

The cache keeps the blocks that are used soonest (see `recordsmith.storage.ranged.block_cache`). That matters only where
the files do not fit into it; then, before an epoch:

- in windows, each block is used once per epoch, and the schedule of the next epoch says when.
- in any other order, the uses of each block in this epoch and its first use in the next one are looked up, up to some
  million records. It is done in the background.

Only the order of the uses counts, so their times are those of a clock that runs by the bytes that are read, at a low
speed. It is set forward if the reading is even slower: the cache takes a block whose time has passed for forgotten.
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

_SPEED = 20e6  # bytes per second
_MOST = 4 << 20  # uses of blocks: 8 bytes each
_AT_ONCE = 1 << 20  # positions that are looked up at a time


class _Clock:
    """When a byte is read, counted over all epochs."""

    def __init__(self) -> None:
        self._begun: float | None = None

    def reached(self, byte: float) -> None:
        """Say how far the reading is: times after it are in the future."""
        now = time.time() - byte / _SPEED
        self._begun = now if self._begun is None else max(self._begun, now)

    def time_of(self, byte: float) -> float:
        """Return the time of a byte, in seconds since 1970."""
        return (self._begun or time.time()) + byte / _SPEED


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
        self._at = 0
        self._clock = _Clock()
        self._record_bytes = 1.0
        self._told: dict[str, dict[int, Callable[[int], float]]] = {}  # by file and dataset
        self._windows: dict[int, int] = {}  # by dataset: the epoch whose windows the cache knows

    def reached_window(self, number: int, epoch: int) -> None:
        """Say that a window of a dataset is read, in an epoch as its shuffle counts them."""
        dataset, shuffle = self._datasets[number], self._shuffles[number]
        if shuffle is not None and self._windows.get(number) != epoch:
            self._windows[number] = epoch
            if not _fits_in_cache(dataset):
                self._tell_windows(dataset, shuffle, epoch)

    def reached(self, epoch: int, position: int) -> None:
        """Say up to which position records are under way; at the beginning of an epoch, tell the cache about it."""
        self._at = position
        if epoch == self._epoch:
            self._clock.reached(self._byte(epoch, position))
            return
        self._epoch = epoch
        starts = np.cumsum([0, *(len(dataset) for dataset in self._datasets)])
        for number, (dataset, shuffle) in enumerate(zip(self._datasets, self._shuffles, strict=True)):
            if not dataset.is_remote or not dataset.places().is_plain or _fits_in_cache(dataset):
                continue
            self._record_bytes = sum(index.end for index in dataset.places().indexes) / max(1, dataset.places().records)
            if shuffle is None and self._order.length + len(_block_starts(dataset)) <= _MOST:
                first = int(starts[number])
                in_background(lambda n=number, first=first: self._tell(n, first, epoch))  # type: ignore[misc]

    def _tell(self, number: int, first: int, epoch: int) -> None:
        dataset = self._datasets[number]
        now = _Uses.of(self._order, dataset, first, epoch)
        later = _Uses.of(self._order, dataset, first, epoch + 1)
        blocks = _block_starts(dataset)
        for file, index in enumerate(dataset.places().indexes):
            if is_ranged(index.path):
                told = self._told.setdefault(index.path, {})  # several datasets may be parts of one file
                told[number] = self._times(epoch, (now, later), int(blocks[file]))
                open_object(index.path).next_use = _soonest(list(told.values()))

    def _times(self, epoch: int, uses: tuple[_Uses, ...], first_block: int) -> Callable[[int], float]:
        length = self._order.length

        def when(block: int) -> float:
            # The epoch after is known too: it begins before its own uses were looked up.
            now = max(epoch, self._epoch or 0)
            for number, known in enumerate(uses, epoch):
                found = known.after(first_block + block, self._at if number == now else -1) if number >= now else None
                if found is not None:
                    return self._clock.time_of(self._byte(number, found))
            return self._clock.time_of(self._byte(epoch + 2, length))

        return when

    def _byte(self, epoch: int, position: int) -> float:
        return (epoch * self._order.length + position) * self._record_bytes

    def _tell_windows(self, dataset: StoredDataset, shuffle: BlockShuffled, epoch: int) -> None:
        """Note when each block is used after this epoch."""
        blocks, table = shuffle.blocks, dataset.places()
        order = shuffle.schedule(epoch + 1).order
        total = int(blocks.sizes.sum())
        self._clock.reached(epoch * total)
        when = np.empty(len(blocks))
        when[order] = self._clock.time_of((epoch + 1) * total) + np.cumsum(blocks.sizes[order]) / _SPEED
        for file, index in enumerate(table.indexes):
            if not is_ranged(index.path):
                continue
            remote = open_object(index.path)
            expected = np.full(-(-remote.size // BLOCK), self._clock.time_of((epoch + 3) * total))
            mine = np.flatnonzero(blocks.files == file)
            first = np.asarray(index.offsets)[blocks.starts[mine] - table.starts[file]].astype(np.int64)
            last = np.minimum(first + blocks.sizes[mine] - 1, remote.size - 1)
            for edge in (first, last):
                np.minimum.at(expected, edge // BLOCK, when[mine])
            remote.next_use = expected.tolist().__getitem__


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


def _soonest(times: list[Callable[[int], float]]) -> Callable[[int], float]:
    return times[0] if len(times) == 1 else lambda block: min(when(block) for when in times)


def _block_starts(dataset: StoredDataset) -> Int64s:
    """Return the first block of each file, counted over all files; and last, how many blocks there are."""
    sizes = [-(-max(1, index.end) // BLOCK) for index in dataset.places().indexes]
    return np.cumsum([0, *sizes]).astype(np.int64)


def _fits_in_cache(dataset: StoredDataset) -> bool:
    remote = [open_object(index.path) for index in dataset.places().indexes if is_ranged(index.path)]
    return not remote or sum(one.size for one in remote) <= remote[0].cache().limit
