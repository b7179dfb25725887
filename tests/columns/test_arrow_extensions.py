"""Arrow's extension types: what is exported with them, and what other libraries wrote with them."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from recordsmith.columns.arrow_extensions import without_extension

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

NULLS_FROM = 26  # the version of pyarrow that writes missing lists of one length to Parquet
MATRICES = np.arange(24, dtype=np.float32).reshape(4, 2, 3)


def test_exported_tensors_have_their_shape_in_arrow_and_come_back(tmp_path: Path) -> None:
    schema = rs.Schema(
        {
            "matrix": rs.Tensor("float32", (2, 3)),
            "vector": rs.Tensor("uint8", (3,)),
            "flags": rs.Tensor("bool", (2,)),
            "free": rs.Tensor("int64", (None, 2)),
            "name": rs.Text(),
        }
    )
    rows: list[dict[str, Any]] = [
        {
            "matrix": MATRICES[row],
            "vector": np.full(3, row, np.uint8),
            "flags": [True, row == 1],
            "free": np.ones((row, 2), np.int64),
            "name": f"row {row}",
        }
        for row in range(4)
    ]
    rs.make(rows, tmp_path / "data", schema=schema, shuffle=False)
    rs.export(tmp_path / "data", tmp_path / "data.parquet", extension_types=True)
    table = parquet.read_table(tmp_path / "data.parquet")
    assert table.schema.field("matrix").type == pa.fixed_shape_tensor(pa.float32(), [2, 3])
    assert table.schema.field("vector").type == pa.fixed_shape_tensor(pa.uint8(), [3])
    assert np.array_equal(table["matrix"].combine_chunks().to_numpy_ndarray(), MATRICES)
    rs.make(tmp_path / "data.parquet", tmp_path / "again", shuffle=False)
    assert rs.open(tmp_path / "again").schema == rs.open(tmp_path / "data").schema
    for first, second in zip(rs.open(tmp_path / "data"), rs.open(tmp_path / "again"), strict=True):
        assert all(np.array_equal(first[name], second[name]) for name in first)


def test_missing_tensors_are_exported_or_refused_with_the_version_of_pyarrow(tmp_path: Path) -> None:
    schema = rs.Schema({"gap": rs.Tensor("int64", (2, 2), optional=True)})
    rs.make([{"gap": None if row % 2 else np.full((2, 2), row)} for row in range(4)], tmp_path / "data", schema=schema)
    out = tmp_path / "data.parquet"
    if int(pa.__version__.partition(".")[0]) < NULLS_FROM:
        with pytest.raises(rs.RecordsmithError, match=f"pyarrow {pa.__version__}"):
            rs.export(tmp_path / "data", out, extension_types=True)
        assert not out.exists()
        return
    rs.export(tmp_path / "data", out, extension_types=True)
    table = parquet.read_table(out)
    assert table.schema.field("gap").type == pa.fixed_shape_tensor(pa.int64(), [2, 2])
    assert [value is None for value in table["gap"].to_pylist()].count(True) == 2


def test_tensors_that_others_wrote_keep_their_shape(tmp_path: Path) -> None:
    table = pa.table({"x": pa.FixedShapeTensorArray.from_numpy_ndarray(MATRICES), "y": pa.array([1, 2, 3, 4])})
    parquet.write_table(table, tmp_path / "data.parquet")
    rs.make(tmp_path / "data.parquet", tmp_path / "data", shuffle=False)
    made = rs.open(tmp_path / "data")
    assert made.schema["x"] == rs.Tensor("float32", (2, 3))
    assert np.array_equal(np.stack([row["x"] for row in made]), MATRICES)
    with rs.write(tmp_path / "written", made.schema) as writer:
        writer.extend(table.slice(1))
    assert np.array_equal(np.stack([row["x"] for row in rs.open(tmp_path / "written")]), MATRICES[1:])


def test_axes_that_are_stored_in_another_order_are_put_right() -> None:
    kind = pa.fixed_shape_tensor(pa.float32(), [2, 3], permutation=[1, 0])
    storage = pa.FixedSizeListArray.from_arrays(pa.array(MATRICES.ravel()), 6)
    array = pa.ExtensionArray.from_storage(kind, storage)
    assert without_extension(array).to_pylist() == MATRICES.transpose(0, 2, 1).tolist()
    assert without_extension(array.slice(2)).to_pylist() == MATRICES[2:].transpose(0, 2, 1).tolist()


def test_rows_without_a_tensor_stay_without() -> None:
    kind = pa.fixed_shape_tensor(pa.int64(), [2])
    array = pa.ExtensionArray.from_storage(kind, pa.array([[1, 2], None, [3, 4]], pa.list_(pa.int64(), 2)))
    assert without_extension(array).to_pylist() == [[1, 2], None, [3, 4]]
    assert without_extension(array.slice(1)).to_pylist() == [None, [3, 4]]


@pytest.mark.skipif(not hasattr(pa, "bool8"), reason="pyarrow before 18 has no such types")
def test_bools_identifiers_and_json(tmp_path: Path) -> None:
    named = uuid.UUID(int=7)
    table = pa.table(
        {
            "flag": pa.ExtensionArray.from_storage(pa.bool8(), pa.array([0, 1], pa.int8())),
            "id": pa.array([named.bytes] * 2, pa.uuid()),
        }
    )
    parquet.write_table(table, tmp_path / "data.parquet")
    rs.make(tmp_path / "data.parquet", tmp_path / "data", shuffle=False)
    first, second = rs.open(tmp_path / "data")
    assert (first["flag"], second["flag"]) == (False, True)
    assert first["id"] == named.bytes


def test_only_parquet_has_such_types(tmp_path: Path) -> None:
    rs.make([{"n": 1}], tmp_path / "data")
    with pytest.raises(rs.RecordsmithError, match="Only Parquet files"):
        rs.export(tmp_path / "data", tmp_path / "data.csv", extension_types=True)
