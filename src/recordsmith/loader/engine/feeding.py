"""Batches out of a plan: tasks of a few batches each, done ahead by threads, given in order.

Without a filter, every batch is a run of positions known beforehand: a task looks up its positions' records, fetches
and changes them and cuts them into batches. With one, tasks give the rows that the filter keeps, and these are made
into batches as they come. Either way a place between two batches is a few numbers, and work can
begin at any such place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import chain, groupby
from operator import itemgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.errors import PipelineError
from recordsmith.loader.engine.batch_assembly import Assembly, BucketAssembly, make_batch
from recordsmith.loader.engine.batch_ranges import BatchRanges
from recordsmith.loader.engine.cursor import Cursor
from recordsmith.loader.engine.rest_of_epoch import rest_of_epoch
from recordsmith.loader.engine.row_access import take_rows
from recordsmith.loader.engine.row_making import RowMaker, joined
from recordsmith.loader.order.record_order import ENDLESS
from recordsmith.loader.plan import PACKED_ROWS, Plan, Rows
from recordsmith.loader.row_memory import MemoryPart, RowMemory
from recordsmith.workers.forking import in_own_process
from recordsmith.workers.threads import default_workers, in_order, thread_pool

__all__ = ["UnknownLengthError", "batch_count", "epoch_after", "feed", "place_to_begin"]

_MOST_WORKERS = 4
_TASK_ROWS = 8192  # small rows: so many in a task that starting it does not count
_TASK_BYTES = 4 << 20  # large rows: no more than this
_STREAM_ROWS = 1024  # rows that a filter sees at a time
_HEAVY_ROWS = 32  # the same where each of them may be an image
_MOST_EMPTY = 1000  # epochs in a row without a batch: then there will never be one
Int64s = npt.NDArray[np.int64]
_NOTHING = object()  # a batch of which every row was skipped


class UnknownLengthError(PipelineError, TypeError):
    """The length of a chain is not known beforehand. Also a TypeError, so that list() does without it."""


def batch_count(plan: Plan) -> int:
    """Return how many batches an epoch has."""
    plan.batched()
    if plan.is_streamed:
        raise UnknownLengthError(
            "The number of batches is not known before the rows are read.",
            advice="Iterate to find out, or filter when the dataset is made.",
        )
    start, stop = plan.batches_taken
    if plan.order.length >= ENDLESS and stop is None:
        raise UnknownLengthError("An endless repeat has no length.", advice="Write .repeat(n), or count per epoch.")
    count = BatchRanges(plan).count
    return max(0, min(count, count if stop is None else stop) - start)


def place_to_begin(plan: Plan, place: Cursor) -> Cursor:
    """Return where to begin at a place: if nothing is left of its epoch, with the next one."""
    if not place.batch or plan.is_streamed:
        return place  # without counting the records
    ends = plan.order.length < ENDLESS or plan.batches_taken[1] is not None
    is_over = ends and place.batch >= batch_count(rest_of_epoch(plan, place))
    return Cursor(place.epoch + 1) if is_over else place


def epoch_after(plan: Plan, epoch: int) -> int:
    """Return the first epoch after an iteration that is in one: iterations begin at multiples of those they feed."""
    epochs = plan.epochs_fed or 1
    return (epoch // epochs + 1) * epochs


def feed(plan: Plan, start: Cursor, every: tuple[int, int] = (0, 1)) -> Iterator[tuple[Any, Cursor]]:
    """Give batches from a place on, each with the place after it.

    With `every` = (first, step) it gives the first-th and from there each step-th only: the share of one of `step`
    processes. The others are not made, unless that rows are left out or wait in buckets hides which those are.
    """
    return in_own_process(_feed(plan, place_to_begin(plan, start), every))


def _feed(plan: Plan, start: Cursor, every: tuple[int, int]) -> Iterator[tuple[Any, Cursor]]:
    first, step = every
    given = 0  # to all processes
    empty = 0  # epochs in a row
    is_streamed = plan.is_streamed
    with ExitStack() as stack:
        pool = stack.enter_context(thread_pool(_threads(plan)))
        for epoch in range(start.epoch, ENDLESS if plan.epochs_fed is None else epoch_after(plan, start.epoch)):
            begin = start if epoch == start.epoch else Cursor(epoch)
            if epoch <= start.epoch + 1:  # what is left of an epoch may be divided otherwise than whole ones
                here = rest_of_epoch(plan, begin)
                maker = stack.enter_context(_stopping(RowMaker(here)))
            share = (first - given) % step, step
            made = 0
            for batch in (
                _streamed(here, maker, begin, pool) if is_streamed else _fixed(here, maker, begin, pool, share)
            ):
                if not is_streamed or (given + made) % step == first:
                    yield batch
                made += 1
            if is_streamed:
                given += made
            elif step > 1 or not made:
                given += batch_count(here) - begin.batch
                if batch_count(plan) == 0:
                    return  # of every epoch
            empty = 0 if made or begin.batch else empty + 1
            if empty == _MOST_EMPTY and plan.epochs_fed is None:
                raise PipelineError(
                    "An endless repeat yields no batches: many epochs in a row were empty.",
                    found=f"{empty:,} epochs without a batch",
                    advice="Check which rows the verbs before it leave out: .filter(), .skip(), drop_last, on_error.",
                )


@contextmanager
def _stopping(maker: RowMaker) -> Iterator[RowMaker]:
    """Give a maker whose threads do not wait for the network any more at the end."""
    try:
        yield maker
    finally:
        maker.stop()


def _workers(plan: Plan) -> int:
    return min(_MOST_WORKERS, default_workers()) if plan.workers is None else plan.workers


def _threads(plan: Plan) -> int:
    """Return how many threads work: one more than processors, since some wait for the disk, unless work is heavy."""
    workers = _workers(plan)
    if workers == 0:
        return 1
    return max(2, workers) if plan.heavy else workers + 1


# --- batches whose positions are known ---


def _fixed(
    plan: Plan, maker: RowMaker, start: Cursor, pool: Executor | None, every: tuple[int, int]
) -> Iterator[tuple[Any, Cursor]]:
    if _in_file_order(plan, start) and every == (0, 1):
        yield from _sequential(plan, start.epoch)
        return
    ranges = BatchRanges(plan)
    skipped, stop = plan.batches_taken
    stop = ranges.count if stop is None else min(stop, ranges.count)

    mine = range(skipped + start.batch + every[0], stop, every[1])
    in_pieces = maker.rows_at_once < plan.batched().size and plan.picks_columns
    made = _pieced if in_pieces else _grouped
    batches = made(plan, maker, ranges, mine, start.epoch, pool)
    number = mine.start + 1 - every[1]
    for batch in batches:
        number += every[1]
        if batch is _NOTHING:
            continue
        yield batch, Cursor(start.epoch + 1) if number >= stop else replace(start, batch=number - skipped)


def _grouped(
    plan: Plan, maker: RowMaker, ranges: BatchRanges, mine: range, epoch: int, pool: Executor | None
) -> Iterator[Any]:
    """Give batches, of which a task makes several."""

    def work(group: range) -> list[Any]:
        spans = [ranges.of(batch) for batch in group]
        rows = maker.at(epoch, positions(group))
        cuts = [np.searchsorted(rows.positions, span) for span in spans]  # where some were skipped, batches are shorter
        return [
            make_batch(plan, rows, int(a), int(b)) if b > a or first == last else _NOTHING
            for (a, b), (first, last) in zip(cuts, spans, strict=True)
        ]

    def positions(group: range) -> Int64s:
        spans = [ranges.of(batch) for batch in group]
        return np.concatenate([np.arange(a, b, dtype=np.int64) for a, b in spans])

    groups = maker.announced(epoch, _groups(mine, _batches_per_task(plan, maker)), positions)
    for group in in_order(pool, work, groups, ahead=_tasks_ahead(plan)):
        yield from group


def _pieced(
    plan: Plan, maker: RowMaker, ranges: BatchRanges, mine: range, epoch: int, pool: Executor | None
) -> Iterator[Any]:
    """Give batches of which each is the work of several tasks."""
    size = maker.rows_at_once

    def pieces() -> Iterator[tuple[MemoryPart, int, int]]:
        for batch in mine:
            first, last = ranges.of(batch)
            memory = RowMemory(last - first)
            for start in range(first, max(last, first + 1), size):
                yield memory.at(start - first), start, min(start + size, last)

    def work(piece: tuple[MemoryPart, int, int]) -> tuple[RowMemory, Rows]:
        part, first, last = piece
        return part.memory, maker.between(epoch, first, last, part)

    # As many as whole batches would be, so that the next one is made while one is looked at.
    most = -(-plan.batched().size // size)
    ahead = max(_tasks_ahead(plan), most * _tasks_ahead(plan) // 2)
    tasks = maker.announced(epoch, pieces(), lambda piece: np.arange(piece[1], piece[2], dtype=np.int64))
    for memory, group in groupby(in_order(pool, work, tasks, ahead=ahead), key=itemgetter(0)):
        parts = [part for _, part in group]
        rows = joined([part for part in parts if len(part)] or parts[:1], memory)
        yield make_batch(plan, rows) if len(rows) or memory.rows == 0 else _NOTHING


def _in_file_order(plan: Plan, start: Cursor) -> bool:
    """Say whether whole files are read from front to back, which the core does fastest by itself."""
    plain = plan.order.is_file_order and plan.even_world is None and not plan.changes
    plain = plain and not plan.datasets[0].is_remote  # whose records are announced
    plain = plain and plan.skipped is None
    return plain and start.batch == 0 and plan.batches_taken == (0, None)


def _sequential(plan: Plan, epoch: int) -> Iterator[tuple[Any, Cursor]]:
    at = 0
    batching = plan.batched()
    size = min(batching.size, ENDLESS)
    batches = plan.datasets[0].read_batches(size, drop_last=batching.drop_last, threads=_workers(plan))
    for number, (columns, count) in enumerate(batches, 1):
        numbers = np.arange(at, at + count, dtype=np.int64)
        epochs = np.full(count, epoch, np.int64)
        at += count
        yield make_batch(plan, Rows(columns, numbers, epochs, numbers)), Cursor(epoch, number)


def _groups(batches: range, most: int) -> Iterator[range]:
    """Cut a run of batches into tasks: small ones first, so that the first batch comes soon."""
    size = 1
    while batches:
        yield batches[:size]
        batches = batches[size:]
        size = min(size * 2, most)


def _batches_per_task(plan: Plan, maker: RowMaker) -> int:
    if plan.heavy:
        return 1
    most = max(1, _task_rows(maker) // plan.batched().size)
    return most if plan.ahead is None else max(1, min(most, plan.ahead))


def _task_rows(maker: RowMaker) -> int:
    return max(1, int(min(_TASK_ROWS, _TASK_BYTES / max(1.0, maker.record_bytes))))


def _tasks_ahead(plan: Plan) -> int:
    workers = max(1, _workers(plan))
    return workers + 1 if plan.ahead is None else max(1, min(workers + 1, plan.ahead))


# --- batches of what a filter leaves ---


def _streamed(plan: Plan, maker: RowMaker, start: Cursor, pool: Executor | None) -> Iterator[tuple[Any, Cursor]]:
    length = plan.order.length
    has_buckets = len(plan.batched().sizes) > 1
    size = plan.window or (_HEAVY_ROWS if plan.heavy else _task_rows(maker) if has_buckets else _STREAM_ROWS)
    # A place in a window is reached by packing the window again.
    begin = start.position if plan.window is None else start.position // PACKED_ROWS

    def work(first: int) -> Rows:
        rows = maker.between(start.epoch, first, min(first + size, length))
        if plan.window is None or first != begin:
            return rows
        return take_rows(rows, np.flatnonzero(rows.positions >= start.position))

    assembly = (BucketAssembly if has_buckets else Assembly)(plan, start)
    held: tuple[Any, Cursor] | None = None  # a batch is given once it is known whether another follows
    positions = range(begin, length, size)
    tasks = maker.announced(
        start.epoch, positions, lambda first: np.arange(first, min(first + size, length), dtype=np.int64)
    )
    parts: Iterable[Rows] = in_order(pool, work, tasks, ahead=_tasks_ahead(plan))
    if start.waiting:
        parts = chain([maker.at(start.epoch, np.array(start.waiting, np.int64))], parts)
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
