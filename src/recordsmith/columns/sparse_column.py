"""Rows that are vectors of one size, of which only some entries are stored."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from recordsmith.columns.offset_column import (
    Array,
    Bools,
    Int64s,
    OffsetColumn,
    checked_offsets,
    checked_present,
)
from recordsmith.columns.ragged import Ragged
from recordsmith.errors import import_extra

if TYPE_CHECKING:
    import pyarrow as pa

_SHOWN_ENTRIES = 4  # of a row, in a repr


class SparseRow(NamedTuple):
    """One row of a SparseColumn: where its entries are, and what they are."""

    indices: Int64s
    values: Array


class SparseColumn(OffsetColumn):
    """Sparse vectors of one size, as two flat arrays: the indices and the values of the entries that are not 0.

    Args:
        indices: the indices of all entries, row after row.
        values: their values.
        offsets: where each row starts in both, and where the last one ends.
        size: the length of every vector.
        present: which rows have a value; the others are read as None.

    >>> column = SparseColumn(np.array([0, 3, 1]), np.array([0.5, 1.5, 2.0]), [0, 2, 3], size=4)
    >>> column.dense().tolist()
    [[0.5, 0.0, 0.0, 1.5], [0.0, 2.0, 0.0, 0.0]]
    >>> column[0].indices.tolist(), column[1:].to_list()
    ([0, 3], [{1: 2.0}])
    """

    __slots__ = ("_indices", "_size", "_values")

    _indices: Int64s
    _values: Array
    _size: int

    def __init__(
        self,
        indices: npt.ArrayLike,
        values: Array,
        offsets: npt.ArrayLike,
        *,
        size: int,
        present: npt.ArrayLike | None = None,
    ) -> None:
        self._indices = np.ascontiguousarray(indices, dtype=np.int64)
        self._values = np.ascontiguousarray(values)
        if self._indices.ndim != 1 or self._indices.shape != self._values.shape:
            raise ValueError(f"indices of shape {self._indices.shape} and values of shape {self._values.shape}")
        if self._indices.size and not (self._indices.min() >= 0 and self._indices.max() < size):
            raise ValueError(f"an index is outside 0 to {size - 1}")
        self._offsets = checked_offsets(offsets, len(self._indices))
        self._present = checked_present(present, self._offsets)
        self._size = size

    @classmethod
    def unchecked(
        cls, indices: Int64s, values: Array, offsets: Int64s, *, size: int, present: Bools | None = None
    ) -> Self:
        """Build from arrays that are known to be valid, without checking them."""
        column = cls.__new__(cls)
        column._indices, column._values, column._offsets = indices, values, offsets  # noqa: SLF001 - ours
        column._size, column._present = size, present  # noqa: SLF001 - ours
        return column

    @property
    def size(self) -> int:
        """The length of every vector."""
        return self._size

    @property
    def indices(self) -> Ragged:
        """The places of each row's entries."""
        return Ragged.unchecked(self._indices, self._offsets, present=self._present)

    @property
    def values(self) -> Ragged:
        """The values of each row's entries."""
        return Ragged.unchecked(self._values, self._offsets, present=self._present)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the values."""
        return self._values.dtype

    @property
    def lengths(self) -> Int64s:
        """How many entries each row has."""
        return np.diff(self._offsets)

    def to_list(self) -> list[Any]:
        """Return the rows as mappings of indices to values, with None for absent rows."""
        return [
            None if row is None else dict(zip(row.indices.tolist(), row.values.tolist(), strict=True)) for row in self
        ]

    def dense(self) -> Array:
        """Return one dense array of shape (rows, size). Absent rows are 0."""
        dense = np.zeros((len(self), self._size), self.dtype)
        start, stop = int(self._offsets[0]), int(self._offsets[-1])
        rows = np.repeat(np.arange(len(self)), self.lengths)
        dense[rows, self._indices[start:stop]] = self._values[start:stop]
        return dense

    def to_scipy(self) -> Any:
        """Return a scipy.sparse.csr_array of shape (rows, size), which scikit-learn takes as it is.

        >>> SparseColumn(np.array([2]), np.array([7.0]), [0, 1], size=4).to_scipy().toarray().tolist()
        [[0.0, 0.0, 7.0, 0.0]]
        """
        import_extra("scipy", "text", purpose="SparseColumn.to_scipy")
        sparse = importlib.import_module("scipy.sparse")
        start, stop = int(self._offsets[0]), int(self._offsets[-1])
        parts = (self._values[start:stop], self._indices[start:stop], self._offsets - start)
        return sparse.csr_array(parts, shape=(len(self), self._size))

    def to_arrow(self) -> pa.Array:
        """Return a pyarrow struct array with the fields `indices` and `values`, lists both.

        >>> SparseColumn(np.array([2]), np.array([7]), [0, 1], size=4).to_arrow().to_pylist()
        [{'indices': [2], 'values': [7]}]
        """
        pyarrow = import_extra("pyarrow", "arrow", purpose="SparseColumn.to_arrow")
        lists = [Ragged.unchecked(part, self._offsets).to_arrow() for part in (self._indices, self._values)]
        absent = None if self._present is None else pyarrow.array(~self._present)
        return pyarrow.StructArray.from_arrays(lists, names=["indices", "values"], mask=absent)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SparseColumn):
            return super().__eq__(other)
        return self._size == other._size and self.indices == other.indices and self.values == other.values

    __hash__ = None

    def _kind(self) -> str:
        return f" of {self.dtype}, {self._size} wide"

    def _shown(self, row: int) -> str:
        indices, values = self._row(row)
        shown = zip(indices[:_SHOWN_ENTRIES].tolist(), values[:_SHOWN_ENTRIES].tolist(), strict=True)
        more = ", ..." if len(indices) > _SHOWN_ENTRIES else ""
        return f"{{{', '.join(f'{index}: {value:.6g}' for index, value in shown)}{more}}}"

    def _row(self, row: int) -> SparseRow:
        cut = slice(int(self._offsets[row]), int(self._offsets[row + 1]))
        return SparseRow(self._indices[cut], self._values[cut])

    def _flat(self) -> Sequence[Any]:
        return self._indices, self._values

    def _like(self, flat: Sequence[Any], offsets: Int64s, present: Bools | None, *_: Array) -> Self:
        return self.unchecked(flat[0], flat[1], offsets, size=self._size, present=present)
