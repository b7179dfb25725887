"""A place between two batches, from which feeding can continue."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Cursor"]


@dataclass(frozen=True)
class Cursor:
    """A place between two batches.

    Attributes:
        epoch: how many epochs were fed before.
        batch: how many batches of this one.
        position: where in the order the next row stands; only needed where rows are left out or wait in buckets.
        waiting: the positions of rows that wait for their bucket to fill, in the order in which they came.
    """

    epoch: int = 0
    batch: int = 0
    position: int = 0
    waiting: tuple[int, ...] = ()
