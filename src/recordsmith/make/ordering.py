"""In which order the records of each split are written: where they lie in the staging folder, one entry a record."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.make.external_sort import sorted_blocks
from recordsmith.make.priorities import priorities, stream_key
from recordsmith.make.staging import Staging

__all__ = ["SplitOrder", "build_order"]

ORDER = np.dtype([("key", "<u8"), ("row", "<u8"), ("offset", "<u8"), ("length", "<u4"), ("digest", "<u8")])
_COPY_SHIFT = np.uint64(48)  # rows are counted below it, copies above


@dataclass(frozen=True)
class SplitOrder:
    """The records of a split in the order of writing, kept in a file.

    Attributes:
        split: the split's name.
        path: the file of entries.
        rows: how many there are.
        bytes: how much they take with their framing.
    """

    split: str
    path: str
    rows: int
    bytes: int

    def entries(self, first: int, last: int) -> npt.NDArray[Any]:
        """Return the entries from `first` up to `last`."""
        return np.fromfile(self.path, ORDER, last - first, offset=first * ORDER.itemsize)


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
    blocks = _entries(staging, chosen, None if shuffle_seed is None else stream_key(shuffle_seed, f"order/{split}"))
    if shuffle_seed is not None:
        blocks = sorted_blocks(blocks, expected_rows, staging.path(f"sort-{split}"))
    path = staging.path(f"order-{split}")
    rows = size = 0
    with open(path, "wb") as file:
        for block in blocks:
            file.write(block.tobytes())
            rows += len(block)
            size += int(block["length"].sum(dtype=np.uint64)) + 16 * len(block)
    os.truncate(path, rows * ORDER.itemsize)
    return SplitOrder(split, path, rows, size)


def _entries(staging: Staging, chosen: Callable[[int, int], Any], stream: int | None) -> Iterator[Any]:
    first = 0
    for keys in staging.key_blocks():
        copies = chosen(first, first + len(keys))
        taken = np.repeat(np.arange(len(keys)), copies)
        entries = np.empty(len(taken), ORDER)
        entries["row"] = taken + first
        for name in ("offset", "length", "digest"):
            entries[name] = keys[name][taken]
        entries["key"] = 0
        if stream is not None:
            # Which of its row's copies an entry is: its distance from the first of them.
            firsts = np.repeat(np.cumsum(copies) - copies, copies)
            copy = (np.arange(len(taken)) - firsts).astype(np.uint64)
            entries["key"] = priorities(entries["row"] | copy << _COPY_SHIFT, stream)
        first += len(keys)
        yield entries
