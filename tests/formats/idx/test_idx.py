"""The idx files of MNIST, gzipped or not."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import recordsmith as rs
from recordsmith.formats.arrays import source as array_source
from tests.formats.loaded_rows import stored_rows

RNG = np.random.default_rng(0)
IMAGES = {split: RNG.integers(0, 256, (rows, 28, 28), np.uint8) for split, rows in (("train", 30), ("t10k", 9))}
LABELS = {split: (np.arange(len(images)) % 10).astype(np.uint8) for split, images in IMAGES.items()}
_TYPES = {"u1": 8, "i1": 9, "i2": 11, "i4": 12, "f4": 13, "f8": 14}


def idx_bytes(array: npt.NDArray[Any]) -> bytes:
    """The format as its page describes it: http://yann.lecun.com/exdb/mnist."""
    head = struct.pack(f">HBB{array.ndim}I", 0, _TYPES[array.dtype.str[1:]], array.ndim, *array.shape)
    return head + array.astype(array.dtype.newbyteorder(">")).tobytes()


def put(folder: Path, packed: str, separator: str = "-") -> Path:
    for split, images in IMAGES.items():
        for kind, array in (("images-idx3", images), ("labels-idx1", LABELS[split])):
            data = idx_bytes(array)
            name = f"{split}-{kind.replace('-idx', f'{separator}idx')}-ubyte"
            if packed != "gz":
                (folder / name).write_bytes(data)
            if packed:
                (folder / f"{name}.gz").write_bytes(gzip.compress(data))
    return folder


@pytest.mark.source("idx (MNIST)", keeps="images, classes, splits")
@pytest.mark.parametrize("packed", ["", "gz", "both"])
@pytest.mark.parametrize("separator", ["-", "."])
def test_images_and_labels_are_paired(packed, separator, tmp_path, monkeypatch):
    monkeypatch.setattr(array_source, "_CHUNK_ROWS", 7)
    rs.make(put(tmp_path, packed, separator), tmp_path / "made", shuffle=False)
    for split, theirs in (("train", "train"), ("test", "t10k")):
        opened = rs.open(tmp_path / "made", split=split)
        assert opened.schema == rs.Schema({"image": rs.Tensor("uint8", (28, 28)), "label": rs.Label(10)})
        assert np.array_equal(np.stack([row["image"] for row in opened]), IMAGES[theirs])
        assert [row["label"] for row in opened] == LABELS[theirs].tolist()


@pytest.mark.parametrize("dtype", _TYPES)
def test_every_type_of_the_format(dtype, tmp_path):
    values = np.arange(12).reshape(4, 3).astype(dtype)
    (tmp_path / "a-idx2-int").write_bytes(idx_bytes(values))
    source = rs.sources.idx(tmp_path / "a-idx2-int")
    feature = source.schema()["a"]
    assert isinstance(feature, rs.Tensor)
    assert (feature.dtype, feature.shape) == ("float32" if dtype == "f8" else np.dtype(dtype), (3,))
    assert stored_rows(source).column("a") == values.tolist()


def test_what_is_wrong_with_a_file_is_said(tmp_path):
    put(tmp_path, "")
    path = tmp_path / "train-images-idx3-ubyte"
    whole = path.read_bytes()
    for data, message in (
        (whole[:-1], "fewer values than its header says"),
        (whole[:9], "not an idx file"),
        (b"\1" + whole[1:], "not an idx file"),
        (whole[:4] + b"\xff" * 12 + whole[16:], "impossible shape"),
        (gzip.compress(whole)[:-9], "not complete|incomplete"),
        (gzip.compress(whole[:-5]), "incomplete"),
    ):
        path.write_bytes(data)
        with pytest.raises(rs.RecordsmithError, match=message):
            [chunk.load() for chunk in rs.sources.idx(tmp_path).chunks()]
    path.unlink()
    with pytest.raises(rs.RecordsmithError, match="splits have different arrays"):
        rs.make(tmp_path, tmp_path / "out")
