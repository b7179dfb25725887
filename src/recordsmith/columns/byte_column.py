"""A column of byte strings in one buffer."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from recordsmith import _core
from recordsmith.columns.offset_column import (
    Array,
    Bools,
    Int64s,
    OffsetColumn,
    arrow_offsets,
    checked_offsets,
    checked_present,
)
from recordsmith.errors import SchemaMismatchError, import_extra

if TYPE_CHECKING:
    import pyarrow as pa

_SHOWN_BYTES = 24  # bytes of a row that a repr or a message shows


class ByteColumn(OffsetColumn):
    """A column of byte strings, or of text stored as UTF-8, in one buffer.

    Args:
        data: the bytes of all rows, one after the other (uint8, or anything with a buffer).
        offsets: where each row starts, and where the last one ends.
        text: rows read as str instead of bytes.
        present: which rows have a value; the others are read as None.

    >>> column = ByteColumn(b"catdogsbee", [0, 3, 7, 10])
    >>> column[1], column[-1], len(column)
    (b'dogs', b'bee', 3)
    >>> column[1:]
    ByteColumn(2 rows: b'dogs', b'bee')
    >>> column[[2, 0]].to_list()
    [b'bee', b'cat']
    """

    __slots__ = ("_data", "_text")

    _data: npt.NDArray[np.uint8]
    _text: bool

    def __init__(
        self,
        data: Array | bytes | bytearray | memoryview,
        offsets: npt.ArrayLike,
        *,
        text: bool = False,
        present: npt.ArrayLike | None = None,
    ) -> None:
        array = data if isinstance(data, np.ndarray) else np.frombuffer(data, np.uint8)
        if array.dtype != np.uint8 or array.ndim != 1:
            raise ValueError(f"data must be a flat uint8 array, not {array.dtype} of shape {array.shape}")
        self._data = np.ascontiguousarray(array)
        self._offsets = checked_offsets(offsets, len(array))
        self._present = checked_present(present, self._offsets)
        self._text = bool(text)

    @classmethod
    def unchecked(cls, data: Array, offsets: Int64s, *, text: bool = False, present: Bools | None = None) -> Self:
        """Build from arrays that are known to be valid, such as those of the native core, without checking them."""
        column = cls.__new__(cls)
        column._data, column._offsets, column._text, column._present = data, offsets, text, present  # noqa: SLF001 - ours
        return column

    @property
    def data(self) -> npt.NDArray[np.uint8]:
        """The buffer that the offsets point into (uint8)."""
        return self._data

    @property
    def text(self) -> bool:
        """Whether rows read as str."""
        return self._text

    @property
    def lengths(self) -> Int64s:
        """How many bytes each row has."""
        return np.diff(self._offsets)

    def rows_with(self, word: str | bytes, *, any_case: bool = False) -> Bools:
        """Return for each row whether it contains a word; with `any_case`, also with other capitals (of ASCII letters).

        >>> ByteColumn(b"catdogsbee", [0, 3, 7, 10]).rows_with("do").tolist()
        [False, True, False]
        """
        found = np.zeros(len(self), np.bool_)
        sought = word.encode(errors="surrogateescape") if isinstance(word, str) else word
        _core.mark_rows_with(sought, self._data, self._offsets, found, any_case=any_case)
        return found

    def to_list(self) -> list[Any]:
        """Return the rows as bytes or str, with None for absent rows.

        >>> ByteColumn(b"catdog", [0, 3, 3, 6], text=True, present=[True, False, True]).to_list()
        ['cat', None, 'dog']
        """
        view, edges = self._data.data, pairwise(self._offsets.tolist())
        rows: list[Any]
        if self._text:
            try:
                rows = [str(view[start:stop], "utf-8") for start, stop in edges]
            except UnicodeDecodeError:
                self._check_text()
                raise
        else:
            rows = [view[start:stop].tobytes() for start, stop in edges]
        if self._present is not None:
            for row in np.flatnonzero(~self._present).tolist():
                rows[row] = None
        return rows

    def to_numpy(self) -> Array:
        """Return the rows as an array of Python objects."""
        objects = np.empty(len(self), object)
        objects[:] = self.to_list()
        return objects

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Array:  # noqa: FBT001 - numpy's protocol
        if copy is False:
            raise ValueError("a ByteColumn becomes an array only by copying; its bytes are in .data and .offsets")
        objects = self.to_numpy()
        return objects if dtype is None else objects.astype(dtype)

    def to_arrow(self) -> pa.Array:
        """Return a pyarrow binary or string array that shares the bytes (a large_ type for 2 GiB or more).

        >>> ByteColumn(b"catdog", [0, 3, 6], text=True).to_arrow().to_pylist()
        ['cat', 'dog']
        """
        pyarrow = import_extra("pyarrow", "arrow", purpose="ByteColumn.to_arrow")
        if self._text:
            self._check_text()
        start, stop = int(self._offsets[0]), int(self._offsets[-1])
        offsets, large = arrow_offsets(self._offsets - start)
        if self._text:
            kind = pyarrow.large_string() if large else pyarrow.string()
        else:
            kind = pyarrow.large_binary() if large else pyarrow.binary()
        buffers = [self._arrow_validity(pyarrow), pyarrow.py_buffer(offsets), pyarrow.py_buffer(self._data[start:stop])]
        return pyarrow.Array.from_buffers(kind, len(self), buffers)

    def first_row_not_utf8(self) -> int | None:
        """Return the first row whose bytes are not UTF-8, without making an object per row; None if all are.

        >>> ByteColumn(b"cat" + bytes([0xFF]), [0, 3, 4]).first_row_not_utf8()
        1
        """
        start, stop = int(self._offsets[0]), int(self._offsets[-1])
        used = self._data[start:stop]
        if used.size == 0 or used.max() < 0x80:
            return None
        bad = stop
        try:
            str(used.data, "utf-8")
        except UnicodeDecodeError as error:
            bad = start + error.start
        # A character may also be cut in two by a row's edge: then that next row starts with a continuation byte.
        edges = self._offsets[1:-1]
        cut = edges[(self._data[np.minimum(edges, stop - 1)] & 0xC0 == 0x80) & (edges < stop) & (edges > start)]
        if cut.size and cut[0] < bad:
            bad = int(cut[0]) - 1
        return None if bad == stop else int(np.searchsorted(self._offsets, bad, side="right")) - 1

    def __eq__(self, other: object) -> bool:
        if isinstance(other, ByteColumn):
            mine, theirs = (column.data[column.offsets[0] : column.offsets[-1]] for column in (self, other))
            return self._text == other._text and self._same_rows(other) and np.array_equal(mine, theirs)
        return super().__eq__(other)

    __hash__ = None

    def _kind(self) -> str:
        return ""

    def _shown(self, row: int) -> str:
        start, stop = int(self._offsets[row]), int(self._offsets[row + 1])
        raw = self._data[start : min(stop, start + _SHOWN_BYTES)].tobytes()
        shown = repr(raw.decode(errors="backslashreplace") if self._text else raw)
        return shown if stop - start <= _SHOWN_BYTES else f"{shown}... ({stop - start} bytes)"

    def _row(self, row: int) -> bytes | str:
        raw = self._data[self._offsets[row] : self._offsets[row + 1]].tobytes()
        if not self._text:
            return raw
        try:
            return raw.decode()
        except UnicodeDecodeError as error:
            raise SchemaMismatchError(
                f"Row {row} of this column is not UTF-8 text.",
                row=row,
                found=f"byte 0x{raw[error.start]:02x} at position {error.start} of {raw[:_SHOWN_BYTES]!r}",
                expected="UTF-8 text",
                advice="Declare the feature as Bytes instead of Text to read it as it is.",
            ) from None

    def _check_text(self) -> None:
        row = self.first_row_not_utf8()
        if row is not None:
            self._row(row)  # which raises, and says where

    def _flat(self) -> Sequence[Any]:
        return (self._data,)

    def _like(self, flat: Sequence[Any], offsets: Int64s, present: Bools | None, *_: Array) -> Self:
        return self.unchecked(flat[0], offsets, text=self._text, present=present)
