"""Sparse: vectors as places and values, from every form that they come in."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import recordsmith as rs
from recordsmith.errors import EncodeError, SchemaError, SchemaMismatchError

WORDS = rs.Sparse("float32", 6)
DENSE = np.array([[0, 0.5, 0, 0, 2, 0], [0, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 3]])
COLUMN = rs.SparseColumn(np.array([1, 4, 0, 5]), np.array([0.5, 2, 1, 3]), [0, 2, 2, 4], size=6)


def stored(feature: rs.Sparse, column: Any) -> tuple[list[int], list[float], list[int]]:
    (indices, offsets, _), (values, value_offsets, _) = (part[:3] for part in feature.column_to_parts(column))
    assert indices.dtype == np.int64
    assert values.dtype == feature.dtype
    assert offsets is not None
    assert value_offsets is not None
    assert offsets.tolist() == value_offsets.tolist()
    return indices.tolist(), values.tolist(), offsets.tolist()


@pytest.mark.parametrize(
    "column",
    [
        DENSE,
        DENSE.tolist(),
        list(DENSE),
        np.asfortranarray(DENSE.astype(">f4")),
        sp.csr_matrix(DENSE),
        sp.csr_array(DENSE),
        sp.coo_matrix(DENSE),
        sp.csc_array(DENSE),
        sp.lil_array(DENSE),
        list(sp.csr_matrix(DENSE)),
        [sp.coo_array(row) for row in DENSE],
        [sp.csr_array(row.reshape(1, 6)) for row in DENSE],
        [([1, 4], [0.5, 2]), ([], []), ((0, 5), (1, 3))],
        [(np.array([4, 1]), np.array([2, 0.5])), (np.array([], int), np.array([])), [[5, 0], [3, 1]]],
        [{4: 2, 1: 0.5}, {}, {np.int64(0): 1, 5: np.float16(3)}],
        COLUMN,
        COLUMN[[0, 1, 2]],
        list(COLUMN),
        COLUMN.to_list(),
    ],
    ids=lambda column: type(column[0] if isinstance(column, list) else column).__name__,
)
def test_all_forms_mean_the_same(column: Any) -> None:
    assert stored(WORDS, column) == ([1, 4, 0, 5], [0.5, 2, 1, 3], [0, 2, 2, 4])
    assert WORDS.rows_in(column) == 3


def test_scipy_adds_up_duplicates_and_keeps_explicit_zeros() -> None:
    matrix = sp.coo_matrix(([1.0, 2.0, 0.0], ([0, 0, 0], [3, 3, 1])), shape=(1, 6))
    assert stored(WORDS, matrix) == ([1, 3], [0, 3], [0, 2])
    assert matrix.nnz == 3  # the caller's own is not touched


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({6: 1.0}, "outside the vector"),
        ({-1: 1.0}, "outside the vector"),
        (([1, 1], [1.0, 2.0]), "same index"),
        (([1, 2], [1.0]), "different numbers of indices"),
        (([1.5], [1.0]), "does not fit"),
        ({1: 1e300}, "does not fit"),
        ({"1": 1.0}, "not a number"),
        ({1: "a"}, "not a number"),
        ({1: None}, "not a number"),
        ([0.0, 1.0], "wrong size"),
        (np.zeros(7), "wrong size"),
        (sp.csr_array(np.zeros((1, 7))), "wrong size"),
        (sp.csr_array(np.zeros((2, 6))), "wrong size"),
        ([[1, [2]], [1.0, 2.0]], "not a sparse vector"),
        (np.zeros((2, 3)), "not a sparse vector"),
        ("abc", "not a sparse vector"),
        (5, "not a sparse vector"),
        (None, "required"),
    ],
    ids=str,
)
def test_what_is_no_vector_is_refused(value: Any, problem: str) -> None:
    with pytest.raises(EncodeError, match=problem) as caught:
        WORDS.column_to_parts([{0: 1.0}, value])
    assert caught.value.row == 1
    with pytest.raises(EncodeError, match=problem) as caught:
        WORDS.value_to_canonical(value)
    assert caught.value.row is None


@pytest.mark.parametrize("column", [np.zeros((2, 5)), sp.csr_array((2, 5)), sp.coo_array(np.zeros(6)), COLUMN])
def test_columns_of_another_size_are_refused(column: Any) -> None:
    with pytest.raises(EncodeError, match="wrong size"):
        rs.Sparse("float32", 7).column_to_parts(column)


def test_casts() -> None:
    assert WORDS.value_to_canonical({1: 1e300}, cast=True)[1].tolist() == [float("inf")]
    whole = rs.Sparse("int64", 6)
    with pytest.raises(EncodeError, match="does not fit"):
        whole.column_to_parts(DENSE)
    assert whole.column_to_parts(DENSE, cast=True)[1][0].tolist() == [0, 2, 1, 3]


@pytest.mark.parametrize(
    ("dtype", "size"), [("float64", 3), ("uint8", 3), (None, 3), ("flaot32", 3), ("float32", 0), ("float32", 1.5)]
)
def test_declarations_that_cannot_work(dtype: Any, size: Any) -> None:
    with pytest.raises(SchemaError):
        rs.Sparse(dtype, size)


def test_optional_and_default(through_core: Any) -> None:
    optional = rs.Sparse("int64", 4, optional=True)
    column = optional.assemble(through_core(optional, optional.column_to_parts([{1: 5}, None, {}])))
    assert column.to_list() == [{1: 5}, None, {}]
    assert optional.row(column, 1) is None
    default = rs.Sparse("float32", 4, default={2: float("nan"), 0: 1})
    assert rs.Schema.from_json(rs.Schema({"x": default}).to_json())["x"] == default
    column = default.assemble(through_core(default, default.column_to_parts([None, {}])))
    assert list(column.to_list()[0]) == [0, 2]
    assert column.to_list()[1] == {}
    with pytest.raises(SchemaError, match="default does not fit"):
        rs.Sparse("float32", 4, default={4: 1})


def test_through_a_file(tmp_path: Path) -> None:
    schema = rs.Schema({"words": rs.Sparse("float32", 6), "n": rs.Scalar("int64")})
    with rs.RecordWriter(tmp_path / "data") as writer:
        writer.write_columns({"words": sp.csr_array(DENSE), "n": range(3)}, schema)
        writer.write_rows([{"words": {3: 1.0}, "n": 3}], schema)
    data = rs.open(tmp_path / "data", schema=schema)
    assert data[0]["words"].indices.tolist() == [1, 4]
    (batch,) = data.batch(10)
    assert np.array_equal(batch["words"].dense(), [*DENSE, [0, 0, 0, 1, 0, 0]])
    assert np.array_equal(batch["words"].to_scipy().toarray(), batch["words"].dense())
    with rs.RecordWriter(tmp_path / "again") as writer:
        writer.write_columns(batch, schema)
        writer.write_rows(list(data), schema)
    assert len(rs.open(tmp_path / "again", schema=schema)) == 8
    with pytest.raises(SchemaMismatchError, match="outside the vector") as caught:
        list(rs.open(tmp_path / "data", schema=rs.Schema({"words": rs.Sparse("float32", 5)})))
    assert caught.value.feature == "words"


def parts_of(indices: list[int], offsets: list[int], value_offsets: list[int]) -> Any:
    values = np.zeros(value_offsets[-1], np.float32)
    return [
        (np.array(indices), np.array(offsets), None, None),
        (values, np.array(value_offsets), None, None),
    ]


def test_stored_vectors_that_are_none() -> None:
    with pytest.raises(SchemaMismatchError, match="different numbers of indices") as caught:
        WORDS.assemble(parts_of([1, 2, 3], [0, 1, 3], [0, 1, 2]))
    assert caught.value.row == 1
    with pytest.raises(SchemaMismatchError, match="outside") as caught:
        WORDS.assemble(parts_of([1, 2, -3], [0, 1, 3], [0, 1, 3]))
    assert caught.value.row == 1
    column = WORDS.assemble(parts_of([5, 3, 1, 2, 2, 0], [0, 1, 3, 5, 6], [0, 1, 3, 5, 6]))
    assert [(one.row, one.constraint) for one in WORDS.violations(column)] == [(1, "indices"), (2, "indices")]
    assert [one.row for one in WORDS.violations(column[2:])] == [0]


class TestColumn:
    gaps = rs.SparseColumn([9, 1, 4], np.array([0, 5, 6]), [1, 2, 2, 3], size=10, present=[True, False, True])

    def test_it_is_read_like_a_list(self) -> None:
        assert self.gaps.to_list() == [{1: 5}, None, {4: 6}]
        assert self.gaps[::-1].to_list() == [{4: 6}, None, {1: 5}]
        assert self.gaps[1:].to_list() == [None, {4: 6}]
        assert self.gaps.indices.to_list() == [[1], None, [4]]
        assert self.gaps.lengths.tolist() == [1, 0, 1]
        assert self.gaps == pickle.loads(pickle.dumps(self.gaps))
        assert self.gaps != self.gaps[::-1]
        assert repr(self.gaps) == "SparseColumn(3 rows of int64, 10 wide: {1: 5}, None, {4: 6})"

    def test_it_becomes_other_things(self) -> None:
        assert self.gaps.dense().sum(axis=1).tolist() == [5, 0, 6]
        assert self.gaps.to_arrow().to_pylist() == [
            {"indices": [1], "values": [5]},
            None,
            {"indices": [4], "values": [6]},
        ]

    @pytest.mark.parametrize(("indices", "values"), [([1], [1, 2]), ([10], [1]), ([-1], [1])])
    def test_what_does_not_fit_together_is_refused(self, indices: Any, values: Any) -> None:
        with pytest.raises(ValueError, match="ind"):
            rs.SparseColumn(indices, np.array(values), [0, 1], size=10)


@given(hnp.arrays(np.float32, st.tuples(st.integers(0, 4), st.just(5)), elements=st.floats(width=32)), st.randoms())
def test_any_dense_array_comes_back(array: Any, random: Any) -> None:
    feature = rs.Sparse("float32", 5)
    rows = [[(index, value) for index, value in enumerate(row) if value != 0] for row in array]
    for row in rows:
        random.shuffle(row)
    shuffled = [([index for index, _ in row], [value for _, value in row]) for row in rows]
    for form in (array, sp.csr_array(array), shuffled):
        (indices, offsets, _), (values, _, _) = (part[:3] for part in feature.column_to_parts(form, len(array)))
        assert offsets is not None
        column = rs.SparseColumn(indices, values, offsets, size=5)
        assert np.array_equal(column.dense(), np.where(array == 0, 0, array), equal_nan=True)
        assert feature.violations(column) == []
