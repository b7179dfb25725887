"""Rows from iterables, generators and functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from recordsmith.making.sources import row_stream
from tests.formats.loaded_rows import stored_rows


def numbered(count: int) -> Any:
    for n in range(count):
        yield {"n": n, "name": f"row {n}", "inner": {"v": [n] * (n % 3)}}


SCHEMA = rs.Schema({"n": rs.Scalar("int64"), "name": rs.Text(), "inner/v": rs.Tensor("int64", (None,))})


@pytest.mark.source("rows (Python)", keeps="the values of every row, nested mappings")
@pytest.mark.parametrize("form", ["list", "generator", "function"])
@pytest.mark.parametrize("schema", [None, SCHEMA])
def test_every_form_gives_the_same(form, schema):
    rows: Any = {"list": list(numbered(50)), "generator": numbered(50), "function": lambda: numbered(50)}[form]
    source = rs.sources.rows(rows, schema=schema)
    assert source.sequential
    assert source.schema() == SCHEMA
    stored = stored_rows(source)
    assert stored.rows == [{"n": n, "name": f"row {n}", "inner/v": [n] * (n % 3)} for n in range(50)]
    assert stored.places[49] == "row 49"


def test_a_generator_is_read_once_and_says_so():
    source = rs.sources.rows(numbered(3))
    assert len(stored_rows(source).rows) == 3
    with pytest.raises(rs.RecordsmithError, match="only once"):
        list(source.chunks())


def test_chunks_are_bounded_in_rows_and_bytes(monkeypatch):
    assert stored_rows(rs.sources.rows(lambda: numbered(20_000))).chunks == 3
    monkeypatch.setattr(row_stream, "_CHUNK_BYTES", 100_000)
    large = [{"x": np.zeros(5000, np.uint8)} for _ in range(100)]
    assert stored_rows(rs.sources.rows(large)).chunks == 4


def test_rows_that_do_not_fit_the_names_are_rejects():
    rows: Any = [{"n": 1}, {"m": 2}, {"n": 3, "nn": 4}, 5, {"n": 6}]
    stored = stored_rows(rs.sources.rows(rows, schema=rs.Schema({"n": rs.Scalar("int64")})))
    assert stored.column("n") == [1, 6]
    assert stored.places == ["row 0", "row 4"]
    assert [(reject.source, reject.row, reject.feature) for reject in stored.rejects] == [
        ("row 1", 1, "m"),
        ("row 2", 2, "nn"),
        ("row 3", 3, None),
    ]


def test_a_later_misfit_does_not_stop_the_loading():
    rows = [{"n": 1}] * 1500 + [{"n": "x"}] + [{"n": 2}]
    source = rs.sources.rows(iter(rows))
    assert source.schema()["n"] == rs.Scalar("int64")
    (chunk,) = source.chunks()
    assert chunk.load().rows == 1502


@pytest.mark.parametrize(
    ("values", "feature"),
    [
        ([1, 2], rs.Scalar("int64")),
        ([1, 2.5], rs.Scalar("float32")),
        ([True, 2], rs.Scalar("int64")),
        ([np.uint8(1), np.uint8(2)], rs.Scalar("uint8", storage="list")),
        ([0.5, 1.7e9], rs.Scalar("float64")),
        ([True, None], rs.Scalar("bool", storage="list", optional=True)),
        (["a", "b"], rs.Text()),
        ([b"a", b"b"], rs.Bytes()),
        ([["a"], ["b", "c"]], rs.Text((None,))),
        ([[1, 2], [3, 4]], rs.Tensor("int64", (2,))),
        ([[1, 2], []], rs.Tensor("int64", (None,))),
        ([np.zeros((2, 3), np.uint8), np.zeros((2, 3), np.uint8)], rs.Tensor("uint8", (2, 3))),
        ([np.zeros((2, 3), np.float32), np.zeros((5, 3), np.float32)], rs.Tensor("float32", (None, 3))),
        ([np.float32(1), np.float32(2)], rs.Scalar("float32")),
        ([float("nan"), 1.0], rs.Scalar("float32")),
    ],
)
def test_types_are_told_from_the_values(values, feature):
    source = rs.sources.rows([{"x": value} for value in values])
    assert source.schema()["x"] == feature
    assert len(stored_rows(source).rows) == 2


def test_labels_are_told_from_a_list():
    source = rs.sources.rows([{"y": "b"}, {"y": "a"}], label="y")
    assert source.schema()["y"] == rs.Label(["a", "b"])
    assert stored_rows(source).column("y") == [1, 0]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1, 2**70], "no common type"),
        ([1, "a"], "no common type"),
        ([None, None], "no value"),
        ([object()], "no common type"),
    ],
)
def test_what_has_no_type_says_so(values, message):
    with pytest.raises(rs.SchemaError, match=message) as caught:
        rs.sources.rows([{"x": value} for value in values]).schema()
    assert caught.value.feature == "x"


@pytest.mark.parametrize("data", ["data.csv", {"a": [1]}, 5])
def test_what_is_no_iterable_of_rows_is_refused(data):
    with pytest.raises(rs.RecordsmithError, match="iterable of mappings"):
        rs.sources.rows(data)


def test_no_rows_need_a_schema():
    with pytest.raises(rs.RecordsmithError, match="without rows"):
        rs.sources.rows([]).schema()
    assert stored_rows(rs.sources.rows([], schema=SCHEMA)).rows == []


def test_a_mapping_that_is_a_feature_stays_whole(tmp_path):
    blob = rs.Packed({"pixels": ("uint8", (2, 2)), "label": ("int64", ())})
    schema = rs.Schema({"blob": blob, "words": rs.Sparse("float32", size=9), "box/x": rs.Scalar("int64")})
    rows = [
        {"blob": {"pixels": np.full((2, 2), n, np.uint8), "label": n}, "words": {n: 1.0}, "box": {"x": n}}
        for n in range(5)
    ]
    rs.make(rows, tmp_path / "made", schema=schema, shuffle=False)
    rs.make(rs.sources.tfrecords(tmp_path / "made"), tmp_path / "again", shuffle=False)
    for folder in ("made", "again"):
        (batch,) = rs.open(tmp_path / folder).batch(5)
        assert batch["blob"]["label"].tolist() == [0, 1, 2, 3, 4]
        assert batch["words"].dense().argmax(axis=1).tolist() == [0, 1, 2, 3, 4]
        assert batch["box/x"].tolist() == [0, 1, 2, 3, 4]
