"""Which positions of an epoch's order each batch has, where that is known beforehand."""

from __future__ import annotations

from recordsmith.loader.order.record_order import ENDLESS
from recordsmith.loader.plan import Plan

__all__ = ["BatchRanges"]


class BatchRanges:
    """The batches of an epoch as runs of positions.

    Attributes:
        count: how many batches there are.
    """

    def __init__(self, plan: Plan) -> None:
        batching = plan.batched()
        self._length, self._size = plan.order.length, batching.size
        whole, rest = divmod(self._length, self._size)
        self.count = whole if batching.drop_last else whole + (rest > 0)
        if plan.even_world is None or self._length >= ENDLESS:
            return
        world, rows = plan.even_world
        if batching.drop_last:
            self.count = rows // world // self._size
        else:
            # Every rank has as many batches as the one with the most rows.
            most = (rows + world - 1) // world
            self.count = (most + self._size - 1) // self._size

    def of(self, batch: int) -> tuple[int, int]:
        """Return where a batch begins, and where it ends."""
        first, last = batch * self._size, min((batch + 1) * self._size, self._length)
        if (self.count - 1) * self._size >= self._length:
            # This rank has one row less, and that would have been the only one of its last batch: take it from the
            # batch before.
            if batch == self.count - 2:
                last -= 1
            elif batch == self.count - 1:
                first, last = self._length - 1, self._length
        return first, last
