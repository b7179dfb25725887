"""Small datasets to copy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import recordsmith as rs

SCHEMA = rs.Schema(
    {
        "n": rs.Scalar("int64"),
        "x": rs.Tensor("float32", (2,)),
        "tokens": rs.Tensor("int64", (None,)),
        "name": rs.Text(optional=True),
        "label": rs.Label(["cat", "dog"]),
        "who": rs.Scalar("int64", default=7),
    }
)


def pets(count: int) -> list[dict[str, Any]]:
    return [
        {
            "n": n,
            "x": [n / 2, -n],
            "tokens": list(range(n % 4)),
            "name": f"pet {n}" if n % 3 else None,
            "label": n % 5 // 4,
            "who": n // 3 if n % 6 < 3 else None,
        }
        for n in range(count)
    ]


@pytest.fixture
def folder(quick_path: Path) -> Path:
    """A dataset of 60 records: 48 in train and 12 in test, in two shards each."""
    path = quick_path / "pets"
    rows = pets(60)
    for split, some in (("train", rows[:48]), ("test", rows[48:])):
        with rs.write(path, SCHEMA, name="pets", split=split, shards=2) as writer:
            writer.extend(some)
    return path


@pytest.fixture
def plain_file(quick_path: Path) -> Path:
    """A file of 30 records that nobody described."""
    path = quick_path / "plain.tfrecord"
    with rs.RecordWriter(path) as writer:
        writer.write_rows(pets(30), SCHEMA)
    return path
