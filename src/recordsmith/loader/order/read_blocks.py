"""Compressed data cut into blocks that are read one after the other, and grouped into windows that fit into memory.

    files     AAAAAAAA BBBBBBBB CCCCCCCC        each can only be read from its front
    blocks    A0 A1 A2 B0 B1 B2 C0 C1 C2        runs of records, about BLOCK_BYTES each when decompressed
    windows   (A0 C0 B0) (C1 A1 B1) (B2 C2 A2)  blocks that are in memory together, WINDOW_BYTES

A schedule says which window each block belongs to. In file order, windows follow the files. In a shuffled one, up to
MOST_OPEN files are read side by side, so that a window has a bit of each of them. Where there are more, they are opened
in a random order and at different times, so that a window has beginnings of some, middles and ends of others.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recordsmith import _core
from recordsmith.dataset import StoredDataset
from recordsmith.keyed_random import priorities, stream_key

__all__ = ["BLOCK_BYTES", "CACHE_BYTES", "Blocks", "Schedule", "is_read_in_order", "is_shuffled_in_windows", "runs_of"]

Int64s = npt.NDArray[np.int64]

CACHE_BYTES = 256 << 20
"""Decompressed data up to this size are kept in memory as a whole; of larger ones, two windows are."""
BLOCK_BYTES = 1 << 20
MOST_OPEN = 64  # files that are read side by side
_REMOTE_WINDOW = 64 << 20
_FITS_IN_MEMORY = 128 << 20  # of remote files
_WORTH_A_REQUEST = 32 << 10  # bytes of a remote record


def is_read_in_order(dataset: StoredDataset) -> bool:
    """Say whether the data are compressed and too large to be kept decompressed: then there is no random access."""
    compressed = [index for index in dataset.places().indexes if index.compression != "none"]
    return sum(index.end for index in compressed) > CACHE_BYTES


def is_shuffled_in_windows(dataset: StoredDataset) -> bool:
    """Say whether records are shuffled in windows if nobody says how: where single ones are slow to get.

    That is so for compressed data that do not fit into memory, and for small records of remote files: one request for
    each would take many times as long as fetching all of them. Remote files that fit into memory are an exception.
    """
    table = dataset.places()
    if not dataset.is_remote or not table.is_plain:
        return is_read_in_order(dataset)
    size = sum(index.end for index in table.indexes)
    return size > _FITS_IN_MEMORY and size < _WORTH_A_REQUEST * table.records


@dataclass(frozen=True, eq=False)
class Blocks:
    """The blocks of a dataset's files, in file order.

    Attributes:
        files: which file each is in.
        starts: its first record, counted over all files; and last how many records there are.
        sizes: its bytes, decompressed.
        window_bytes: how many bytes of them may be in memory as one window.
    """

    files: Int64s
    starts: Int64s
    sizes: Int64s
    window_bytes: int

    def __len__(self) -> int:
        return len(self.files)

    @staticmethod
    def of(dataset: StoredDataset) -> Blocks:
        """Cut a dataset's files into blocks."""
        files, starts, sizes, first = [], [], [], 0
        for number, index in enumerate(dataset.places().indexes):
            if not index.records:
                continue
            offsets = index.offsets[:]
            edges = np.arange(0, int(offsets[-1]), BLOCK_BYTES)
            cuts = np.unique(np.searchsorted(offsets[:-1], edges.astype(np.uint64)))
            cuts = cuts[cuts < index.records]
            places = offsets[np.append(cuts, index.records)].astype(np.int64)
            files.append(np.full(len(cuts), number, np.int64))
            starts.append(cuts + first)
            sizes.append(np.diff(places))
            first += index.records
        nothing = [np.empty(0, np.int64)]
        return Blocks(
            np.concatenate(files or nothing),
            np.concatenate([*(starts or nothing), [first]]).astype(np.int64),
            np.concatenate(sizes or nothing),
            _REMOTE_WINDOW if dataset.is_remote else CACHE_BYTES // 2,
        )

    def holding(self, records: Int64s) -> Int64s:
        """Return the block of each of these records."""
        return np.searchsorted(self.starts, records, side="right") - 1

    def in_file_order(self) -> Schedule:
        """Return the schedule of reading the files one after the other."""
        return self._scheduled(np.arange(len(self)))

    def shuffled(self, key: int) -> Schedule:
        """Return a schedule that reads many files side by side."""
        when = np.empty(len(self), np.float64)
        jitter = priorities(np.arange(len(self), dtype=np.uint64), key) / 2.0**64
        present, firsts, counts = np.unique(self.files, return_index=True, return_counts=True)
        if len(present) <= MOST_OPEN:
            # All from their beginning to their end, at speeds that let them end together.
            for first, count in zip(firsts.tolist(), counts.tolist(), strict=True):
                within = slice(first, first + count)
                when[within] = (np.arange(count) + jitter[within]) / count
        else:
            for number, begin in self._openings(counts, key):
                within = slice(firsts[number], firsts[number] + counts[number])
                when[within] = begin + np.arange(counts[number]) + jitter[within]
        return self._scheduled(np.argsort(when, kind="stable"))

    def _openings(self, counts: Int64s, key: int) -> list[tuple[int, float]]:
        """Say when each file is opened: as soon as one of those before it is through."""
        step = float(np.mean(counts)) / MOST_OPEN
        free = [lane * step for lane in range(MOST_OPEN)]
        order = _core.Permutation(len(counts), stream_key(key, "files")).at(np.arange(len(counts), dtype=np.int64))
        openings = []
        for number in order.tolist():
            begin = heapq.heappop(free)
            openings.append((number, begin))
            heapq.heappush(free, begin + int(counts[number]))
        return openings

    def _scheduled(self, order: npt.NDArray[np.intp]) -> Schedule:
        ends = np.cumsum(self.sizes[order])
        windows = np.empty(len(self), np.int64)
        ordered = (ends - 1) // max(1, self.window_bytes)
        # A block that is larger than a window leaves numbers out; they are to have no gaps.
        windows[order] = np.unique(ordered, return_inverse=True)[1] if len(order) else ordered
        return Schedule(windows, order.astype(np.int64))


@dataclass(frozen=True, eq=False)
class Schedule:
    """In which order blocks are read, and which of them are in memory together.

    Attributes:
        windows: the window of each block.
        order: the blocks as they are read: window by window, and in each file from its front.
    """

    windows: Int64s
    order: Int64s

    def blocks_of(self, window: int) -> Int64s:
        """Return the blocks of a window, in the order of the files."""
        return np.flatnonzero(self.windows == window)


def runs_of(blocks: Blocks, chosen: Sequence[int]) -> list[tuple[int, int, int]]:
    """Return the file, the first record and the end of the run that these blocks, which are sorted, make in each file.

    >>> blocks = Blocks(np.array([0, 0, 1]), np.array([0, 10, 20, 30]), np.array([9, 9, 9]), 27)
    >>> runs_of(blocks, [0, 1, 2])
    [(0, 0, 20), (1, 20, 30)]
    """
    runs: dict[int, tuple[int, int]] = {}
    for block in chosen:
        file, start, stop = int(blocks.files[block]), int(blocks.starts[block]), int(blocks.starts[block + 1])
        runs[file] = (min(start, runs.get(file, (start, 0))[0]), stop)
    return [(file, start, stop) for file, (start, stop) in runs.items()]
