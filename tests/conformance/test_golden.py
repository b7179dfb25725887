"""What one writes the others read: TensorFlow, TensorFlow Datasets, the `tfrecord` package, and recordsmith."""

from __future__ import annotations

import importlib.resources.abc
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

import recordsmith as rs
from recordsmith.index import export_index
from tests.conformance.protobuf_reference import example_of

COUNT = 50
TENSORFLOWS_NAMES = {None: "", "gzip": "GZIP", "zlib": "ZLIB"}
COMPRESSIONS = list(TENSORFLOWS_NAMES)

SCHEMA = rs.Schema(
    {
        "label": rs.Scalar("int64"),
        "score": rs.Scalar("float32"),
        "box": rs.Tensor("float32", (4,)),
        "tokens": rs.Tensor("int64", (None,)),
        "image": rs.Bytes(),
        "name": rs.Text(),
        "words": rs.Text((None,)),
        "maybe": rs.Scalar("int64", optional=True),
    }
)


def row(n: int) -> dict[str, Any]:
    return {
        "label": n * 1_000_003 - 7,
        "score": n / 8,
        "box": np.array([n, -0.0, np.inf, 1e-40], np.float32),
        "tokens": np.arange(-n, n, 3, dtype=np.int64) * 2**40,
        "image": bytes(range(256)) * (n % 3),
        "name": f"row {n} é",
        "words": [f"w{w}" for w in range(n % 4)],
        "maybe": n if n % 3 else None,
    }


ROWS = [row(n) for n in range(COUNT)]


def tensorflows_example(row: dict[str, Any]) -> tf.train.Example:
    def of_bytes(*values: bytes) -> tf.train.Feature:
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))

    def of_floats(values: Any) -> tf.train.Feature:
        return tf.train.Feature(float_list=tf.train.FloatList(value=np.atleast_1d(values)))

    def of_ints(values: Any) -> tf.train.Feature:
        return tf.train.Feature(int64_list=tf.train.Int64List(value=np.atleast_1d(values)))

    features = {
        "label": of_ints(row["label"]),
        "score": of_floats(row["score"]),
        "box": of_floats(row["box"]),
        "tokens": of_ints(row["tokens"]),
        "image": of_bytes(row["image"]),
        "name": of_bytes(row["name"].encode()),
        "words": of_bytes(*(word.encode() for word in row["words"])),
    }
    if row["maybe"] is not None:
        features["maybe"] = of_ints(row["maybe"])
    return tf.train.Example(features=tf.train.Features(feature=features))


def check_rows(rows: list[dict[str, Any]]) -> None:
    assert len(rows) == COUNT
    for found, expected in zip(rows, ROWS, strict=True):
        assert found["label"] == expected["label"]
        assert found["score"] == expected["score"]
        assert found["box"].tobytes() == expected["box"].tobytes()
        assert found["tokens"].tolist() == expected["tokens"].tolist()
        assert found["image"] == expected["image"]
        assert found["name"] == expected["name"]
        assert found["words"] == expected["words"]
        assert found["maybe"] == expected["maybe"]


# --- written by TensorFlow ---


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_tensorflow_writes_and_recordsmith_reads(compression: str | None, tmp_path: Path):
    path = tmp_path / "data.tfrecord"
    with tf.io.TFRecordWriter(str(path), TENSORFLOWS_NAMES[compression]) as writer:
        for expected in ROWS:
            writer.write(tensorflows_example(expected).SerializeToString())
    assert list(rs.RecordReader(path)) == [tensorflows_example(row).SerializeToString() for row in ROWS]
    ds = rs.open(path, schema=SCHEMA)
    check_rows(list(ds))
    check_rows([ds[n] for n in range(COUNT)])
    assert rs.open(path).payload == "example"
    # The order of the features is TensorFlow's; what is in them is inferred.
    inferred = rs.infer_schema(path)
    assert {name: inferred[name] for name in SCHEMA} == dict(SCHEMA)


def test_tensorflow_writes_sequence_examples(tmp_path: Path):
    path = tmp_path / "data.tfrecord"
    ints = lambda values: tf.train.Feature(int64_list=tf.train.Int64List(value=values))  # noqa: E731 - a short name for it
    with tf.io.TFRecordWriter(str(path)) as writer:
        for n in range(5):
            lists = {"tokens": tf.train.FeatureList(feature=[ints(range(t)) for t in range(n)])}
            context = tf.train.Features(feature={"id": ints([n])})
            writer.write(
                tf.train.SequenceExample(
                    context=context, feature_lists=tf.train.FeatureLists(feature_list=lists)
                ).SerializeToString()
            )
    rows = list(rs.open(path))
    assert [int(row["id"]) for row in rows] == list(range(5))
    assert [[step.tolist() for step in row["tokens"]] for row in rows] == [
        [list(range(t)) for t in range(n)] for n in range(5)
    ]


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_the_same_bytes_as_tensorflows_writer(compression: str | None, tmp_path: Path):
    payloads = [b"", b"foo", bytes(100_000), *(tensorflows_example(row).SerializeToString() for row in ROWS)]
    with tf.io.TFRecordWriter(str(tmp_path / "theirs"), TENSORFLOWS_NAMES[compression]) as theirs:
        for payload in payloads:
            theirs.write(payload)
    with rs.RecordWriter(tmp_path / "ours", compression) as ours:
        for payload in payloads:
            ours.write(payload)
    if compression is None:
        assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()
    assert list(rs.RecordReader(tmp_path / "theirs")) == list(rs.RecordReader(tmp_path / "ours")) == payloads


# --- written by recordsmith, read by TensorFlow ---

SPECIFICATION = {
    "label": tf.io.FixedLenFeature([], tf.int64),
    "score": tf.io.FixedLenFeature([], tf.float32),
    "box": tf.io.FixedLenFeature([4], tf.float32),
    "tokens": tf.io.RaggedFeature(tf.int64),
    "image": tf.io.FixedLenFeature([], tf.string),
    "name": tf.io.FixedLenFeature([], tf.string),
    "words": tf.io.VarLenFeature(tf.string),
    "maybe": tf.io.FixedLenFeature([], tf.int64, default_value=-1),
}


def write(path: Path, how: str, compression: str | None = None, rows: list[dict[str, Any]] | None = None) -> None:
    rows = ROWS if rows is None else rows
    with rs.RecordWriter(path, compression) as writer:
        match how:
            case "rows":
                writer.write_rows(rows, SCHEMA)
            case "columns":
                writer.write_columns({name: [row[name] for row in rows] for name in SCHEMA}, SCHEMA)
            case "examples":
                for row in rows:
                    writer.write_example(
                        {name: value if name != "words" or value else None for name, value in row.items()}
                    )
            case _:
                for row in rows:
                    writer.write(tensorflows_example(row).SerializeToString())


WAYS = ["rows", "columns", "examples", "bytes"]


def check_parsed(parsed: dict[str, Any]) -> None:
    assert parsed["label"].numpy().tolist() == [row["label"] for row in ROWS]
    assert parsed["score"].numpy().tolist() == [row["score"] for row in ROWS]
    assert parsed["box"].numpy().tobytes() == np.stack([row["box"] for row in ROWS]).tobytes()
    assert parsed["tokens"].to_list() == [row["tokens"].tolist() for row in ROWS]
    assert parsed["image"].numpy().tolist() == [row["image"] for row in ROWS]
    assert parsed["name"].numpy().tolist() == [row["name"].encode() for row in ROWS]
    words = tf.RaggedTensor.from_sparse(parsed["words"]).to_list()
    assert words == [[word.encode() for word in row["words"]] for row in ROWS]
    assert parsed["maybe"].numpy().tolist() == [-1 if row["maybe"] is None else row["maybe"] for row in ROWS]


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("how", WAYS)
def test_recordsmith_writes_and_tensorflow_reads(how: str, compression: str | None, tmp_path: Path):
    path = tmp_path / "data.tfrecord"
    write(path, how, compression)
    records = tf.data.TFRecordDataset(str(path), compression_type=TENSORFLOWS_NAMES[compression])
    batches = list(records.batch(COUNT))
    assert len(batches) == 1
    check_parsed(tf.io.parse_example(batches[0], SPECIFICATION))
    # One by one, and by the protobuf class.
    singles = [tf.io.parse_single_example(record, SPECIFICATION) for record in batches[0][:5]]
    assert [int(single["label"]) for single in singles] == [row["label"] for row in ROWS[:5]]
    for payload, expected in zip(batches[0].numpy(), ROWS, strict=True):
        decoded = example_of(payload)
        assert decoded is not None
        assert decoded["tokens"].tolist() == expected["tokens"].tolist()


@pytest.mark.parametrize("how", ["rows", "columns"])
def test_all_ways_of_writing_give_the_same_bytes(how: str, tmp_path: Path):
    write(tmp_path / "one", how)
    write(tmp_path / "other", "rows" if how == "columns" else "columns")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()


@pytest.mark.parametrize("how", ["rows", "columns"])
def test_recordsmith_writes_sequence_examples_and_tensorflow_reads(how: str, tmp_path: Path):
    path = tmp_path / "data.tfrecord"
    schema = rs.Schema(
        {"id": rs.Scalar("int64"), "tokens": rs.Steps(rs.Tensor("int64", (2,))), "words": rs.Steps(rs.Text())}
    )
    rows = [{"id": n, "tokens": [[t, n] for t in range(n)], "words": [str(t) for t in range(n + 1)]} for n in range(4)]
    with rs.RecordWriter(path) as writer:
        if how == "rows":
            writer.write_rows(rows, schema)
        else:
            writer.write_columns({name: [row[name] for row in rows] for name in schema}, schema)
    for record, expected in zip(tf.data.TFRecordDataset(str(path)), rows, strict=True):
        context, lists = tf.io.parse_single_sequence_example(
            record,
            context_features={"id": tf.io.FixedLenFeature([], tf.int64)},
            sequence_features={
                "tokens": tf.io.FixedLenSequenceFeature([2], tf.int64),
                "words": tf.io.FixedLenSequenceFeature([], tf.string),
            },
        )
        assert int(context["id"]) == expected["id"]
        assert lists["tokens"].numpy().tolist() == expected["tokens"]
        assert [word.decode() for word in lists["words"].numpy()] == expected["words"]


VALUES = {
    "int64": st.lists(st.integers(-(2**63), 2**63 - 1), max_size=4),
    "float32": st.lists(st.floats(width=32, allow_nan=False), max_size=4),
    "string": st.lists(st.binary(max_size=6), max_size=4),
}
ANY_ROWS = st.lists(st.fixed_dictionaries(VALUES), min_size=1, max_size=6)
ANY_SCHEMA = rs.Schema(
    {"int64": rs.Tensor("int64", (None,)), "float32": rs.Tensor("float32", (None,)), "string": rs.Bytes((None,))}
)


@given(ANY_ROWS)
@settings(max_examples=60)
def test_anything_written_is_what_tensorflow_parses(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]]
):
    path = tmp_path_factory.getbasetemp() / "anything.tfrecord"
    specification = {name: tf.io.RaggedFeature(tf.dtypes.as_dtype(name)) for name in VALUES}
    for how in ("rows", "columns"):
        with rs.RecordWriter(path, sync=False) as writer:
            if how == "rows":
                writer.write_rows(rows, ANY_SCHEMA)
            else:
                writer.write_columns({name: [row[name] for row in rows] for name in VALUES}, ANY_SCHEMA)
        (batch,) = tf.data.TFRecordDataset(str(path)).batch(len(rows))
        parsed = tf.io.parse_example(batch, specification)
        assert {name: column.to_list() for name, column in parsed.items()} == {
            name: [row[name] for row in rows] for name in VALUES
        }


# --- TensorFlow Datasets ---


@pytest.fixture(scope="module")
def tfds() -> Any:
    return pytest.importorskip("tensorflow_datasets")


def tfds_features(tfds: Any) -> Any:
    return tfds.features.FeaturesDict(
        {
            "label": tfds.features.ClassLabel(names=["cat", "dog", "bird"]),
            "name": tfds.features.Text(),
            "score": tfds.features.Scalar(np.float32),
            "box": tfds.features.Tensor(shape=(4,), dtype=np.float32),
            "tokens": tfds.features.Tensor(shape=(None,), dtype=np.int32),
            "image": tfds.features.Image(shape=(4, 6, 3), encoding_format="png"),
            "meta": {"height": tfds.features.Scalar(np.int64), "flag": tfds.features.Scalar(np.bool_)},
        }
    )


def tfds_example(n: int) -> dict[str, Any]:
    return {
        "label": n % 3,
        "name": f"row {n}",
        "score": n / 4,
        "box": np.arange(4, dtype=np.float32) + n,
        "tokens": np.arange(n % 5, dtype=np.int32),
        "image": np.full((4, 6, 3), n, np.uint8),
        "meta": {"height": n * 10, "flag": n % 2 == 0},
    }


def check_like_tfds_examples(rows: list[dict[str, Any]]) -> None:
    found = {int(row["meta/height"]) // 10: row for row in rows}
    assert sorted(found) == list(range(len(rows)))
    for n, row in found.items():
        expected = tfds_example(n)
        assert (row["label"], row["name"], row["score"]) == (n % 3, f"row {n}", n / 4)
        assert row["box"].tolist() == expected["box"].tolist()
        assert row["tokens"].tolist() == expected["tokens"].tolist()
        assert bool(row["meta/flag"]) is (n % 2 == 0)
        assert tf.io.decode_png(row["image"]).numpy().tolist() == expected["image"].tolist()


@pytest.mark.filterwarnings("ignore")  # what TFDS's own libraries warn of is not ours to mend
def test_tfds_prepares_and_recordsmith_opens(tfds: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    # TFDS asks for this backport without declaring it for the Pythons that have it built in.
    monkeypatch.setitem(sys.modules, "importlib_resources", importlib.resources)

    class Pets(tfds.core.GeneratorBasedBuilder):  # type: ignore[misc]
        VERSION = tfds.core.Version("1.0.0")
        name = "pets"

        def _info(self) -> Any:
            return self.dataset_info_from_configs(features=tfds_features(tfds))

        def _split_generators(self, dl_manager: Any) -> Any:  # noqa: ARG002 - TFDS's interface
            return {"train": self._generate_examples(40), "test": self._generate_examples(7)}

        def _generate_examples(self, count: int) -> Any:
            for n in range(count):
                yield n, tfds_example(n)

    builder = Pets(data_dir=tmp_path, file_format="tfrecord")
    builder.download_and_prepare(
        download_config=tfds.download.DownloadConfig(num_shards=3, try_download_gcs=False, register_checksums=False)
    )
    for split, count in (("train", 40), ("test", 7)):
        ds = rs.open(builder.data_dir, split=split)
        assert len(ds) == count
        check_like_tfds_examples(list(ds))
    ds = rs.open(builder.data_dir)
    assert set(ds.splits) == {"train", "test"}
    assert len(ds) == 47
    # The description beside the files says more than the records do.
    assert ds.schema["label"] == rs.Scalar("int64")
    assert ds.schema["tokens"] == rs.Tensor("int32", (None,), storage="list")
    assert ds.schema["meta/flag"] == rs.Scalar("bool", storage="list")
    assert ds.schema["image"] == rs.Bytes()


@pytest.mark.filterwarnings("ignore")  # what TFDS's own libraries warn of is not ours to mend
def test_recordsmith_writes_and_tfds_opens(tfds: Any, tmp_path: Path):
    schema = rs.Schema(
        {
            "label": rs.Scalar("int64"),
            "name": rs.Text(),
            "score": rs.Scalar("float32"),
            "box": rs.Tensor("float32", (4,)),
            "tokens": rs.Tensor("int32", (None,), storage="list"),
            "image": rs.Bytes(),
            "meta/height": rs.Scalar("int64"),
            "meta/flag": rs.Scalar("bool", storage="list"),
        }
    )

    def flat(n: int) -> dict[str, Any]:
        example = tfds_example(n)
        meta = example.pop("meta")
        image = tf.io.encode_png(example.pop("image")).numpy()
        return {**example, "image": image, "meta/height": meta["height"], "meta/flag": meta["flag"]}

    for shard, (start, stop) in enumerate([(0, 12), (12, 20)]):
        with rs.RecordWriter(tmp_path / f"pets-train.tfrecord-{shard:05}-of-00002") as writer:
            writer.write_rows((flat(n) for n in range(start, stop)), schema)
    tfds.folder_dataset.write_metadata(
        data_dir=str(tmp_path),
        features=tfds_features(tfds),
        split_infos=[split_info(tfds, tmp_path)],
        filename_template="{DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_X_OF_Y}",
    )
    builder = tfds.builder_from_directory(str(tmp_path))
    found = list(builder.as_dataset(split="train", shuffle_files=False).as_numpy_iterator())
    assert len(found) == 20
    for n, example in enumerate(found):
        expected = tfds_example(n)
        assert (example["label"], example["name"].decode(), example["score"]) == (n % 3, f"row {n}", n / 4)
        assert example["tokens"].tolist() == expected["tokens"].tolist()
        assert example["image"].tolist() == expected["image"].tolist()
        assert (example["meta"]["height"], example["meta"]["flag"]) == (n * 10, n % 2 == 0)
    # And the same folder, with TFDS's description in it, is one that recordsmith opens.
    check_like_tfds_examples(list(rs.open(tmp_path)))


def split_info(tfds: Any, folder: Path) -> Any:
    template = tfds.core.ShardedFileTemplate(
        template="{DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_X_OF_Y}",
        dataset_name="pets",
        data_dir=folder,
        split="train",
        filetype_suffix="tfrecord",
    )
    return tfds.core.SplitInfo(name="train", shard_lengths=[12, 8], num_bytes=0, filename_template=template)


# --- the tfrecord package ---

# It registers the same protobuf names as TensorFlow, so it runs in a process of its own.
TFRECORD_READS = """
import json, sys
import numpy as np
from tfrecord.reader import tfrecord_loader

path, index, compression = sys.argv[1], sys.argv[2] or None, sys.argv[3] or None
description = {"label": "int", "score": "float", "box": "float", "name": "byte", "image": "byte"}
for record in tfrecord_loader(path, index, description, compression_type=compression):
    print(json.dumps([
        int(np.ravel(record["label"])[0]), float(np.ravel(record["score"])[0]), np.ravel(record["box"])[:2].tolist(),
        bytes(record["name"]).decode(), len(record["image"]),
    ]))
"""

TFRECORD_WRITES = """
import sys
from tfrecord.writer import TFRecordWriter

writer = TFRecordWriter(sys.argv[1])
for n in range(20):
    writer.write({"label": (n, "int"), "values": ([n / 2, 1.5], "float"), "name": (b"row %d" % n, "byte")})
for n in range(20, 25):
    writer.write({"label": (n, "int")}, {"tokens": ([[t, t + 1] for t in range(n - 19)], "int")})
writer.close()
"""


def run_python(program: str, *arguments: str) -> str:
    finished = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


@pytest.mark.parametrize(
    ("how", "compression", "indexed"), [("rows", None, True), ("columns", None, False), ("rows", "gzip", False)]
)
def test_recordsmith_writes_and_the_tfrecord_package_reads(
    how: str,
    compression: str | None,
    indexed: bool,
    tmp_path: Path,  # noqa: FBT001 - a case's setting
):
    path = tmp_path / "data.tfrecord"
    # It takes an empty value for a missing one, and fails.
    rows = [{**row, "image": row["image"] or b"x"} for row in ROWS]
    write(path, how, compression, rows)
    index = export_index(path, format="vahidk") if indexed else ""
    output = run_python(TFRECORD_READS, str(path), index, compression or "")
    # With an index it starts at a random record.
    assert sorted(json.loads(line) for line in output.splitlines()) == [
        [row["label"], row["score"], row["box"][:2].tolist(), row["name"], len(row["image"])] for row in rows
    ]


def test_the_tfrecord_package_writes_and_recordsmith_reads(tmp_path: Path):
    path = tmp_path / "data.tfrecord"
    run_python(TFRECORD_WRITES, str(path))
    assert len(rs.open(path)) == 25
    assert rs.open(path).verify() == 25
    payloads = list(rs.RecordReader(path))
    for n, payload in enumerate(payloads[:20]):
        decoded = rs.decode_example(payload)
        assert decoded["label"].tolist() == [n]
        assert decoded["values"].tolist() == [n / 2, 1.5]
        assert decoded["name"] == [b"row %d" % n]
    for n, payload in enumerate(payloads[20:], 20):
        context, lists = rs.decode_sequence_example(payload)
        assert context["label"].tolist() == [n]
        assert [step.tolist() for step in lists["tokens"] if step is not None] == [[t, t + 1] for t in range(n - 19)]
    assert [int(row["label"]) for row in rs.open(path)] == list(range(25))
