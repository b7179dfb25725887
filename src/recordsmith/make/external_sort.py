"""Sorting more entries than memory should hold: in buckets by the leading bits of a uniform 64-bit key."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["sorted_blocks"]

Entries = npt.NDArray[Any]

_BUCKET_ENTRIES = 1 << 20  # a bucket of 24-byte entries is then 24 MB, and sorting it takes as much again


def sorted_blocks(blocks: Iterable[Entries], count: int, folder: str, *, key: str = "key") -> Iterator[Entries]:
    """Sort structured arrays by a field of uniformly distributed uint64 numbers; equal ones keep their order.

    Entries of equal key are always in one block.

    Args:
        blocks: the entries, in pieces.
        count: how many there are in all, at least roughly: it sets the number of buckets.
        folder: where the buckets are kept; it is made, and removed in the end.
        key: the field to sort by.

    >>> import tempfile
    >>> entries = np.array([(3 << 62, 0), (5, 1)], [("key", "u8"), ("row", "u8")])
    >>> [block["row"].tolist() for block in sorted_blocks([entries], 2, tempfile.mkdtemp() + "/sort")]
    [[1, 0]]
    """
    bits = max(0, (count - 1) // _BUCKET_ENTRIES).bit_length()
    if bits == 0:
        pieces = list(blocks)
        if pieces:
            yield _sorted(np.concatenate(pieces), key)
        return
    try:
        yield from _through_buckets(blocks, bits, folder, key)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _through_buckets(blocks: Iterable[Entries], bits: int, folder: str, key: str) -> Iterator[Entries]:
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    paths = [os.path.join(folder, f"{number:05}") for number in range(1 << bits)]
    dtype: np.dtype[Any] | None = None
    for block in blocks:
        dtype = block.dtype
        bucket_of = (block[key] >> np.uint64(64 - bits)).astype(np.int64)
        order = np.argsort(bucket_of, kind="stable")
        ends = np.cumsum(np.bincount(bucket_of, minlength=len(paths)))
        start = 0
        for path, end in zip(paths, ends.tolist(), strict=True):
            if end > start:
                with open(path, "ab") as file:
                    file.write(block[order[start:end]].tobytes())
            start = end
    for path in paths:
        if dtype is not None and os.path.exists(path):
            entries = np.fromfile(path, dtype)
            os.remove(path)
            yield _sorted(entries, key)


def _sorted(entries: Entries, key: str) -> Entries:
    return entries[np.argsort(entries[key], kind="stable")]
