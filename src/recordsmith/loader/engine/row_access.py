"""Single rows out of columns, columns out of single rows, and parts of columns put together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from recordsmith.columns import ByteColumn, Ragged
from recordsmith.columns.offset_column import offsets_of
from recordsmith.errors import PipelineError
from recordsmith.loader.plan import Rows

__all__ = ["collate_values", "concatenate", "part_of", "row_of", "take_rows"]


def row_of(columns: dict[str, Any], number: int) -> dict[str, Any]:
    """Return one row: plain values, None where a feature is absent.

    >>> row_of({"n": np.arange(3), "s": ["a", "b", "c"]}, 1)
    {'n': np.int64(1), 's': 'b'}
    """
    row = {}
    for name, column in columns.items():
        if isinstance(column, np.ma.MaskedArray):
            row[name] = None if np.ma.getmaskarray(column)[number].all() else column.data[number]
        else:
            row[name] = column[number]
    return row


def part_of(column: Any, rows: Any) -> Any:
    """Return some rows of a column: a slice, or an array of row numbers."""
    if isinstance(column, list):
        return column[rows] if isinstance(rows, slice) else [column[row] for row in rows.tolist()]
    return column[rows]


def take_rows(rows: Rows, kept: Any) -> Rows:
    """Return some of the rows."""
    columns = {name: part_of(column, kept) for name, column in rows.columns.items()}
    return Rows(columns, rows.numbers[kept], rows.epochs[kept], rows.positions[kept])


def concatenate(parts: Sequence[Any]) -> Any:
    """Put parts of one column one after the other.

    >>> concatenate([np.arange(2), np.arange(2)]).tolist()
    [0, 1, 0, 1]
    """
    first = parts[0]
    if len(parts) == 1:
        return first
    if isinstance(first, list):
        return [value for part in parts for value in part]
    if isinstance(first, np.ma.MaskedArray):
        masks = np.concatenate([np.ma.getmaskarray(part) for part in parts])
        return np.ma.MaskedArray(np.concatenate([part.data for part in parts]), mask=masks)
    if isinstance(first, np.ndarray):
        return np.concatenate(parts)
    if isinstance(first, ByteColumn):
        return _joined_bytes(parts)
    if isinstance(first, Ragged):
        return _joined_ragged(parts)
    return [value for part in parts for value in part]


def collate_values(values: list[Any], name: str) -> Any:
    """Put single values of one feature together to a column.

    >>> collate_values([np.zeros(2), np.ones(2)], "x").shape
    (2, 2)
    >>> collate_values(["a", "b"], "s").to_list()
    ['a', 'b']
    """
    if not values:
        return np.empty(0)
    first = next((value for value in values if value is not None), None)
    if isinstance(first, (str, bytes)):
        data = [b"" if v is None else v.encode() if isinstance(v, str) else bytes(v) for v in values]
        present = None if all(v is not None for v in values) else [v is not None for v in values]
        return ByteColumn(
            b"".join(data), offsets_of(list(map(len, data))), text=isinstance(first, str), present=present
        )
    if any(value is None for value in values):
        return values
    arrays = [np.asarray(value) for value in values]
    if any(array.dtype != arrays[0].dtype for array in arrays):
        kinds = {array.dtype.kind for array in arrays}
        if not kinds <= set("biuf"):
            return values
    shapes = {array.shape for array in arrays}
    if len(shapes) == 1:
        return np.stack(arrays) if arrays[0].dtype.kind != "O" else values
    if len({shape[1:] for shape in shapes}) == 1 and () not in shapes:
        return Ragged(np.concatenate(arrays), offsets_of([len(array) for array in arrays]))
    if len({len(shape) for shape in shapes}) == 1:
        return values  # several dimensions differ: a list of arrays
    raise PipelineError(
        f"The values of {name!r} have different numbers of dimensions, so they cannot be put into one batch.",
        feature=name,
        found=f"shapes {sorted(shapes)[:4]}",
        advice="Let the function return arrays of one rank.",
    )


def _joined_bytes(parts: Sequence[ByteColumn]) -> ByteColumn:
    data, lengths, present = [], [], []
    for part in parts:
        start, stop = int(part.offsets[0]), int(part.offsets[-1])
        data.append(part.data[start:stop])
        lengths.append(np.diff(part.offsets))
        present.append(np.ones(len(part), np.bool_) if part.present is None else part.present)
    there = np.concatenate(present)
    return ByteColumn.unchecked(
        np.concatenate(data),
        offsets_of(np.concatenate(lengths)),
        text=parts[0].text,
        present=None if there.all() else there,
    )


def _joined_ragged(parts: Sequence[Ragged]) -> Ragged:
    values, lengths, present = [], [], []
    for part in parts:
        start, stop = int(part.offsets[0]), int(part.offsets[-1])
        values.append(part.values[start:stop])
        lengths.append(np.diff(part.offsets))
        present.append(np.ones(len(part), np.bool_) if part.present is None else part.present)
    there = np.concatenate(present)
    first = parts[0]
    return Ragged.unchecked(
        concatenate(values),
        offsets_of(np.concatenate(lengths)),
        row_shape=first._shape,  # noqa: SLF001 - ours: None where it follows from the values
        present=None if there.all() else there,
    )
