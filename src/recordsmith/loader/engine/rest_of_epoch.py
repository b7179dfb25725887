"""What is left of an epoch, divided into other batches, among other ranks or in other shares than its beginning.

Ranks that train together have fed a beginning of one order: its positions go round among them, and each has fed as many
batches as the others. So what is left is the end of that order, and it can be divided anew. Of a mixture, the ends of
the orders of its sources are left, and they can be mixed anew.
"""

from __future__ import annotations

from dataclasses import replace

from recordsmith.loader.engine.batch_ranges import BatchRanges
from recordsmith.loader.engine.cursor import Cursor
from recordsmith.loader.order.mixed import Mixed
from recordsmith.loader.order.record_order import ENDLESS, Order, Part, Shard
from recordsmith.loader.plan import Plan

__all__ = ["mixture_of", "rest_of_epoch", "rows_fed", "rows_of", "with_rows"]


def rest_of_epoch(plan: Plan, place: Cursor) -> Plan:
    """Return the plan of an epoch without what was fed of it otherwise than the plan says."""
    mixture = mixture_of(plan)
    if place.changes and mixture is not None:
        plan = with_rows(plan, mixture.changed(place.changes))
    return with_rows(plan, Part(rows_of(plan), place.rows_before, ENDLESS)) if place.rows_before else plan


def mixture_of(plan: Plan) -> Mixed | None:
    """Return the mixture whose rows a plan feeds in their order; None if it is no mixture, or in another order."""
    order = rows_of(plan)
    return order if isinstance(order, Mixed) and not plan.is_streamed else None


def rows_of(plan: Plan) -> Order:
    """Return the order of the rows of all ranks."""
    return plan.order.inner if isinstance(plan.order, Shard) else plan.order


def with_rows(plan: Plan, rows: Order) -> Plan:
    """Return a plan in which all ranks together have other rows."""
    order = plan.order
    if not isinstance(order, Shard):
        return replace(plan, order=rows)
    even = None if plan.even_world is None else (order.world, rows.length)
    return replace(plan, order=replace(order, inner=rows), even_world=even)


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
