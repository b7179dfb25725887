"""Sorting more entries than memory should hold: in buckets by the leading bits of a uniform 64-bit key."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator

import numpy as np

from recordsmith.priorities import Uint64s

__all__ = ["sorted_blocks"]

_BUCKET_ENTRIES = 1 << 20  # a bucket of three columns is then 24 MB, and sorting it takes as much again


def sorted_blocks(blocks: Iterable[Uint64s], count: int, folder: str) -> Iterator[Uint64s]:
    """Sort the rows of uint64 matrices by their first column, whose numbers are uniformly distributed.

    Rows of equal key keep their order, and are always in one block.

    Args:
        blocks: the rows, in pieces.
        count: how many there are in all, at least roughly: it sets the number of buckets.
        folder: where the buckets are kept; it is made, and removed in the end.

    >>> import tempfile
    >>> entries = np.array([(3 << 62, 0), (5, 1)], np.uint64)
    >>> [block[:, 1].tolist() for block in sorted_blocks([entries], 2, tempfile.mkdtemp() + "/sort")]
    [[1, 0]]
    """
    bits = max(0, (count - 1) // _BUCKET_ENTRIES).bit_length()
    if bits == 0:
        pieces = list(blocks)
        if pieces:
            yield _sorted(np.concatenate(pieces))
        return
    try:
        yield from _through_buckets(blocks, bits, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _through_buckets(blocks: Iterable[Uint64s], bits: int, folder: str) -> Iterator[Uint64s]:
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    paths = [os.path.join(folder, f"{number:05}") for number in range(1 << bits)]
    width = 0
    for block in blocks:
        width = block.shape[1]
        bucket_of = (block[:, 0] >> np.uint64(64 - bits)).astype(np.int64)
        order = np.argsort(bucket_of, kind="stable")
        ends = np.cumsum(np.bincount(bucket_of, minlength=len(paths)))
        start = 0
        for path, end in zip(paths, ends.tolist(), strict=True):
            if end > start:
                with open(path, "ab") as file:
                    file.write(block[order[start:end]].tobytes())
            start = end
    for path in paths:
        if os.path.exists(path):
            entries = np.fromfile(path, np.uint64).reshape(-1, width)
            os.remove(path)
            yield _sorted(entries)


def _sorted(entries: Uint64s) -> Uint64s:
    keys = np.ascontiguousarray(entries[:, 0])
    order = np.argsort(keys)
    keys = keys[order]
    if bool((keys[1:] == keys[:-1]).any()):  # which is rare: then those that are equal have to keep their order
        order = np.argsort(entries[:, 0], kind="stable")
    return np.take(entries, order, axis=0)  # faster than indexing
