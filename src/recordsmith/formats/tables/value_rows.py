"""Rows of Python values, as databases and sheets give them, converted to Arrow batches.

The types of a column are those of its values: whole numbers and fractions together are fractions. Where values have no
common type, the first counts, and the rows of others are bad.

    bool int float Decimal str bytes UUID     datetime date time timedelta     lists and mappings, as in JSON
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice
from typing import Any

from recordsmith.errors import import_extra
from recordsmith.formats.tables.batch_source import Batch
from recordsmith.formats.tables.loading import Bad
from recordsmith.formats.tables.nested import MisfitError, fitted, is_unicode, type_of_values

__all__ = ["ROWS_AT_ONCE", "CellError", "value_batches"]

ROWS_AT_ONCE = 8192
_SIMPLE = {bool, int, float, str, bytes, type(None)}
_EXACT = {"bool": bool, "int64": int, "double": float, "string": str, "binary": bytes}  # the same in Arrow


@dataclass(frozen=True, slots=True)
class CellError:
    """What stands in a cell instead of a value, such as #DIV/0!: the row is bad."""

    text: str


def value_batches(rows: Iterable[Sequence[Any]], names: Sequence[str], fields: Any, text: set[str]) -> Iterator[Batch]:
    """Give rows as batches.

    Args:
        rows: the values of each row, in the order of the names.
        names: the columns.
        fields: the types that they are to have, as an Arrow schema; None: those of the values of each batch.
        text: columns in which any value becomes text.

    >>> import pyarrow
    >>> (batch,) = value_batches([(1, "a"), (2.5, 3)], ["x", "y"], None, set())
    >>> batch.rows.to_pylist(), batch.bad
    ([{'x': 1.0, 'y': 'a'}, {'x': 2.5, 'y': None}], {1: ('y', 'The value is not a string, as in other rows.', 3)})
    """
    arrow = import_extra("pyarrow", "arrow", purpose="Reading tables")
    wanted = {} if fields is None else {field.name: field.type for field in fields}
    stream = iter(rows)
    while some := list(islice(stream, ROWS_AT_ONCE)):
        bad: Bad = {}
        arrays = []
        for name, column in zip(names, zip(*some, strict=True), strict=True):
            simple = name not in text and {*map(type, column)} <= _SIMPLE
            values = list(column) if simple else [_plain(value, as_text=name in text) for value in column]
            kind = wanted[name] if name in wanted else _type_of(values)
            arrays.append(_column(name, values, kind, bad))
        yield Batch(arrow.RecordBatch.from_arrays(arrays, names=list(names)), bad)


def _column(name: str, values: list[Any], kind: Any, bad: Bad) -> Any:
    arrow = import_extra("pyarrow", "arrow", purpose="Reading tables")
    if {*map(type, values)} <= {_EXACT.get(str(kind)), type(None)}:
        with suppress(arrow.ArrowException, OverflowError, UnicodeEncodeError):
            return arrow.array(values, kind)
    for row, value in enumerate(values):
        if value is None:
            continue
        if isinstance(value, CellError):
            values[row] = None
            bad.setdefault(row, (name, f"The cell has the error {value.text}.", value.text))
            continue
        try:
            values[row] = _fitted(value, kind, name)
        except MisfitError as error:
            values[row] = None
            bad.setdefault(row, (name, error.reason, error.value))
    return arrow.array(values, kind)


def _plain(value: Any, *, as_text: bool) -> Any:
    if isinstance(value, CellError):
        return value
    if isinstance(value, (bytearray, memoryview)):
        value = bytes(value)
    if isinstance(value, uuid.UUID) or (as_text and value is not None and not isinstance(value, (str, bytes))):
        return value.isoformat() if isinstance(value, (dt.date, dt.time)) else str(value)
    return value


def _type_of(values: Iterable[Any]) -> Any:
    """Return the type of a column: that of its first value, which others may widen."""
    arrow = import_extra("pyarrow", "arrow", purpose="Reading tables")
    found = [value for value in values if value is not None and not isinstance(value, CellError)]
    first = found[0] if found else None
    same = {type(first), *map(type, found)}
    for name, kind in _EXACT.items():
        if same == {kind}:
            return arrow.type_for_alias(name)
    if isinstance(first, bytes):
        return arrow.binary()
    if isinstance(first, dt.datetime):
        return arrow.timestamp("us", "UTC" if first.tzinfo is not None else None)
    if isinstance(first, dt.date):
        return arrow.date32()
    if isinstance(first, dt.time):
        return arrow.time64("us")
    if isinstance(first, dt.timedelta):
        return arrow.duration("us")
    if any(isinstance(value, Decimal) for value in found) and isinstance(first, (int, float, Decimal)):
        return arrow.float64()
    return type_of_values(found)


def _fitted(value: Any, kind: Any, name: str) -> Any:
    """Return a value as Arrow takes it for a type, or raise a MisfitError."""
    types = import_extra("pyarrow", "arrow", purpose="Reading tables").types
    if types.is_timestamp(kind):
        fits = isinstance(value, dt.datetime) and (value.tzinfo is not None) == (kind.tz is not None)
    elif types.is_date(kind):
        fits = isinstance(value, dt.date) and not isinstance(value, dt.datetime)
    elif types.is_time(kind):
        fits = isinstance(value, dt.time) and value.tzinfo is None
    elif types.is_duration(kind):
        fits = isinstance(value, dt.timedelta)
    elif types.is_binary(kind):
        fits = isinstance(value, bytes)
    else:
        if isinstance(value, str) and not is_unicode(value):
            raise MisfitError(name, kind, value.encode(errors="surrogateescape"))
        if isinstance(value, Decimal) and types.is_float64(kind):
            value = _number(value, kind, name)
        return fitted(value, kind, name)
    if not fits:
        raise MisfitError(name, kind, value)
    return value


def _number(value: Decimal, kind: Any, name: str) -> int | float:
    """Return a Decimal as a whole number, or as the nearest float."""
    if value.is_finite() and value == value.to_integral_value():
        return int(value)
    number = float(value)
    if value.is_finite() and number in (float("inf"), float("-inf")):
        raise MisfitError(name, kind, value)
    return number
