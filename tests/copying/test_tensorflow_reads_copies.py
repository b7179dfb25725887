"""TensorFlow and TFDS read what copies leave, and what came back from an export."""

from __future__ import annotations

from pathlib import Path

import tensorflow as tf
import tensorflow_datasets as tfds

import recordsmith as rs
from tests.copying.conftest import SCHEMA


def test_tensorflow_reads_the_same_records(folder: Path, quick_path: Path) -> None:
    rs.copy(folder, quick_path / "copy", shards=3, compression="gzip")
    files = sorted(map(str, (quick_path / "copy").glob("*-train.tfrecord*")))
    read = [bytes(record) for record in tf.data.TFRecordDataset(files, "GZIP").as_numpy_iterator()]
    before = sorted(map(str, folder.glob("*-train.tfrecord*")))
    assert read == [bytes(record) for record in tf.data.TFRecordDataset(before).as_numpy_iterator()]
    batch = SCHEMA.parse_tf(tf.constant(read))
    assert batch["n"].numpy().tolist() == [int(row["n"]) for row in rs.open(folder, split="train")]


def test_tfds_opens_a_copy_and_what_came_back(folder: Path, quick_path: Path) -> None:
    plain = ["n", "x", "tokens", "label"]  # TFDS has no features that may be missing
    rs.copy(
        folder,
        quick_path / "copy",
        split="train=0.75,val=0.25",
        merge_splits=True,
        features=plain,
        rename={"label": "species"},
    )
    rs.export(quick_path / "copy", quick_path / "val.parquet", split="val")
    rs.make(quick_path / "val.parquet", quick_path / "back", split="val", shuffle=False)
    for place, rows in (("copy", {"train": 45, "val": 15}), ("back", {"val": 15})):
        builder = tfds.builder_from_directory(quick_path / place)
        assert builder.info.features["species"].names == ["cat", "dog"]
        assert {name: split.num_examples for name, split in builder.info.splits.items()} == rows
        found = list(tfds.as_numpy(builder.as_dataset(split="val")))
        expected = list(rs.open(quick_path / place, split="val"))
        assert [int(row["n"]) for row in found] == [int(row["n"]) for row in expected]
        assert all((one["tokens"] == other["tokens"]).all() for one, other in zip(found, expected, strict=True))
