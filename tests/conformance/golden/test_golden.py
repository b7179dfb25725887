"""What one writes the other reads: TensorFlow and recordsmith."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

import recordsmith as rs
from tests.conformance.golden.golden_rows import ROWS, SCHEMA
from tests.conformance.protobuf_reference import example_of

COUNT = len(ROWS)
TENSORFLOWS_NAMES = {None: "", "gzip": "GZIP", "zlib": "ZLIB"}
COMPRESSIONS = list(TENSORFLOWS_NAMES)


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


# --- written by recordsmith ---

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


def write(path: Path, how: str, compression: str | None = None) -> None:
    with rs.RecordWriter(path, compression) as writer:
        match how:
            case "rows":
                writer.write_rows(ROWS, SCHEMA)
            case "columns":
                writer.write_columns({name: [row[name] for row in ROWS] for name in SCHEMA}, SCHEMA)
            case "examples":
                for row in ROWS:
                    writer.write_example(
                        {name: value if name != "words" or value else None for name, value in row.items()}
                    )
            case _:
                for row in ROWS:
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


def test_rows_and_columns_give_the_same_bytes(tmp_path: Path):
    write(tmp_path / "rows", "rows")
    write(tmp_path / "columns", "columns")
    assert (tmp_path / "rows").read_bytes() == (tmp_path / "columns").read_bytes()


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
