"""Rows that are arrays of different shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from recordsmith.columns.offset_column import (
    Array,
    Bools,
    Int64s,
    OffsetColumn,
    arrow_offsets,
    checked_offsets,
    checked_present,
    offsets_of,
)
from recordsmith.errors import import_extra

if TYPE_CHECKING:
    import pyarrow as pa


class ShapedColumn(OffsetColumn):
    """Rows that are arrays of different shapes over one flat array of values.

    Args:
        values: the values of all rows, one after the other, each row's in C order.
        offsets: where each row starts in `values`, and where the last one ends.
        shapes: the shape of every row, one line each.
        present: which rows have a value; the others are read as None.

    >>> column = ShapedColumn(np.arange(8), [0, 6, 8], [[2, 3], [1, 2]])
    >>> column[0].tolist(), column[1].tolist()
    ([[0, 1, 2], [3, 4, 5]], [[6, 7]])
    >>> column.to_padded().shape
    (2, 2, 3)
    """

    __slots__ = ("_shapes", "_values")

    _values: Array
    _shapes: Int64s

    def __init__(
        self,
        values: Array,
        offsets: npt.ArrayLike,
        shapes: npt.ArrayLike,
        *,
        present: npt.ArrayLike | None = None,
    ) -> None:
        if not isinstance(values, np.ndarray) or values.ndim != 1:
            raise ValueError("values must be a flat array")
        self._values = values
        self._offsets = checked_offsets(offsets, len(values))
        self._present = checked_present(present, self._offsets)
        self._shapes = np.ascontiguousarray(shapes, dtype=np.int64)
        if self._shapes.ndim != 2 or len(self._shapes) != len(self):
            raise ValueError(f"shapes must have one row for each of {len(self)} rows, not shape {self._shapes.shape}")
        wrong = np.flatnonzero((self._shapes < 0).any(axis=1) | (self._shapes.prod(axis=1) != np.diff(self._offsets)))
        if wrong.size:
            row = int(wrong[0])
            count = int(np.diff(self._offsets)[row])
            raise ValueError(f"row {row} has {count} values, which do not fill the shape {self._shapes[row].tolist()}")

    @classmethod
    def unchecked(cls, values: Array, offsets: Int64s, shapes: Int64s, *, present: Bools | None = None) -> Self:
        """Build from arrays that are known to be valid, without checking them."""
        column = cls.__new__(cls)
        column._values, column._offsets, column._shapes, column._present = values, offsets, shapes, present  # noqa: SLF001 - ours
        return column

    @property
    def values(self) -> Array:
        """The values of all rows, flat."""
        return self._values

    @property
    def shapes(self) -> Int64s:
        """The shape of every row, one line each."""
        return self._shapes

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the values."""
        return self._values.dtype

    @property
    def lengths(self) -> Int64s:
        """The length of each row along its first dimension."""
        return self._shapes[:, 0]

    def to_list(self) -> list[Any]:
        """Return the rows as nested Python lists, with None for absent rows."""
        return [None if row is None else row.tolist() for row in self]

    def to_padded(self, pad_value: Any = 0) -> Array:
        """Return one dense array, padded to the largest size of each dimension."""
        largest = self._shapes.max(axis=0, initial=0).tolist()
        padded = np.full((len(self), *largest), pad_value, self.dtype)
        for number, row in enumerate(self):
            if row is not None:
                padded[number][tuple(slice(size) for size in row.shape)] = row
        return padded

    def to_arrow(self) -> pa.Array:
        """Return a pyarrow array of nested lists."""
        pyarrow = import_extra("pyarrow", "arrow", purpose="ShapedColumn.to_arrow")
        array = pyarrow.array(self._values[int(self._offsets[0]) : int(self._offsets[-1])])
        validity = self._arrow_validity(pyarrow)
        for axis in reversed(range(self._shapes.shape[1])):
            repeats = self._shapes[:, :axis].prod(axis=1)
            offsets, large = arrow_offsets(offsets_of(np.repeat(self._shapes[:, axis], repeats)))
            kind = pyarrow.large_list(array.type) if large else pyarrow.list_(array.type)
            buffers = [None if axis else validity, pyarrow.py_buffer(offsets)]
            array = pyarrow.Array.from_buffers(kind, len(offsets) - 1, buffers, children=[array])
        return array

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ShapedColumn):
            return super().__eq__(other)
        if not self._same_rows(other) or not np.array_equal(self._shapes, other._shapes):
            return False
        mine, theirs = (one.values[int(one.offsets[0]) : int(one.offsets[-1])] for one in (self, other))
        return np.array_equal(mine, theirs)

    __hash__ = None

    def _kind(self) -> str:
        return f" of {self.dtype}, {self._shapes.shape[1]} dimensions"

    def _shown(self, row: int) -> str:
        return np.array2string(self._row(row), threshold=8, edgeitems=3, separator=", ").replace("\n", "")

    def _row(self, row: int) -> Array:
        return self._values[int(self._offsets[row]) : int(self._offsets[row + 1])].reshape(self._shapes[row])

    def _flat(self) -> Sequence[Any]:
        return (self._values,)

    def _by_row(self) -> Sequence[Array]:
        return (self._shapes,)

    def _like(self, flat: Sequence[Any], offsets: Int64s, present: Bools | None, *by_row: Array) -> Self:
        return self.unchecked(flat[0], offsets, by_row[0], present=present)


def filled_shape(found: tuple[int, ...], declared: tuple[int | None, ...]) -> tuple[int, ...]:
    """Complete the shape of nested lists without values, which do not show the dimensions after the empty one.

    >>> filled_shape((0,), (None, None, 3))
    (0, 0, 3)
    """
    if len(found) == len(declared) or 0 not in found:
        return found
    return (*found, *(size or 0 for size in declared[len(found) :]))
