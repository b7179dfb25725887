"""Rows put together to batches: those of known positions, and those that a filter leaves or that wait in buckets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from recordsmith.loader.cursor import Cursor
from recordsmith.loader.plan import Plan, Rows
from recordsmith.loader.row_access import collate_values, part_of, take_rows
from recordsmith.loader.row_making import joined
from recordsmith.loader.verbs.bucket_batch import BucketBatching
from recordsmith.loader.verbs.pairs import INDEX, Paired

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
            place = Cursor(self._start.epoch, self._made - self._skipped, int(rows.positions[size - 1]) + 1)
            yield make_batch(self._plan, rows, 0, size), place


class BucketAssembly(Assembly):
    """Puts rows of similar length together."""

    def batches(self, parts: Iterable[Rows]) -> Iterator[tuple[Any, Cursor]]:
        """Give the batches that are wanted, each with the place after it."""
        batching = self._batching
        if not isinstance(batching, BucketBatching):
            raise TypeError("rows are put into buckets by a BucketBatching")
        if self._enough:
            return
        waiting: list[list[tuple[Rows, int]]] = [[] for _ in batching.sizes]
        for rows in parts:
            for row, bucket in enumerate(batching.buckets(rows.columns)):
                waiting[bucket].append((rows, row))
                if len(waiting[bucket]) == batching.sizes[bucket]:
                    full, waiting[bucket] = waiting[bucket], []
                    yield from self._give(full, waiting, int(rows.positions[row]) + 1)
                    if self._enough:
                        return
        if not batching.drop_last:
            for bucket, left in enumerate(waiting):
                if left and not self._enough:
                    waiting[bucket] = []
                    yield from self._give(left, waiting, self._plan.order.length)

    def _give(
        self, full: list[tuple[Rows, int]], waiting: list[list[tuple[Rows, int]]], position: int
    ) -> Iterator[tuple[Any, Cursor]]:
        self._made += 1
        if self._made <= self._skipped:
            return
        rows = joined([take_rows(rows, np.array([row])) for rows, row in full])
        left = sorted(int(rows.positions[row]) for bucket in waiting for rows, row in bucket)
        place = Cursor(self._start.epoch, self._made - self._skipped, position, tuple(left))
        yield make_batch(self._plan, rows), place


def make_batch(plan: Plan, rows: Rows, first: int = 0, last: int | None = None) -> Any:
    """Return a batch of some rows, as a plan wants it."""
    last = len(rows) if last is None else last
    part = slice(first, last)
    whole = first == 0 and last == len(rows)
    columns = rows.columns if whole else {name: part_of(column, part) for name, column in rows.columns.items()}
    # What a user's function made is put together by batch: a part of more rows might have had other shapes.
    columns = {name: collate_values(c, name) if type(c) is list else c for name, c in columns.items()}
    batch: Any = plan.batched().collate(columns)
    for change in plan.batch_changes:
        if isinstance(change, Paired) and change.with_index:
            batch = {**batch, INDEX: rows.numbers[part]}
        batch = change.apply(batch)
    return batch
