"""Columns of every kind: some rows and several parts one after the other are columns of the same kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from recordsmith.columns import ByteColumn, PackedColumn, Ragged, ShapedColumn, SparseColumn
from recordsmith.columns.any_column import concatenate, row_of

PRESENT = [True, False, True, True]
OFFSETS = np.array([1, 3, 3, 4, 6])  # what is before and after the rows does not count
COLUMNS: dict[str, Any] = {
    "array": np.arange(8).reshape(4, 2),
    "masked": np.ma.MaskedArray(np.arange(4), mask=[False, True, False, False]),
    "bytes": ByteColumn(b"abcdefg", OFFSETS),
    "text": ByteColumn(b"abcdefg", OFFSETS, text=True, present=PRESENT),
    "long bytes": ByteColumn(bytes(range(200)) * 2, OFFSETS * 60),
    "ragged": Ragged(np.arange(7), OFFSETS, present=PRESENT),
    "wide": Ragged(np.arange(14), OFFSETS * 2, row_shape=(2, None)),
    "strings": Ragged(ByteColumn(b"abcdefg", range(8)), OFFSETS),
    "nested": Ragged(Ragged(np.arange(7), range(8)), OFFSETS),
    "shaped": ShapedColumn(np.arange(7), OFFSETS, [[1, 2], [0, 0], [1, 1], [2, 1]], present=PRESENT),
    "sparse": SparseColumn(np.arange(7), np.arange(7.0), OFFSETS, size=9, present=PRESENT),
    "packed": PackedColumn(np.array([(n, [n, n]) for n in range(4)], [("a", "u1"), ("b", "<i2", 2)]), present=PRESENT),
}


def rows_of(column: Any) -> list[str]:
    return [repr(row_of(column, number)) for number in range(len(column))]


@pytest.mark.parametrize("kind", COLUMNS)
def test_parts_one_after_the_other(kind: str) -> None:
    column = COLUMNS[kind]
    rows = rows_of(column)
    for parts in ([column[:1], column[1:]], [column[np.array([3, 1])], column[:0], column[2:]], [column]):
        whole = concatenate(parts)
        assert type(whole) is type(column)
        assert getattr(whole, "dtype", None) == getattr(column, "dtype", None)
        assert rows_of(whole) == [row for part in parts for row in rows_of(part)]
    assert rows_of(concatenate([column[np.array([2, 0])], column])) == [rows[2], rows[0], *rows]


def test_whether_rows_may_be_absent_is_kept() -> None:
    column = COLUMNS["ragged"]
    assert concatenate([column[2:], column[2:]]).present.tolist() == [True] * 4
    assert concatenate([Ragged(np.arange(2), [0, 2]), column]).present.tolist() == [True, *PRESENT]
    assert concatenate([COLUMNS["bytes"], COLUMNS["bytes"]]).present is None
