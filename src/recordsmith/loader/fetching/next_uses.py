"""Tells the cache when each block of a remote file is used next: the order of the next epoch is known already."""

from __future__ import annotations

import time
import weakref

import numpy as np

from recordsmith.dataset import StoredDataset
from recordsmith.loader.order.block_shuffle import BlockShuffled
from recordsmith.storage.ranged.block_cache import BLOCK
from recordsmith.storage.ranged.opening import is_ranged, open_object

__all__ = ["expect_blocks"]

_SPEED = 100e6  # bytes per second: only which use comes first counts, not when it is

_told: weakref.WeakKeyDictionary[BlockShuffled, int] = weakref.WeakKeyDictionary()


def expect_blocks(dataset: StoredDataset, shuffle: BlockShuffled, epoch: int) -> None:
    """Note when each block is used after this epoch, once for each epoch."""
    if _told.get(shuffle) == epoch:
        return
    _told[shuffle] = epoch
    blocks, table = shuffle.blocks, dataset.places()
    order = shuffle.schedule(epoch + 1).order
    total = int(blocks.sizes.sum())
    when = np.empty(len(blocks))
    when[order] = time.time() + (total + np.cumsum(blocks.sizes[order])) / _SPEED
    for file, index in enumerate(table.indexes):
        if not is_ranged(index.path):
            continue
        remote = open_object(index.path)
        expected = np.full(-(-remote.size // BLOCK), np.inf)
        mine = np.flatnonzero(blocks.files == file)
        first = np.asarray(index.offsets)[blocks.starts[mine] - table.starts[file]].astype(np.int64)
        last = np.minimum(first + blocks.sizes[mine] - 1, remote.size - 1)
        for edge in (first, last):
            np.minimum.at(expected, edge // BLOCK, when[mine])
        remote.expected = np.where(np.isinf(expected), time.time() + 2 * total / _SPEED, expected)
