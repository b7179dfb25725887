"""Rows for positions of the order: looked up, fetched, changed by the verbs, and left out where that is asked for.

Of large records only so many are fetched at a time that they are still in the cache when they are decoded; what becomes
of them is put into the memory of the whole (see memory.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from recordsmith.errors import ChangedFileError, PipelineError, RecordsmithError, list_names
from recordsmith.loader.engine.row_access import joined_columns
from recordsmith.loader.fetching.reading_ahead import ReadAhead
from recordsmith.loader.fetching.record_fetching import Fetcher
from recordsmith.loader.order.record_order import ENDLESS, OrderedRecords
from recordsmith.loader.plan import Plan, Rows
from recordsmith.loader.row_memory import MemoryPart, RowMemory
from recordsmith.loader.skipping import SkippedRecord
from recordsmith.storage.ranged.requests import ReadingStopped, RemoteReadError

__all__ = ["RowMaker", "joined"]

T = TypeVar("T")

_NO_ROW_AT_FAULT = (ChangedFileError, RemoteReadError, ReadingStopped)
_PIECE_BYTES = 4 << 20  # of records that wait to be decoded: they should still be in the cache


class RowMaker:
    """Makes the rows of a plan; used by several threads at once."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._fetcher = Fetcher(plan.datasets, plan.order)

    @cached_property
    def record_bytes(self) -> float:
        """How large a record is on average."""
        return self._fetcher.record_bytes

    @cached_property
    def rows_at_once(self) -> int:
        """How many rows are fetched and changed at a time."""
        plan = self._plan
        if not plan.heavy or plan.drops_rows or not self._fetcher.has_random_access:
            return ENDLESS
        return max(1, int(_PIECE_BYTES / max(1.0, self.record_bytes)))

    def announced(self, epoch: int, tasks: Iterable[T], positions: Callable[[T], npt.NDArray[np.int64]]) -> Iterable[T]:
        """Give tasks; the records of remote files at their positions are fetched before a thread takes the task."""
        if not self._fetcher.is_remote:
            return tasks

        def announce(task: T) -> float:
            needed = positions(task)
            self._fetcher.announce(epoch, needed)
            return len(needed) * self.record_bytes

        return self._ahead.over(tasks, announce)

    def stop(self) -> None:
        """Let threads that wait for the network give up."""
        self._fetcher.stop()

    @cached_property
    def _ahead(self) -> ReadAhead:
        return self._fetcher.read_ahead()

    def between(self, epoch: int, first: int, last: int, memory: MemoryPart | None = None) -> Rows:
        """Return the rows of a run of positions, all of them put into a memory if one is given."""
        return self.at(epoch, np.arange(first, last, dtype=np.int64), memory)

    def at(self, epoch: int, positions: npt.NDArray[np.int64], memory: MemoryPart | None = None) -> Rows:
        """Return the rows of some positions; those with errors are left out and counted, if the plan says so."""
        records = self._plan.order.at(epoch, positions)
        if self._plan.skipped is None:
            return self._changed(records, positions, memory)
        try:
            return self._changed(records, positions, memory)
        except _NO_ROW_AT_FAULT:
            raise
        except Exception:  # noqa: BLE001 - one row is at fault: find out which
            good = [self._one(records, positions, place) for place in range(len(positions))]
            return joined([row for row in good if row is not None])

    def _one(self, records: OrderedRecords, positions: npt.NDArray[np.int64], place: int) -> Rows | None:
        one = slice(place, place + 1)
        try:
            return self._changed(OrderedRecords(records.numbers[one], records.epochs[one]), positions[one])
        except _NO_ROW_AT_FAULT:
            raise
        except Exception as error:  # noqa: BLE001 - whatever is wrong with the record, or what a function did to it
            if self._plan.skipped is not None:
                path, record = self._fetcher.file_of(int(records.numbers[place]))
                reason = error.problem if isinstance(error, RecordsmithError) else f"{type(error).__name__}: {error}"
                self._plan.skipped.add(SkippedRecord(path, record, reason))
            return None

    def _changed(
        self, records: OrderedRecords, positions: npt.NDArray[np.int64], memory: MemoryPart | None = None
    ) -> Rows:
        size = self.rows_at_once
        if memory is not None or len(positions) <= size:
            return self._changed_at_once(Rows({}, records.numbers, records.epochs, positions, memory))
        shared = RowMemory(len(positions))
        parts = []
        for start in range(0, len(positions), size):
            piece = slice(start, start + size)
            rows = Rows({}, records.numbers[piece], records.epochs[piece], positions[piece], shared.at(start))
            parts.append(self._changed_at_once(rows))
        return joined(parts, shared)

    def _changed_at_once(self, rows: Rows) -> Rows:
        rows.columns = self._fetcher.columns(OrderedRecords(rows.numbers, rows.epochs))
        for change in self._plan.changes:
            try:
                rows = change.apply(rows)
            except Exception as error:
                number = getattr(error, "record_number", None)
                if number is not None:
                    path, record = self._fetcher.file_of(number)
                    if isinstance(error, RecordsmithError):
                        error.at(path=path, record=record)
                    else:
                        error.add_note(f"The record is number {record} of {path}.")
                raise
        return rows


def joined(parts: Sequence[Rows], memory: RowMemory | None = None) -> Rows:
    """Return rows one after the other; what is in one memory already is not copied."""
    if len(parts) == 1:
        return parts[0]
    if not parts:
        empty = np.empty(0, np.int64)
        return Rows({}, empty, empty, empty)
    columns = {}
    other = next((part for part in parts if part.columns.keys() != parts[0].columns.keys()), None)
    if other is not None:
        raise PipelineError(
            "A function of rows returned different features for different rows.",
            found=f"{list_names(other.columns)} for record {int(other.numbers[0])}",
            expected=f"{list_names(parts[0].columns)}, as for record {int(parts[0].numbers[0])}",
        )
    for name in parts[0].columns:
        values = [part.columns[name] for part in parts]
        whole = None if memory is None else memory.whole(name, values)
        columns[name] = joined_columns(values) if whole is None else whole
    return Rows(
        columns,
        np.concatenate([part.numbers for part in parts]),
        np.concatenate([part.epochs for part in parts]),
        np.concatenate([part.positions for part in parts]),
    )
