"""Converts columns of images or sounds of any kind to encoded bytes, as far as both have it in common."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePath
from typing import Any

from recordsmith.columns import ByteColumn
from recordsmith.errors import EncodeError
from recordsmith.schema.input.casting import describe_value
from recordsmith.schema.input.conversion import is_missing, understand_column
from recordsmith.schema.input.foreign_values import plain_values

__all__ = ["NOT_ENCODED", "encoded_rows", "stored_bytes", "wrong_value"]

NOT_ENCODED = object()
"""What `stored_bytes` returns for a value that is still to be encoded."""


def encoded_rows(
    values: Any, encode: Callable[[Any, int], Any], wrong: Callable[[Any, int], EncodeError]
) -> list[Any] | ByteColumn:
    """Return a column as encoded bytes, with None for absent rows; bytes are not looked at.

    Args:
        values: the column.
        encode: encodes one value of a row.
        wrong: makes the error about a value of a row that cannot be encoded.
    """
    given, present = understand_column(values)
    if isinstance(given, ByteColumn):
        if given.text and len(given):
            raise wrong(given[0], 0)
        return given
    rows = list(given)
    rows = plain_values(rows, set(map(type, rows)))
    if present is not None:
        rows = [row if there else None for row, there in zip(rows, present.tolist(), strict=True)]
    if all(type(row) is bytes for row in rows):
        return rows
    return [encode(row, number) for number, row in enumerate(rows)]


def stored_bytes(value: Any, row: int, what: str) -> Any:
    """Return a value that is encoded already, or that names a file; NOT_ENCODED for any other."""
    if isinstance(value, (bytes, bytearray)) or is_missing(value):
        return value
    if isinstance(value, memoryview):
        return value.tobytes()
    return _read(value, row, what) if isinstance(value, PurePath) else NOT_ENCODED


def wrong_value(value: Any, row: int, *, medium: str, expected: str, advice: str) -> EncodeError:
    """Return the error about a value that is neither encoded nor can be."""
    return EncodeError(
        f"A value is not {medium}.",
        row=row,
        found=describe_value(value),
        expected=expected,
        advice="If it is a file name, give pathlib.Path(value)." if isinstance(value, str) else advice,
    )


def _read(path: PurePath, row: int, what: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise EncodeError(
            f"{what} file cannot be read.",
            row=row,
            found=f"{path}: {error.strerror or error}",
            expected="a file that can be read",
            advice="Correct the path, or leave the row out.",
        ) from None
