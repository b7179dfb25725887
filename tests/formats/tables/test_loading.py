"""Columns of tables on their way to a schema."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet
import pytest

import recordsmith as rs


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("asked", [{"size": (8, 8)}, {"channels": 1}, {"image_encoding": "jpeg"}, {"quality": 50}])
def test_options_for_images_need_a_column_of_images(kind, asked, tmp_path):
    path = tmp_path / f"ages.{kind}"
    if kind == "parquet":
        pyarrow.parquet.write_table(pa.table({"age": [1, 2]}), path)
    else:
        path.write_text("age\n1\n2\n" if kind == "csv" else '{"age": 1}\n{"age": 2}\n')
    with pytest.raises(rs.RecordsmithError, match="no column contains images") as caught:
        rs.make(getattr(rs.sources, kind)(path, **asked), tmp_path / "data")
    assert "'age'" in str(caught.value.found)
    assert "images='path'" in str(caught.value.advice)
    assert not (tmp_path / "data").exists()
