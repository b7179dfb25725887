"""What is left of an epoch, divided into other batches or among another number of ranks than its beginning.

Ranks that train together have fed a beginning of one order: its positions go round among them, and each has fed as many
batches as the others. So what is left is the end of that order, and it can be divided anew.
"""

from __future__ import annotations

from dataclasses import replace

from recordsmith.loader.engine.batch_ranges import BatchRanges
from recordsmith.loader.order.record_order import ENDLESS, Part, Shard
from recordsmith.loader.plan import Plan

__all__ = ["rest_of_epoch", "rows_fed"]


def rest_of_epoch(plan: Plan, rows_before: int) -> Plan:
    """Return the plan of an epoch without the rows that all ranks together have fed of it."""
    if not rows_before:
        return plan
    order = plan.order
    if not isinstance(order, Shard):
        return replace(plan, order=Part(order, rows_before, ENDLESS))
    rest = Part(order.inner, rows_before, ENDLESS)
    even = None if plan.even_world is None else (order.world, rest.length)
    return replace(plan, order=replace(order, inner=rest), even_world=even)


def rows_fed(plan: Plan, batches: int) -> int:
    """Return how many rows all ranks of a plan together have fed in so many batches."""
    if not batches:
        return 0
    order = plan.order
    if not isinstance(order, Shard):
        return BatchRanges(plan).of(batches - 1)[1]
    total = order.inner.length
    longer = total % order.world if order.remainder == "even" and total < ENDLESS else 0  # ranks with one row more
    first, last = (
        BatchRanges(replace(plan, order=replace(order, rank=rank))).of(batches - 1)[1] for rank in (0, order.world - 1)
    )
    return min(longer * first + (order.world - longer) * last, total)
