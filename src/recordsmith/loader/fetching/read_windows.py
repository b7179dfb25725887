"""Records by number out of compressed files that do not fit into memory, when their order keeps to windows.

Each file stays open where it was left. A window is decompressed as a whole when its first record is asked for, by all
threads that wait for it together, a file each; the last two are kept. So an epoch decompresses everything once. Records
that are asked for in an order of another kind are right too, and slow.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith import _core
from recordsmith.dataset import StoredDataset
from recordsmith.dataset.compressed import check_place, open_indexed
from recordsmith.loader.order.block_shuffle import BlockShuffled
from recordsmith.loader.order.read_blocks import Blocks, Schedule, runs_of
from recordsmith.loader.order.record_order import OrderedRecords
from recordsmith.records.core_failures import StaleIndexError, exception_for
from recordsmith.records.index import ShardIndex

__all__ = ["WindowedReading"]

_KEPT = 2
_EPOCHS_KEPT = 2


@dataclass
class _Run:
    """Records of one file, one after the other, and what stopped them from being read further."""

    first: int
    payloads: list[bytes] = field(default_factory=list)
    failure: Exception | None = None


class _Window:
    """Some runs, which are read by as many threads as come for it."""

    def __init__(self, runs: Sequence[tuple[int, int, int]]) -> None:
        self.runs = {file: _Run(first) for file, first, _ in runs}
        self.waiting = deque(runs)
        self._unread = len(runs)
        self._lock = threading.Lock()
        self._ready = threading.Event()
        if not runs:
            self._ready.set()

    def finished(self) -> None:
        with self._lock:
            self._unread -= 1
            if not self._unread:
                self._ready.set()

    def wait(self) -> None:
        self._ready.wait()


class WindowedReading:
    """Reads a dataset window by window.

    Args:
        dataset: the dataset.
        shuffle: the shuffle whose windows they are; None: the files are read one after the other.
    """

    def __init__(self, dataset: StoredDataset, shuffle: BlockShuffled | None) -> None:
        self._dataset = dataset
        self._shuffle = shuffle
        self._blocks = Blocks.of(dataset) if shuffle is None else shuffle.blocks
        indexes = dataset.places().indexes
        self._files = {index.path: number for number, index in enumerate(indexes)}
        self._indexes = indexes
        self._starts = dataset.places().starts
        self._verify = dataset.verifies
        self._schedules: OrderedDict[int, Schedule] = OrderedDict()
        self._windows: OrderedDict[tuple[int, int], _Window] = OrderedDict()
        self._streams: dict[int, _core.RecordStream] = {}
        self._lock = threading.Lock()

    def in_windows(self, records: OrderedRecords) -> list[npt.NDArray[np.intp]]:
        """Return which of these records are in the same window, so that each window is read once."""
        rows = self._dataset.record_range()
        blocks = self._blocks.holding(rows.start + records.numbers * rows.step)
        places = []
        for epoch in np.unique(records.epochs).tolist():
            mine = np.flatnonzero(records.epochs == epoch)
            windows = self._schedule(self._counted(epoch)).windows[blocks[mine]]
            places += [mine[windows == window] for window in np.unique(windows).tolist()]
        return places

    def columns(self, records: OrderedRecords) -> dict[str, Any]:
        """Return records of one epoch as columns."""
        epoch = self._counted(int(records.epochs[0]) if len(records.epochs) else 0)
        # Made for each call: if this object held it, each would keep the other alive, and what was read.
        reader = _EpochReader(self, epoch, self._schedule(epoch))
        return self._dataset.reading_with(reader)[records.numbers]

    def _schedule(self, epoch: int) -> Schedule:
        with self._lock:
            known = self._schedules.get(epoch)
            if known is None:
                known = self._blocks.in_file_order() if self._shuffle is None else self._shuffle.schedule(epoch)
                self._schedules[epoch] = known
                while len(self._schedules) > _EPOCHS_KEPT:
                    self._schedules.popitem(last=False)
        return known

    def _counted(self, epoch: int) -> int:
        """Return the number under which an epoch is known: all are the same where nothing is shuffled anew."""
        return 0 if self._shuffle is None or not self._shuffle.reshuffle else epoch

    def read(self, epoch: int, schedule: Schedule, index: ShardIndex, numbers: Sequence[int]) -> list[bytes]:
        """Return the payloads of records of one file."""
        file = self._files[index.path]
        records = np.asarray(numbers, np.int64) + int(self._starts[file])
        windows = schedule.windows[self._blocks.holding(records)]
        payloads: list[bytes] = [b""] * len(numbers)
        for window in np.unique(windows).tolist():
            run = self._window(epoch, schedule, window).runs[file]
            for place in np.flatnonzero(windows == window).tolist():
                within = int(records[place]) - run.first
                if within >= len(run.payloads):
                    raise run.failure or exception_for("stale_index", index.path)
                payloads[place] = run.payloads[within]
        return payloads

    def _window(self, epoch: int, schedule: Schedule, number: int) -> _Window:
        with self._lock:
            window = self._windows.get((epoch, number))
            before = next(reversed(self._windows.values()), None)
        if window is None:
            if before is not None:
                self._help(before)  # files are read on from where it leaves them
            with self._lock:
                window = self._windows.get((epoch, number))
                if window is None:
                    while len(self._windows) >= _KEPT:
                        self._windows.popitem(last=False)
                    runs = runs_of(self._blocks, schedule.blocks_of(number).tolist())
                    compressed = [run for run in runs if self._indexes[run[0]].compression != "none"]
                    window = self._windows[epoch, number] = _Window(compressed)
        self._help(window)
        return window

    def _help(self, window: _Window) -> None:
        """Read what of a window nobody has begun to read, and wait for the rest."""
        while True:
            try:
                file, first, stop = window.waiting.popleft()
            except IndexError:
                break
            try:
                self._read_run(window.runs[file], file, first, stop)
            finally:
                window.finished()
        window.wait()

    def _read_run(self, run: _Run, file: int, first: int, stop: int) -> None:
        index, start = self._indexes[file], int(self._starts[file])
        stream = self._streams.pop(file, None)
        try:
            if stream is None or stream.number > first - start:
                stream = open_indexed(index, verify=self._verify)
            while stream.number < first - start and stream.next() is not None:
                pass
            check_place(stream, index, first - start)
            while len(run.payloads) < stop - first and (payload := stream.next()) is not None:
                run.payloads.append(payload)
            check_place(stream, index, stop - start)
        except StaleIndexError as error:
            run.payloads.clear()  # they may be others than those asked for
            run.failure = error
            return
        except Exception as error:  # noqa: BLE001 - raised for those records that were not reached
            run.failure = error
            return
        if stream.number < index.records:
            self._streams[file] = stream


@dataclass(frozen=True)
class _EpochReader:
    """What a dataset reads compressed files with, in one epoch."""

    reading: WindowedReading
    epoch: int
    schedule: Schedule

    def read(self, index: ShardIndex, numbers: Sequence[int]) -> list[bytes]:
        """Return the payloads of these records, in this order."""
        return self.reading.read(self.epoch, self.schedule, index, numbers)
