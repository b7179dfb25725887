"""Features of TensorFlow Datasets, written by TFDS with random values: our rows equal tfds.as_numpy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from recordsmith.schema.export.tfds import dataset_info

pytestmark = pytest.mark.filterwarnings("ignore")  # of TFDS's own dependencies

tfds = pytest.importorskip("tensorflow_datasets")
F = tfds.features


def written(folder: Path, features: Any, rows: list[Any]) -> Path:
    """Write rows as TFDS stores them."""
    folder.mkdir(parents=True, exist_ok=True)
    features = F.FeaturesDict(features)
    with rs.RecordWriter(folder / "data-train.tfrecord-00000-of-00001") as writer:
        for row in rows:
            writer.write(features.serialize_example(row))
    features.save_config(str(folder))
    (folder / "dataset_info.json").write_text(json.dumps(dataset_info("data", {"train": [len(rows)]})))
    return folder


def theirs(folder: Path, split: str = "train") -> list[Any]:
    builder = tfds.builder_from_directory(str(folder))
    return [flat(row) for row in tfds.as_numpy(builder.as_dataset(split=split, shuffle_files=False))]


def flat(row: Any, prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in row.items():
        found |= flat(value, f"{prefix}{name}/") if isinstance(value, dict) else {prefix + name: value}
    return found


def ours(folder: Path) -> list[Any]:
    """Return rows with all images decoded."""
    ds: Any = rs.open(folder, split="train")
    features = dict(ds.schema)
    loader: Any = ds
    for name, feature in features.items():
        inner = feature.feature if isinstance(feature, rs.Sequence) else feature
        if isinstance(inner, rs.Image):
            loader = loader.images(feature=name)
    return list(loader)


def same(found: Any, wanted: Any, where: str) -> None:
    if hasattr(wanted, "to_list"):  # a ragged tensor
        assert plain(found) == plain(wanted.to_list()), where
        return
    wanted = np.asarray(wanted)
    if wanted.dtype.kind in "OS":
        assert plain(found) == plain(wanted.tolist()), where
        return
    found = np.asarray(found)
    if wanted.dtype.name == "bfloat16":
        wanted = wanted.astype(np.float32)
    assert found.dtype == wanted.dtype, where
    np.testing.assert_array_equal(found, wanted, err_msg=where)


def plain(value: Any) -> Any:
    if isinstance(value, (list, rs.Ragged, rs.ByteColumn)):
        return [plain(one) for one in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    return value.encode() if isinstance(value, str) else value


def compare(folder: Path) -> None:
    wanted, found = theirs(folder), ours(folder)
    assert len(found) == len(wanted)
    for number, (mine, other) in enumerate(zip(found, wanted, strict=True)):
        assert set(mine) == set(other)
        for name in other:
            same(mine[name], other[name], f"row {number}, {name}")


def random_numbers(rng: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> Any:
    if dtype == "bool":
        return rng.random(shape) < 0.5
    if dtype == "bfloat16":
        from ml_dtypes import bfloat16

        return rng.normal(size=shape).astype(bfloat16)
    if dtype.startswith("float"):
        return rng.normal(size=shape).astype(dtype)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, min(limits.max, 2**63 - 1), shape, dtype, endpoint=True)


KEPT = "every dtype in every encoding, nested sequences, images of 8, 16 and 32 bits, videos"
DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint64", "float16", "float32", "float64"]


def np_dtype(name: str) -> Any:
    if name != "bfloat16":
        return np.dtype(name)
    from ml_dtypes import bfloat16

    return bfloat16


@pytest.mark.source(
    "tfds", keeps="every dtype in every encoding, nested sequences, images of 8, 16 and 32 bits, videos"
)
@pytest.mark.parametrize("encoding", ["none", "bytes", "zlib"])
def test_every_dtype_in_every_encoding(encoding: str, tmp_path: Path):
    rng = np.random.default_rng(1)
    dtypes = [*DTYPES, *(["bfloat16"] if encoding == "bytes" else [])]  # TFDS cannot put it into a list
    features: dict[str, Any] = {}
    for dtype in dtypes:
        how = {"dtype": np_dtype(dtype), "encoding": encoding}
        features |= {
            f"{dtype}_one": F.Tensor(shape=(), **how),
            f"{dtype}_fixed": F.Tensor(shape=(2, 3), **how),
            f"{dtype}_free": F.Tensor(shape=(None, 2), **how),
        }
        if encoding != "none":
            features[f"{dtype}_shaped"] = F.Tensor(shape=(None, 2, None), **how)
    rows = []
    for n in range(4):
        row = {}
        for dtype in dtypes:
            shapes = {"one": (), "fixed": (2, 3), "free": (n, 2), "shaped": (n, 2, n + 1)}
            for form, shape in shapes.items():
                if f"{dtype}_{form}" in features:
                    row[f"{dtype}_{form}"] = random_numbers(rng, dtype, shape)
        rows.append(row)
    compare(written(tmp_path, features, rows))


@pytest.mark.source(
    "tfds", keeps="every dtype in every encoding, nested sequences, images of 8, 16 and 32 bits, videos"
)
def test_sequences_of_everything(tmp_path: Path):
    rng = np.random.default_rng(2)
    features = {
        "numbers": F.Sequence(F.Tensor(shape=(2,), dtype=np.float64)),
        "bytes": F.Sequence(F.Tensor(shape=(2,), dtype=np.uint16, encoding="bytes")),
        "zlib": F.Sequence(F.Tensor(shape=(2, 2), dtype=np.float64, encoding="zlib"), length=3),
        "texts": F.Sequence(F.Text()),
        "nested": F.Sequence(F.Sequence(np.int64)),
        "nested_texts": F.Sequence(F.Sequence(F.Text())),
        "nested_pairs": F.Sequence(F.Sequence(F.Tensor(shape=(2,), dtype=np.float32))),
        "deep": F.Sequence(F.Sequence(F.Sequence(np.int32))),
        "objects": F.Sequence(
            {"box": F.BBoxFeature(), "kind": F.ClassLabel(names=["a", "b"]), "parts": F.Sequence(np.int64)}
        ),
        "images": F.Sequence(F.Image(shape=(4, 5, 3), encoding_format="png")),
        "video": F.Video(shape=(None, 4, 5, 3)),
        "clip": F.Video(shape=(3, 4, 5, 1)),
        "image16": F.Image(shape=(4, 5, 1), dtype=np.uint16, encoding_format="png"),
        "colour16": F.Image(shape=(4, 5, 3), dtype=np.uint16, encoding_format="png"),
        "depth": F.Image(shape=(4, 5, 1), dtype=np.float32),
        "depths": F.Sequence(F.Image(shape=(4, 5, 1), dtype=np.float32)),
    }
    rows = []
    for n in range(4):
        pixels = rng.integers(0, 256, (n, 4, 5, 3)).astype(np.uint8)
        rows.append(
            {
                "numbers": rng.normal(size=(n, 2)),
                "bytes": rng.integers(0, 2**16, (n, 2)).astype(np.uint16),
                "zlib": rng.normal(size=(3, 2, 2)),
                "texts": [f"é{i}" for i in range(n)],
                "nested": [list(range(i)) for i in range(n)],
                "nested_texts": [["a"] * i for i in range(n)],
                "nested_pairs": [rng.normal(size=(i, 2)).astype(np.float32) for i in range(n)],
                "deep": [[list(range(j)) for j in range(i)] for i in range(n)],
                "objects": [
                    {"box": F.BBox(ymin=0.0, xmin=0.0, ymax=0.5, xmax=i / 4), "kind": i % 2, "parts": list(range(i))}
                    for i in range(n)
                ],
                "images": list(pixels),
                "video": pixels,
                "clip": rng.integers(0, 256, (3, 4, 5, 1)).astype(np.uint8),
                "image16": rng.integers(0, 2**16, (4, 5, 1)).astype(np.uint16),
                "colour16": rng.integers(0, 2**16, (4, 5, 3)).astype(np.uint16),
                "depth": rng.normal(size=(4, 5, 1)).astype(np.float32),
                "depths": list(rng.normal(size=(n, 4, 5, 1)).astype(np.float32)),
            }
        )
    compare(written(tmp_path, features, rows))


def test_random_features(tmp_path: Path):
    rng = np.random.default_rng(3)

    def feature(depth: int) -> tuple[Any, Any]:
        """Return a random feature, and a function that makes a value of it."""
        if depth and rng.random() < 0.5:
            inner, make = feature(depth - 1)
            nested = isinstance(inner, F.Sequence) or depth < 2
            length = None if nested or rng.random() < 0.7 else 2  # TFDS cannot read fixed lengths in lists of lists
            return F.Sequence(inner, length=length), lambda: [make() for _ in range(length or rng.integers(0, 4))]
        if rng.random() < 0.2:
            return F.Text(), lambda: "".join(rng.choice(list("aé☃ "), rng.integers(0, 6)))
        dtype, encoding = str(rng.choice(DTYPES)), str(rng.choice(["none", "bytes", "zlib"]))
        shape = tuple(rng.integers(1, 4, rng.integers(0, 3)).tolist())
        return F.Tensor(shape=shape, dtype=np.dtype(dtype), encoding=encoding), lambda: random_numbers(
            rng, dtype, shape
        )

    for case in range(3):
        made = {f"f{n}": feature(2) for n in range(6)}
        rows = [{name: make() for name, (_, make) in made.items()} for _ in range(3)]
        compare(written(tmp_path / str(case), {name: one for name, (one, _) in made.items()}, rows))


def test_sound_kept_as_files_is_audio_there_and_here(tmp_path: Path):
    from tests.audio.made_sounds import samples_of, sound

    schema = rs.Schema({"audio": rs.Audio(rate=8000, channels=1, encoding="wav"), "n": rs.Scalar("int64")})
    with rs.write(tmp_path / "out", schema, name="sounds") as writer:
        for n in range(3):
            writer.add({"audio": sound(n), "n": n})
    builder = tfds.builder_from_directory(str(tmp_path / "out"))
    feature = builder.info.features["audio"]
    assert (type(feature).__name__, feature.sample_rate) == ("Audio", 8000)
    raw = builder.as_dataset(split="train", decoders={"audio": tfds.decode.SkipDecoding()})
    assert {int(row["n"]): row["audio"] for row in tfds.as_numpy(raw)} == {n: sound(n) for n in range(3)}
    if pytest.importorskip("pydub"):
        decoded = {int(row["n"]): row["audio"] for row in tfds.as_numpy(builder.as_dataset(split="train"))}
        np.testing.assert_array_equal(decoded[2], samples_of(2)[:, 0])
    (tmp_path / "out" / "recordsmith.json").unlink()
    assert rs.open(tmp_path / "out").schema["audio"] == rs.Audio(rate=8000)
