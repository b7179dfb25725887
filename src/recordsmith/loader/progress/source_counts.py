"""How many rows of each dataset were fed, from the place that was reached."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from recordsmith.errors import PipelineError
from recordsmith.loader.engine.batch_ranges import BatchRanges
from recordsmith.loader.engine.cursor import Cursor
from recordsmith.loader.engine.rest_of_epoch import rest_of_epoch
from recordsmith.loader.order.record_order import Shard
from recordsmith.loader.plan import Plan

__all__ = ["rows_by_source"]

_AT_ONCE = 1 << 20


def rows_by_source(plan: Plan, place: Cursor) -> list[int]:
    """Return how many rows of each dataset this rank was fed in the epoch of a place; all, if it has just ended.

    If the rest of an epoch is divided otherwise than its beginning, rows that were fed before count too, unless there
    are several ranks: the share of this one is not known.
    """
    if plan.is_streamed:
        raise PipelineError(
            "Which rows were fed is only known while they are read: rows are left out, packed or put into buckets.",
            advice="Count the rows of the batches, with pairs(..., with_index=True).",
        )
    here = rest_of_epoch(plan, place)
    epoch, ranges, skipped = place.epoch, BatchRanges(here), plan.batches_taken[0]
    if place == Cursor(epoch) and epoch:
        epoch, last = epoch - 1, ranges.count
    else:
        last = skipped + place.batch
    first, end = (ranges.of(skipped)[0], ranges.of(last - 1)[1]) if last > skipped else (0, 0)
    starts = np.cumsum([0, *(len(dataset) for dataset in plan.datasets)])
    counts = np.zeros(len(plan.datasets), np.int64)
    if place.rows_before and not isinstance(plan.order, Shard):
        here = rest_of_epoch(plan, replace(place, rows_before=0))
        end = place.rows_before + end
    for start in range(first, end, _AT_ONCE):
        records = here.order.at(epoch, np.arange(start, min(start + _AT_ONCE, end), dtype=np.int64))
        owners = np.searchsorted(starts, records.numbers, side="right") - 1
        counts += np.bincount(owners, minlength=len(counts))
    return [int(count) for count in counts]
