"""Rows made into batches: rows of known positions, rows that a filter keeps, and rows that wait in buckets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.loader.engine.buckets import Bucket, WaitingRows
from recordsmith.loader.engine.cursor import Cursor
from recordsmith.loader.engine.row_access import RowValues, take_rows
from recordsmith.loader.engine.row_making import joined
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
        sizes = self._batching.sizes
        if self._enough:
            return
        buckets = [Bucket() for _ in sizes]
        held = 0  # rows in memory, of which some were given
        for rows in parts:
            order, edges = self._sorted(rows)
            in_buckets = take_rows(rows, order)
            full: list[tuple[int, int]] = []  # the row that fills a bucket, in the order of the rows
            for number, bucket in enumerate(buckets):
                first, last = edges[number], edges[number + 1]
                fillings = order[first:last][sizes[number] - bucket.count - 1 :: sizes[number]]
                full += [(row, number) for row in fillings.tolist()]
                if last > first:
                    bucket.add(in_buckets, first, last)
            for row, number in sorted(full):
                batch = buckets[number].take(sizes[number])
                yield from self._give(batch, buckets, int(rows.positions[row]) + 1)
                if self._enough:
                    return
            held += len(rows)
            waiting = sum(bucket.count for bucket in buckets)
            if held > 4 * (waiting + len(rows)):
                for bucket in buckets:
                    bucket.copy()
                held = waiting
        if not self._batching.drop_last:
            for bucket in buckets:
                if bucket.count and not self._enough:
                    yield from self._give(bucket.take(bucket.count), buckets, self._plan.order.length)

    def _sorted(self, rows: Rows) -> tuple[npt.NDArray[np.intp], list[int]]:
        """Return the numbers of the rows, bucket by bucket, and where each bucket begins among them."""
        numbers = self._batching.buckets(rows.columns) if len(rows) else np.empty(0, np.intp)
        order = np.argsort(numbers, kind="stable")
        edges = np.searchsorted(numbers[order], np.arange(len(self._batching.sizes) + 1))
        return order, edges.tolist()

    def _give(self, full: Rows, buckets: Sequence[Bucket], position: int) -> Iterator[tuple[Any, Cursor]]:
        self._made += 1
        if self._made <= self._skipped:
            return
        waiting = WaitingRows([bucket.place for bucket in buckets], position)
        place = replace(self._start, batch=self._made - self._skipped, position=position, waiting=waiting)
        yield make_batch(self._plan, full), place


def make_batch(plan: Plan, rows: Rows, first: int = 0, last: int | None = None) -> Any:
    """Return a batch of some rows, as a plan wants it."""
    last = len(rows) if last is None else last
    part = slice(first, last)
    whole = first == 0 and last == len(rows)
    columns = rows.columns if whole else {name: column[part] for name, column in rows.columns.items()}
    columns = {name: c.in_batch(name) if isinstance(c, RowValues) else c for name, c in columns.items()}
    return plan.changed_batch(plan.batched().collate(columns), rows.numbers[part])
