"""Tensors in which several dimensions vary: the shape is stored beside the values."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from recordsmith.errors import EncodeError, SchemaError, SchemaMismatchError

FREE = rs.Tensor("uint8", (None, None, 3))
ROWS = [np.arange(n * m * 3, dtype=np.uint8).reshape(n, m, 3) for n, m in ((2, 1), (1, 4), (0, 2), (3, 2))]


def test_it_is_stored_as_tfds_does() -> None:
    shape, value = FREE.plan("pixels")
    assert (shape.key, shape.kind, shape.count) == ("pixels/shape", "int64", 3)
    assert (value.key, value.kind, value.count, value.row_bytes) == ("pixels/value", "bytes", 1, None)
    assert rs.Tensor("float32", (None, None)).stored_as == "bytes"
    assert rs.Tensor("float32", (None, None), storage="list").plan("x")[1].kind == "float"


@pytest.mark.parametrize("storage", ["bytes", "list"])
@pytest.mark.parametrize("dtype", ["uint8", "float32", "int64", "bool"])
def test_through_a_file(tmp_path: Path, dtype: Any, storage: Any) -> None:
    rows = [(row % 2 if dtype == "bool" else row).astype(dtype) for row in ROWS]
    schema = rs.Schema({"x": rs.Tensor(dtype, (None, None, 3), storage=storage), "n": rs.Scalar("int64")})
    with rs.RecordWriter(tmp_path / "data") as writer:
        writer.write_rows([{"x": row, "n": n} for n, row in enumerate(rows)], schema)
        writer.write_columns({"x": rows, "n": range(4)}, schema)
        writer.write_columns({"x": [row.tolist() for row in rows if row.size], "n": range(3)}, schema)
        writer.write_columns({"x": np.stack([rows[1]] * 2), "n": range(2)}, schema)
    expected = [*rows, *rows, rows[0], rows[1], rows[3], rows[1], rows[1]]
    data = rs.open(tmp_path / "data", schema=schema)
    for row, wanted in zip(data, expected, strict=True):
        assert row["x"].dtype == wanted.dtype
        assert row["x"].shape == wanted.shape
        assert np.array_equal(row["x"], wanted)
    (batch,) = data.batch(100)
    with rs.RecordWriter(tmp_path / "again") as writer:
        writer.write_columns(batch, schema)
        writer.write_columns({name: column[2:5] for name, column in batch.items()}, schema)
    again = list(rs.open(tmp_path / "again", schema=schema))
    assert all(np.array_equal(a["x"], b) for a, b in zip(again, [*expected, *expected[2:5]], strict=True))


def test_nested_lists_without_values() -> None:
    empty: list[list[list[int]]] = [[], [[]], [[], []]]
    for value in empty:
        shape, stored = FREE.value_to_canonical(value)
        assert stored == b""
        assert shape.tolist() == [len(value), 0, 3]


@pytest.mark.parametrize(
    "value",
    [
        np.zeros((2, 2)),
        np.zeros((2, 2, 4)),
        np.zeros((1, 2, 2, 3)),
        [[[1, 2, 3]], [[1, 2, 3], [4, 5, 6]]],
        5,
        "abc",
        [[["a", "b", "c"]]],
        [[[1, 2, 300]]],
        [[[1, None, 3]]],
        None,
    ],
    ids=str,
)
def test_what_does_not_fit_is_refused(value: Any) -> None:
    with pytest.raises(EncodeError) as caught:
        FREE.column_to_parts([ROWS[0], value])
    assert caught.value.row == 1
    with pytest.raises(EncodeError) as caught:
        FREE.value_to_canonical(value)
    assert caught.value.row is None


def test_a_column_of_one_array_is_checked_as_a_whole() -> None:
    with pytest.raises(EncodeError, match="wrong shape"):
        FREE.column_to_parts(np.zeros((5, 2, 2, 4), np.uint8))
    with pytest.raises(EncodeError, match="dimensions"):
        FREE.column_to_parts(rs.ShapedColumn(np.zeros(4), [0, 4], [[2, 2]]))
    with pytest.raises(EncodeError, match="wrong shape") as caught:
        FREE.column_to_parts(rs.ShapedColumn(np.zeros(4), [0, 0, 4], [[0, 0, 3], [1, 1, 4]]))
    assert caught.value.row == 1


def test_optional_and_default(through_core: Any) -> None:
    optional = rs.Tensor("int16", (None, None), optional=True)
    column = optional.assemble(through_core(optional, optional.column_to_parts([[[1, 2]], None, []])))
    assert [None if row is None else row.tolist() for row in (optional.row(column, n) for n in range(3))] == [
        [[1, 2]],
        None,
        [],
    ]
    assert column.present.tolist() == [True, False, True]
    default = rs.Tensor("int16", (None, None), default=[[7], [8]])
    assert rs.Schema.from_json(rs.Schema({"x": default}).to_json())["x"] == default
    column = default.assemble(through_core(default, default.column_to_parts([None, [[1]]])))
    assert column.to_list() == [[[7], [8]], [[1]]]


def test_constraints() -> None:
    feature = rs.Tensor("int16", (None, 1, None), max=5, max_length=2)
    feature.column_to_parts([[[[1, 5]]]])
    with pytest.raises(EncodeError, match="'max'"):
        feature.column_to_parts([[[[1, 6]]]])
    with pytest.raises(EncodeError, match="max_length"):
        feature.value_to_canonical([[[1]]] * 3)
    column = rs.ShapedColumn(np.array([9, 1, 1, 1, 6]), [1, 4, 5], [[3, 1, 1], [1, 1, 1]])
    assert [(one.row, one.constraint) for one in feature.violations(column)] == [(0, "max_length"), (1, "max")]
    assert rs.Tensor("int16", (None, None)).violations(column) == []


@pytest.mark.parametrize(
    ("shapes", "values"),
    [([[2, 2, 3]], 9), ([[-1, -2, 3]], 6), ([[2, 3, 2]], 12), ([[2**32, 2**32, 3]], 0), ([[0, 2**62, 3]], 0)],
    ids=str,
)
def test_stored_shapes_are_not_believed(shapes: Any, values: int) -> None:
    parts: Any = [
        (np.array(shapes), None, None, None),
        (np.zeros(values, np.uint8), np.array([0, values]), None, None),
    ]
    with pytest.raises(SchemaMismatchError, match="stored shape") as caught:
        FREE.assemble(parts)
    assert caught.value.row == 0


def test_names_may_not_meet() -> None:
    with pytest.raises(SchemaError, match="x/shape"):
        rs.Schema({"x": FREE, "x/shape": rs.Scalar("int64")})
    with pytest.raises(SchemaError, match="a single list"):
        rs.Steps(FREE)


class TestColumn:
    column = rs.ShapedColumn(np.arange(10), [2, 8, 8, 10], [[2, 3], [0, 0], [1, 2]], present=[True, False, True])

    def test_it_is_read_like_a_list(self) -> None:
        assert self.column[0].tolist() == [[2, 3, 4], [5, 6, 7]]
        assert self.column[1] is None
        assert self.column[-1].tolist() == [[8, 9]]
        assert self.column[2:].to_list() == [[[8, 9]]]
        assert self.column[::-1].to_list() == [[[8, 9]], None, [[2, 3, 4], [5, 6, 7]]]
        assert self.column[[2, 1]].to_list() == [[[8, 9]], None]
        assert self.column[np.array([False, False, True])] == self.column[2:]
        assert self.column != self.column[::-1]
        assert self.column == pickle.loads(pickle.dumps(self.column))
        assert repr(self.column[2:]) == "ShapedColumn(1 row of int64, 2 dimensions: [[8, 9]])"

    def test_it_becomes_other_things(self) -> None:
        assert self.column.to_padded(-1).tolist()[2] == [[8, 9, -1], [-1, -1, -1]]
        assert self.column.to_arrow().to_pylist() == self.column.to_list()
        assert rs.ShapedColumn(np.zeros(0), [0], np.zeros((0, 2), int)).to_padded().shape == (0, 0, 0)

    @pytest.mark.parametrize(
        ("values", "offsets", "shapes"),
        [
            (np.zeros((2, 2)), [0, 2], [[2, 2]]),
            (np.zeros(4), [0, 4], [[2, 3]]),
            (np.zeros(4), [0, 4], [[-2, -2]]),
            (np.zeros(4), [0, 4], [4]),
            (np.zeros(4), [0, 4], [[2, 2], [0, 0]]),
        ],
    )
    def test_what_does_not_fit_together_is_refused(self, values: Any, offsets: Any, shapes: Any) -> None:
        with pytest.raises(ValueError, match=r"shape|flat"):
            rs.ShapedColumn(values, offsets, shapes)
