"""How well a chain mixes its rows: what kind of shuffle it has, and what that does to data that are sorted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from recordsmith.loader.order.record_order import ENDLESS, Order, ShuffleKind

__all__ = ["ShuffleQuality", "shuffle_quality"]

_BATCHES = 64
_ROWS = 64
_CLASSES = 100
_FARTHEST = 20_000_000  # positions that are looked at; a buffer has to be followed from the start


@dataclass(frozen=True, slots=True)
class ShuffleQuality:
    """How well the rows are mixed.

    Attributes:
        kind: "exact": any order of all rows; "blocks": compressed files are read side by side, and what is in memory
            is mixed exactly; "buffer": as tf.data does it; "none".
        rows: how many rows are mixed with each other at a time.
        of: how many there are.
        spread: what would become of data that are sorted by class, the worst case, measured: how many of 100 classes
            a batch of 64 rows has, as a part of how many it has after an exact shuffle.

    >>> print(ShuffleQuality("buffer", 10_000, 1_000_000, 0.01))
    buffer: 10,000 of 1,000,000 rows are mixed at a time; sorted data would have 1% of an exact shuffle's spread
    """

    kind: ShuffleKind | Literal["none"]
    rows: int
    of: int
    spread: float

    def __str__(self) -> str:
        if self.kind == "exact":
            return f"exact: all {self.of:,} rows are mixed"
        if self.kind == "none":
            return "none: the rows come as they are stored"
        return (
            f"{self.kind}: {self.rows:,} of {self.of:,} rows are mixed at a time; sorted data would have "
            f"{self.spread:.0%} of an exact shuffle's spread"
        )


def shuffle_quality(order: Order) -> ShuffleQuality:
    """Measure an order, over its first epoch.

    >>> from recordsmith.loader.order.buffer_shuffle import BufferShuffled
    >>> from recordsmith.loader.order.record_order import Records
    >>> quality = shuffle_quality(BufferShuffled(Records(10_000), 0, 1000))
    >>> quality.kind, quality.rows, 0.1 < quality.spread < 0.6
    ('buffer', 1000, True)
    """
    length = min(order.length, _FARTHEST) if order.length >= ENDLESS else order.length
    last = order  # the last shuffle that the rows go through
    while last.shuffle is None and last.inner_orders:
        last = last.inner_orders[0]
    kind, rows = last.shuffle or ("none", 1)
    return ShuffleQuality(kind, length if kind == "exact" else min(rows, length), length, _spread(order, length))


def _spread(order: Order, length: int) -> float:
    """Return how many classes a batch has of data that are sorted by class, as a part of what is to be expected."""
    rows = min(_ROWS, length)
    if rows < 2:
        return 1.0
    starts = np.linspace(0, min(length, _FARTHEST) - rows, min(_BATCHES, max(1, length // rows))).astype(np.int64)
    drawn = np.stack([order.at(0, np.arange(start, start + rows)).numbers for start in starts.tolist()])
    first, last = int(drawn.min()), int(drawn.max())
    records = max(rows, last - first + 1)
    classes = (drawn - first) * _CLASSES // records
    found = np.mean([len(np.unique(batch)) for batch in classes])
    # The chance that none of a batch's rows is of a class, when rows are drawn without putting them back.
    drawn_before = np.arange(rows)
    none = np.prod(np.maximum(0, records - records / _CLASSES - drawn_before) / (records - drawn_before))
    return float(found / (_CLASSES * (1 - none)))
