"""The order of a split, for machines that have no folder in common with the one that has computed it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.keyed_random import Uint64s
from recordsmith.run.splits.split_order import SplitOrder
from recordsmith.run.staging.staged_files import StagedFile, write_all

__all__ = ["SharedOrder", "share_order"]

_NOWHERE = StagedFile("", 0)
_PLACE = np.dtype([("offset", "<u8"), ("length", "<u4")])
_BLOCK_ROWS = 1 << 18


@dataclass(frozen=True)
class SharedOrder(SplitOrder):
    """An order whose numbers are read by ranges; its own paths are those of another machine, and left empty.

    Attributes:
        row_numbers: the rows in the order of writing.
        content_digests: their digests.
        places: where their records are; None if they are read from buckets.
    """

    row_numbers: StagedFile = _NOWHERE
    content_digests: StagedFile = _NOWHERE
    places: StagedFile | None = None

    def numbers(self, first: int, last: int) -> Uint64s:
        """Return the staged rows that are written as number `first` up to `last`."""
        return self.row_numbers.array(np.uint64, first, last - first)

    def digests(self, first: int, last: int) -> Uint64s:
        """Return the content digests of the rows that are written as number `first` up to `last`."""
        return self.content_digests.array(np.uint64, first, last - first)

    def located(self, first: int, last: int) -> tuple[Uint64s, npt.NDArray[Any]]:
        """Return the staged rows that are written as number `first` up to `last`, and where they are."""
        if self.places is None:
            raise RuntimeError("the records of this split are read from buckets")
        return self.numbers(first, last), self.places.array(_PLACE, first, last - first)


def share_order(order: SplitOrder, share: Callable[[str], StagedFile], *, has_buckets: bool) -> SharedOrder:
    """Upload what other machines need of an order.

    Args:
        order: the order.
        share: uploads a file.
        has_buckets: records are read from buckets, not from where they were staged.
    """
    places = None
    if not has_buckets:
        path = f"{order.path}.places"
        with open(path, "wb", buffering=0) as file:
            for first in range(0, order.rows, _BLOCK_ROWS):
                _, keys = order.located(first, min(first + _BLOCK_ROWS, order.rows))
                block = np.empty(len(keys), _PLACE)
                block["offset"], block["length"] = keys["offset"], keys["length"]
                write_all(file, block.view(np.uint8))
        places = share(path)
        os.remove(path)
    return SharedOrder(
        order.split, "", "", order.rows, order.bytes, None, share(order.path), share(f"{order.path}.digests"), places
    )
