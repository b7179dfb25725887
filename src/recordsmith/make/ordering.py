"""In which order the records of each split are written: where they lie in the staging folder, one entry a record."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.index import FRAMING_BYTES
from recordsmith.make.external_sort import sorted_blocks
from recordsmith.make.staging import KEY, Staging
from recordsmith.priorities import Uint64s, priorities, stream_key

__all__ = ["SplitOrder", "build_order"]

_COPY_SHIFT = np.uint64(48)  # rows are counted below it, copies above


@dataclass(frozen=True)
class SplitOrder:
    """The records of a split in the order of writing, kept in a file.

    Attributes:
        split: the split's name.
        path: the file of row numbers.
        keys: the file of the rows' keys.
        rows: how many there are.
        bytes: how much they take with their framing.
    """

    split: str
    path: str
    keys: str
    rows: int
    bytes: int

    def numbers(self, first: int, last: int) -> Uint64s:
        """Return the staged rows that are written as number `first` up to `last`."""
        return np.fromfile(self.path, np.uint64, last - first, offset=first * 8)

    def entries(self, numbers: Uint64s) -> npt.NDArray[Any]:
        """Return the keys of staged rows."""
        words = np.memmap(self.keys, np.uint64, "r").reshape(-1, KEY.itemsize // 8)  # numpy takes plain rows far faster
        return np.asarray(words[numbers]).view(KEY)[:, 0]


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
    size = [0]
    blocks = _entries(
        staging, chosen, None if shuffle_seed is None else stream_key(shuffle_seed, f"order/{split}"), size
    )
    if shuffle_seed is not None:
        blocks = sorted_blocks(blocks, expected_rows, staging.path(f"sort-{split}"))
    path = staging.path(f"order-{split}")
    rows = 0
    with open(path, "wb") as file:
        for block in blocks:
            file.write(np.ascontiguousarray(block[:, 1]).data)
            rows += len(block)
    return SplitOrder(split, path, staging.path("keys"), rows, size[0])


def _entries(
    staging: Staging, chosen: Callable[[int, int], Any], stream: int | None, size: list[int]
) -> Iterator[Uint64s]:
    """Give (key, row) for each entry of a split, and add up what the records take."""
    first = 0
    for keys in staging.key_blocks():
        copies = chosen(first, first + len(keys))
        taken = np.repeat(np.arange(first, first + len(keys), dtype=np.uint64), copies)
        size[0] += int(((keys["length"].astype(np.int64) + FRAMING_BYTES) * copies).sum())
        first += len(keys)
        if stream is None:
            yield np.stack([taken, taken], axis=1)
            continue
        # Which of its row's copies an entry is: its distance from the first of them.
        copy = np.arange(len(taken), dtype=np.int64) - np.repeat(np.cumsum(copies) - copies, copies)
        yield np.stack([priorities(taken | copy.astype(np.uint64) << _COPY_SHIFT, stream), taken], axis=1)
