"""Libraries that take Arrow streams take a dataset itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import recordsmith as rs

pa = pytest.importorskip("pyarrow")

SCHEMA = rs.Schema(
    {
        "n": rs.Scalar("int64"),
        "text": rs.Text(),
        "vector": rs.Tensor("float32", (3,)),
        "tokens": rs.Tensor("int32", (None,)),
        "maybe": rs.Scalar("float32", optional=True),
    }
)


def write(path: Path, rows: int) -> rs.Dataset:
    with rs.RecordWriter(path) as writer:
        given = [{"n": n, "text": f"row {n}", "vector": np.full(3, n), "tokens": range(n % 3)} for n in range(rows)]
        writer.write_rows([{**row, "maybe": 0.5} if row["n"] % 2 else row for row in given], SCHEMA)  # type: ignore[operator]
    return rs.open(path, schema=SCHEMA)


@pytest.mark.parametrize("rows", [0, 1, 500])
def test_the_stream_is_the_table(tmp_path: Path, rows: int):
    ds = write(tmp_path / "a.tfrecord", rows)
    table = pa.table(ds)
    assert table.num_rows == rows
    if rows:
        assert table.equals(ds.to_arrow().cast(table.schema))
    assert table.schema.field("vector").type == pa.list_(pa.float32(), 3)


def test_polars_duckdb_and_pandas_take_a_dataset(tmp_path: Path):
    ds = write(tmp_path / "a.tfrecord", 30)
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(ds)
    assert frame["n"].to_list() == list(range(30))
    assert frame.equals(ds.to_polars())
    assert frame.filter(polars.col("maybe").is_null()).height == 15
    duckdb = pytest.importorskip("duckdb")
    assert duckdb.sql("SELECT sum(n), count(maybe) FROM ds").fetchall() == [(435, 15)]
    pandas = pytest.importorskip("pandas")
    assert pandas.DataFrame.from_arrow(ds)["text"].tolist() == [f"row {n}" for n in range(30)]
