"""Rows on their way to a batch: single ones, some of them, and values that a user's function returned for each."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, Self

import numpy as np

from recordsmith.columns import ByteColumn, Ragged
from recordsmith.columns.any_column import row_of
from recordsmith.columns.offset_column import offsets_of
from recordsmith.columns.sparse_column import SparseRow
from recordsmith.errors import PipelineError
from recordsmith.loader.plan import Rows

__all__ = ["ImageValues", "RowValues", "collate_values", "row_at", "take_rows"]


class RowValues(list[Any]):
    """A column of Python values, which only becomes arrays in a batch: more rows might have had other shapes."""

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(super().__getitem__(index))
        if isinstance(index, np.ndarray):
            return type(self)([self[row] for row in index.tolist()])
        return super().__getitem__(index)

    @classmethod
    def concatenated(cls, parts: Sequence[Self]) -> Self:
        """Return the values of several such columns, one after the other."""
        return cls(chain.from_iterable(parts))

    def in_batch(self, name: str) -> Any:
        """Return what a batch has of it."""
        return collate_values(self, name)


class ImageValues(RowValues):
    """Images of different sizes. They are a list in every batch, also in one whose images have one size."""

    def in_batch(self, name: str) -> Any:  # noqa: ARG002 - it needs no name
        """Return the list."""
        return list(self)


def row_at(columns: dict[str, Any], number: int) -> dict[str, Any]:
    """Return one row: plain values, None where a feature is absent.

    >>> row_at({"n": np.arange(3), "s": ["a", "b", "c"]}, 1)
    {'n': np.int64(1), 's': 'b'}
    """
    return {name: row_of(column, number) for name, column in columns.items()}


def take_rows(rows: Rows, kept: Any) -> Rows:
    """Return some of the rows."""
    columns = {name: column[kept] for name, column in rows.columns.items()}
    return Rows(columns, rows.numbers[kept], rows.epochs[kept], rows.positions[kept])


def collate_values(values: list[Any], name: str) -> Any:
    """Put single values of one feature together to a column.

    >>> collate_values([np.zeros(2), np.ones(2)], "x").shape
    (2, 2)
    >>> collate_values(["a", "b"], "s").to_list()
    ['a', 'b']
    """
    if not values:
        return np.empty(0)
    values = list(values)
    first = next((value for value in values if value is not None), None)
    if isinstance(first, (str, bytes)):
        data = [b"" if v is None else v.encode() if isinstance(v, str) else bytes(v) for v in values]
        present = None if all(v is not None for v in values) else [v is not None for v in values]
        return ByteColumn(
            b"".join(data), offsets_of(list(map(len, data))), text=isinstance(first, str), present=present
        )
    if isinstance(first, SparseRow) or any(value is None for value in values):
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
