"""In which order the records of each split are written: a file of row numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from recordsmith.keyed_random import Uint64s, priorities, stream_key
from recordsmith.records.index import FRAMING_BYTES
from recordsmith.run.splits.external_sort import sorted_blocks
from recordsmith.run.staging.keys import KEY
from recordsmith.run.staging.staging import Staging

__all__ = ["SplitOrder", "StagedBlock", "build_order"]

_COPY_SHIFT = np.uint64(48)  # rows are counted below it, copies above
_SPARSEST = 64  # if one row in 64 is needed, all between are read
_BLOCK_COPIES = 1 << 20


class StagedBlock(NamedTuple):
    """A run of staged rows, and each time that one of them is written.

    Attributes:
        keys: the keys of the rows.
        places: for each time: which of the rows.
        entries: for each time: what it is sorted by, the number of the row, and its content digest.
    """

    keys: npt.NDArray[Any]
    places: npt.NDArray[np.int64]
    entries: Uint64s


@dataclass(frozen=True)
class SplitOrder:
    """The records of a split in the order of writing, kept in a file.

    Attributes:
        split: the split's name.
        path: the file of row numbers; next to it one of content digests and, for a shuffled split, one of what the rows
            were sorted by.
        keys: the file of the rows' keys.
        rows: how many there are.
        bytes: how much they take with their framing.
        unsorted: for a shuffled split: gives the rows in the order of the source.
    """

    split: str
    path: str
    keys: str
    rows: int
    bytes: int
    unsorted: Callable[[], Iterator[StagedBlock]] | None = None

    def numbers(self, first: int, last: int) -> Uint64s:
        """Return the staged rows that are written as number `first` up to `last`."""
        return np.fromfile(self.path, np.uint64, last - first, offset=first * 8)

    def sorting_key(self, position: int) -> int:
        """Return what the row at a position was sorted by."""
        return int(np.fromfile(f"{self.path}.sorted", np.uint64, 1, offset=position * 8)[0])

    def digests(self, first: int, last: int) -> Uint64s:
        """Return the content digests of the rows that are written as number `first` up to `last`."""
        return np.fromfile(f"{self.path}.digests", np.uint64, last - first, offset=first * 8)

    def located(self, first: int, last: int) -> tuple[Uint64s, npt.NDArray[Any]]:
        """Return the staged rows that are written as number `first` up to `last`, and where they are."""
        numbers = self.numbers(first, last)
        return numbers, self._keys_of(numbers)

    def _keys_of(self, numbers: Uint64s) -> npt.NDArray[Any]:
        """Return the keys of staged rows."""
        if not len(numbers):
            return np.empty(0, KEY)
        first, last = int(numbers.min()), int(numbers.max()) + 1
        width = KEY.itemsize // 8
        words: npt.NDArray[np.uint64]
        if last - first <= _SPARSEST * len(numbers):
            # Rows that are close together are read at once: pages of a mapping count as this process's memory.
            words = np.fromfile(self.keys, np.uint64, (last - first) * width, offset=first * KEY.itemsize)
            numbers = numbers - np.uint64(first)
        else:
            words = np.memmap(self.keys, np.uint64, "r")
        taken = np.take(words.reshape(-1, width), numbers.astype(np.int64), axis=0)  # far faster than indexing
        return np.asarray(taken.view(KEY)[:, 0])


def build_order(
    staging: Staging,
    split: str,
    chosen: Callable[[int, int], npt.NDArray[np.int64]],
    *,
    expected_rows: int,
    shuffle_seed: int | None,
) -> SplitOrder:
    """Write the order of one split.

    Args:
        staging: the staged records.
        split: the split's name.
        chosen: how often each of the rows from `first` up to `last` is in the split.
        expected_rows: how many rows that makes, at least roughly.
        shuffle_seed: None keeps the order of the source.
    """
    stream = None if shuffle_seed is None else stream_key(shuffle_seed, f"order/{split}")
    size = 0

    def measured() -> Iterator[Uint64s]:
        nonlocal size
        for block in _blocks(staging, chosen, stream):
            size += int((block.keys["length"][block.places].astype(np.int64) + FRAMING_BYTES).sum())
            yield block.entries

    blocks = measured()
    if stream is not None:
        blocks = sorted_blocks(blocks, expected_rows, staging.path(f"sort-{split}"))
    path = staging.path(f"order-{split}")
    rows = 0
    with (
        open(path, "wb") as numbers,
        open(f"{path}.digests", "wb") as digests,
        open(f"{path}.sorted", "wb") as sorting_keys,
    ):
        for block in blocks:
            numbers.write(np.ascontiguousarray(block[:, 1]).data)
            digests.write(np.ascontiguousarray(block[:, 2]).data)
            if stream is not None:
                sorting_keys.write(np.ascontiguousarray(block[:, 0]).data)
            rows += len(block)
    unsorted = None if stream is None else partial(_blocks, staging, chosen, stream)
    return SplitOrder(split, path, staging.path("keys"), rows, size, unsorted)


def _blocks(staging: Staging, chosen: Callable[[int, int], Any], stream: int | None) -> Iterator[StagedBlock]:
    first = 0
    for keys in staging.key_blocks():
        copies = chosen(first, first + len(keys))
        # A rare class may be repeated so often that a block of its rows has to be cut.
        cuts = np.searchsorted(np.cumsum(copies), np.arange(_BLOCK_COPIES, copies.sum(), _BLOCK_COPIES)).tolist()
        for start, stop in pairwise(sorted({0, *cuts, len(keys)})):
            yield _block(keys[start:stop], copies[start:stop], first + start, stream)
        first += len(keys)


def _block(keys: npt.NDArray[Any], copies: npt.NDArray[np.int64], first: int, stream: int | None) -> StagedBlock:
    places = np.repeat(np.arange(len(keys)), copies)
    taken = (places + first).astype(np.uint64)
    sorting_keys = taken
    if stream is not None:
        # Which of its row's copies an entry is: its distance from the first of them.
        copy = np.arange(len(taken), dtype=np.int64) - np.repeat(np.cumsum(copies) - copies, copies)
        sorting_keys = priorities(taken | copy.astype(np.uint64) << _COPY_SHIFT, stream)
    return StagedBlock(keys, places, np.stack([sorting_keys, taken, keys["digest"][places]], axis=1))
