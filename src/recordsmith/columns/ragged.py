"""Rows of different length over one array of values."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from recordsmith.columns.byte_column import ByteColumn
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
from recordsmith.errors import PipelineError, import_extra

if TYPE_CHECKING:
    import pyarrow as pa


class Ragged(OffsetColumn):
    """Rows of different length over one array of values.

    Args:
        values: an array (its first axis is cut into rows), a ByteColumn, or another Ragged for two free dimensions.
        offsets: where each row starts in `values`, and where the last one ends.
        row_shape: the shape of every row, with one None for the dimension that varies; `values` is flat then, and
            each row is given its shape when it is read.
        present: which rows have a value; the others are read as None.

    >>> ragged = Ragged(np.array([1, 2, 3, 4, 5]), [0, 3, 3, 5])
    >>> ragged[0].tolist(), ragged[1].tolist(), ragged[-1].tolist()
    ([1, 2, 3], [], [4, 5])
    >>> ragged.to_padded(pad_value=-1).tolist()
    [[1, 2, 3], [-1, -1, -1], [4, 5, -1]]
    >>> Ragged(np.arange(6), [0, 2, 6], row_shape=(2, None))[1].tolist()
    [[2, 3], [4, 5]]
    """

    __slots__ = ("_shape", "_values")

    _values: Array | ByteColumn | Ragged
    _shape: tuple[int | None, ...] | None

    def __init__(
        self,
        values: Array | ByteColumn | Ragged,
        offsets: npt.ArrayLike,
        *,
        row_shape: Sequence[int | None] | None = None,
        present: npt.ArrayLike | None = None,
    ) -> None:
        if not isinstance(values, (np.ndarray, ByteColumn, Ragged)):
            raise TypeError(f"values must be an array, a ByteColumn or a Ragged, not {type(values).__name__}")
        if isinstance(values, np.ndarray) and values.ndim == 0:
            raise ValueError("values must have at least one axis, to be cut into rows")
        self._values = values
        self._offsets = checked_offsets(offsets, len(values))
        self._present = checked_present(present, self._offsets)
        self._shape = None if row_shape is None else tuple(row_shape)
        if self._shape is not None:
            _check_row_shape(self._shape, values, self._offsets)

    @classmethod
    def unchecked(
        cls,
        values: Array | ByteColumn | Ragged,
        offsets: Int64s,
        *,
        row_shape: tuple[int | None, ...] | None = None,
        present: Bools | None = None,
    ) -> Self:
        """Build from arrays that are known to be valid, such as those of the native core, without checking them."""
        column = cls.__new__(cls)
        column._values, column._offsets, column._shape, column._present = values, offsets, row_shape, present  # noqa: SLF001 - ours
        return column

    @property
    def values(self) -> Array | ByteColumn | Ragged:
        """What the offsets point into: the values of all rows, one after the other."""
        return self._values

    @property
    def row_shape(self) -> tuple[int | None, ...]:
        """The shape that every row has, None standing for what varies.

        >>> Ragged(np.zeros((6, 4)), [0, 2, 6]).row_shape
        (None, 4)
        """
        if self._shape is not None:
            return self._shape
        if isinstance(self._values, np.ndarray):
            return (None, *self._values.shape[1:])
        return (None, *self._values.row_shape) if isinstance(self._values, Ragged) else (None,)

    @property
    def lengths(self) -> Int64s:
        """The length of each row along the dimension that varies.

        >>> Ragged(np.arange(6), [0, 2, 6], row_shape=(2, None)).lengths.tolist()
        [1, 2]
        """
        counts = np.diff(self._offsets)
        return counts if self._shape is None else counts // prod(size for size in self._shape if size is not None)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the innermost values (object for byte strings)."""
        return np.dtype(object) if isinstance(self._values, ByteColumn) else self._values.dtype

    def to_list(self) -> list[Any]:
        """Return the rows as nested Python lists, with None for absent rows."""
        if self._shape is not None:
            return [None if row is None else row.tolist() for row in self]
        start = int(self._offsets[0])
        used = self._values[start : int(self._offsets[-1])]
        flat = used.tolist() if isinstance(used, np.ndarray) else used.to_list()
        rows: list[Any] = [flat[begin:end] for begin, end in pairwise((self._offsets - start).tolist())]
        if self._present is not None:
            for row in np.flatnonzero(~self._present).tolist():
                rows[row] = None
        return rows

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Array:  # noqa: FBT001 - numpy's protocol
        if dtype is not None and np.dtype(dtype) != np.dtype(object):
            raise ValueError("the rows of a Ragged have different lengths: use .to_padded(), or .values with .offsets")
        if copy is False:
            raise ValueError("a Ragged becomes an array only by copying; use .values with .offsets")
        rows = np.empty(len(self), object)
        for number, row in enumerate(self):
            rows[number] = row
        return rows

    def to_padded(self, length: int | None = None, pad_value: Any = None, *, truncate: bool = False) -> Array:
        """Return one dense array, padded to `length` (default: the length of the longest row).

        Args:
            length: the length to pad to; a longer row is an error unless `truncate` is set.
            pad_value: the value to pad with (default: 0, or an empty string).
            truncate: cut longer rows to `length`.

        >>> Ragged(np.array([1, 2, 3]), [0, 1, 3]).to_padded(4).tolist()
        [[1, 0, 0, 0], [2, 3, 0, 0]]
        """
        longest = int(self.lengths.max(initial=0))
        if length is None:
            length = longest
        elif longest > length and not truncate:
            raise PipelineError(
                f"A row is longer than the target length {length}.",
                row=int(self.lengths.argmax()),
                found=f"length {longest}",
                expected=f"at most {length}",
                advice=f"Pass truncate=True to cut longer rows, or a length of {longest} or more.",
            )
        innermost = self._values
        while isinstance(innermost, Ragged):
            innermost = innermost.values
        padding = _padding(pad_value, innermost)
        before, lengths, entries = self._pieces()
        if isinstance(entries, Ragged):
            entries = entries.to_padded(pad_value=pad_value)
        elif isinstance(entries, ByteColumn):
            entries = entries.to_numpy()
        if longest > length:
            starts = np.cumsum(lengths) - lengths
            entries = entries[np.arange(len(entries)) - np.repeat(starts, lengths) < length]
        padded = np.full((len(lengths), length, *entries.shape[1:]), padding, entries.dtype)
        padded[np.arange(length) < lengths[:, np.newaxis]] = entries
        return padded.reshape(len(self), *before, length, *entries.shape[1:])

    def to_arrow(self) -> pa.Array:
        """Return a pyarrow list array that shares the values (a large_list for 2**31 values or more).

        >>> Ragged(np.array([1, 2, 3]), [0, 1, 3]).to_arrow().to_pylist()
        [[1], [2, 3]]
        """
        pyarrow = import_extra("pyarrow", "arrow", purpose="Ragged.to_arrow")
        before, lengths, entries = self._pieces()
        child = _arrow_entries(entries, pyarrow)
        offsets, large = arrow_offsets(offsets_of(lengths))
        kind = pyarrow.large_list(child.type) if large else pyarrow.list_(child.type)
        validity = self._arrow_validity(pyarrow)
        buffers = [None if before else validity, pyarrow.py_buffer(offsets)]
        array = pyarrow.Array.from_buffers(kind, len(lengths), buffers, children=[child])
        for axis in reversed(range(len(before))):
            kind, rows = pyarrow.list_(array.type, before[axis]), len(array) // before[axis]
            buffers = [None if axis else validity]
            array = pyarrow.Array.from_buffers(kind, rows, buffers, children=[array])
        return array

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Ragged):
            return super().__eq__(other)
        if self.row_shape != other.row_shape or not self._same_rows(other):
            return False
        mine, theirs = (ragged.values[int(ragged.offsets[0]) : int(ragged.offsets[-1])] for ragged in (self, other))
        if isinstance(mine, np.ndarray) and isinstance(theirs, np.ndarray):
            return np.array_equal(mine.reshape(mine.size), theirs.reshape(theirs.size))
        return bool(mine == theirs)

    __hash__ = None

    def _kind(self) -> str:
        return " of strings" if self.dtype.hasobject else f" of {self.dtype} {self.row_shape}"

    def _shown(self, row: int) -> str:
        shown = self._row(row)
        if isinstance(shown, OffsetColumn):
            return f"[{shown.summary()}]"
        return np.array2string(shown, threshold=8, edgeitems=3, separator=", ").replace("\n", "")

    def _pieces(self) -> tuple[tuple[int, ...], Int64s, Any]:
        """Cut every row into the runs along its free dimension.

        A row of shape (2, None, 3) is, in memory, two runs of as many entries of shape (3,). The answer is the
        dimensions before the free one, the length of every run, and the entries.
        """
        entries = self._values[int(self._offsets[0]) : int(self._offsets[-1])]
        if self._shape is None:
            return (), self.lengths, entries
        free = self._shape.index(None)
        before = tuple(size for size in self._shape[:free] if size is not None)
        after = tuple(size for size in self._shape[free + 1 :] if size is not None)
        entries = np.asarray(entries)  # as it is: only a flat array may have a row shape
        return before, np.repeat(self.lengths, prod(before)), entries.reshape(entries.size // prod(after), *after)

    def _row(self, row: int) -> Any:
        values = self._values[int(self._offsets[row]) : int(self._offsets[row + 1])]
        if self._shape is None:
            return values
        return np.reshape(values, [-1 if size is None else size for size in self._shape])

    def _flat(self) -> Sequence[Any]:
        return (self._values,)

    def _like(self, flat: Sequence[Any], offsets: Int64s, present: Bools | None, *_: Array) -> Self:
        return self.unchecked(flat[0], offsets, row_shape=self._shape, present=present)


def _check_row_shape(shape: tuple[int | None, ...], values: object, offsets: Int64s) -> None:
    if not isinstance(values, np.ndarray) or values.ndim != 1:
        raise ValueError("row_shape is for a flat array of values")
    sizes = [size for size in shape if size is not None]
    if len(sizes) != len(shape) - 1 or any(size < 1 for size in sizes):
        raise ValueError(f"row_shape must hold one None and sizes of at least 1, not {shape}")
    unit = prod(sizes)
    counts = np.diff(offsets)
    uneven = np.flatnonzero(counts % unit)
    if uneven.size:
        row = int(uneven[0])
        raise ValueError(f"row {row} has {counts[row]} values, which do not fill the shape {shape}")


def _padding(pad_value: Any, values: Array | ByteColumn) -> Any:
    """Return what to fill with, in the values' own type, or refuse what would not stay itself in it."""
    if isinstance(values, ByteColumn):
        empty: str | bytes = "" if values.text else b""
        if pad_value is None or isinstance(pad_value, type(empty)):
            return empty if pad_value is None else pad_value
        raise PipelineError("The pad value does not fit the values.", found=pad_value, expected=type(empty).__name__)
    given, dtype = np.asarray(0 if pad_value is None else pad_value), values.dtype
    if given.ndim == 0 and given.dtype.kind in ("biufc" if dtype.kind == "c" else "biuf"):
        with np.errstate(all="ignore"):
            padding = given.astype(dtype)
        # Rounding to the values' precision is fine, and overflow is not.
        if padding == given or (dtype.kind in "fc" and np.isfinite(given) == np.isfinite(padding)):
            return padding
    raise PipelineError("The pad value does not fit the values.", found=pad_value, expected=str(dtype))


def _arrow_entries(entries: Array | ByteColumn | Ragged, pyarrow: Any) -> Any:
    if not isinstance(entries, np.ndarray):
        return entries.to_arrow()
    if entries.dtype.kind not in "biuf":
        raise PipelineError("Arrow has no type for these values.", found=str(entries.dtype))
    array = pyarrow.array(entries.reshape(entries.size))
    for size in reversed(entries.shape[1:]):
        array = pyarrow.FixedSizeListArray.from_arrays(array, size)
    return array
