"""Rows for positions of the order: looked up, fetched, changed by the verbs, and left out where that is asked for.

Of large records only so many are fetched at a time that they are still in the cache when they are decoded; what becomes
of them is put into the room of the whole (see room.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from recordsmith.columns.any_column import concatenate
from recordsmith.errors import ChangedFileError, RecordsmithError
from recordsmith.loader.engine.fetching import Fetcher
from recordsmith.loader.order.record_order import ENDLESS, Drawn
from recordsmith.loader.plan import Plan, Rows
from recordsmith.loader.row_memory import Room, RoomPart
from recordsmith.loader.skipping import SkippedRecord

__all__ = ["RowMaker", "joined"]

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

    def between(self, epoch: int, first: int, last: int, room: RoomPart | None = None) -> Rows:
        """Return the rows of a run of positions, all of them put into a room if one is given."""
        return self.at(epoch, np.arange(first, last, dtype=np.int64), room)

    def at(self, epoch: int, positions: npt.NDArray[np.int64], room: RoomPart | None = None) -> Rows:
        """Return the rows of some positions; those with errors are left out and counted, if the plan says so."""
        drawn = self._plan.order.at(epoch, positions)
        if self._plan.skipped is None:
            return self._changed(drawn, positions, room)
        try:
            return self._changed(drawn, positions, room)
        except ChangedFileError:
            raise  # no row is at fault
        except Exception:  # noqa: BLE001 - one row is at fault: find out which
            good = [self._one(drawn, positions, place) for place in range(len(positions))]
            return joined([row for row in good if row is not None])

    def _one(self, drawn: Drawn, positions: npt.NDArray[np.int64], place: int) -> Rows | None:
        one = slice(place, place + 1)
        try:
            return self._changed(Drawn(drawn.numbers[one], drawn.epochs[one]), positions[one])
        except ChangedFileError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever is wrong with the record, or what a function did to it
            if self._plan.skipped is not None:
                path, record = self._fetcher.file_of(int(drawn.numbers[place]))
                reason = error.problem if isinstance(error, RecordsmithError) else f"{type(error).__name__}: {error}"
                self._plan.skipped.add(SkippedRecord(path, record, reason))
            return None

    def _changed(self, drawn: Drawn, positions: npt.NDArray[np.int64], room: RoomPart | None = None) -> Rows:
        size = self.rows_at_once
        if room is not None or len(positions) <= size:
            return self._changed_at_once(Rows({}, drawn.numbers, drawn.epochs, positions, room))
        shared = Room(len(positions))
        parts = []
        for start in range(0, len(positions), size):
            piece = slice(start, start + size)
            rows = Rows({}, drawn.numbers[piece], drawn.epochs[piece], positions[piece], shared.at(start))
            parts.append(self._changed_at_once(rows))
        return joined(parts, shared)

    def _changed_at_once(self, rows: Rows) -> Rows:
        rows.columns = self._fetcher.columns(Drawn(rows.numbers, rows.epochs))
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


def joined(parts: Sequence[Rows], room: Room | None = None) -> Rows:
    """Put rows one behind the other, without a copy of what lies in one room already."""
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
