"""A feature is an image only if every value has the header of one."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import pytest

import recordsmith as rs


def image(height: int, width: int, encoding: str = "PNG", mode: str = "RGB") -> bytes:
    buffer = io.BytesIO()
    PIL.Image.fromarray(np.zeros((height, width, 3), np.uint8)).convert(mode).save(buffer, encoding)
    return buffer.getvalue()


def inferred(tmp_path: Path, *values: Any, **settings: Any) -> Any:
    path = tmp_path / "data.tfrecord"
    with rs.RecordWriter(path, sync=False) as writer:
        for value in values:
            writer.write_example({"x": value, "other": 1})
    return rs.infer_schema(path, **settings)["x"]


@pytest.mark.parametrize(
    ("values", "feature"),
    [
        ([image(4, 6), image(4, 6)], rs.Image(4, 6, encoding="png")),
        ([image(4, 6), image(4, 7)], rs.Image(height=4, encoding="png")),
        ([image(4, 6, "JPEG", "L")], rs.Image(4, 6, channels=1, encoding="jpeg")),
        ([image(4, 6, "JPEG", "L"), image(4, 6, "JPEG")], rs.Image(4, 6, channels=None, encoding="jpeg")),
        ([image(4, 6, "WEBP"), image(4, 6, "GIF")], rs.Image(4, 6)),
        ([image(4, 6), None], rs.Image(4, 6, encoding="png", optional=True)),
        ([image(4, 6, "BMP")], rs.Bytes()),  # two letters are no proof
        ([image(4, 6), b"\xff"], rs.Bytes()),
        ([image(4, 6), b""], rs.Bytes()),
        ([image(4, 6)[:20]], rs.Bytes()),
        ([[image(4, 6), image(4, 6)]], rs.Bytes((2,))),
    ],
    ids=lambda value: repr(value) if hasattr(value, "plan") else None,
)
def test_what_is_inferred(values: list[Any], feature: Any, tmp_path: Path):
    assert inferred(tmp_path, *values) == feature


def test_the_last_of_many_values_counts(tmp_path: Path):
    assert inferred(tmp_path, *[image(4, 6)] * 200, b"\xff") == rs.Bytes()
    assert inferred(tmp_path, *[image(4, 6)] * 200, b"\xff", records=200) == rs.Image(4, 6, encoding="png")


def test_frames(tmp_path: Path):
    schema = rs.Schema({"frames": rs.Steps(rs.Image(encoding="png"), optional=True), "raw": rs.Steps(rs.Bytes())})
    path = tmp_path / "clips.tfrecord"
    with rs.RecordWriter(path) as writer:
        writer.write_rows([{"frames": [image(4, 6)] * n or None, "raw": [b"\xff"]} for n in (0, 1, 3)], schema)
    assert rs.infer_schema(path) == rs.Schema(
        {"frames": rs.Steps(rs.Image(4, 6, encoding="png"), optional=True), "raw": rs.Steps(rs.Bytes())}
    )


def test_several_files_are_one_dataset(tmp_path: Path):
    for number, value in enumerate([image(4, 6), image(5, 6)]):
        with rs.RecordWriter(tmp_path / f"data.tfrecord-{number:05}-of-00002", "gzip" if number else None) as writer:
            writer.write_example({"x": value})
    assert rs.infer_schema(tmp_path)["x"] == rs.Image(width=6, encoding="png")
