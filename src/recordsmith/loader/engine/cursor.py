"""A place between two batches, from which feeding can continue."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from recordsmith.loader.order.mixed import Changes

__all__ = ["Cursor"]


@dataclass(frozen=True)
class Cursor:
    """A place between two batches.

    Attributes:
        epoch: how many epochs were fed before.
        batch: how many batches of this one.
        position: where in the order the next row stands; only needed where rows are left out or wait in buckets.
        waiting: the positions of rows that wait for their bucket to fill, in the order in which they came.
        rows_before: how many rows of the epoch, of all ranks together, were fed in batches of another size or to
            another number of ranks. What is left of the epoch begins with the row after them, and batches and positions
            are counted from there.
        changes: of a mixture whose shares were changed in this epoch, or that got more sources: the shares before, and
            for how many rows each of them held. Such rows are in `rows_before`, as far as they were fed.
    """

    epoch: int = 0
    batch: int = 0
    position: int = 0
    waiting: Sequence[int] = ()
    rows_before: int = 0
    changes: Changes = ()
