"""A shuffled split without random reads: records are distributed over buckets, and each bucket is sorted alone.

Reading records one by one at random places of a large file is slow wherever the file is not in memory, and maps all of
it into the process where it is. So the staged records are read once from front to back and distributed over buckets.
Each holds a run of the final order, and is small enough to be read at random places.
"""

from __future__ import annotations

import os
import shutil
import threading
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from recordsmith import _core
from recordsmith.keyed_random import Uint64s
from recordsmith.records.index import FRAMING_BYTES
from recordsmith.run.splits.split_order import SplitOrder, StagedBlock
from recordsmith.run.staging.record_files import RecordFiles
from recordsmith.run.staging.staging import Staging
from recordsmith.workers.threads import in_order, thread_pool

__all__ = [
    "BUCKETS_ABOVE_BYTES",
    "Bucket",
    "BucketLimits",
    "Buckets",
    "bucket_limits",
    "cut_runs",
    "fill_buckets",
]

BUCKETS_ABOVE_BYTES = 128 << 20  # bytes of records; fewer are read at random places directly
# Larger records, which are read by one call each, are read directly up to here: they were just written, so they are
# still in the page cache, unless memory is short.
_BUCKETS_OF_LARGE_ABOVE_BYTES = 1 << 30
_LARGE_RECORD_BYTES = 2 << 10
_PART_OF_MEMORY = 8
_BUCKET_BYTES = 32 << 20
_MOST_BUCKETS = 4096
_PIECE_BYTES = 16 << 20  # read and distributed at a time


class Bucket:
    """A run of the final order: records in the order in which they were read, and how to sort them."""

    def __init__(self, path: str) -> None:
        entries = np.fromfile(f"{path}.keys", np.uint64).reshape(-1, 2)
        sizes = entries[:, 1] + np.uint64(FRAMING_BYTES)
        self._order = np.argsort(np.ascontiguousarray(entries[:, 0]))  # no two are equal
        self._offsets = np.cumsum(sizes, dtype=np.uint64) - sizes
        self._lengths = np.ascontiguousarray(entries[:, 1])
        self._files = _core.FileSet([path])

    def lengths(self, first: int, last: int) -> Uint64s:
        """Return how long the payloads at these positions of the run are."""
        return self._lengths[self._order[first:last]]

    def frames(self, first: int, last: int) -> npt.NDArray[np.uint8]:
        """Return the records at these positions of the run, with their framing."""
        chosen = self._order[first:last]
        files = np.zeros(len(chosen), np.uint32)
        numbers = chosen.astype(np.uint64)
        return self._files.frames(files, self._offsets[chosen], self._lengths[chosen], numbers, verify=True)


@dataclass(frozen=True)
class Buckets:
    """The buckets of a split.

    Attributes:
        folder: where they are.
        rows: how many positions of the order each of them has; the last one may have fewer.
    """

    folder: str
    rows: int

    def open(self, number: int) -> Bucket:
        """Load what is needed to read a bucket in its order."""
        return Bucket(os.path.join(self.folder, f"{number:05}"))


def fill_buckets(staging: Staging, order: SplitOrder, *, workers: int) -> Buckets | None:
    """Distribute the records of a shuffled split over buckets; None if there are too few for that.

    In which order records come to a bucket does not matter, so several threads may distribute records at once.
    """
    limits = bucket_limits(order)
    if limits is None or order.unsorted is None or _is_read_directly(order):
        return None
    folder = staging.path(f"buckets-{order.split}")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    records = staging.records()
    filler = _BucketFiller(records, folder, limits.keys)
    pieces = ((block, slice(first, last)) for block in order.unsorted() for first, last in cut_runs(block, records))
    with thread_pool(workers) as pool:
        for _ in in_order(pool, filler.add, pieces, ahead=workers):
            pass
    return Buckets(folder, limits.rows)


def _is_read_directly(order: SplitOrder) -> bool:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    most = min(_BUCKETS_OF_LARGE_ABOVE_BYTES, memory // _PART_OF_MEMORY)
    return order.bytes >= _LARGE_RECORD_BYTES * order.rows and order.bytes <= most


class BucketLimits(NamedTuple):
    """Where buckets begin: the sorting keys, without that of the first; and how many rows each has."""

    keys: Uint64s
    rows: int


def bucket_limits(order: SplitOrder) -> BucketLimits | None:
    """Say where the buckets of a shuffled split begin; None if it is small enough to do without."""
    if order.unsorted is None or order.bytes <= BUCKETS_ABOVE_BYTES:
        return None
    count = min(_MOST_BUCKETS, (order.bytes + _BUCKET_BYTES - 1) // _BUCKET_BYTES)
    rows = (order.rows + count - 1) // count
    keys = np.array([order.sorting_key(first) for first in range(rows, order.rows, rows)], np.uint64)
    return BucketLimits(keys, rows)


def cut_runs(block: StagedBlock, records: RecordFiles) -> list[tuple[int, int]]:
    """Cut the rows of a block into runs that are read at a time, each from one file."""
    if not len(block.keys):
        return []
    sizes = block.keys["length"].astype(np.int64) + FRAMING_BYTES
    numbers = (np.cumsum(sizes) - sizes) // _PIECE_BYTES
    files, _ = records.located(np.ascontiguousarray(block.keys["offset"]))
    cuts = [0, *(np.flatnonzero(np.diff(numbers) + np.diff(files.astype(np.int64))) + 1).tolist(), len(sizes)]
    return list(pairwise(cuts))


class _BucketFiller:
    """Appends records to the buckets that they belong to. Several threads may use one."""

    def __init__(self, records: RecordFiles, folder: str, limits: Uint64s) -> None:
        self._records = records
        self._limits = limits
        self._paths = [os.path.join(folder, f"{number:05}") for number in range(len(limits) + 1)]
        self._locks = [threading.Lock() for _ in self._paths]

    def add(self, piece: tuple[StagedBlock, slice]) -> None:
        """Append the records of some rows to their buckets, each as often as it is written."""
        block, rows = piece
        mine = slice(*np.searchsorted(block.places, [rows.start, rows.stop]).tolist())
        if mine.start == mine.stop:
            return
        lengths = block.keys["length"][rows].astype(np.uint64)
        offsets = np.concatenate([[0], np.cumsum(lengths + np.uint64(FRAMING_BYTES))]).astype(np.uint64)
        frames = self._records.span(int(block.keys["offset"][rows.start]), int(offsets[-1]))
        places = block.places[mine] - rows.start
        sorting_keys = block.entries[mine, 0]
        bucket_of = np.searchsorted(self._limits, sorting_keys, side="right")
        order = np.argsort(bucket_of.astype(np.uint16), kind="stable")  # of few bits: a radix sort
        cuts = np.cumsum(np.bincount(bucket_of, minlength=len(self._paths))).tolist()
        sink = _core.RecordSink()
        for number, (first, last) in enumerate(pairwise([0, *cuts])):
            if first < last:
                chosen = order[first:last]
                sink.append_chosen(frames, offsets, places[chosen])
                self._append(number, sink.take()[0], sorting_keys[chosen], lengths[places[chosen]])

    def _append(self, number: int, frames: npt.NDArray[np.uint8], sorting_keys: Uint64s, lengths: Uint64s) -> None:
        path = self._paths[number]
        entries = np.stack([sorting_keys, lengths], axis=1)
        with self._locks[number], open(path, "ab") as file, open(f"{path}.keys", "ab") as keys:
            file.write(frames.data)
            keys.write(entries.data)
