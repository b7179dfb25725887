"""The pickled batches of CIFAR: read by name only, and without running code."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from recordsmith.formats.cifar.pickled_arrays import unpickled

RNG = np.random.default_rng(0)
PIXELS = {name: RNG.integers(0, 256, (6, 3072), np.uint8) for name in ("data_batch_1", "data_batch_2", "test_batch")}
LABELS = {name: [(row + place) % 10 for row in range(6)] for place, name in enumerate(PIXELS)}
NAMES = [f"class {number}" for number in range(10)]


def put(folder: Path, protocol: int, keys: Any) -> Path:
    folder.mkdir()
    for name, pixels in PIXELS.items():
        batch = {
            keys("data"): pixels,
            keys("labels"): LABELS[name],
            keys("filenames"): [keys(f"{row}.png") for row in range(6)],
        }
        (folder / name).write_bytes(pickle.dumps(batch, protocol))
    (folder / "batches.meta").write_bytes(pickle.dumps({keys("label_names"): [keys(name) for name in NAMES]}, protocol))
    return folder


@pytest.mark.source(
    "CIFAR-10 and CIFAR-100 (pickles, by name)", keeps="images, classes with their names, file names, splits"
)
@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("keys", [str, str.encode])
def test_images_and_labels(protocol, keys, tmp_path):
    folder = put(tmp_path / "cifar-10-batches-py", protocol, keys)
    rs.make(rs.sources.cifar(tmp_path), tmp_path / "made", shuffle=False)
    for split, files in (("train", ["data_batch_1", "data_batch_2"]), ("test", ["test_batch"])):
        opened = rs.open(tmp_path / "made", split=split)
        assert opened.schema["label"] == rs.Label(NAMES)
        images = np.concatenate([PIXELS[file] for file in files]).reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
        assert np.array_equal(np.stack([row["image"] for row in opened]), images)
        assert [row["label"] for row in opened] == [label for file in files for label in LABELS[file]]
        assert opened[0]["filename"] == "0.png"
    assert folder.exists()


def test_two_levels_of_classes(tmp_path):
    for name in ("train", "test"):
        batch = {"data": PIXELS["test_batch"], "fine_labels": [5] * 6, "coarse_labels": [1] * 6}
        (tmp_path / name).write_bytes(pickle.dumps(batch))
    meta = {"fine_label_names": NAMES, "coarse_label_names": ["x", "y"]}
    (tmp_path / "meta").write_bytes(pickle.dumps(meta))
    schema = rs.sources.cifar(tmp_path).schema()
    assert (schema["label"], schema["coarse_label"]) == (rs.Label(NAMES), rs.Label(["x", "y"]))


def test_pickles_are_not_read_unless_asked_for_by_name(tmp_path):
    folder = put(tmp_path / "cifar-10-batches-py", 2, str)
    for path in (folder, tmp_path):
        with pytest.raises(rs.RecordsmithError, match=r"rs\.sources\.cifar"):
            rs.make(path, tmp_path / "out")


class Harmful:
    def __reduce__(self) -> Any:
        return os.mkdir, ("/tmp/recordsmith-was-run",)


@pytest.mark.parametrize(
    "data",
    [
        pickle.dumps(Harmful()),
        pickle.dumps({"data": Harmful(), "labels": [1]}),
        b"cos\nsystem\n(S'touch /tmp/recordsmith-was-run'\ntR.",
        b"cbuiltins\neval\n(S'1'\ntR.",
        b"c_codecs\nencode\n(Vx\nVrot13\ntR.",
        b"cnumpy\ndtype\n(S'O8'\ntR.",
        pickle.dumps(np.array([Harmful()], object)),
        b"\x80\x04r\xff\xff\xff\xff.",  # a place in a memory of four billion entries
        b"\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\x7f",  # nine exabytes
        b"(" * 10_000,
        b"",
        pickle.dumps(PIXELS)[:-100],
    ],
)
def test_no_code_of_a_pickle_is_run(data, tmp_path):
    with pytest.raises(ValueError, match=r"."):
        unpickled(data)
    (tmp_path / "meta").write_bytes(pickle.dumps({}))
    (tmp_path / "train").write_bytes(data)
    with pytest.raises(rs.RecordsmithError, match="not a batch of CIFAR"):
        rs.sources.cifar(tmp_path)
    assert not os.path.exists("/tmp/recordsmith-was-run")
