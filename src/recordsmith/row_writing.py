"""Rows, one mapping each, written by a schema.

The core reads the values that it understands as they are (exact ints, floats, str, bytes, flat lists of them, arrays
of the declared dtype) and asks here about every other one: here it is converted, or refused with a reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from recordsmith import _core
from recordsmith.errors import EncodeError, RecordsmithError, did_you_mean, list_names
from recordsmith.example import encode_sequence_example
from recordsmith.schema import Feature, Schema, Steps
from recordsmith.schema.native import compile_plan, row_rule

__all__ = ["RowWriter"]


class RowWriter:
    """Appends rows of one schema to a file that is being written.

    >>> from recordsmith.schema import Scalar
    >>> RowWriter(Schema({"n": Scalar("int64")})).names
    ('n',)
    """

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self.names = tuple(schema)
        self._features = tuple(schema.values())
        self._encoder: _core.RowEncoder | None = None
        if not any(isinstance(feature, Steps) for feature in self._features):
            rules = [row_rule(feature) for feature in self._features]
            self._encoder = _core.RowEncoder(compile_plan(schema), rules)

    def append(self, sink: _core.RecordSink, rows: Sequence[Mapping[str, Any]], first_number: int) -> None:
        """Append the rows, which are numbered from `first_number` in errors."""
        if self._encoder is not None:
            dicts = [self._as_dict(row, number) for number, row in enumerate(rows, first_number)]
            self._encoder.append(sink, dicts, first_number, self._canonical, self._complain)
            return
        for number, row in enumerate(rows, first_number):
            sink.append(self._sequence_payload(self._as_dict(row, number), number))

    def _as_dict(self, row: object, number: int) -> dict[str, Any]:
        if type(row) is dict:
            return row
        if isinstance(row, Mapping):
            return dict(row)
        raise EncodeError(
            "A row must be a mapping of names to values.",
            row=number,
            found=f"{type(row).__name__} {row!r}",
            advice="Give each row as a dict; columns go to write_columns.",
        )

    def _canonical(self, column: int, number: int, row: dict[str, Any]) -> Any:
        """Convert the value of one column, or explain why it cannot be stored. None: absent, and that is allowed."""
        return self._value(self.names[column], self._features[column], number, row)

    def _value(self, name: str, feature: Feature, number: int, row: dict[str, Any]) -> Any:
        if name not in row and not feature.optional:
            raise EncodeError(
                f"The row has no {name!r}.{did_you_mean(name, map(str, row))}",
                row=number,
                feature=name,
                found=f"a row with {list_names(map(str, row))}",
                advice="Add the value, or declare the feature with optional=True or a default.",
            )
        try:
            return feature.value_to_canonical(row.get(name))
        except RecordsmithError as error:
            raise error.at(row=number, feature=name) from None

    def _complain(self, number: int, row: dict[str, Any]) -> None:
        """Raise about a row that has more in it than the schema, or too much for a record."""
        for name in row:
            if name not in self._schema:
                raise EncodeError(
                    f"The row has a value {name!r}, and the schema no such feature."
                    f"{did_you_mean(str(name), self.names)}",
                    row=number,
                    feature=str(name),
                    expected=f"the features {list_names(self.names)}",
                    advice="Add it to the schema, or leave it out of the row.",
                )
        raise EncodeError(
            "The row is too large for one record: protobuf messages end at 2 GiB.",
            row=number,
            advice="Store large data in pieces, or as files of their own with their names in the record.",
        )

    def _sequence_payload(self, row: dict[str, Any], number: int) -> bytes:
        context: dict[str, Any] = {}
        lists: dict[str, list[Any]] = {}
        for name, feature in self._schema.items():
            value = self._value(name, feature, number, row)
            if value is None:
                continue
            if isinstance(feature, Steps):
                lists[name] = [_with_kind(step) for step in value]
            else:
                context[name] = _with_kind(value)
        if any(name not in self._schema for name in row):
            self._complain(number, row)
        return encode_sequence_example(context, lists)


def _with_kind(value: Any) -> Any:
    """Give an empty list of strings the kind that it has by the schema; empty arrays have theirs."""
    return np.empty(0, "S1") if isinstance(value, list) and not value else value
