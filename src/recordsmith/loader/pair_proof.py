"""Proof that what is fed together belongs together: records are read again, one by one, and compared."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from recordsmith.errors import PipelineError
from recordsmith.loader.engine.cursor import Cursor
from recordsmith.loader.engine.feeding import feed
from recordsmith.loader.engine.row_access import RowValues, row_at
from recordsmith.loader.fetching.record_fetching import Fetcher
from recordsmith.loader.order.record_order import OrderedRecords
from recordsmith.loader.plan import RECORD_NUMBERS, Plan, Rows
from recordsmith.loader.verbs.rows.pairs import Paired

__all__ = ["verify_pairs"]


def verify_pairs(plan: Plan, n: int) -> int:
    """Draw the first n rows that a plan feeds, read their records again by number, and compare; return how many."""
    paired = [change for change in plan.batch_changes if isinstance(change, Paired)]
    if not paired:
        raise PipelineError("verify_pairs needs pairs.", advice="Write .pairs(inputs, target) first.")
    pair = paired[-1]
    # The same chain, but with every feature and with the records' numbers, before it becomes tuples.
    names = tuple((name, name) for name in pair.features)
    seen = replace(plan, batch_changes=(Paired(names, None, None, with_index=True),))
    fetcher = Fetcher(plan.datasets, plan.order)
    verified = 0
    for (features, numbers), _ in feed(seen, Cursor()):
        for place, number in enumerate(numbers.tolist()):
            if verified >= n:
                return verified
            _compare(plan, fetcher, {name: features[name] for name in features}, place, number)
            verified += 1
    return verified


def _compare(plan: Plan, fetcher: Fetcher, batch: dict[str, Any], place: int, number: int) -> None:
    one = np.array([number], np.int64)
    first = np.zeros(1, np.int64)
    rows = Rows(fetcher.columns(OrderedRecords(one, first)), one, first, first)
    for change in plan.changes:
        rows = change.apply(rows)
    columns = {name: c.in_batch(name) if isinstance(c, RowValues) else c for name, c in rows.columns.items()}
    again, fed = row_at(columns, 0), row_at({name: batch[name] for name in batch if name != RECORD_NUMBERS}, place)
    for name, value in fed.items():
        if not _equal(value, again[name]):
            path, record = fetcher.file_of(number)
            raise PipelineError(
                f"What was fed as {name!r} is not what its record contains.",
                path=path,
                record=record,
                feature=name,
                found=repr(value)[:200],
                expected=repr(again[name])[:200],
            )


def _equal(fed: Any, again: Any) -> bool:
    """Compare a fed value with one read again; what was fed may have been padded."""
    one, other = np.asarray(fed), np.asarray(again)
    if one.shape != other.shape and one.ndim == other.ndim:
        one = one[tuple(slice(size) for size in other.shape)]
    if one.dtype.kind == "f" and other.dtype.kind == "f":
        return bool(np.array_equal(one, other, equal_nan=True))
    return bool(np.array_equal(one, other))
