"""Datasets as Arrow tables and pandas frames."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import recordsmith as rs
from tests.dataset.numbered_rows import SCHEMA


def test_to_arrow(ds: rs.Dataset):
    pa = pytest.importorskip("pyarrow")
    table = ds.to_arrow()
    assert table.column_names == ["n", "name", "values"]
    assert table["n"].to_pylist() == list(range(100))
    assert table["name"].to_pylist() == [f"row {n}" for n in range(100)]
    assert table["values"].to_pylist() == [list(range(n % 4)) for n in range(100)]
    assert table.schema.field("n").type == pa.int64()
    assert ds[5:8].select("n").to_arrow().to_pydict() == {"n": [5, 6, 7]}


def test_to_arrow_of_every_kind_of_feature(tmp_path: Path):
    pytest.importorskip("pyarrow")
    schema = rs.Schema(
        {
            "flag": rs.Scalar("bool"),
            "maybe": rs.Scalar("int64", optional=True),
            "matrix": rs.Tensor("uint8", (2, 2)),
            "some": rs.Tensor("float32", (2,), optional=True),
            "blob": rs.Bytes(),
            "words": rs.Text((None,), optional=True),
            "default": rs.Scalar("int64", default=7),
        }
    )
    rows: list[dict[str, Any]] = [
        {"flag": True, "maybe": 1, "matrix": [[1, 2], [3, 4]], "some": [0.5, 1.5], "blob": b"a", "words": ["x", "y"]},
        {"flag": False, "maybe": None, "matrix": [[5, 6], [7, 8]], "some": None, "blob": b"", "words": None},
    ]
    with rs.RecordWriter(tmp_path / "data.tfrecord") as writer:
        writer.write_rows(rows, schema)
    found = rs.open(tmp_path / "data.tfrecord", schema=schema).to_arrow().to_pylist()
    assert found == [{**row, "default": 7} for row in rows]


def test_to_arrow_of_nothing(tmp_path: Path):
    pytest.importorskip("pyarrow")
    (tmp_path / "empty.tfrecord").touch()
    table = rs.open(tmp_path / "empty.tfrecord", schema=SCHEMA).to_arrow()
    assert table.num_rows == 0
    assert table.column_names == ["n", "name", "values"]


def test_to_pandas(ds: rs.Dataset):
    pytest.importorskip("pandas")
    frame = ds.to_pandas()
    assert frame["n"].tolist() == list(range(100))
    assert frame["name"].tolist() == [f"row {n}" for n in range(100)]
    assert [len(values) for values in frame["values"]] == [n % 4 for n in range(100)]
