"""Sequences, sounds and packed numbers exported to every format and made into a dataset again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from tests.audio.made_sounds import sound
from tests.schema.features.test_sequence import image, plain

SCHEMA = rs.Schema(
    {
        "frames": rs.Sequence(rs.Image(3, 4, encoding="png")),
        "sounds": rs.Sequence(rs.Audio()),
        "nested": rs.Sequence(rs.Sequence(rs.Scalar("int64"))),
        "texts": rs.Sequence(rs.Sequence(rs.Text())),
        "views": rs.Sequence(rs.Sequence(rs.Image())),
        "boxes": rs.Sequence(rs.Tensor("float64", (2,)), length=2),
        "zlib": rs.Tensor("int32", (None, 2), storage="zlib"),
        "half": rs.Tensor("float32", (2,), storage="bfloat16"),
        "depth": rs.Image(2, 2, channels=1, pixel_type="float32"),
    }
)


def row(n: int) -> dict[str, Any]:
    return {
        "frames": [image(i) for i in range(n)],
        "sounds": [sound(i) for i in range(n % 2)],
        "nested": [list(range(i)) for i in range(n)],
        "texts": [["é"] * i for i in range(n)],
        "views": [[image(9)], []],
        "boxes": [[n, 0.1], [n, 0.2]],
        "zlib": np.arange(2 * n, dtype=np.int32).reshape(n, 2),
        "half": [n, 0.5],
        "depth": np.full((2, 2, 1), n / 3, np.float32),
    }


def by_frames(folder: Path) -> dict[int, Any]:
    return {len(one["frames"]): {key: plain(value) for key, value in one.items()} for one in rs.open(folder)}


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.tar", "a.parquet"])
def test_there_and_back(name: str, tmp_path: Path):
    with rs.write(tmp_path / "data", SCHEMA, name="mixed") as writer:
        for n in range(5):
            writer.add(row(n))
    rs.export(tmp_path / "data", tmp_path / name)
    rs.make(tmp_path / name, tmp_path / "back", shuffle=False)
    assert rs.open(tmp_path / "back").schema == SCHEMA
    assert by_frames(tmp_path / "back") == by_frames(tmp_path / "data")
    assert {one.name for one in rs.check(tmp_path / "data").findings} == {"one-colour-images"}
