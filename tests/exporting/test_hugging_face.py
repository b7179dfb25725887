"""Hugging Face's datasets reads an exported Parquet file with its images and classes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from tests.loader.frameworks.framework_data import OPTIONAL, PLAIN, STEPS, row

datasets = pytest.importorskip("datasets")

CLASSES = rs.Schema(
    {"image": rs.Image(), "label": rs.Label(["cat", "dog", "cow"]), "maybe": rs.Label(2, optional=True)}
)


def exported(folder: Path, schema: rs.Schema, rows: list[dict[str, Any]]) -> Any:
    with rs.RecordWriter(folder / "data.tfrecord") as writer:
        writer.write_rows(iter(rows), schema)
    rs.export(folder / "data.tfrecord", folder / "data.parquet", schema=schema)
    return datasets.Dataset.from_parquet(str(folder / "data.parquet"), cache_dir=str(folder / "cache"))


def test_images_and_classes_come_back(tmp_path: Path):
    rows = [{"image": np.full((2, 3, 3), n, np.uint8), "label": n, **({"maybe": 1} if n else {})} for n in range(3)]
    found = exported(tmp_path, CLASSES, rows)
    assert isinstance(found.features["image"], datasets.Image)
    assert found.features["label"] == datasets.ClassLabel(names=["cat", "dog", "cow"])
    assert [(one["image"].size, np.asarray(one["image"]).max(), one["label"], one["maybe"]) for one in found] == [
        ((3, 2), 0, 0, None),
        ((3, 2), 1, 1, 1),
        ((3, 2), 2, 2, 1),
    ]


def test_every_kind_of_feature_can_be_read(tmp_path: Path):
    schema = rs.Schema(
        {**PLAIN, **OPTIONAL, **STEPS, "classes": rs.Steps(rs.Label(3)), "complex": rs.Scalar("complex64")}
    )
    rows = [{**row(number), "classes": [number % 3], "complex": 1 + 2j} for number in range(5)]
    found = exported(tmp_path, schema, rows)
    assert set(found.features) == {*schema, "shaped/shape"}
    for number, one in enumerate(found):
        assert one["n"] == number
        assert one["matrix"] == rows[number]["matrix"].tolist()
        assert one["tokens"] == rows[number]["tokens"].tolist()
        assert (one["words"], one["text"]) == (rows[number]["words"], rows[number]["text"])
        assert one["blob"] == {"pixels": [[number, number]] * 2, "number": number}
        assert one["classes"] == [number % 3]
        assert one["complex"] == [1.0, 2.0]
        assert one["curves"] == [list(range(length)) for length in range(number % 3)]
