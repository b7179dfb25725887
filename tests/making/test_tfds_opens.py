"""TensorFlow Datasets opens the folders that make and write leave, and gives what the source had."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow_datasets as tfds
from PIL import Image

import recordsmith as rs
from tests.formats.made_sources import Columns
from tests.images.made_images import saved


def colour_of(number: int) -> tuple[int, int, int]:
    return 10 * number, 255 - 10 * number, 7 * number % 256


@pytest.fixture
def photos(quick_path: Path) -> Path:
    """Images in class folders, each of one colour and of a size of its own."""
    for number in range(20):
        folder = quick_path / "photos" / ["cat", "dog", "two words"][number % 3]
        folder.mkdir(parents=True, exist_ok=True)
        photo = Image.new("RGB", (20 + number, 10 + number), colour_of(number))
        (folder / f"{number:02}.png").write_bytes(saved(photo, "png"))
    return quick_path / "photos"


def test_images(photos: Path, quick_path: Path):
    out = quick_path / "out"
    made = rs.make(
        rs.sources.images(photos), out, name="pets", split="train=0.75,test=0.25", stratify=True, shards=2,
        description="Pets of one colour.",
    )  # fmt: skip
    builder = tfds.builder_from_directory(out)
    assert builder.info.name == "pets"
    assert builder.info.description == "Pets of one colour."
    assert isinstance(builder.info.features["image"], tfds.features.Image)
    assert builder.info.features["label"].names == ["cat", "dog", "two words"]
    assert {name: split.num_examples for name, split in builder.info.splits.items()} == {
        name: split.rows for name, split in made.splits.items()
    }
    assert {name: split.num_shards for name, split in builder.info.splits.items()} == {"train": 2, "test": 2}
    seen = set()
    for split in ("train", "test"):
        dataset = builder.as_dataset(split=split)
        assert len(dataset) == made.splits[split].rows
        for row in tfds.as_numpy(dataset):
            name = row["filename"].decode()
            number = int(Path(name).stem)
            assert row["image"].shape == (10 + number, 20 + number, 3)
            assert (row["image"] == colour_of(number)).all()
            assert builder.info.features["label"].int2str(int(row["label"])) == Path(name).parent.name
            seen.add(number)
    assert seen == set(range(20))


def test_everything_that_tfds_knows(quick_path: Path):
    rows = 40
    rng = np.random.default_rng(0)
    columns: dict[str, Any] = {
        "n": np.arange(rows),
        "x": rng.normal(size=(rows, 3)).astype(np.float32),
        "small": rng.integers(0, 255, (rows, 2, 2)).astype(np.uint8),
        "double": rng.normal(size=rows),
        "flag": rng.random(rows) < 0.5,
        "tokens": [list(range(n % 5)) for n in range(rows)],
        "text": [f"é {n}" for n in range(rows)],
        "label": np.arange(rows) % 4,
    }
    schema = rs.Schema(
        {
            "n": rs.Scalar("int64"),
            "x": rs.Tensor("float32", (3,)),
            "small": rs.Tensor("uint8", (2, 2)),
            "double": rs.Scalar("float64"),
            "flag": rs.Scalar("bool"),
            "tokens": rs.Tensor("int64", (None,)),
            "text": rs.Text(),
            "label": rs.Label(["a", "b", "c", "d"]),
        }
    )
    rs.make(Columns(columns, schema, chunk_rows=9), quick_path / "out", split="train=0.7,val=0.3", shards=3)
    builder = tfds.builder_from_directory(quick_path / "out")
    found = {int(row["n"]): row for split in ("train", "val") for row in tfds.as_numpy(builder.as_dataset(split=split))}
    assert sorted(found) == list(range(rows))
    for n, row in found.items():
        for name in ("x", "small", "double", "flag", "label"):
            expected = np.asarray(columns[name][n])
            assert np.asarray(row[name]).dtype == expected.dtype, name
            assert np.array_equal(row[name], expected), name
        assert row["tokens"].tolist() == columns["tokens"][n]
        assert row["text"].decode() == columns["text"][n]


def test_slices_and_random_access_of_tfds(quick_path: Path):
    rs.make({"n": np.arange(100)}, quick_path / "out", shards=4, shuffle=False)
    builder = tfds.builder_from_directory(quick_path / "out")
    part = tfds.as_numpy(builder.as_dataset(split="train[10:30]"))
    assert [int(row["n"]) for row in part] == list(range(10, 30))


def test_what_rs_write_left(quick_path: Path):
    schema = rs.Schema({"image": rs.Image(encoding="jpeg"), "label": rs.Label(["cat", "dog"])})
    pixels = np.full((6, 8, 9, 3), 128, np.uint8)
    with rs.write(quick_path, schema, name="pets", shards=2) as writer:
        writer.extend({"image": list(pixels), "label": ["cat", "dog"] * 3})
    builder = tfds.builder_from_directory(quick_path)
    rows = list(tfds.as_numpy(builder.as_dataset(split="train")))
    assert [row["image"].shape for row in rows] == [(8, 9, 3)] * 6
    assert sorted(int(row["label"]) for row in rows) == [0, 0, 0, 1, 1, 1]
    assert builder.info.features["label"].names == ["cat", "dog"]


def test_tfds_gives_pairs_where_the_input_and_the_label_are_clear(tmp_path: Path) -> None:
    schema = rs.Schema({"x": rs.Tensor("float32", (2,)), "y": rs.Label(["no", "yes"])})
    with rs.write(tmp_path, schema, name="pairs", split="train") as writer:
        for n in range(4):
            writer.add({"x": [n, n], "y": n % 2})
    builder = tfds.builder_from_directory(str(tmp_path))
    pairs = [(x.numpy().tolist(), int(y)) for x, y in builder.as_dataset(split="train", as_supervised=True)]
    assert sorted(pairs) == [([n, n], n % 2) for n in range(4)]
