"""The same content gives the same bytes, however it is handed over: as columns, as rows, or one mapping at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordsmith as rs

LONG = 200  # past the 127 bytes up to which entries are written from a prepared head


def made_columns(rows: int) -> dict[str, Any]:
    rng = np.random.default_rng(7)
    return {
        "f": rng.normal(size=rows).astype(np.float32),
        "i": rng.integers(-(2**63), 2**63 - 1, rows),
        "small": rng.integers(0, 300, rows),
        "": rng.integers(0, 2, rows),
        "a name that is longer than thirty-six characters": rng.integers(0, 9, rows),
        "exactly thirty-six characters long..": rng.integers(0, 9, rows),
        "text": ["x" * int(n) for n in rng.integers(0, LONG, rows)],
        "blob": [rng.bytes(int(n)) for n in rng.integers(0, LONG, rows)],
        "vector": rng.normal(size=(rows, 40)).astype(np.float32),
        "tokens": [rng.integers(0, 2**40, int(n)) for n in rng.integers(0, 30, rows)],
    }


SCHEMA = rs.Schema(
    {
        "f": rs.Scalar("float32"),
        "i": rs.Scalar("int64"),
        "small": rs.Scalar("int64"),
        "": rs.Scalar("int64"),
        "a name that is longer than thirty-six characters": rs.Scalar("int64"),
        "exactly thirty-six characters long..": rs.Scalar("int64"),
        "text": rs.Text(),
        "blob": rs.Bytes(),
        "vector": rs.Tensor("float32", (40,)),
        "tokens": rs.Tensor("int64", (None,)),
    }
)


@pytest.mark.parametrize(
    "names", [list(SCHEMA), ["f"], ["text"], ["i", "small"], ["tokens", ""], ["blob", "vector"]], ids="+".join
)
def test_columns_rows_and_mappings_give_the_same_bytes(tmp_path: Path, names: list[str]) -> None:
    columns = {name: column for name, column in made_columns(500).items() if name in names}
    rows = [{name: column[i] for name, column in columns.items()} for i in range(500)]
    schema = SCHEMA.select(names)
    with rs.RecordWriter(tmp_path / "columns") as writer:
        writer.write_columns(columns, schema)
    with rs.RecordWriter(tmp_path / "rows") as writer:
        writer.write_rows(rows, schema)
    with rs.RecordWriter(tmp_path / "mappings") as writer:
        for row in rows:
            writer.write_example(row)
    expected = (tmp_path / "mappings").read_bytes()
    assert (tmp_path / "columns").read_bytes() == expected
    assert (tmp_path / "rows").read_bytes() == expected


def test_absent_values_are_left_out_in_each_way(tmp_path: Path) -> None:
    schema = rs.Schema({"n": rs.Scalar("int64", optional=True), "text": rs.Text(optional=True)})
    values: list[tuple[int | None, str | None]] = [(1, "a"), (None, "b" * LONG), (3, None), (None, None)]
    with rs.RecordWriter(tmp_path / "columns") as writer:
        writer.write_columns({"n": [n for n, _ in values], "text": [text for _, text in values]}, schema)
    with rs.RecordWriter(tmp_path / "rows") as writer:
        writer.write_rows(({"n": n, "text": text} for n, text in values), schema)
    with rs.RecordWriter(tmp_path / "mappings") as writer:
        for n, text in values:
            writer.write_example({"n": n, "text": text})
    expected = (tmp_path / "mappings").read_bytes()
    assert (tmp_path / "columns").read_bytes() == expected
    assert (tmp_path / "rows").read_bytes() == expected
