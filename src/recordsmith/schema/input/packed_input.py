"""Converts columns of packed rows of any kind to one structured array."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from recordsmith.columns import ByteColumn, PackedColumn
from recordsmith.errors import EncodeError, did_you_mean, list_names
from recordsmith.schema.input.casting import cast_exactly, describe_value
from recordsmith.schema.input.conversion import missing_value, understand_column, without_missing
from recordsmith.schema.input.foreign import struct_fields
from recordsmith.schema.input.lossy_casting import cast_with_loss
from recordsmith.schema.input.numeric_input import dense_numbers
from recordsmith.wording.numbers import count_text

if TYPE_CHECKING:
    from recordsmith.schema.plan import Bools

__all__ = ["packed_rows"]

Array = npt.NDArray[Any]


def packed_rows(values: Any, dtype: np.dtype[Any], *, cast: bool) -> tuple[Array, Bools | None]:
    r"""Return a column as a structured array of exactly this dtype, and which rows are present.

    >>> packed_rows([{"a": 1, "b": [2, 3]}], np.dtype([("a", "u1"), ("b", "u1", 2)]), cast=False)[0].tobytes()
    b'\x01\x02\x03'
    """
    if isinstance(values, Mapping):
        return _from_columns(values, dtype, None, cast=cast), None
    if isinstance(values, PackedColumn):
        parts = {name: values[name] for name in values.names}
        return _from_columns(parts, dtype, None, cast=cast), values.present
    if isinstance(values, np.ndarray) and values.dtype.names is not None and values.ndim == 1:
        return _from_columns({name: values[name] for name in values.dtype.names}, dtype, None, cast=cast), None
    found = struct_fields(values)
    if found is not None:  # as PackedColumn.to_arrow returns it
        return _from_fields(*found, dtype, cast=cast)
    given, present = understand_column(values)
    if isinstance(given, ByteColumn) and given.text and len(given):
        raise _not_packed(given[0], 0, dtype)
    rows, present = without_missing(list(given), present)
    numbers = np.arange(len(rows)) if present is None else np.flatnonzero(present)
    packed = np.zeros(len(rows) if present is None else len(present), dtype)
    mappings: list[Mapping[str, Any]] = []
    places: list[int] = []
    for number, row in zip(numbers.tolist(), rows, strict=True):
        if isinstance(row, np.void) and row.dtype.names is not None:
            mappings.append({name: row[name] for name in row.dtype.names})
            places.append(number)
        elif isinstance(row, Mapping):
            mappings.append(row)
            places.append(number)
        else:
            packed[number] = _from_bytes(row, number, dtype)
    if mappings:
        for number, row in zip(places, mappings, strict=True):
            _check_names(row, dtype, number)
        columns = {name: [row[name] for row in mappings] for name in dtype.names or ()}
        packed[places] = _from_columns(columns, dtype, places, cast=cast)
    return packed, present


def _from_columns(
    columns: Mapping[str, Any], dtype: np.dtype[Any], places: Sequence[int] | None, *, cast: bool
) -> Array:
    """Pack a column for every part; `places` are the rows' numbers in errors, if they are not just counted."""
    _check_names(columns, dtype, None)
    packed: Array | None = None
    for name, (part, *_) in (dtype.fields or {}).items():
        try:
            how = cast_with_loss if cast else cast_exactly
            array, present = dense_numbers(columns[name], part.base.newbyteorder("="), part.shape, how)
            if present is not None and not present.all():
                raise missing_value(int(present.argmin()))
        except EncodeError as error:
            error.problem = f"Part {name!r}: {error.problem}"
            if error.row is not None and places is not None:
                error.row = places[error.row]
            raise
        if packed is None:
            packed = np.zeros(len(array), dtype)
        elif len(packed) != len(array):
            raise EncodeError(
                "The columns of the parts differ in length.",
                found=f"{count_text(len(array), 'row')} of {name!r}",
                expected=count_text(len(packed), "row"),
                advice="Give every part an entry for each row.",
            )
        packed[name] = array
    return np.zeros(0, dtype) if packed is None else packed


def _from_fields(
    fields: Mapping[str, Any], present: Bools | None, dtype: np.dtype[Any], *, cast: bool
) -> tuple[Array, Bools | None]:
    if present is None:
        return _from_columns(fields, dtype, None, cast=cast), None
    packed = np.zeros(len(present), dtype)
    columns = {name: field.filter(present) for name, field in fields.items()}
    packed[present] = _from_columns(columns, dtype, np.flatnonzero(present).tolist(), cast=cast)
    return packed, present


def _check_names(given: Mapping[str, Any], dtype: np.dtype[Any], row: int | None) -> None:
    names = dtype.names or ()
    for name in given:
        if name not in names:
            raise EncodeError(
                f"There is no part {name!r}.{did_you_mean(str(name), names)}",
                row=row,
                found=f"the parts {list_names(map(str, given))}",
                expected=f"the parts {list_names(names)}",
                advice="Add the part to the feature, or leave it out.",
            )
    for name in names:
        if name not in given:
            raise EncodeError(
                f"The part {name!r} is missing.{did_you_mean(name, map(str, given))}",
                row=row,
                found=f"the parts {list_names(map(str, given))}",
                expected=f"the parts {list_names(names)}",
                advice="Give a value for every part.",
            )


def _from_bytes(value: Any, row: int, dtype: np.dtype[Any]) -> Any:
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if not isinstance(value, (bytes, bytearray, memoryview)):
        raise _not_packed(value, row, dtype)
    raw = bytes(value)
    if len(raw) != dtype.itemsize:
        raise EncodeError(
            "The number of bytes is not the total size of the parts.",
            row=row,
            found=count_text(len(raw), "byte"),
            expected=f"{dtype.itemsize} bytes: {_sizes(dtype)}",
            advice="Check the declared dtypes and shapes against the program that packed them.",
        )
    return np.frombuffer(raw, dtype)[0]


def _sizes(dtype: np.dtype[Any]) -> str:
    return ", ".join(f"{part.itemsize} for {name!r}" for name, (part, *_) in (dtype.fields or {}).items())


def _not_packed(value: Any, row: int, dtype: np.dtype[Any]) -> EncodeError:
    return EncodeError(
        "A value is not a packed row.",
        row=row,
        found=describe_value(value),
        expected=f"a mapping with {list_names(dtype.names or ())}, or {dtype.itemsize} bytes",
        advice="Give the parts by name, or the packed bytes.",
    )
