"""Parquet files: types of every kind, row groups in parts, images and class names as Hugging Face stores them."""

from __future__ import annotations

import datetime as dt
import decimal
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as arrow_dataset
import pyarrow.parquet as pq
import pytest

import recordsmith as rs
from recordsmith.formats.parquet import source as parquet_source
from recordsmith.images import encode_image
from tests.formats.loaded_rows import stored_rows


def written(folder: Path, columns: dict[str, Any] | pa.Table, name: str = "data.parquet", **options: Any) -> Path:
    table = columns if isinstance(columns, pa.Table) else pa.table(columns)
    pq.write_table(table, folder / name, **options)
    return folder / name


@pytest.mark.source("parquet", keeps="the types of the file, lists, nested columns, missing values")
def test_types_are_those_of_the_file(tmp_path):
    columns = {
        "i": pa.array([1, 2], pa.int32()),
        "f": pa.array([0.5, 1.5], pa.float32()),
        "d": pa.array([0.5, 1.5], pa.float64()),
        "big": pa.array([1.7e9, 1.8e9], pa.float64()),
        "ok": pa.array([True, False]),
        "s": pa.array(["a", "né"]),
        "b": pa.array([b"\x00", b"\xff"]),
        "day": pa.array([dt.date(2024, 1, 5), dt.date(2024, 1, 6)]),
        "when": pa.array([1704448800, 1704538800], pa.timestamp("s")),
        "price": pa.array([decimal.Decimal("1.25"), decimal.Decimal("2.50")]),
        "v": pa.array([[1.0, 2.0], [3.0, 4.0]], pa.list_(pa.float32(), 2)),
        "t": pa.array([[1], [2, 3]], pa.list_(pa.int64())),
        "kind": pa.array(["x", "y"]).dictionary_encode(),
        "in": pa.array([{"a": 1, "b": "p"}, {"a": 2, "b": "q"}]),
        "gap": pa.array([None, 4]),
        "none": pa.nulls(2),
    }
    source = rs.sources.parquet(written(tmp_path, columns))
    assert source.schema() == rs.Schema(
        {
            "i": rs.Scalar("int32", storage="list"),
            "f": rs.Scalar("float32"),
            "d": rs.Scalar("float32"),
            "big": rs.Scalar("float64"),
            "ok": rs.Scalar("bool", storage="list"),
            "s": rs.Text(),
            "b": rs.Bytes(),
            "day": rs.Text(),
            "when": rs.Text(),
            "price": rs.Scalar("float32"),
            "v": rs.Tensor("float32", (2,)),
            "t": rs.Tensor("int64", (None,)),
            "kind": rs.Text(),
            "in/a": rs.Scalar("int64"),
            "in/b": rs.Text(),
            "gap": rs.Scalar("int64", optional=True),
            "none": rs.Text(optional=True),
        }
    )
    first, second = stored_rows(source).rows
    assert first["big"] == 1.7e9
    assert (first["day"], first["when"], first["price"]) == ("2024-01-05", "2024-01-05T10:00:00", 1.25)
    assert (first["v"], first["t"], first["kind"], first["in/b"]) == ([1.0, 2.0], [1], "x", "p")
    assert (first["gap"], second["gap"], first["none"]) == (None, 4, None)
    assert source.row_count == 2


@pytest.mark.parametrize("statistics", [True, False])
def test_row_groups_are_read_in_parts_in_any_order(statistics, tmp_path, monkeypatch):
    monkeypatch.setattr(parquet_source, "_CHUNK_ROWS", 700)
    columns = {"n": np.arange(5000), "s": [f"row {n}" for n in range(5000)], "x": np.arange(5000) / 4}
    path = written(tmp_path, columns, row_group_size=1999, write_statistics=statistics)
    source = rs.sources.parquet(path)
    assert not any(feature.optional for feature in source.schema().values())
    stored = stored_rows(source)
    assert stored.column("n") == list(range(5000))
    assert stored.places[4999] == f"{path}, row 4999"
    chunks = list(source.chunks())
    assert [chunk.part for chunk in chunks[:4]] == [range(700), range(700, 1400), range(1400, 1999), range(700)]  # type: ignore[attr-defined]
    for number in (2, 0, 1, 7, 5, 6, 1):
        loaded = chunks[number].load()
        first = int(loaded.places.of(0).rpartition(" ")[2])
        assert loaded.columns["n"].to_pylist() == list(range(first, first + loaded.rows))
    assert sum(chunk.source_bytes for chunk in chunks) <= path.stat().st_size


def test_a_gap_without_statistics_is_found(tmp_path):
    path = written(tmp_path, {"n": [1, None, 3]}, write_statistics=False)
    assert rs.sources.parquet(path).schema()["n"] == rs.Scalar("int64", optional=True)


def test_labels(tmp_path):
    path = written(tmp_path, {"y": pa.array(["b", "a", "b"]).dictionary_encode(), "k": [0, 2, 1]})
    source = rs.sources.parquet(path, label="y", types={"k": "label"})
    assert source.schema() == rs.Schema({"y": rs.Label(["a", "b"]), "k": rs.Label(3)})
    assert stored_rows(source).rows == [{"y": 1, "k": 0}, {"y": 0, "k": 2}, {"y": 1, "k": 1}]


@pytest.mark.source("parquet of Hugging Face", keeps="images byte for byte, class names")
def test_a_dataset_of_hugging_face(tmp_path):
    encoded = encode_image(np.full((4, 5, 3), 9, np.uint8), "png")
    kind = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    (tmp_path / "b.png").write_bytes(encoded)
    rows = [{"bytes": encoded, "path": "a.png"}, {"bytes": None, "path": "b.png"}, {"bytes": b"bad", "path": None}]
    info = {"info": {"features": {"label": {"names": ["cat", "dog"], "_type": "ClassLabel"}}}}
    table = pa.table({"image": pa.array(rows, kind), "label": [1, 0, 1]})
    path = written(tmp_path, table.replace_schema_metadata({"huggingface": json.dumps(info)}))
    source = rs.sources.parquet(path)
    assert source.schema() == rs.Schema({"image": rs.Image(), "label": rs.Label(["cat", "dog"])})
    assert source.label == "label"
    stored = stored_rows(source)
    assert stored.rows == [{"image": encoded, "label": 1}, {"image": encoded, "label": 0}]
    assert stored.rejects[0].source == f"{path}, row 2"
    smaller = rs.sources.parquet(path, size=(2, 2))
    assert smaller.schema()["image"] == rs.Image(2, 2)
    assert len(stored_rows(smaller).rows) == 2


def test_several_files_must_agree(tmp_path):
    written(tmp_path, {"a": [1]}, "1.parquet")
    written(tmp_path, {"a": [2]}, "2.parquet")
    assert stored_rows(rs.sources.parquet(tmp_path)).column("a") == [1, 2]
    written(tmp_path, {"a": ["x"]}, "3.parquet")
    with pytest.raises(rs.RecordsmithError, match=r"different columns(.|\n)*3\.parquet(.|\n)*'a'"):
        rs.sources.parquet(tmp_path).schema()


def test_columns_of_several_files_may_be_in_any_order(tmp_path):
    written(tmp_path, {"a": [1], "b": ["x"], "s": [{"u": 1, "v": 2}]}, "1.parquet")
    written(tmp_path, {"s": [{"u": 3, "v": 4}], "b": ["y"], "a": [2]}, "2.parquet")
    rows = stored_rows(rs.sources.parquet(tmp_path)).rows
    assert rows == [{"a": 1, "b": "x", "s/u": 1, "s/v": 2}, {"a": 2, "b": "y", "s/u": 3, "s/v": 4}]


def test_columns_with_the_same_name_are_an_error(tmp_path):
    path = written(tmp_path, pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"]))
    with pytest.raises(rs.RecordsmithError, match=r"Several columns have the same name(.|\n)*'a'"):
        rs.sources.parquet(path).schema()


@pytest.mark.parametrize("statistics", [True, False])
def test_decimals_that_a_float32_would_round_are_float64(tmp_path, statistics):
    money = [decimal.Decimal("12345678901234.56"), decimal.Decimal(-1)]
    small = [decimal.Decimal("1.10"), None]
    kind = pa.decimal128(20, 2)
    table = pa.table({"money": pa.array(money, kind), "small": pa.array(small, kind)})
    pq.write_table(table, tmp_path / "x.parquet", write_statistics=statistics)
    source = rs.sources.parquet(tmp_path / "x.parquet")
    assert source.schema() == rs.Schema({"money": rs.Scalar("float64"), "small": rs.Scalar("float32", optional=True)})
    assert stored_rows(source).column("money") == [12345678901234.56, -1.0]


def test_a_file_that_is_no_parquet_is_named(tmp_path):
    (tmp_path / "x.parquet").write_bytes(b"no parquet at all")
    with pytest.raises(rs.RecordsmithError, match=r"x\.parquet"):
        rs.sources.parquet(tmp_path / "x.parquet").schema()


def test_an_empty_file_needs_a_schema(tmp_path):
    path = written(tmp_path, {"a": pa.array([], pa.int64())})
    with pytest.raises(rs.RecordsmithError, match="no rows"):
        rs.sources.parquet(path).schema()
    assert stored_rows(rs.sources.parquet(path, schema=rs.Schema({"a": rs.Scalar("int64")}))).rows == []


def test_a_column_that_cannot_be_stored_is_named(tmp_path):
    path = written(tmp_path, {"m": pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64()))})
    with pytest.raises(rs.SchemaError, match="'m'"):
        rs.sources.parquet(path).schema()


def test_the_columns_of_a_file_are_listed_once(tmp_path, monkeypatch):
    listed: list[int] = []
    real = parquet_source._leaf_places

    def count(metadata: Any) -> dict[str, int]:
        listed.append(1)
        return real(metadata)

    monkeypatch.setattr(parquet_source, "_leaf_places", count)
    path = tmp_path / "wide.parquet"
    pq.write_table(pa.table({f"c{n}": [n] for n in range(50)}), path)
    assert len(rs.sources.parquet(path).schema()) == 50
    assert len(listed) == 1


@pytest.mark.parametrize("step", [61, pytest.param(3, marks=pytest.mark.proof)])
def test_a_file_damaged_anywhere_is_an_error_that_names_it(step, tmp_path):
    program = Path(__file__).with_name("parquet_to_damage.py")
    first, lines, aborts = 0, [""], 0
    while lines[-1] != "done":
        command = [sys.executable, str(program), str(tmp_path), str(step), str(first)]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        lines = ran.stdout.splitlines() or [""]
        results = [line.split(" ", 1) for line in lines if line[:1].isdigit()]
        assert {result for _, result in results} <= {"sound", "named"}
        if ran.returncode:
            # pyarrow itself aborts where parts of the footer disagree; nothing in Python can catch that.
            assert "terminate called after throwing an instance of 'parquet::ParquetException'" in ran.stderr
            first = (int(results[-1][0]) if results else first - 1) + 2
            aborts += 1
    assert aborts < 20


def test_columns_in_the_names_of_folders(tmp_path):
    table = pa.table({"a": [1, 2, 3, 4], "year": [2020, 2020, 2021, 2021], "town": ["Ulm", "a/b", None, "Ulm"]})
    arrow_dataset.write_dataset(
        table, tmp_path / "d", format="parquet", partitioning=["year", "town"], partitioning_flavor="hive"
    )
    source = rs.sources.parquet(tmp_path / "d", label="town")
    assert source.schema()["year"] == rs.Scalar("int64")
    assert source.schema()["town"] == rs.Label(["Ulm", "a/b"], optional=True)
    rows = stored_rows(source).rows
    theirs = arrow_dataset.dataset(tmp_path / "d", partitioning="hive").to_table().to_pylist()
    names = source.schema()["town"].names
    town = {row["a"]: None if row["town"] is None else names[row["town"]] for row in rows}
    assert {row["a"]: row["year"] for row in rows} == {row["a"]: row["year"] for row in theirs}
    assert town == {1: "Ulm", 2: "a/b", 3: None, 4: "Ulm"}
