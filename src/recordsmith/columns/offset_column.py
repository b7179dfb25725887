"""What columns share whose rows are cut from flat arrays: offsets, presence, rows by number, concatenation."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from recordsmith import _core
from recordsmith.columns.any_column import concatenate, concatenated_presence
from recordsmith.columns.notebook_view import NotebookView

Array = npt.NDArray[Any]
Int64s = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

_SHOWN_ROWS = 4  # rows that a repr shows
_LARGEST_INT32 = 2**31 - 1


class OffsetColumn(NotebookView, ABC):
    """Rows that offsets cut from flat arrays. A class says which arrays, and how a column is made of others.

    It is not a `collections.abc.Sequence`, though it can be used as one: libraries that move batches to a device take
    sequences apart and rebuild them with `type(x)(list)`, and leave alone what they do not know.
    """

    __slots__ = ("_offsets", "_present")

    _offsets: Int64s
    _present: Bools | None

    @property
    def offsets(self) -> Int64s:
        """Where each row starts, and last where the last one ends: int64, one more than there are rows."""
        return self._offsets

    @property
    def present(self) -> Bools | None:
        """Which rows have a value; None if all have one."""
        return self._present

    @property
    @abstractmethod
    def lengths(self) -> Int64s:
        """How long each row is."""

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __reversed__(self) -> Iterator[Any]:
        return (self[row] for row in reversed(range(len(self))))

    def __contains__(self, value: object) -> bool:
        return any(row is value or row == value for row in self)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, (int, np.integer)):
            row = int(index) + len(self) if index < 0 else int(index)
            if not 0 <= row < len(self):
                raise IndexError(f"row {index} is out of range: the column has {len(self)} rows")
            return None if self._present is not None and not self._present[row] else self._row(row)
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            if step == 1:
                stop = max(start, stop)
                present = None if self._present is None else self._present[start:stop]
                by_row = [array[start:stop] for array in self._by_row()]
                return self._like(self._flat(), self._offsets[start : stop + 1], present, *by_row)
            return self._take(np.arange(start, stop, step, dtype=np.int64))
        return self._take(row_numbers(index, len(self)))

    @classmethod
    def concatenated(cls, parts: Sequence[Self]) -> Self:
        """Return the rows of several columns of this kind, one after the other."""
        arrays = [part._flat() for part in parts]  # noqa: SLF001 - its own class
        edges = [slice(int(part.offsets[0]), int(part.offsets[-1])) for part in parts]
        used = ([values[edge] for values in flat] for flat, edge in zip(arrays, edges, strict=True))
        by_row = (part._by_row() for part in parts)  # noqa: SLF001 - its own class
        return parts[0]._like(  # noqa: SLF001 - its own class
            [concatenate(values) for values in zip(*used, strict=True)],
            offsets_of(np.concatenate([np.diff(part.offsets) for part in parts])),
            concatenated_presence(parts),
            *(np.concatenate(values) for values in zip(*by_row, strict=True)),
        )

    def __iter__(self) -> Iterator[Any]:
        return (self[row] for row in range(len(self)))

    __hash__ = None  # type: ignore[assignment]  # it compares by value, and its arrays may change

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (list, tuple)):
            return self.to_list() == list(other)
        return NotImplemented

    def __repr__(self) -> str:
        rows = "1 row" if len(self) == 1 else f"{len(self)} rows"
        return f"{type(self).__name__}({rows}{self._kind()}{': ' if len(self) else ''}{self.summary()})"

    @abstractmethod
    def to_list(self) -> list[Any]:
        """Return every row as plain Python values."""

    @abstractmethod
    def _kind(self) -> str:
        """Say in a repr what the rows are, where they do not show it themselves."""

    @abstractmethod
    def _shown(self, row: int) -> str:
        """Show one present row, shortened."""

    @abstractmethod
    def _row(self, row: int) -> Any: ...

    @abstractmethod
    def _flat(self) -> Sequence[Any]:
        """Return what the offsets cut into rows."""

    def _by_row(self) -> Sequence[Array]:
        """Return the arrays that have one entry for each row, besides `present`."""
        return ()

    @abstractmethod
    def _like(self, flat: Sequence[Any], offsets: Int64s, present: Bools | None, *by_row: Array) -> Self:
        """Return a column of the same kind over other arrays."""

    def _take(self, rows: Int64s) -> Self:
        starts, stops = self._offsets[rows], self._offsets[rows + 1]
        offsets = offsets_of(stops - starts)
        present = None if self._present is None else self._present[rows]
        by_row = [array[rows] for array in self._by_row()]
        return self._like(_cut(self._flat(), starts, stops, offsets), offsets, present, *by_row)

    def summary(self) -> str:
        """Show the first rows, shortened, as they stand in a repr."""
        shown = [
            "None" if self._present is not None and not self._present[row] else self._shown(row)
            for row in range(min(len(self), _SHOWN_ROWS))
        ]
        return ", ".join(shown) + (f", ... {len(self) - _SHOWN_ROWS} more" if len(self) > _SHOWN_ROWS else "")

    def _same_rows(self, other: OffsetColumn) -> bool:
        if not np.array_equal(self.lengths, other.lengths):
            return False
        mine, theirs = (
            np.ones(len(column), np.bool_) if column.present is None else column.present for column in (self, other)
        )
        return np.array_equal(mine, theirs)

    def _arrow_validity(self, pyarrow: Any) -> Any:
        return None if self._present is None else pyarrow.py_buffer(np.packbits(self._present, bitorder="little"))


def _cut(flat: Sequence[Any], starts: Int64s, stops: Int64s, offsets: Int64s) -> list[Any]:
    if all(_is_plain_memory(values) for values in flat):
        return [_gathered(values, starts, stops) for values in flat]
    where = np.repeat(starts - offsets[:-1], stops - starts) + np.arange(offsets[-1])
    return [values[where] for values in flat]


def _is_plain_memory(values: Any) -> bool:
    return type(values) is np.ndarray and values.flags.c_contiguous and not values.dtype.hasobject and values.size > 0


def _gathered(values: Array, starts: Int64s, stops: Int64s) -> Array:
    item = values.dtype.itemsize * (values.size // len(values))
    rows = _core.gather_rows(values.reshape(-1).view(np.uint8), starts, stops, item)
    return rows.view(values.dtype).reshape(-1, *values.shape[1:])


def checked_offsets(offsets: npt.ArrayLike, limit: int) -> Int64s:
    """Return offsets as int64 if they are in order and within what they point into."""
    array = np.asarray(offsets)
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "iu":
        raise ValueError(
            f"offsets must be a flat array of at least one integer, not {array.dtype} of shape {array.shape}"
        )
    array = np.ascontiguousarray(array, dtype=np.int64)
    if array[0] < 0:
        raise ValueError(f"offsets must not be negative, and the first is {array[0]}")
    falls = np.flatnonzero(array[1:] < array[:-1])
    if falls.size:
        row = int(falls[0])
        raise ValueError(f"offsets must not decrease, and row {row} goes from {array[row]} to {array[row + 1]}")
    if array[-1] > limit:
        raise ValueError(f"the last offset is {array[-1]}, and there are only {limit} values")
    return array


def checked_present(present: npt.ArrayLike | None, offsets: Int64s) -> Bools | None:
    """Return presence as bools if there is one for each row, and no absent row has values."""
    if present is None:
        return None
    array = np.ascontiguousarray(present, dtype=np.bool_)
    if array.shape != (len(offsets) - 1,):
        raise ValueError(f"present must have one bool for each of {len(offsets) - 1} rows, not shape {array.shape}")
    filled = np.flatnonzero(~array & (np.diff(offsets) > 0))
    if filled.size:
        raise ValueError(f"row {filled[0]} is said to be absent, and its offsets give it values")
    return array


def row_numbers(index: Any, rows: int) -> Int64s:
    """Return the rows that a list of numbers or a mask asks for, or refuse what is neither.

    >>> row_numbers([-1, 0], 3).tolist()
    [2, 0]
    """
    array = np.asarray(index)
    if isinstance(index, list) and not index:  # numpy takes an empty list for floats
        array = array.astype(np.int64)
    if array.ndim != 1 or array.dtype.kind not in "biu":
        raise TypeError(
            f"a column is indexed by an integer, a slice, or a 1-D array of integers or bools, not {index!r}"
        )
    if array.dtype == np.bool_:
        if len(array) != rows:
            raise IndexError(f"the mask has {len(array)} entries, but the column has {rows} rows")
        return np.flatnonzero(array)
    outside = array[(array < -rows) | (array >= rows)]
    if outside.size:
        raise IndexError(f"row {outside[0]} is out of range: the column has {rows} rows")
    array = array.astype(np.int64)
    return np.where(array < 0, array + rows, array)


def offsets_of(lengths: npt.ArrayLike) -> Int64s:
    """Return the offsets of rows that follow each other.

    >>> offsets_of([3, 0, 2]).tolist()
    [0, 3, 3, 5]
    """
    lengths = np.asarray(lengths)
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def arrow_offsets(offsets: Int64s) -> tuple[Array, bool]:
    """Return offsets as Arrow wants them, and whether they need its large_ types.

    >>> arrow_offsets(np.array([0, 2**31]))[1]
    True
    """
    large = bool(offsets[-1] > _LARGEST_INT32)
    return (offsets if large else offsets.astype(np.int32)), large
