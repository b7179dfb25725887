"""Writes rows (one mapping each) with a schema.

Of features that allow it, the core reads the values that it understands as they are (exact ints, floats, str, bytes,
flat lists of them, arrays of the declared dtype) and asks here about every other one: here it is converted, or refused
with a reason. Where a feature has to look at every value (labels, images, constraints), or is stored in several parts
or steps, rows are turned into columns, some at a time, and written as those.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from recordsmith import _core
from recordsmith.errors import EncodeError, RecordsmithError, did_you_mean, list_names
from recordsmith.schema import Schema
from recordsmith.schema.native import compile_plan, row_rules

__all__ = ["RowWriter"]

_MOST_AS_COLUMNS = 256  # many enough to spread the cost of a column, few enough for memory when rows are large
_LEAST_AS_COLUMNS = 1  # after a row that was refused: more may follow, and each is found by converting all before it


class RowWriter:
    """Appends rows of one schema to a file that is being written."""

    def __init__(self, schema: Schema, *, cast: bool = False) -> None:
        self._schema = schema
        self._cast = cast
        self.names = tuple(schema)
        self._features = tuple(schema.values())
        self._known = dict.fromkeys(self.names).keys()  # compares with a row's keys at once
        self._rows_at_once = _MOST_AS_COLUMNS
        rules = row_rules(schema)
        self._encoder = None if rules is None else _core.RowEncoder(compile_plan(schema), rules)

    def append(self, sink: _core.RecordSink, rows: Sequence[Mapping[str, Any]], first_number: int) -> None:
        """Append the rows, which are numbered from `first_number` in errors."""
        if self._encoder is not None:
            rows = rows if isinstance(rows, list) else list(rows)
            self._encoder.append(sink, rows, first_number, self._as_dict, self._canonical, self._complain)
            return
        dicts = [self._as_dict(row, number) for number, row in enumerate(rows, first_number)]
        start = 0
        while start < len(dicts):
            piece = dicts[start : start + self._rows_at_once]
            self._append_as_columns(sink, piece, first_number + start)
            start += len(piece)
            self._rows_at_once = min(2 * self._rows_at_once, _MOST_AS_COLUMNS)

    def _as_dict(self, row: object, number: int) -> dict[str, Any]:
        if type(row) is dict:
            return row
        if isinstance(row, Mapping):
            return dict(row)
        raise EncodeError(
            "A row must be a mapping of names to values.",
            row=number,
            found=f"{type(row).__name__} {row!r}",
            advice="Give each row as a dict. To write columns, use write_columns.",
        )

    # --- rows that the core reads ---

    def _canonical(self, column: int, number: int, row: dict[str, Any]) -> Any:
        """Convert the value of one column, or explain why it cannot be stored. None: absent, and that is allowed."""
        name, feature = self.names[column], self._features[column]
        if name not in row and not feature.optional:
            raise self._missing(name, number, row)
        try:
            return feature.value_to_canonical(row.get(name), cast=self._cast)
        except RecordsmithError as error:
            raise error.at(row=number, feature=name) from None

    def _complain(self, number: int, row: dict[str, Any]) -> None:
        """Raise about a row that has more in it than the schema, or too much for a record."""
        self._check_known(number, row)
        raise EncodeError(
            "The row is too large for one record: a protobuf message is limited to 2 GiB.",
            row=number,
            advice="Store large data in pieces, or in separate files with their names in the record.",
        )

    # --- rows that are turned into columns ---

    def _append_as_columns(self, sink: _core.RecordSink, rows: list[dict[str, Any]], first_number: int) -> None:
        try:
            count, parts = self._parts_of(rows)
        except RecordsmithError as error:
            self._rows_at_once = _LEAST_AS_COLUMNS
            if len(rows) == 1:
                error.row = first_number
                raise
            # Columns find errors feature by feature, so that an earlier row may be wrong in a later feature. The rows
            # before are written, as with every other schema, or raise themselves; then the row alone says what it has.
            middle = len(rows) // 2 if error.row is None else error.row
            for start, stop in ((0, middle), (middle, middle + 1), (middle + 1, len(rows))):
                if start < stop:
                    self._append_as_columns(sink, rows[start:stop], first_number + start)
            return
        sink.append_columns(compile_plan(self._schema), parts, count)

    def _parts_of(self, rows: list[dict[str, Any]]) -> tuple[int, Any]:
        for number, row in enumerate(rows):
            if row.keys() != self._known:
                self._check_known(number, row)
                for name, feature in self._schema.items():
                    if name not in row and not feature.optional:
                        raise self._missing(name, number, row)
        columns = {name: [row.get(name) for row in rows] for name in self.names}
        return self._schema.columns_to_parts(columns, cast=self._cast)

    # --- what can be wrong with a row's names ---

    def _missing(self, name: str, number: int, row: dict[str, Any]) -> EncodeError:
        return EncodeError(
            f"The row has no value {name!r}.{did_you_mean(name, map(str, row))}",
            row=number,
            feature=name,
            found=f"a row with {list_names(map(str, row))}",
            advice="Add the value, or declare the feature with optional=True or a default.",
        )

    def _check_known(self, number: int, row: dict[str, Any]) -> None:
        for name in row:
            if name not in self._schema:
                raise EncodeError(
                    f"The row has a value {name!r}, but the schema has no such feature."
                    f"{did_you_mean(str(name), self.names)}",
                    row=number,
                    feature=str(name),
                    expected=f"the features {list_names(self.names)}",
                    advice="Add it to the schema, or leave it out of the row.",
                )
