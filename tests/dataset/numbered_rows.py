"""Rows that can be recognised by their number: what the tests of datasets write and read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import recordsmith as rs

SCHEMA = rs.Schema({"n": rs.Scalar("int64"), "name": rs.Text(), "values": rs.Tensor("float32", (None,))})


def row(n: int) -> dict[str, Any]:
    return {"n": n, "name": f"row {n}", "values": np.arange(n % 4, dtype=np.float32)}


def write(path: Path, first: int, count: int, compression: str | None = None) -> Path:
    with rs.RecordWriter(path, compression, sync=False) as writer:
        writer.write_rows((row(n) for n in range(first, first + count)), SCHEMA)
    return path


def numbers(rows: Any) -> list[int]:
    return [int(row["n"]) for row in rows]


def same_row(found: dict[str, Any], expected: dict[str, Any]) -> bool:
    return (
        found["n"] == expected["n"]
        and found["name"] == expected["name"]
        and np.array_equal(found["values"], expected["values"])
    )
