"""Arrays: in memory, in .npy files and in .npz archives, mapped where they can be."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from recordsmith.formats.arrays import source as array_source
from tests.formats.loaded_rows import stored_rows


@pytest.fixture
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(array_source, "_CHUNK_ROWS", 7)


@pytest.mark.source("arrays (numpy)", keeps="dtypes, shapes, text, bytes, dates, missing text")
def test_dtypes_and_shapes_in_memory():
    data: dict[str, Any] = {
        "image": np.arange(24, dtype=np.uint8).reshape(2, 3, 4),
        "x": np.array([0.5, 1.5]),
        "big": np.array([1.5, 2.0e9]),
        "i": np.array([1, 2], np.int32),
        "ok": np.array([True, False]),
        "name": np.array(["a", "né"]),
        "raw": np.array([b"a", b"bc"]),
        "day": np.array(["2024-01-05", "2024-01-06"], "datetime64[D]"),
        "words": np.array(["p", None], object),
        "swapped": np.array([1, 2], ">i8"),
        "list": [[1.0, 2.0], [3.0, 4.0]],
    }
    source = rs.sources.arrays(data)
    assert source.schema() == rs.Schema(
        {
            "image": rs.Tensor("uint8", (3, 4)),
            "x": rs.Scalar("float32"),
            "big": rs.Scalar("float64"),
            "i": rs.Scalar("int32", storage="list"),
            "ok": rs.Scalar("bool", storage="list"),
            "name": rs.Text(),
            "raw": rs.Bytes(),
            "day": rs.Text(),
            "words": rs.Text(optional=True),
            "swapped": rs.Scalar("int64"),
            "list": rs.Tensor("float32", (2,)),
        }
    )
    first, second = stored_rows(source).rows
    assert first["image"] == data["image"][0].tolist()
    assert (second["big"], second["name"], second["raw"], second["day"]) == (2.0e9, "né", b"bc", "2024-01-06")
    assert (first["words"], second["words"], second["swapped"]) == ("p", None, 2)
    assert source.sequential


@pytest.mark.parametrize(
    ("label", "feature", "stored"),
    [
        (np.array([2, 0, 1], np.uint8), rs.Label(3), [2, 0, 1]),
        (np.array([[2], [0], [1]]), rs.Label(3), [2, 0, 1]),
        (np.array(["b", "a", "b"]), rs.Label(["a", "b"]), [1, 0, 1]),
        (np.array([-1, 1, -1]), rs.Label(["-1", "1"]), [0, 1, 0]),
        (np.array([True, False, True]), rs.Label(["false", "true"]), [1, 0, 1]),
        (np.array([0.5, 1.5, 2.5]), rs.Scalar("float32"), [0.5, 1.5, 2.5]),
    ],
)
def test_labels(label, feature, stored):
    source = rs.sources.arrays({"y": label}, label="y")
    assert source.schema()["y"] == feature
    assert stored_rows(source).column("y") == stored


@pytest.mark.usefixtures("_small_chunks")
@pytest.mark.parametrize("kind", ["npz", "compressed", "folder", "paths", "fortran"])
def test_files(kind, tmp_path):
    x, y = np.arange(120, dtype=np.float32).reshape(40, 3), np.arange(40) % 5
    given: Any = tmp_path
    if kind == "npz":
        given = tmp_path / "data.npz"
        np.savez(given, x=x, y=y)
    elif kind == "compressed":
        given = tmp_path / "data.npz"
        np.savez_compressed(given, x=x, y=y)
    else:
        np.save(tmp_path / "x.npy", np.asfortranarray(x) if kind == "fortran" else x)
        np.save(tmp_path / "y.npy", y)
        if kind == "paths":
            given = {"x": tmp_path / "x.npy", "y": str(tmp_path / "y.npy")}
    source = rs.sources.arrays(given, label="y")
    assert source.schema() == rs.Schema({"x": rs.Tensor("float32", (3,)), "y": rs.Label(5)})
    assert source.sequential is (kind == "compressed")
    stored = stored_rows(source)
    assert stored.chunks == 6
    assert stored.column("x") == x.tolist()
    assert stored.column("y") == y.tolist()
    assert stored.places[39].endswith(", row 39")
    assert sum(chunk.source_bytes for chunk in source.chunks()) == source.size_bytes
    assert json.loads(json.dumps(source.describe())) == source.describe()


def test_a_file_is_mapped_and_not_read(tmp_path):
    # A file of 64 GB that takes no room on disk: reading it whole would fail here.
    header = tmp_path / "header.npy"
    np.save(header, np.zeros((0, 8), np.uint8))
    text = header.read_bytes().replace(b"(0, 8)", b"(8589934592, 8)")
    fixed = text[:128].rstrip(b" \n")
    path = tmp_path / "huge.npy"
    with path.open("wb") as file:
        file.write(fixed.ljust(127, b" ") + b"\n")
        file.truncate(128 + 8 * 8589934592)
    source = rs.sources.arrays(path)
    assert source.row_count == 8589934592
    chunk = next(iter(source.chunks()))
    assert chunk.load().columns["huge"].shape == (65_536, 8)


def test_arrays_of_different_length_are_refused():
    with pytest.raises(rs.RecordsmithError, match="'x' has 3, 'y' has 2"):
        rs.sources.arrays({"x": np.zeros(3), "y": np.zeros(2)})


def test_pickled_objects_are_not_loaded(tmp_path):
    np.save(tmp_path / "x.npy", np.array([{"a": 1}], object), allow_pickle=True)
    with pytest.raises(rs.RecordsmithError, match="could run code"):
        rs.sources.arrays(tmp_path / "x.npy")


@pytest.mark.parametrize("damage", ["cut", "no zip"])
def test_damaged_files_are_named(damage, tmp_path):
    path = tmp_path / "data.npz"
    np.savez(path, x=np.zeros(100))
    path.write_bytes(path.read_bytes()[:200] if damage == "cut" else b"nothing of the kind")
    with pytest.raises(rs.RecordsmithError, match=r"data\.npz"):
        rs.sources.arrays(path)


def test_rows_of_different_length_are_pointed_elsewhere():
    with pytest.raises(rs.SchemaError, match=r"rs\.sources\.rows"):
        rs.sources.arrays({"x": [[1, 2], [3]]}).schema()


def test_what_is_masked_is_missing():
    source = rs.sources.arrays({"x": np.ma.MaskedArray([1, 2, 3], mask=[False, True, False])})
    assert source.schema()["x"] == rs.Scalar("int64", optional=True)
    assert stored_rows(source).column("x") == [1, None, 3]


def test_the_description_follows_the_values():
    first = rs.sources.arrays({"x": np.zeros(3)}).describe()
    assert first == rs.sources.arrays({"x": np.zeros(3)}).describe()
    assert first != rs.sources.arrays({"x": np.array([0.0, 0.0, 1.0])}).describe()


def test_types_and_floats_of_ones_own():
    x = np.array([0.5, 1.5])
    assert rs.sources.arrays({"x": x}, floats="float64").schema()["x"] == rs.Scalar("float64")
    assert rs.sources.arrays({"x": x}, types={"x": "float64"}).schema()["x"] == rs.Scalar("float64")
    declared = rs.sources.arrays({"y": np.array([0, 1])}, types={"y": rs.Label(["no", "yes"])})
    assert declared.label == "y"
    assert stored_rows(declared).column("y") == [0, 1]


@pytest.mark.source("npz of Keras (mnist.npz)", keeps="dtypes, shapes, classes, splits in the names of arrays")
@pytest.mark.parametrize("form", ["compressed", "stored", "memory"])
def test_arrays_named_like_splits_are_splits(form, tmp_path):
    rng = np.random.default_rng(0)
    arrays: dict[str, Any] = {
        "x_train": rng.integers(0, 256, (40, 28, 28), np.uint8),
        "y_train": (np.arange(40) % 9).astype(np.uint8),
        "x_test": rng.integers(0, 256, (10, 28, 28), np.uint8),
        "y_test": np.arange(10, dtype=np.uint8),
    }
    if form != "memory":
        (np.savez_compressed if form == "compressed" else np.savez)(tmp_path / "mnist.npz", **arrays)
    rs.make(arrays if form == "memory" else tmp_path / "mnist.npz", tmp_path / "out", label="y", shuffle=False)
    for split in ("train", "test"):
        opened = rs.open(tmp_path / "out", split=split)
        assert opened.schema == rs.Schema({"x": rs.Tensor("uint8", (28, 28)), "y": rs.Label(10)})
        assert np.array_equal(np.stack([row["x"] for row in opened]), arrays[f"x_{split}"])
        assert [row["y"] for row in opened] == arrays[f"y_{split}"].tolist()


def test_one_split_or_a_word_that_means_something_else_says_nothing():
    for name in ("x_train", "test_score"):
        source = rs.sources.arrays({name: np.zeros(4), "n": np.zeros(4)})
        assert (source.row_count, source.splits) == (4, ())
    with pytest.raises(rs.SchemaError, match=r"differs from split to split(.|\n)*feature 'x'"):
        rs.sources.arrays({"x_train": np.zeros((4, 2)), "x_test": np.zeros((4, 3))}).schema()
