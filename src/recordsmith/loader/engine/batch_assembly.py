"""Rows made into batches: rows of known positions, rows that a filter keeps, and rows that wait in buckets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.loader.engine.cursor import Cursor
from recordsmith.loader.engine.row_access import RowValues, take_rows
from recordsmith.loader.engine.row_making import joined
from recordsmith.loader.order.record_order import Int64s
from recordsmith.loader.plan import Plan, Rows

__all__ = ["Assembly", "BucketAssembly", "make_batch"]


class Assembly:
    """Puts rows together to batches as they come."""

    def __init__(self, plan: Plan, start: Cursor) -> None:
        self._plan = plan
        self._batching = plan.batched()
        self._start = start
        self._skipped, self._stop = plan.batches_taken
        self._made = start.batch + (self._skipped if start.batch else 0)
        self._waiting: list[Rows] = []
        self._count = 0

    def batches(self, parts: Iterable[Rows]) -> Iterator[tuple[Any, Cursor]]:
        """Give the batches that are wanted, each with the place after it."""
        if self._enough:
            return
        for rows in parts:
            if len(rows):
                self._waiting.append(rows)
                self._count += len(rows)
            while self._count >= self._batching.size:
                yield from self._next(self._batching.size)
                if self._enough:
                    return
        if self._count and not self._batching.drop_last:
            yield from self._next(self._count)

    @property
    def _enough(self) -> bool:
        return self._stop is not None and self._made >= self._stop

    def _next(self, size: int) -> Iterator[tuple[Any, Cursor]]:
        """Cut a batch from the waiting rows, and give it unless it is one of those that are skipped."""
        rows = joined(self._waiting)
        rest = take_rows(rows, slice(size, None))
        self._waiting, self._count = ([rest], len(rest)) if len(rest) else ([], 0)
        self._made += 1
        if self._made > self._skipped:
            place = replace(
                self._start,
                batch=self._made - self._skipped,
                position=int(rows.positions[size - 1]) + 1,
                waiting=(),
            )
            yield make_batch(self._plan, rows, 0, size), place


class BucketAssembly(Assembly):
    """Puts rows of similar length together."""

    def batches(self, parts: Iterable[Rows]) -> Iterator[tuple[Any, Cursor]]:
        """Give the batches that are wanted, each with the place after it."""
        batching = self._batching
        if self._enough:
            return
        waiting: list[list[Rows]] = [[] for _ in batching.sizes]
        for rows in parts:
            buckets = batching.buckets(rows.columns)
            mine = [np.flatnonzero(buckets == bucket) for bucket in range(len(waiting))]
            for bucket, last in _fillings(mine, [sum(map(len, those)) for those in waiting], batching.sizes):
                wanted = batching.sizes[bucket] - sum(map(len, waiting[bucket]))
                full = [*waiting[bucket], take_rows(rows, mine[bucket][:wanted])]
                waiting[bucket], mine[bucket] = [], mine[bucket][wanted:]
                came = [rows.positions[those[: np.searchsorted(those, last)]] for those in mine]
                yield from self._give(full, waiting, int(rows.positions[last]) + 1, came)
                if self._enough:
                    return
            for those, more in zip(waiting, mine, strict=True):
                if len(more):
                    those.append(take_rows(rows, more))  # a copy: the other rows need not be kept
        if not batching.drop_last:
            for bucket, left in enumerate(waiting):
                if left and not self._enough:
                    waiting[bucket] = []
                    yield from self._give(left, waiting, self._plan.order.length)

    def _give(
        self, full: list[Rows], waiting: list[list[Rows]], position: int, came: Sequence[Int64s] = ()
    ) -> Iterator[tuple[Any, Cursor]]:
        self._made += 1
        if self._made <= self._skipped:
            return
        left = [*came, *(rows.positions for those in waiting for rows in those), np.empty(0, np.int64)]
        waiting_rows = tuple(np.sort(np.concatenate(left)).tolist())
        place = replace(self._start, batch=self._made - self._skipped, position=position, waiting=waiting_rows)
        yield make_batch(self._plan, joined(full)), place


def _fillings(
    mine: Sequence[npt.NDArray[np.intp]], counts: Sequence[int], sizes: Sequence[int]
) -> list[tuple[int, int]]:
    """Return which buckets become full by which rows, in the order of the rows."""
    full = [
        (bucket, row)
        for bucket, (rows, count, size) in enumerate(zip(mine, counts, sizes, strict=True))
        for row in rows[size - count - 1 :: size].tolist()
    ]
    return sorted(full, key=itemgetter(1))


def make_batch(plan: Plan, rows: Rows, first: int = 0, last: int | None = None) -> Any:
    """Return a batch of some rows, as a plan wants it."""
    last = len(rows) if last is None else last
    part = slice(first, last)
    whole = first == 0 and last == len(rows)
    columns = rows.columns if whole else {name: column[part] for name, column in rows.columns.items()}
    columns = {name: c.in_batch(name) if isinstance(c, RowValues) else c for name, c in columns.items()}
    return plan.changed_batch(plan.batched().collate(columns), rows.numbers[part])
