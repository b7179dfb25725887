"""Rows that are several arrays, each of its own dtype and shape, packed into one piece of memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from recordsmith.columns.any_column import concatenated_presence
from recordsmith.columns.notebook_view import NotebookView
from recordsmith.columns.offset_column import Array, Bools, row_numbers
from recordsmith.errors import did_you_mean, import_extra, list_names

if TYPE_CHECKING:
    import pyarrow as pa

_SHOWN_ROWS = 4


class PackedColumn(NotebookView):
    """Rows of several parts, as one structured array: `column[name]` is a part of all rows, `column[i]` a row.

    Args:
        rows: a structured array with one entry for each row.
        present: which rows have a value; the others are read as None, and are 0 in the arrays of parts.

    >>> packed = np.zeros(2, [("pixels", "u1", (2, 2)), ("label", "<i8")])
    >>> packed["label"] = [3, 4]
    >>> column = PackedColumn(packed)
    >>> column["label"].tolist(), column["pixels"].shape
    ([3, 4], (2, 2, 2))
    >>> column[1]["label"], column[1:].names
    (np.int64(4), ('pixels', 'label'))
    """

    __slots__ = ("_present", "_rows")

    def __init__(self, rows: Array, *, present: npt.ArrayLike | None = None) -> None:
        if not isinstance(rows, np.ndarray) or rows.ndim != 1 or rows.dtype.names is None:
            raise ValueError("rows must be a 1-D structured array")
        self._rows = rows
        self._present: Bools | None = None if present is None else np.ascontiguousarray(present, dtype=np.bool_)
        if self._present is not None and self._present.shape != rows.shape:
            raise ValueError(f"present must have one bool for each of {len(rows)} rows")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parts."""
        return self._rows.dtype.names or ()

    @property
    def rows(self) -> Array:
        """The structured array."""
        return self._rows

    @property
    def dtype(self) -> np.dtype[Any]:
        """The structured dtype of a row."""
        return self._rows.dtype

    @property
    def present(self) -> Bools | None:
        """Which rows have a value; None if all have one."""
        return self._present

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, str):
            if index not in self.names:
                raise KeyError(
                    f"there is no part {index!r}, only {list_names(self.names)}{did_you_mean(index, self.names)}"
                )
            return _native(self._rows[index])
        if isinstance(index, (int, np.integer)):
            if not -len(self) <= index < len(self):
                raise IndexError(f"row {index} is out of range: the column has {len(self)} rows")
            if self._present is not None and not self._present[index]:
                return None
            return {name: _native(self._rows[name][index]) for name in self.names}
        rows = index if isinstance(index, slice) else row_numbers(index, len(self))
        present = None if self._present is None else self._present[rows]
        return type(self)(self._rows[rows], present=present)

    @classmethod
    def concatenated(cls, parts: Sequence[Self]) -> Self:
        """Return the rows of several columns with the same parts, one after the other."""
        return cls(np.concatenate([part.rows for part in parts]), present=concatenated_presence(parts))

    def __iter__(self) -> Iterator[dict[str, Any] | None]:
        return (self[row] for row in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PackedColumn):
            return NotImplemented
        mine, theirs = (np.ones(len(one), np.bool_) if one.present is None else one.present for one in (self, other))
        return (
            self.dtype == other.dtype
            and np.array_equal(mine, theirs)
            and self._rows[mine].tobytes() == other._rows[theirs].tobytes()
        )

    __hash__ = None  # type: ignore[assignment]  # it compares by value, and its arrays may change

    def __repr__(self) -> str:
        rows = "1 row" if len(self) == 1 else f"{len(self)} rows"
        parts = ", ".join(
            f"{name}: {_part(self.dtype, name).base} {_part(self.dtype, name).shape}" for name in self.names
        )
        return f"PackedColumn({rows} of {parts})"

    def to_list(self) -> list[Any]:
        """Return the rows as mappings of plain Python values, with None for absent rows."""
        return [None if row is None else {name: value.tolist() for name, value in row.items()} for row in self]

    def to_arrow(self) -> pa.Array:
        """Return a pyarrow struct array with a field for each part.

        >>> PackedColumn(np.array([(1, [2, 3])], [("a", "u1"), ("b", "u1", 2)])).to_arrow().to_pylist()
        [{'a': 1, 'b': [2, 3]}]
        """
        pyarrow = import_extra("pyarrow", "arrow", purpose="PackedColumn.to_arrow")
        fields: list[Any] = []
        for name in self.names:
            values = self[name]
            array = pyarrow.array(values.reshape(values.size))
            for size in reversed(values.shape[1:]):
                array = pyarrow.FixedSizeListArray.from_arrays(array, size)
            fields.append(array)
        absent = None if self._present is None else pyarrow.array(~self._present)
        return pyarrow.StructArray.from_arrays(fields, names=list(self.names), mask=absent)


def _part(dtype: np.dtype[Any], name: str) -> np.dtype[Any]:
    fields: Any = dtype.fields
    part: np.dtype[Any] = fields[name][0]
    return part


def _native(values: Any) -> Any:
    """Copy a part out of the rows, so that it is aligned and in one piece, as other libraries want it."""
    array = np.ascontiguousarray(values, values.dtype.newbyteorder("="))
    if values.ndim and (not array.flags.aligned or any(stride % array.itemsize for stride in array.strides)):
        array = array.copy()  # numpy calls one row in one piece, whatever its strides
    return array.reshape(np.shape(values))[()]
