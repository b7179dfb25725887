"""Sorting more entries than memory should hold: in buckets by the leading bits of a uniform 64-bit key."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from itertools import chain

import numpy as np

from recordsmith.keyed_random import Uint64s

__all__ = ["sorted_blocks"]

_BUCKET_ENTRIES = 1 << 20  # a bucket of three columns is then 24 MB, and sorting it takes as much again
_LARGEST_BUCKET = 2 * _BUCKET_ENTRIES
_MOST_BITS = 12  # of a key by which rows are dealt out at a time: each value is a file


def sorted_blocks(blocks: Iterable[Uint64s], count: int, folder: str) -> Iterator[Uint64s]:
    """Sort the rows of uint64 matrices by their first column, whose numbers are uniformly distributed.

    Rows of equal key keep their order. There may be so many of them that they are in several blocks.

    Args:
        blocks: the rows, in pieces.
        count: how many there are in all, at least roughly: it sets the number of buckets.
        folder: where the buckets are kept; it is made, and removed in the end.

    >>> import tempfile
    >>> entries = np.array([(3 << 62, 0), (5, 1)], np.uint64)
    >>> [block[:, 1].tolist() for block in sorted_blocks([entries], 2, tempfile.mkdtemp() + "/sort")]
    [[1, 0]]
    """
    if count <= _BUCKET_ENTRIES:
        pieces = list(blocks)
        if pieces:
            yield _sorted(np.concatenate(pieces))
        return
    shutil.rmtree(folder, ignore_errors=True)
    try:
        yield from _through_buckets(blocks, count, folder, 0)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _through_buckets(blocks: Iterable[Uint64s], count: int, folder: str, known_bits: int) -> Iterator[Uint64s]:
    """Deal rows whose keys agree in some leading bits out by the bits that follow, and sort each bucket."""
    bits = min(((count - 1) // _BUCKET_ENTRIES).bit_length(), _MOST_BITS, 64 - known_bits)
    os.makedirs(folder)
    paths = [os.path.join(folder, f"{number:05}") for number in range(1 << bits)]
    width = 0
    for block in blocks:
        width = block.shape[1]
        bucket_of = (block[:, 0] << np.uint64(known_bits) >> np.uint64(64 - bits)).astype(np.int64)
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
            yield from _bucket(path, width, known_bits + bits)
            os.remove(path)


def _bucket(path: str, width: int, known_bits: int) -> Iterator[Uint64s]:
    """Give the rows of a bucket in order. One of far too many rows has many of equal key, and is not read whole."""
    count = os.path.getsize(path) // (8 * width)
    if count <= _LARGEST_BUCKET:
        yield _sorted(np.fromfile(path, np.uint64).reshape(-1, width))
    elif known_bits == 64 or _have_one_key(path, width):
        yield from _pieces(path, width)
    else:
        yield from _through_buckets(_pieces(path, width), count, f"{path}.parts", known_bits)


def _pieces(path: str, width: int) -> Iterator[Uint64s]:
    with open(path, "rb") as file:
        while len(piece := np.fromfile(file, np.uint64, _BUCKET_ENTRIES * width)):
            yield piece.reshape(-1, width)


def _have_one_key(path: str, width: int) -> bool:
    pieces = _pieces(path, width)
    first = next(pieces)
    return all(bool((piece[:, 0] == first[0, 0]).all()) for piece in chain([first], pieces))


def _sorted(entries: Uint64s) -> Uint64s:
    keys = np.ascontiguousarray(entries[:, 0])
    order = np.argsort(keys)
    keys = keys[order]
    if bool((keys[1:] == keys[:-1]).any()):  # which is rare: then those that are equal have to keep their order
        order = np.argsort(entries[:, 0], kind="stable")
    return np.take(entries, order, axis=0)  # faster than indexing
