"""Rows on their way to a batch: single ones, some of them, and values that a user's function returned for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, Self

import numpy as np

from recordsmith.columns import ByteColumn, Ragged
from recordsmith.columns.any_column import concatenate, row_of
from recordsmith.columns.offset_column import offsets_of
from recordsmith.columns.sparse_column import SparseRow
from recordsmith.errors import PipelineError
from recordsmith.loader.plan import Rows

__all__ = [
    "ImageValues",
    "RowValues",
    "collate_values",
    "joined_columns",
    "row_at",
    "rows_in",
    "take_rows",
]


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


def rows_in(batch: Any) -> Iterator[Any]:
    """Give the rows of a batch one by one: those of a dict of columns are dicts, those of a tuple are tuples.

    >>> list(rows_in((np.arange(2), {"s": ["a", "b"]})))
    [(np.int64(0), {'s': 'a'}), (np.int64(1), {'s': 'b'})]
    """
    if isinstance(batch, tuple):
        yield from zip(*map(rows_in, batch), strict=True)
    elif isinstance(batch, dict):
        first = next(iter(batch.values()))
        yield from (row_at(batch, number) for number in range(len(first)))
    else:
        yield from (row_of(batch, number) for number in range(len(batch)))


def joined_columns(parts: Sequence[Any]) -> Any:
    """Return columns of one feature one after the other; a function may have changed its values in some of them only.

    >>> joined_columns([np.arange(2), RowValues(["a"])])
    [np.int64(0), np.int64(1), 'a']
    """
    if len({isinstance(part, RowValues) for part in parts}) > 1:
        parts = [RowValues(row_of(part, number) for number in range(len(part))) for part in parts]
    return concatenate(parts)


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
    given = [value for value in values if value is not None]
    if any(isinstance(value, (str, bytes)) for value in given):
        return _byte_column(values, given, name)
    if len(given) < len(values) or isinstance(given[0], SparseRow):
        return values
    arrays = [np.asarray(value) for value in values]
    if any(array.dtype != arrays[0].dtype for array in arrays):
        kinds = {array.dtype.kind for array in arrays}
        if not kinds <= set("biuf"):
            return values
    shapes = {array.shape for array in arrays}
    if len(shapes) == 1:
        return _checked(np.stack(arrays), arrays, name) if arrays[0].dtype.kind != "O" else values
    if len({shape[1:] for shape in shapes}) == 1 and () not in shapes:
        column = Ragged(np.concatenate(arrays), offsets_of([len(array) for array in arrays]))
        return _checked(column, arrays, name)
    if len({len(shape) for shape in shapes}) == 1:
        return values  # several dimensions differ: a list of arrays
    raise PipelineError(
        f"The values of {name!r} have different numbers of dimensions, so they cannot be put into one batch.",
        feature=name,
        found=f"shapes {sorted(shapes)[:4]}",
        advice="Let the function return arrays of one rank.",
    )


def _byte_column(values: list[Any], given: list[Any], name: str) -> ByteColumn:
    """Return texts or byte strings as a column, of which some may be None."""
    kinds = {str if isinstance(value, str) else bytes if isinstance(value, bytes) else type(value) for value in given}
    if len(kinds) > 1:
        raise PipelineError(
            f"The values of {name!r} are of different types, so they cannot be put into one batch.",
            feature=name,
            found=", ".join(sorted(kind.__name__ for kind in kinds)),
            expected="str for all rows, or bytes for all rows",
            advice="Let the function return one type.",
        )
    data = [b"" if value is None else value.encode() if isinstance(value, str) else value for value in values]
    present = None if len(given) == len(values) else [value is not None for value in values]
    return ByteColumn(b"".join(data), offsets_of(list(map(len, data))), text=kinds == {str}, present=present)


def _checked(column: Any, arrays: list[Any], name: str) -> Any:
    """Return a column that was made of arrays, unless their common dtype cannot hold all integers."""
    if column.dtype.kind == "f":
        for array, row in zip(arrays, column, strict=True):
            if array.dtype.kind in "iu" and array.tolist() != row.tolist():
                raise PipelineError(
                    f"The values of {name!r} have different dtypes, and the common one cannot hold all of them.",
                    feature=name,
                    found=f"{array.tolist()!r:.100} ({array.dtype}), which is {row.tolist()!r:.100} in {column.dtype}",
                    advice="Let the function return one dtype.",
                )
    return column
