"""Converts columns of strings of any kind to UTF-8 or plain bytes."""

from __future__ import annotations

import datetime as dt
import os
from itertools import chain
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from recordsmith.columns import ByteColumn, Ragged
from recordsmith.columns.offset_column import offsets_of
from recordsmith.errors import EncodeError
from recordsmith.schema.input.casting import RowOf, describe_value
from recordsmith.schema.input.conversion import understand_column, without_missing

if TYPE_CHECKING:
    from recordsmith.schema.plan import Bools, Int64s

__all__ = ["one_string_a_row", "several_strings_a_row"]


def one_string_a_row(values: Any, *, text: bool) -> tuple[list[bytes] | ByteColumn, Bools | None]:
    r"""Return a column of single strings as a list of bytes or a ByteColumn from offset 0, and which rows are present.

    >>> one_string_a_row(["cat", "né"], text=True)
    (ByteColumn(2 rows: b'cat', b'n\xc3\xa9'), None)
    >>> one_string_a_row([b"cat", None], text=False)
    ([b'cat', b''], array([ True, False]))
    """
    given, present = understand_column(values)
    if isinstance(given, Ragged) and not text and _is_flat_uint8(given.values):
        given = ByteColumn(given.values, given.offsets, present=given.present)  # type: ignore[arg-type]
    if isinstance(given, ByteColumn):
        return _from_zero(given, text=text, row_of=int), present
    if isinstance(given, Ragged):
        raise _not_a_string(given, None, text=text)
    if isinstance(given, np.ndarray):
        if given.dtype.kind not in "SUT" or given.ndim != 1:
            raise _not_a_string(given, None, text=text)
        given = given.tolist()
    found, present = without_missing(given, present)
    if present is None:
        return (_joined_text(found) if text else None) or _encoded(found, text=text, row_of=int), None
    numbers = np.flatnonzero(present)
    strings = iter(_encoded(found, text=text, row_of=lambda position: int(numbers[position])))
    return [next(strings) if there else b"" for there in present.tolist()], present


def several_strings_a_row(values: Any, *, text: bool, count: int | None) -> tuple[ByteColumn, Int64s, Bools | None]:
    """Return a column of lists of strings as all strings, their offsets by row, and which rows are present.

    Where `count` is given, every present row must hold that many.

    >>> strings, offsets, _ = several_strings_a_row([["a", "b"], []], text=True, count=None)
    >>> strings.to_list(), offsets.tolist()
    ([b'a', b'b'], [0, 2, 2])
    """
    given, present = understand_column(values)
    if isinstance(given, ByteColumn):
        raise _not_a_list(given[0] if len(given) else given, 0, text=text)
    if isinstance(given, Ragged) and isinstance(given.values, ByteColumn):
        start = int(given.offsets[0])
        offsets = given.offsets - start
        _check_counts(np.diff(offsets), present, count)
        used = given.values[start : int(given.offsets[-1])]
        return _from_zero(used, text=text, row_of=lambda n: _row_at(offsets, n)), offsets, present
    if isinstance(given, Ragged) or (isinstance(given, np.ndarray) and (given.dtype.kind not in "SUT")):
        raise _not_a_string(given, None, text=text)
    rows, present = without_missing(list(given), present)
    numbers = np.arange(len(rows)) if present is None else np.flatnonzero(present)
    lists = [_list_of(row, int(number), text=text) for row, number in zip(rows, numbers, strict=True)]
    lengths = np.zeros(len(rows) if present is None else len(present), np.int64)
    lengths[numbers] = np.fromiter(map(len, lists), np.int64, len(lists))
    _check_counts(lengths, present, count)
    offsets = offsets_of(lengths)
    strings = _encoded(list(chain.from_iterable(lists)), text=text, row_of=lambda n: _row_at(offsets, n))
    lengths = np.fromiter(map(len, strings), np.int64, len(strings))
    return ByteColumn.unchecked(np.frombuffer(b"".join(strings), np.uint8), offsets_of(lengths)), offsets, present


def _joined_text(values: list[Any]) -> ByteColumn | None:
    """Encode a list of str all at once, which is several times faster than one by one; None if it is not that."""
    if set(map(type, values)) != {str}:
        return None
    try:
        data = np.frombuffer("".join(values).encode(), np.uint8)
    except UnicodeEncodeError:
        return None  # encoding one by one will find which
    offsets = offsets_of(np.fromiter(map(len, values), np.int64, len(values)))
    if offsets[-1] != len(data):
        # These offsets count characters; a character starts at every byte that does not continue one.
        starts = np.flatnonzero((data & 0xC0) != 0x80)
        offsets = np.append(starts, len(data))[offsets]
    return ByteColumn.unchecked(data, offsets)


def _encoded(values: list[Any], *, text: bool, row_of: RowOf) -> list[bytes]:
    """Return strings as bytes; a list that holds nothing but bytes already is returned itself."""
    kinds = set(map(type, values))
    if kinds <= {bytes} and not text:
        return values
    return [_one(value, row_of(position), text=text) for position, value in enumerate(values)]


def _one(value: Any, row: int, *, text: bool) -> bytes:
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, (bytes, bytearray, memoryview)):
        raw = value.tobytes() if isinstance(value, memoryview) else bytes(value)
        if text:
            _check_utf8(raw, row)
        return raw
    if text and isinstance(value, (str, PurePath)):
        try:
            return os.fspath(value).encode()
        except UnicodeEncodeError as error:
            raise EncodeError(
                "A string cannot be written as UTF-8.",
                row=row,
                found=f"{os.fspath(value)[error.start]!a} at position {error.start}",
                expected="text without lone surrogates",
                advice="Declare the feature as Bytes, or repair the text: value.encode('utf-8', 'surrogateescape').",
            ) from None
    if not text and _is_flat_uint8(value):
        return bytes(value.tobytes())
    raise _not_a_string(value, row, text=text)


def _check_utf8(raw: bytes, row: int) -> None:
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        raise EncodeError(
            "Bytes given for a text feature are not UTF-8.",
            row=row,
            found=f"byte 0x{raw[error.start]:02x} at position {error.start} of {raw[:24]!r}",
            expected="UTF-8 text",
            advice="Declare the feature as Bytes, or decode the bytes with the right encoding first.",
        ) from None


def _from_zero(column: ByteColumn, *, text: bool, row_of: RowOf) -> ByteColumn:
    """Return a column whose offsets start at 0, and which is UTF-8 if it is to be text."""
    if text:
        row = column.first_row_not_utf8()
        if row is not None:
            _check_utf8(column.data[column.offsets[row] : column.offsets[row + 1]].tobytes(), row_of(row))
    elif column.text and len(column):
        raise _not_a_string(column[0], row_of(0), text=text)
    start = int(column.offsets[0])
    data = column.data[start : int(column.offsets[-1])]
    return ByteColumn.unchecked(data, column.offsets - start if start else column.offsets)


def _list_of(row: Any, number: int, *, text: bool) -> list[Any]:
    if isinstance(row, (list, tuple)):
        return list(row)
    if isinstance(row, np.ndarray) and row.ndim == 1 and row.dtype.kind in "SUTO":
        return list(row.tolist())
    if isinstance(row, ByteColumn):
        return row.to_list()
    raise _not_a_list(row, number, text=text)


def _check_counts(lengths: Int64s, present: Bools | None, count: int | None) -> None:
    if count is None:
        return
    wrong = np.flatnonzero((lengths != count) & (True if present is None else present))
    if wrong.size:
        raise EncodeError(
            "A row has the wrong number of strings.",
            row=int(wrong[0]),
            found=f"{lengths[wrong[0]]} strings",
            expected=f"{count} strings",
            advice="Give the declared number of strings, or declare shape (None,) if the number varies.",
        )


def _row_at(offsets: Int64s, position: int) -> int:
    return int(np.searchsorted(offsets, position, side="right")) - 1


def _is_flat_uint8(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == np.uint8 and value.ndim == 1


def _not_a_string(value: Any, row: int | None, *, text: bool) -> EncodeError:
    if value is None:
        advice = "A list cannot contain None: give a value."
    elif text and isinstance(value, (dt.date, dt.time)):
        advice = "Convert it to a string, for example with value.isoformat()."
    elif text:
        advice = "Convert it with str(), or declare the feature with the type of the value."
    elif isinstance(value, str):
        advice = "Encode it first, for example with value.encode(), or declare the feature as Text."
    elif isinstance(value, PurePath):
        advice = "Read the file first, as with path.read_bytes(), or declare the feature as Text to store the path."
    else:
        advice = "Convert it to bytes, or declare the feature with the type of the value."
    return EncodeError(
        "A value is not a string." if text else "A value is not a byte string.",
        row=row,
        found=describe_value(value),
        expected="str, or bytes in UTF-8" if text else "bytes",
        advice=advice,
    )


def _not_a_list(value: Any, row: int, *, text: bool) -> EncodeError:
    return EncodeError(
        "A row must be a list of strings.",
        row=row,
        found=describe_value(value),
        expected=f"a list of {'str' if text else 'bytes'}",
        advice="Put a single string in a list, or declare the feature with shape ().",
    )
