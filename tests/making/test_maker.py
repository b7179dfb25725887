"""rs.make as a whole: what it takes, what it writes, what it tells, and what it refuses."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import recordsmith as rs
from tests.formats.made_sources import Columns, file_digests, labelled, numbers, rows_of

# --- what it takes ---


def test_rows_as_mappings(quick_path: Path):
    made = rs.make([{"n": n, "name": f"row {n}"} for n in range(10)], quick_path / "out")
    assert made.rows == 10
    assert rs.open(quick_path / "out").schema == rs.Schema({"n": rs.Scalar("int64"), "name": rs.Text()})


def test_a_generator(quick_path: Path):
    made = rs.make(({"n": n} for n in range(3000)), quick_path / "out", split="train=0.5,test=0.5")
    assert made.source_rows == 3000
    rows = rows_of(quick_path / "out", "train") + rows_of(quick_path / "out", "test")
    assert sorted(rows) == list(range(3000))


def test_a_generator_with_a_function(quick_path: Path):
    def double(row: dict[str, Any]) -> dict[str, Any]:
        return {"m": 2 * int(row["n"])}

    schema = rs.Schema({"m": rs.Scalar("int64")})
    rs.make(({"n": n} for n in range(300)), quick_path / "out", schema=schema, map=double, workers=2)
    assert sorted(rows_of(quick_path / "out", "train", "m")) == list(range(0, 600, 2))
    # Without a schema, the function has to be tried on the first rows, and a generator gives them but once.
    made = rs.make(lambda: ({"n": n} for n in range(300)), quick_path / "again", map=double, workers=1)
    assert made.rows == 300


def test_arrays(quick_path: Path):
    rs.make({"x": np.eye(4, dtype=np.float32), "n": np.arange(4)}, quick_path / "out", shuffle=False)
    rows = list(rs.open(quick_path / "out"))
    assert np.array_equal(np.stack([row["x"] for row in rows]), np.eye(4, dtype=np.float32))


def test_a_path(quick_path: Path):
    (quick_path / "data.csv").write_text("name,age\nAnn,3\nBob,4\n")
    made = rs.make(quick_path / "data.csv", quick_path / "out", shuffle=False)
    assert made.rows == 2
    assert rows_of(quick_path / "out", "train", "name") == ["Ann", "Bob"]
    assert rows_of(quick_path / "out", "train", "age") == [3, 4]


@pytest.mark.parametrize("source", [5, None, 3.5, object()], ids=lambda source: type(source).__name__)
def test_what_no_dataset_can_be_made_from(source, quick_path: Path):
    with pytest.raises(rs.RecordsmithError, match="cannot be used as a source"):
        rs.make(source, quick_path / "out")
    assert not (quick_path / "out").exists()


def test_a_schema_of_ones_own_decides(quick_path: Path):
    columns = {"n": np.arange(5), "x": np.arange(5) / 2, "unused": np.arange(5)}
    source = Columns(columns, rs.Schema({name: rs.Scalar("int64") for name in columns}))
    made = rs.make(source, quick_path / "out", schema=rs.Schema({"x": rs.Scalar("float64"), "n": rs.Scalar("uint8")}))
    assert set(made.left_out) == {"unused"}
    assert list(rs.open(quick_path / "out").schema) == ["x", "n"]


def test_a_schema_with_a_feature_that_the_source_lacks(quick_path: Path):
    with pytest.raises(rs.RecordsmithError, match="'m'"):
        rs.make(numbers(5), quick_path / "out", schema=rs.Schema({"m": rs.Scalar("int64")}), on_error="stop")


def test_casts_that_lose_are_refused_unless_allowed(quick_path: Path):
    source = Columns({"x": [0.5, 1.0, 2.0]}, rs.Schema({"x": rs.Scalar("float64")}))
    narrow = rs.Schema({"x": rs.Scalar("int64")})
    assert rs.make(source, quick_path / "strict", schema=narrow).rejects == 1
    assert rs.make(source, quick_path / "cast", schema=narrow, cast=True).rejects == 0
    assert sorted(rows_of(quick_path / "cast", "train", "x")) == [0, 1, 2]


# --- what it writes ---


def test_the_files(quick_path: Path):
    made = rs.make(labelled([0, 1] * 50), quick_path / "out", name="pets", split="train=0.8,test=0.2", shards=2)
    assert sorted(os.listdir(quick_path / "out")) == [
        "dataset_info.json",
        "features.json",
        "label.labels.txt",
        "pets-test.tfrecord-00000-of-00002",
        "pets-test.tfrecord-00001-of-00002",
        "pets-train.tfrecord-00000-of-00002",
        "pets-train.tfrecord-00001-of-00002",
        "recordsmith.json",
    ]
    assert (quick_path / "out" / "label.labels.txt").read_text().split() == ["cat", "dog", "bird"]
    document = json.loads((quick_path / "out" / "recordsmith.json").read_text())
    digests = file_digests(quick_path / "out")
    for name, split in document["splits"].items():
        assert split["records"] == made.splits[name].rows
        for shard in split["shards"]:
            path = quick_path / "out" / shard["file"]
            assert shard["sha256"] == digests[shard["file"]]
            assert shard["bytes"] == path.stat().st_size
            assert shard["records"] == len(list(rs.RecordReader(path)))
    assert made == rs.MadeDataset.of_folder(str(quick_path / "out"))


def test_plain_tensorflow_reads_the_shards(quick_path: Path):
    rs.make(labelled([0, 1, 2] * 40), quick_path / "out", shards=3, seed=5)
    files = sorted(str(path) for path in (quick_path / "out").glob("*.tfrecord-*"))
    features = {"n": tf.io.FixedLenFeature([], tf.int64), "label": tf.io.FixedLenFeature([], tf.int64)}
    found = {}
    for record in tf.data.TFRecordDataset(files):
        example = tf.io.parse_single_example(record, features)
        found[int(example["n"])] = int(example["label"])
    assert found == {n: n % 3 for n in range(120)}


@pytest.mark.parametrize(("compression", "suffix"), [("gzip", ".gz"), ("GZIP", ".gz"), ("zlib", ".zlib")])
def test_compressed_files(compression: str, suffix: str, quick_path: Path):
    made = rs.make(numbers(500), quick_path / "out", compression=compression, shards=2)
    files = sorted((quick_path / "out").glob("*.tfrecord*"))
    assert [path.name for path in files] == [f"out-train.tfrecord{suffix}-0000{n}-of-00002" for n in range(2)]
    assert sorted(rows_of(quick_path / "out", "train")) == list(range(500))
    dataset = tf.data.TFRecordDataset([str(path) for path in files], compression_type=compression.upper())
    assert sum(1 for _ in dataset) == 500
    assert any("TFDS" in warning for warning in made.warnings)
    assert not (quick_path / "out" / "features.json").exists(), "TFDS could not read them"


@pytest.mark.parametrize(
    ("size", "shards"), [("1KB", 30), ("10 kB", 3), (15_000, 3), ("1MB", 1), ("0.01MB", 3), ("2KiB", 15)]
)
def test_shards_by_size(size, shards: int, quick_path: Path):
    made = rs.make(numbers(1000), quick_path / "out", shard_size=size)
    assert made.bytes == 30_872
    assert abs(made.splits["train"].shards - shards) <= 1
    sizes = [path.stat().st_size for path in (quick_path / "out").glob("*.tfrecord-*")]
    assert max(sizes) - min(sizes) < 100, "shards of nearly the same size"


def test_more_shards_than_rows(quick_path: Path):
    made = rs.make(numbers(3), quick_path / "out", shards=10)
    assert made.splits["train"].shards == 3
    assert sorted(rows_of(quick_path / "out", "train")) == [0, 1, 2]


def test_an_empty_split_is_told(quick_path: Path):
    made = rs.make(numbers(3), quick_path / "out", split="train=0.9,test=0.1")
    assert made.splits["test"].rows == 0
    assert any("'test' is empty" in warning for warning in made.warnings)
    assert list(rs.open(quick_path / "out", split="test")) == []


def test_what_a_preprocessor_learnt_lies_beside_the_data(quick_path: Path):
    source = Columns({"text": ["a b", "b c", "b d"] * 20}, rs.Schema({"text": rs.Text()}))
    rs.make(source, quick_path / "out", preprocess=rs.preprocessing.VocabularyIds("text", 10))
    vocabulary = rs.Vocabulary.load(quick_path / "out" / "vocabulary.text.json")
    ids = {tuple(row["text"].tolist()) for row in rs.open(quick_path / "out")}
    assert ids == {tuple(vocabulary.encode([text])[0].tolist()) for text in ("a b", "b c", "b d")}


def test_what_is_fitted_knows_the_training_split_alone(quick_path: Path):
    """Words that are in the other splits only are unknown."""
    source = Columns({"text": [f"word{n}" for n in range(100)]}, rs.Schema({"text": rs.Text()}))
    preprocess = rs.preprocessing.VocabularyIds("text", 1000)
    rs.make(source, quick_path / "out", split="train=0.8,test=0.2", preprocess=preprocess)
    train = [row["text"].tolist() for row in rs.open(quick_path / "out", split="train")]
    test = [row["text"].tolist() for row in rs.open(quick_path / "out", split="test")]
    assert sorted(number for row in train for number in row) == list(range(2, 82))
    assert test == [[1]] * 20


# --- what it tells ---


def test_progress(quick_path: Path):
    reported: list[Any] = []
    source = Columns({"n": [n if n != 5 else None for n in range(1000)]}, rs.Schema({"n": rs.Scalar("int64")}))
    rs.make(source, quick_path / "out", shards=3, on_progress=reported.append)
    phases = [moment.phase for moment in reported]
    assert list(dict.fromkeys(phases)) == ["reading", "ordering", "writing", "checking"]
    for phase in ("reading", "writing", "checking"):
        moments = [moment for moment in reported if moment.phase == phase]
        done = [moment.done for moment in moments]
        assert done == sorted(done)
        assert done[-1] == moments[-1].total
    assert reported[-1].rejects == 1
    assert reported[-1].rows == 999


def test_what_came_of_it(quick_path: Path):
    columns = {"n": [*range(99), None], "label": [0] * 80 + [1] * 20, "more": [0] * 100}
    schema = rs.Schema({"n": rs.Scalar("int64"), "label": rs.Label(["a", "b"])})
    made = rs.make(Columns(columns, schema, label="label"), quick_path / "out", split="train=50,test=20", seed=1)
    assert (made.source_rows, made.rejects, made.dropped, made.unassigned, made.rows) == (100, 1, 0, 29, 70)
    assert made.left_out == ("more",)
    assert sum(made.splits["train"].classes.values()) == 50
    assert made.bytes == sum(path.stat().st_size for path in (quick_path / "out").glob("*.tfrecord-*"))
    assert made.reasons[0].count == 1
    assert not made.ok


def test_names_of_files_come_from_the_folder_or_are_given(quick_path: Path):
    assert rs.make(numbers(3), quick_path / "my-data 2").name == "my_data_2"
    assert rs.make(numbers(3), quick_path / "x", name="pets").name == "pets"


# --- the user's own function ---


def test_a_worker_that_dies_is_told_and_what_was_done_is_kept(quick_path: Path):
    schema = rs.Schema({"n": rs.Scalar("int64")})
    bad = quick_path / "bad"
    bad.touch()
    path = str(bad)

    def crash(row: dict[str, Any]) -> dict[str, Any]:
        if int(row["n"]) == 900 and os.path.exists(path):
            os._exit(3)
        return {"n": int(row["n"])}

    with pytest.raises(rs.RecordsmithError, match="worker process died"):
        rs.make(numbers(1000), quick_path / "out", schema=schema, map=crash, workers=2)
    assert [name for name in os.listdir(quick_path / "out") if not name.startswith(".")] == []
    bad.unlink()
    made = rs.make(numbers(1000), quick_path / "out", schema=schema, map=crash, workers=2, resume=True)
    assert made.rows == 1000


def test_the_schema_is_told_from_what_the_function_returns(quick_path: Path):
    made = rs.make(
        numbers(300), quick_path / "out", map=lambda row: {"square": int(row["n"]) ** 2, "even": row["n"] % 2 == 0},
        workers=1,
    )  # fmt: skip
    assert made.rows == 300
    row = rs.open(quick_path / "out")[0]
    assert {name: value.dtype for name, value in row.items()} == {"square": np.int64, "even": np.bool_}


# --- checking what was written ---


def test_a_shard_that_reads_back_differently_is_an_error(quick_path: Path):
    """A disk that lies: what was written is changed before it is checked."""

    def spoil(progress: Any) -> None:
        if progress.phase == "writing" and progress.done == progress.total:
            shard = min((quick_path / "out" / ".recordsmith-making" / "shards").iterdir())
            data = bytearray(shard.read_bytes())
            data[60] ^= 1
            shard.write_bytes(data)

    with pytest.raises(rs.RecordsmithError, match=r"\.tfrecord-0000"):
        rs.make(numbers(1000), quick_path / "out", shards=3, on_progress=spoil, workers=1)
    assert [name for name in os.listdir(quick_path / "out") if not name.startswith(".")] == []
    made = rs.make(numbers(1000), quick_path / "out", shards=3, resume=True)
    assert sorted(rows_of(quick_path / "out", "train")) == list(range(1000))
    assert made.rows == 1000


def test_a_shard_with_other_records_is_an_error(quick_path: Path):
    """Whole records with good checksums, but not those that belong there."""

    def swap(progress: Any) -> None:
        if progress.phase == "writing" and progress.done == progress.total:
            one, other = sorted((quick_path / "out" / ".recordsmith-making" / "shards").glob("*.tfrecord-*"))[:2]
            first, second = one.read_bytes(), other.read_bytes()
            one.write_bytes(second)
            other.write_bytes(first)

    with pytest.raises(rs.RecordsmithError, match="read back"):
        rs.make(labelled([0] * 100), quick_path / "out", shards=2, on_progress=swap, workers=1)


# --- what it refuses ---


@pytest.mark.parametrize("there", ["dataset", "stray shard", "features.json"])
def test_a_dataset_is_not_overwritten_unless_told_to(there: str, quick_path: Path):
    out = quick_path / "out"
    if there == "dataset":
        rs.make(labelled([0, 1] * 20), out, name="old", shards=3)
    else:
        out.mkdir()
        name = "features.json" if there == "features.json" else "x-train.tfrecord-00000-of-00001"
        (out / name).write_bytes(b"{}")
    (out / "notes.txt").write_text("mine")
    before = file_digests(out)
    with pytest.raises(rs.RecordsmithError, match=r"already[\s\S]*overwrite=True"):
        rs.make(numbers(10), out)
    assert file_digests(out) == before
    rs.make(numbers(10), out, name="new", overwrite=True)
    assert sorted(os.listdir(out)) == [
        "dataset_info.json",
        "features.json",
        "new-train.tfrecord-00000-of-00001",
        "notes.txt",
        "recordsmith.json",
    ], "nothing of the old dataset is left, and nothing else is touched"


def test_the_output_is_a_file(quick_path: Path):
    (quick_path / "out").write_text("mine")
    with pytest.raises(rs.RecordsmithError, match="needs a folder"):
        rs.make(numbers(10), quick_path / "out")
    assert (quick_path / "out").read_text() == "mine"


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"name": "a/b"}, "A dataset name may"),
        ({"name": ""}, "A dataset name may"),
        ({"on_error": "ignore"}, "Unknown on_error"),
        ({"on_error": "quarantin"}, "Did you mean 'quarantine'"),
        ({"shards": 0}, "from 1 to 99999"),
        ({"shards": True}, "from 1 to 99999"),
        ({"shards": 2.5}, "from 1 to 99999"),
        ({"workers": 0}, "at least 1"),
        ({"max_rejects": 2}, "share between 0 and 1"),
        ({"seed": 1.5}, "integer"),
        ({"map": 5}, "function of one row"),
        ({"preprocess": "Tfidf"}, "preprocess takes"),
        ({"preprocess": 3}, "preprocess takes"),
        ({"shard_size": "big"}, "size cannot be parsed"),
        ({"shard_size": 0}, "size cannot be parsed"),
        ({"compression": "bz2"}, "Unknown compression"),
    ],
    ids=str,
)
def test_options_that_cannot_be(options, problem: str, quick_path: Path):
    with pytest.raises(rs.RecordsmithError, match=problem):
        rs.make(numbers(10), quick_path / "out", **options)
    assert not (quick_path / "out").exists()


def test_unknown_options_are_refused(quick_path: Path):
    with pytest.raises(TypeError, match="shard_bytes"):
        rs.make(numbers(10), quick_path / "out", shard_bytes=5)  # type: ignore[call-arg]


def test_no_rows(quick_path: Path):
    with pytest.raises(rs.RecordsmithError, match="no record"):
        rs.make(numbers(0), quick_path / "out")


# --- every type of feature on its way through ---


def test_every_type_comes_out_as_it_went_in(quick_path: Path):
    rows = 60
    rng = np.random.default_rng(0)
    columns: dict[str, Any] = {
        "n": np.arange(rows),
        "half": rng.normal(size=rows).astype(np.float16),
        "big": rng.integers(0, 2**63, rows).astype(np.uint64),
        "flag": rng.random(rows) < 0.5,
        "z": rng.normal(size=rows) + 1j * rng.normal(size=rows),
        "matrix": rng.normal(size=(rows, 2, 3)),
        "ragged": [rng.integers(0, 9, n % 4).astype(np.int32) for n in range(rows)],
        "shaped": [rng.normal(size=(n % 3, n % 2 + 1)).astype(np.float32) for n in range(rows)],
        "text": ["é" * (n % 3) for n in range(rows)],
        "raw": [bytes([n, 255]) for n in range(rows)],
        "label": [["cat", "dog"][n % 2] for n in range(rows)],
        "maybe": [None if n % 3 else n / 2 for n in range(rows)],
        "sparse": [{int(k): float(k) for k in rng.choice(100, n % 4, replace=False)} for n in range(rows)],
        "packed": [{"a": np.arange(3, dtype=np.uint8) + n, "b": n} for n in range(rows)],
    }
    schema = rs.Schema(
        {
            "n": rs.Scalar("int64"),
            "half": rs.Scalar("float16"),
            "big": rs.Scalar("uint64"),
            "flag": rs.Scalar("bool"),
            "z": rs.Scalar("complex128"),
            "matrix": rs.Tensor("float64", (2, 3)),
            "ragged": rs.Tensor("int32", (None,)),
            "shaped": rs.Tensor("float32", (None, None)),
            "text": rs.Text(),
            "raw": rs.Bytes(),
            "label": rs.Label(["cat", "dog"]),
            "maybe": rs.Scalar("float32", optional=True),
            "sparse": rs.Sparse("float32", size=100),
            "packed": rs.Packed({"a": ("uint8", (3,)), "b": ("int64", ())}),
        }
    )
    made = rs.make(Columns(columns, schema, chunk_rows=7), quick_path / "out", split="train=0.5,test=0.5", workers=2)
    assert made.rejects == 0
    found = {int(row["n"]): row for split in ("train", "test") for row in rs.open(quick_path / "out", split=split)}
    assert sorted(found) == list(range(rows))
    for n, row in found.items():
        for name in ("half", "big", "flag", "z", "matrix", "ragged", "shaped"):
            expected = np.asarray(columns[name][n])
            assert row[name].dtype == expected.dtype, name
            assert np.array_equal(row[name], expected), name
        assert (row["text"], row["raw"]) == (columns["text"][n], columns["raw"][n])
        assert int(row["label"]) == n % 2
        assert row["maybe"] is None if n % 3 else row["maybe"] == n / 2
        assert dict(zip(*(part.tolist() for part in row["sparse"]), strict=True)) == columns["sparse"][n]
        assert row["packed"]["a"].tolist() == [n, n + 1, n + 2]
        assert row["packed"]["b"] == n


def test_several_paths_are_one_source(quick_path: Path) -> None:
    for name in ("a", "b"):
        (quick_path / f"{name}.csv").write_text(f"x\n{name}\n")
    made = rs.make([quick_path / "a.csv", str(quick_path / "b.csv")], quick_path / "out", shuffle=False)
    assert [row["x"] for row in rs.open(quick_path / "out")] == ["a", "b"]
    assert made.rows == 2
