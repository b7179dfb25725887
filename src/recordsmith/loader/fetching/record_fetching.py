"""Records by number out of one dataset, or out of several that are numbered through."""

from __future__ import annotations

from collections import deque
from contextlib import nullcontext
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.columns.any_column import concatenate
from recordsmith.dataset import StoredDataset
from recordsmith.loader.fetching.next_uses import NextUses
from recordsmith.loader.fetching.read_windows import WindowedReading
from recordsmith.loader.fetching.reading_ahead import ReadAhead
from recordsmith.loader.order.block_shuffle import BlockShuffled, block_shuffles
from recordsmith.loader.order.read_blocks import is_read_in_order, runs_of
from recordsmith.loader.order.record_order import Order, OrderedRecords
from recordsmith.storage.ranged.opening import is_ranged, open_object
from recordsmith.storage.ranged.remote_object import announced_before
from recordsmith.storage.ranged.requests import Waiting

__all__ = ["Fetcher"]

Int64s = npt.NDArray[np.int64]


class Fetcher:
    """Fetches rows by their number over all datasets of a plan, whose order says how compressed files are read."""

    def __init__(self, datasets: tuple[StoredDataset, ...], order: Order) -> None:
        self._datasets = datasets
        self._order = order
        self._waiting = Waiting()
        self._announced: deque[tuple[int, int, int]] = deque(maxlen=8)  # windows
        self._last_windows: tuple[int, ...] = ()

    @cached_property
    def _starts(self) -> Int64s:
        return np.cumsum([0, *(len(dataset) for dataset in self._datasets)])

    @cached_property
    def _windowed(self) -> list[WindowedReading | None]:
        """How each dataset is read window by window; None for those that have random access."""
        return [
            WindowedReading(dataset, shuffle) if is_read_in_order(dataset) else None
            for dataset, shuffle in zip(self._datasets, self._shuffles, strict=True)
        ]

    @cached_property
    def is_remote(self) -> bool:
        """Whether some records come from an object store."""
        return any(dataset.is_remote for dataset in self._datasets)

    @cached_property
    def _next_uses(self) -> NextUses:
        return NextUses(self._datasets, self._order, self._shuffles)

    @cached_property
    def _shuffles(self) -> list[BlockShuffled | None]:
        return block_shuffles(self._order)

    def read_ahead(self) -> ReadAhead:
        """Return how far ahead records are announced: two windows after the one that is read.

        These three fit into memory. So the third one is announced when the tasks of the one before have ended.
        """
        windows = [shuffle.blocks.window_bytes for shuffle in self._shuffles if shuffle is not None]
        return ReadAhead(2 * max(windows) + 1, max(windows) * 7 // 4) if windows else ReadAhead()

    def announce(self, epoch: int, positions: Int64s) -> None:
        """Begin to fetch what the records at some positions need: themselves, or the windows that they are in."""
        if not len(positions):
            return
        self._next_uses.reached(epoch, int(positions[-1]))
        if len(self._datasets) == 1 and self._shuffles[0] is not None:
            positions = positions[[0, -1]]  # what is between them is in the same windows
            if self._order is self._shuffles[0]:
                windows = self._shuffles[0].windows_at(epoch, positions)
                if windows == self._last_windows:
                    return
                self._last_windows = windows
        records = self._order.at(epoch, positions)
        owners = np.searchsorted(self._starts, records.numbers, side="right") - 1
        shuffles = self._shuffles
        for owner in np.unique(owners).tolist():
            mine = np.flatnonzero(owners == owner)
            dataset, shuffle = self._datasets[owner], shuffles[owner]
            numbers = records.numbers[mine] - self._starts[owner]
            if not dataset.is_remote or not dataset.places().is_plain:
                continue  # compressed files are read in order
            if shuffle is None:
                dataset.announce(numbers)
                continue
            for own_epoch, window in shuffle.windows_of(numbers, records.epochs[mine], dataset.record_range()):
                if (owner, own_epoch, window) not in self._announced:
                    self._announced.append((owner, own_epoch, window))
                    self._next_uses.reached_window(owner, own_epoch)
                    # Those before it are still to be read: they stay in memory longer than what was read already.
                    for one in range(max(0, window - 2), window + 1):
                        _announce_window(dataset, shuffle, own_epoch, one)

    def stop(self) -> None:
        """Let threads that wait for the network give up, now and later."""
        self._waiting.stop()

    def columns(self, records: OrderedRecords) -> dict[str, Any]:
        """Return these records, in this order, as columns."""
        with self._waiting.mine():
            return self._columns(records)

    def _columns(self, records: OrderedRecords) -> dict[str, Any]:
        if len(self._datasets) == 1:
            return self._of_one(0, records)
        owners = np.searchsorted(self._starts, records.numbers, side="right") - 1
        parts, places = [], []
        for owner in np.unique(owners).tolist():
            mine = np.flatnonzero(owners == owner)
            parts.append(
                self._of_one(owner, OrderedRecords(records.numbers[mine] - self._starts[owner], records.epochs[mine]))
            )
            places.append(mine)
        return _put_together(parts, places)

    def _of_one(self, owner: int, records: OrderedRecords) -> dict[str, Any]:
        windowed = self._windowed[owner]
        if windowed is None:
            dataset = self._datasets[owner]
            in_windows = len(self._datasets) == 1 and self._shuffles[owner] is not None
            with announced_before(in_windows=in_windows) if dataset.is_remote else nullcontext():
                return dataset[records.numbers]
        places = windowed.in_windows(records)
        if len(places) <= 1:
            return windowed.columns(records)
        parts = [windowed.columns(OrderedRecords(records.numbers[mine], records.epochs[mine])) for mine in places]
        return _put_together(parts, places)

    def place(self, number: int) -> tuple[StoredDataset, int]:
        """Return the dataset that a record is in, and its number there."""
        owner = int(np.searchsorted(self._starts, number, side="right")) - 1
        return self._datasets[owner], number - int(self._starts[owner])

    def file_of(self, number: int) -> tuple[str, int]:
        """Return the file that a record is in, and its number there."""
        dataset, within = self.place(number)
        return dataset.place_of(within)

    @cached_property
    def has_random_access(self) -> bool:
        """Whether any few records can be had without those around them."""
        return not any(is_read_in_order(dataset) for dataset in self._datasets)

    @cached_property
    def record_bytes(self) -> float:
        """Return how large a record is on average, decompressed."""
        tables = [dataset.places() for dataset in self._datasets]
        total = sum(index.end for table in tables for index in table.indexes)
        return total / max(1, sum(table.records for table in tables))


def _announce_window(dataset: StoredDataset, shuffle: BlockShuffled, epoch: int, window: int) -> None:
    """Begin to fetch a window: in each file, its blocks follow each other."""
    table = dataset.places()
    for file, first, stop in runs_of(shuffle.blocks, shuffle.schedule(epoch).blocks_of(window).tolist()):
        index, start = table.indexes[file], int(table.starts[file])
        if is_ranged(index.path):
            begin, end = index.offsets[first - start], index.offsets[stop - start]
            open_object(index.path).announce([(int(begin), int(end))])


def _put_together(parts: list[dict[str, Any]], places: list[npt.NDArray[np.intp]]) -> dict[str, Any]:
    back = np.argsort(np.concatenate(places))
    return {name: concatenate([part[name] for part in parts])[back] for name in parts[0]}
