"""Batches out of a plan: tasks of a few batches each, done ahead by threads, given in order.

Without a filter, every batch is a run of positions known beforehand: a task looks up its positions' records, fetches
and changes them and cuts them into batches. With one, tasks give rows that are left, and those are put together to
batches as they come. Either way a place between two batches is a few numbers, and work can begin at any such place.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass
from itertools import chain, groupby
from operator import itemgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.errors import PipelineError, RecordsmithError
from recordsmith.loader.fetching import Fetcher
from recordsmith.loader.order import ENDLESS, AllRecords, Drawn
from recordsmith.loader.plan import Batching, Plan, Rows
from recordsmith.loader.room import Room, RoomPart
from recordsmith.loader.row_access import collate_values, concatenate, part_of, take_rows
from recordsmith.loader.skipping import SkippedRecord
from recordsmith.loader.verbs.bucket_batch import BucketBatching
from recordsmith.loader.verbs.pairs import INDEX, Paired
from recordsmith.loader.verbs.select import Selected
from recordsmith.parallel import in_order, thread_pool

__all__ = ["Cursor", "UnknownLengthError", "batch_count", "feed"]

_MOST_WORKERS = 4
_TASK_ROWS = 8192  # small rows: so many in a task that starting it does not count
_TASK_BYTES = 4 << 20  # large rows: no more than this
_PIECE_BYTES = 4 << 20  # of records that wait to be decoded: they should still be in the cache
_STREAM_ROWS = 1024  # rows that a filter sees at a time
_HEAVY_ROWS = 32  # the same where each of them may be a picture
_NOTHING = object()  # a batch of which every row was skipped


class UnknownLengthError(PipelineError, TypeError):
    """The length of a chain is not known beforehand. Also a TypeError: that is how list() is told to do without it."""


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


def batch_count(plan: Plan) -> int:
    """Return how many batches an epoch has."""
    batching = _batching(plan)
    if plan.drops_rows or isinstance(batching, BucketBatching):
        raise UnknownLengthError(
            "How many batches there are is not known before the rows are read.",
            advice="Iterate to find out, or filter when the dataset is made.",
        )
    if plan.order.length >= ENDLESS:
        raise UnknownLengthError(
            "There is no end to an endless repeat.", advice="Write .repeat(n), or count per epoch."
        )
    count = _Ranges(plan, batching).count
    start, stop = plan.batches_taken
    return max(0, min(count, count if stop is None else stop) - start)


def feed(plan: Plan, start: Cursor, every: tuple[int, int] = (0, 1)) -> Iterator[tuple[Any, Cursor]]:
    """Give batches from a place on, each with the place after it.

    With `every` = (first, step) it gives the first-th and from there each step-th only: the share of one of `step`
    processes. The others are not made, unless that rows are left out or wait in buckets hides which those are.
    """
    first, step = every
    given = 0  # to all processes
    epochs = ENDLESS if plan.epochs_fed is None else plan.epochs_fed
    known = not plan.drops_rows and not isinstance(plan.batching, BucketBatching)
    if start.batch and known and plan.order.length < ENDLESS and start.batch >= batch_count(plan):
        start = Cursor(start.epoch + 1)  # nothing is left of that epoch
    with thread_pool(_threads(plan)) as pool:
        fetcher = Fetcher(plan.datasets, plan.order)
        for epoch in range(start.epoch, ENDLESS):
            if epoch >= _last_epoch(start.epoch, epochs):
                return
            begin = start if epoch == start.epoch else Cursor(epoch)
            streamed = plan.drops_rows or isinstance(plan.batching, BucketBatching)
            if not streamed:
                yield from _fixed(plan, fetcher, begin, pool, ((first - given) % step, step))
                given += batch_count(plan) - begin.batch if step > 1 else 0
                continue
            for batch in _streamed(plan, fetcher, begin, pool):
                if given % step == first:
                    yield batch
                given += 1


def _last_epoch(first: int, epochs: int) -> int:
    """Return the epoch before which an iteration that is in `first` ends: iterations begin at multiples of `epochs`."""
    return ENDLESS if epochs >= ENDLESS else (first // epochs + 1) * epochs


def _workers(plan: Plan) -> int:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(_MOST_WORKERS, cores) if plan.workers is None else plan.workers


def _threads(plan: Plan) -> int:
    """Return how many threads work: one more than processors, since some wait for the disk, unless work is heavy."""
    workers = _workers(plan)
    if workers == 0:
        return 1
    return max(2, workers) if plan.heavy else workers + 1


def _batching(plan: Plan) -> Batching:
    if plan.batching is None:
        raise PipelineError("There are no batches yet.", advice="End the chain with .batch(n), or iterate over rows.")
    return plan.batching


# --- batches whose positions are known ---


class _Ranges:
    """Which positions each batch of an epoch has."""

    def __init__(self, plan: Plan, batching: Batching) -> None:
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
        first, last = batch * self._size, min((batch + 1) * self._size, self._length)
        if (self.count - 1) * self._size >= self._length:
            # This rank has one row less, and that would have been the only one of its last batch: take it from the
            # batch before.
            if batch == self.count - 2:
                last -= 1
            elif batch == self.count - 1:
                first, last = self._length - 1, self._length
        return first, last


def _fixed(
    plan: Plan, fetcher: Fetcher, start: Cursor, pool: Executor | None, every: tuple[int, int]
) -> Iterator[tuple[Any, Cursor]]:
    batching = _batching(plan)
    if _in_file_order(plan, start) and every == (0, 1):
        yield from _sequential(plan, batching, start.epoch)
        return
    ranges = _Ranges(plan, batching)
    skipped, stop = plan.batches_taken
    stop = ranges.count if stop is None else min(stop, ranges.count)

    mine = range(skipped + start.batch + every[0], stop, every[1])
    size = _piece_rows(plan, fetcher)
    in_pieces = size < batching.size and all(isinstance(change, (Selected, Paired)) for change in plan.batch_changes)
    if in_pieces:
        batches = _pieced(plan, fetcher, ranges, mine, start.epoch, pool, size)
    else:
        batches = _grouped(plan, fetcher, ranges, mine, start.epoch, pool)
    number = mine.start + 1 - every[1]
    for batch in batches:
        number += every[1]
        if batch is _NOTHING:
            continue
        yield batch, Cursor(start.epoch + 1) if number >= stop else Cursor(start.epoch, number - skipped)


def _grouped(
    plan: Plan, fetcher: Fetcher, ranges: _Ranges, mine: range, epoch: int, pool: Executor | None
) -> Iterator[Any]:
    """Give batches, of which a task makes several."""
    batching = _batching(plan)

    def work(group: range) -> list[Any]:
        spans = [ranges.of(batch) for batch in group]
        positions = np.concatenate([np.arange(a, b, dtype=np.int64) for a, b in spans])
        rows = _rows_of(plan, fetcher, epoch, positions)
        cuts = [np.searchsorted(rows.positions, span) for span in spans]  # where some were skipped, batches are shorter
        whole = len(rows) == len(positions)
        return [_batch(plan, batching, rows, int(a), int(b)) if whole or b > a else _NOTHING for a, b in cuts]

    groups = _groups(mine, _batches_per_task(plan, fetcher, batching))
    for group in in_order(pool, work, groups, ahead=_tasks_ahead(plan)):
        yield from group


def _pieced(
    plan: Plan, fetcher: Fetcher, ranges: _Ranges, mine: range, epoch: int, pool: Executor | None, size: int
) -> Iterator[Any]:
    """Give batches of which each is the work of several tasks."""

    def pieces() -> Iterator[tuple[RoomPart, int, int]]:
        for batch in mine:
            first, last = ranges.of(batch)
            room = Room(last - first)
            for start in range(first, last, size):
                yield room.at(start - first), start, min(start + size, last)

    def work(piece: tuple[RoomPart, int, int]) -> tuple[Room, Rows]:
        part, first, last = piece
        return part.room, _rows_of(plan, fetcher, epoch, np.arange(first, last, dtype=np.int64), part)

    # As many as whole batches would be, so that the next one is made while one is looked at.
    most = -(-_batching(plan).size // size)
    ahead = max(_tasks_ahead(plan), most * _tasks_ahead(plan) // 2)
    for room, group in groupby(in_order(pool, work, pieces(), ahead=ahead), key=itemgetter(0)):
        rows = _joined([part for _, part in group if len(part)], room)
        yield _batch(plan, _batching(plan), rows, 0, len(rows)) if len(rows) else _NOTHING


def _in_file_order(plan: Plan, start: Cursor) -> bool:
    """Say whether whole files are read from front to back, which the core does fastest by itself."""
    plain = isinstance(plan.order, AllRecords) and plan.even_world is None and not plan.changes
    plain = plain and plan.skipped is None
    return plain and start.batch == 0 and plan.batches_taken == (0, None)


def _sequential(plan: Plan, batching: Batching, epoch: int) -> Iterator[tuple[Any, Cursor]]:
    at = 0
    batches = plan.datasets[0].read_batches(batching.size, drop_last=batching.drop_last, threads=_workers(plan))
    for number, (columns, count) in enumerate(batches, 1):
        numbers = np.arange(at, at + count, dtype=np.int64)
        epochs = np.full(count, epoch, np.int64)
        at += count
        yield _batch(plan, batching, Rows(columns, numbers, epochs, numbers), 0, count), Cursor(epoch, number)


def _groups(batches: range, most: int) -> Iterator[range]:
    """Cut a run of batches into tasks: small ones first, so that the first batch comes soon."""
    size = 1
    while batches:
        yield batches[:size]
        batches = batches[size:]
        size = min(size * 2, most)


def _batches_per_task(plan: Plan, fetcher: Fetcher, batching: Batching) -> int:
    if plan.heavy:
        return 1
    rows = min(_TASK_ROWS, _TASK_BYTES / max(1.0, fetcher.record_bytes))
    most = max(1, int(rows // batching.size))
    return most if plan.ahead is None else max(1, min(most, plan.ahead))


def _tasks_ahead(plan: Plan) -> int:
    workers = max(1, _workers(plan))
    return workers + 1 if plan.ahead is None else max(1, min(workers + 1, plan.ahead))


# --- batches of what a filter leaves ---


def _streamed(plan: Plan, fetcher: Fetcher, start: Cursor, pool: Executor | None) -> Iterator[tuple[Any, Cursor]]:
    length = plan.order.length
    size = _HEAVY_ROWS if plan.heavy else _STREAM_ROWS

    def work(first: int) -> Rows:
        return _rows_at(plan, fetcher, start.epoch, first, min(first + size, length))

    assembly = _BucketAssembly(plan, start) if isinstance(plan.batching, BucketBatching) else _Assembly(plan, start)
    held: tuple[Any, Cursor] | None = None  # a batch is given once it is known whether another follows
    tasks = range(start.position, length, size)
    parts: Iterable[Rows] = in_order(pool, work, tasks, ahead=_tasks_ahead(plan))
    if start.waiting:
        parts = chain([_rows_of(plan, fetcher, start.epoch, np.array(start.waiting, np.int64))], parts)
    try:
        for item in assembly.batches(parts):
            if held is not None:
                yield held
            held = item
    except Exception:
        if held is not None:
            yield held  # what came before the error comes first
        raise
    if held is not None:
        yield held[0], Cursor(start.epoch + 1)


class _Assembly:
    """Puts rows together to batches as they come."""

    def __init__(self, plan: Plan, start: Cursor) -> None:
        self._plan = plan
        self._batching = _batching(plan)
        self._start = start
        self._skipped, self._stop = plan.batches_taken
        self._made = start.batch + (self._skipped if start.batch else 0)
        self._waiting: list[Rows] = []
        self._count = 0

    def batches(self, parts: Iterable[Rows]) -> Iterator[tuple[Any, Cursor]]:
        """Give the batches that are wanted, each with the place after it."""
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
        rows = _joined(self._waiting)
        rest = take_rows(rows, slice(size, None))
        self._waiting, self._count = ([rest], len(rest)) if len(rest) else ([], 0)
        self._made += 1
        if self._made > self._skipped:
            place = Cursor(self._start.epoch, self._made - self._skipped, int(rows.positions[size - 1]) + 1)
            yield _batch(self._plan, self._batching, rows, 0, size), place


class _BucketAssembly(_Assembly):
    """Puts rows of similar length together."""

    def batches(self, parts: Iterable[Rows]) -> Iterator[tuple[Any, Cursor]]:
        """Give the batches that are wanted, each with the place after it."""
        batching = self._batching
        if not isinstance(batching, BucketBatching):
            raise TypeError("rows are put into buckets by a BucketBatching")
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
        rows = _joined([take_rows(rows, np.array([row])) for rows, row in full])
        left = sorted(int(rows.positions[row]) for bucket in waiting for rows, row in bucket)
        place = Cursor(self._start.epoch, self._made - self._skipped, position, tuple(left))
        yield _batch(self._plan, self._batching, rows, 0, len(rows)), place


def _joined(parts: list[Rows], room: Room | None = None) -> Rows:
    if len(parts) == 1:
        return parts[0]
    if not parts:
        empty = np.empty(0, np.int64)
        return Rows({}, empty, empty, empty)
    columns = {}
    for name in parts[0].columns:
        values = [part.columns[name] for part in parts]
        whole = None if room is None else room.whole(name, values)
        columns[name] = concatenate(values) if whole is None else whole
    return Rows(
        columns,
        np.concatenate([part.numbers for part in parts]),
        np.concatenate([part.epochs for part in parts]),
        np.concatenate([part.positions for part in parts]),
    )


# --- common to both ---


def _rows_at(plan: Plan, fetcher: Fetcher, epoch: int, first: int, last: int) -> Rows:
    return _rows_of(plan, fetcher, epoch, np.arange(first, last, dtype=np.int64))


def _rows_of(
    plan: Plan, fetcher: Fetcher, epoch: int, positions: npt.NDArray[np.int64], room: RoomPart | None = None
) -> Rows:
    drawn = plan.order.at(epoch, positions)
    if plan.skipped is None:
        return _changed(plan, fetcher, drawn, positions, room)
    try:
        return _changed(plan, fetcher, drawn, positions, room)
    except Exception:  # noqa: BLE001 - one row is at fault: find out which
        good = [_one_row(plan, fetcher, drawn, positions, place) for place in range(len(positions))]
        return _joined([row for row in good if row is not None])


def _one_row(plan: Plan, fetcher: Fetcher, drawn: Drawn, positions: npt.NDArray[np.int64], place: int) -> Rows | None:
    one = slice(place, place + 1)
    try:
        return _changed(plan, fetcher, Drawn(drawn.numbers[one], drawn.epochs[one]), positions[one])
    except Exception as error:  # noqa: BLE001 - whatever is wrong with the record, or what a function did to it
        if plan.skipped is not None:
            path, record = fetcher.file_of(int(drawn.numbers[place]))
            reason = error.problem if isinstance(error, RecordsmithError) else f"{type(error).__name__}: {error}"
            plan.skipped.add(SkippedRecord(path, record, reason))
        return None


def _changed(
    plan: Plan, fetcher: Fetcher, drawn: Drawn, positions: npt.NDArray[np.int64], room: RoomPart | None = None
) -> Rows:
    size = _piece_rows(plan, fetcher)
    if room is not None or len(positions) <= size:
        return _changed_at_once(plan, fetcher, Rows({}, drawn.numbers, drawn.epochs, positions, room))
    shared = Room(len(positions))
    parts = []
    for start in range(0, len(positions), size):
        piece = slice(start, start + size)
        rows = Rows({}, drawn.numbers[piece], drawn.epochs[piece], positions[piece], shared.at(start))
        parts.append(_changed_at_once(plan, fetcher, rows))
    return _joined(parts, shared)


def _piece_rows(plan: Plan, fetcher: Fetcher) -> int:
    """Return how many rows are fetched and changed at a time."""
    if not plan.heavy or plan.drops_rows or not fetcher.has_random_access:
        return ENDLESS
    return max(1, int(_PIECE_BYTES / max(1.0, fetcher.record_bytes)))


def _changed_at_once(plan: Plan, fetcher: Fetcher, rows: Rows) -> Rows:
    rows.columns = fetcher.columns(Drawn(rows.numbers, rows.epochs))
    for change in plan.changes:
        try:
            rows = change.apply(rows)
        except Exception as error:
            number = getattr(error, "record_number", None)
            if number is not None:
                path, record = fetcher.file_of(number)
                if isinstance(error, RecordsmithError):
                    error.at(path=path, record=record)
                else:
                    error.add_note(f"The record is number {record} of {path}.")
            raise
    return rows


def _batch(plan: Plan, batching: Batching, rows: Rows, first: int, last: int) -> Any:
    part = slice(first, last)
    whole = first == 0 and last == len(rows)
    columns = rows.columns if whole else {name: part_of(column, part) for name, column in rows.columns.items()}
    # What a user's function made is put together by batch: a part of more rows might have had other shapes.
    columns = {name: collate_values(c, name) if type(c) is list else c for name, c in columns.items()}
    batch: Any = batching.collate(columns)
    for change in plan.batch_changes:
        if isinstance(change, Paired) and change.with_index:
            batch = {**batch, INDEX: rows.numbers[part]}
        batch = change.apply(batch)
    return batch
