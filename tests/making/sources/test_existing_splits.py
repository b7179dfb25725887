"""Splits that exist are kept by default, and said, whatever the layout that they come in."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import recordsmith as rs
from tests.formats.images.test_folder_layouts import put

ROWS = {"train": 3, "test": 2, "validation": 1}


def splits_of(made: rs.MadeDataset) -> dict[str, int]:
    assert made.splits_kept
    return {name: split.rows for name, split in made.splits.items()}


@pytest.mark.parametrize(
    "layout",
    [
        "data/{split}-0000{n}-of-00002.parquet",
        "{split}-0000{n}-of-00002-0a1b2c3d4e5f6789.parquet",
        "default/{split}/000{n}.parquet",
        "data/{split}/000{n}.parquet",
    ],
)
def test_hugging_face(tmp_path: Path, layout: str) -> None:
    for split, count in ROWS.items():
        for number in range(2):
            path = tmp_path / "in" / layout.format(split=split, n=number)
            path.parent.mkdir(parents=True, exist_ok=True)
            numbers = [len(split) * 100 + number * 10 + row for row in range(count)]
            pq.write_table(pa.table({"n": numbers, "split": [split] * count}), path)
    (tmp_path / "in" / "README.md").write_text("# data\n")
    made = rs.make(tmp_path / "in", tmp_path / "out")
    assert splits_of(made) == {split: 2 * count for split, count in ROWS.items()}
    for split in ROWS:
        assert {row["split"] for row in rs.open(tmp_path / "out", split=split)} == {split}


@pytest.mark.parametrize("names", [("train", "val"), ("train", "val", "test"), ("Training", "Validation")])
def test_imagenet(tmp_path: Path, names: tuple[str, ...]) -> None:
    put(tmp_path / "in", *(f"{split}/n0{label}/{n}.png" for split in names for label in "12" for n in range(3)))
    made = rs.make(tmp_path / "in", tmp_path / "out")
    assert {name.lower(): rows for name, rows in splits_of(made).items()} == {name.lower(): 6 for name in names}
    assert rs.open(tmp_path / "out", split=next(iter(made.splits))).schema["label"].names == ("n01", "n02")


@pytest.mark.parametrize("described", ["recordsmith.json", "dataset_info.json"])
def test_folders_of_recordsmith_and_of_tfds(tmp_path: Path, described: str) -> None:
    put(
        tmp_path / "in",
        *(f"{split}/{label}/{n}.png" for split in ("train", "test") for label in "ab" for n in range(3)),
    )
    rs.make(tmp_path / "in", tmp_path / "made")
    if described == "dataset_info.json":
        (tmp_path / "made" / "recordsmith.json").unlink()
    assert splits_of(rs.make(tmp_path / "made", tmp_path / "out")) == {"train": 6, "test": 6}
