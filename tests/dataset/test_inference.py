"""A schema from the records: kinds, numbers of values, what may be absent, and what cannot be inferred."""

from __future__ import annotations

import gzip
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from recordsmith.dataset import inference
from recordsmith.dataset.inference import sample_census, take_census
from tests.conformance import made_wire as wire
from tests.made_records import file_bytes


def write(path: Path, *mappings: dict[str, Any], compression: str | None = None) -> Path:
    with rs.RecordWriter(path, compression, sync=False) as writer:
        for mapping in mappings:
            writer.write_example(mapping)
    return path


def inferred(tmp_path: Path, *values: Any) -> Any:
    """What is inferred for a feature that has these values, one a record; None is a record without it."""
    path = write(tmp_path / "data.tfrecord", *({"x": value, "other": 1} for value in values))
    return rs.infer_schema(path).get("x")


@pytest.mark.parametrize(
    ("values", "feature"),
    [
        ([1, 2], rs.Scalar("int64")),
        ([0.5, 1.5], rs.Scalar("float32")),
        ([[1, 2, 3], [4, 5, 6]], rs.Tensor("int64", (3,))),
        ([[0.5, 1.5]], rs.Tensor("float32", (2,))),
        ([[1], [2, 3]], rs.Tensor("int64", (None,))),
        ([np.empty(0, np.int64), [1]], rs.Tensor("int64", (None,))),
        ([np.empty(0, np.float32)], rs.Tensor("float32", (None,))),
        (["a", "bc"], rs.Text()),
        (["é漢", "line\nline\ttab"], rs.Text()),
        ([["a", "b"], ["c", "d"]], rs.Text((2,))),
        ([["a"], ["c", "d"]], rs.Text((None,))),
        ([b"\xff", b"a"], rs.Bytes()),
        ([b"\x00\x01", b"a"], rs.Bytes()),  # valid UTF-8, and nothing that anybody typed
        ([b"", b""], rs.Bytes()),
        ([b"", b"a"], rs.Text()),
        ([[b"\xff", b""], [b""]], rs.Bytes((None,))),
        ([1, None], rs.Scalar("int64", optional=True)),
        ([None, [1, 2]], rs.Tensor("int64", (2,), optional=True)),
        (["a", None, "b"], rs.Text(optional=True)),
        ([None, None], None),
    ],
    ids=repr,
)
def test_what_is_inferred(values: list[Any], feature: Any, tmp_path: Path):
    assert inferred(tmp_path, *values) == feature


def test_the_inferred_schema_reads_the_records(tmp_path: Path):
    mappings = [{"a": n, "b": [0.5] * n if n else np.empty(0, np.float32), "c": "x" * n} for n in range(20)]
    path = write(tmp_path / "data.tfrecord", *mappings)
    rows = list(rs.open(path, schema=rs.infer_schema(path)))
    assert [int(row["a"]) for row in rows] == list(range(20))
    assert [len(row["b"]) for row in rows] == list(range(20))


def test_features_come_in_the_order_of_the_records(tmp_path: Path):
    path = tmp_path / "data.tfrecord"
    entries = [wire.entry(name, bytes.fromhex("1a030a0101")) for name in (b"z", b"a", b"m")]
    late = [*entries[:2], wire.entry(b"late", bytes.fromhex("1a030a0101")), entries[2]]
    path.write_bytes(file_bytes([wire.delimited(1, b"".join(entries)), wire.delimited(1, b"".join(late))]))
    assert list(rs.infer_schema(path)) == ["z", "a", "m", "late"]


def test_a_feature_without_a_kind_is_absent(tmp_path: Path):
    path = tmp_path / "data.tfrecord"
    unset = wire.delimited(1, wire.entry(b"x", b"") + wire.entry(b"never", b""))
    path.write_bytes(file_bytes([rs.encode_example({"x": 1}), unset]))
    assert rs.infer_schema(path) == rs.Schema({"x": rs.Scalar("int64", optional=True)})


def test_kinds_that_differ_are_refused(tmp_path: Path):
    with pytest.raises(rs.SchemaError, match="has different types") as caught:
        inferred(tmp_path, 1, 2, 0.5)
    assert caught.value.feature == "x"
    assert "int64 in 2 records" in str(caught.value)
    assert "float in 1 record" in str(caught.value)


def test_all_records_count(tmp_path: Path):
    path = write(tmp_path / "data.tfrecord", *[{"x": 1}] * 5000, {"x": [1, 2]})
    assert rs.infer_schema(path) == rs.Schema({"x": rs.Tensor("int64", (None,))})
    assert rs.infer_schema(path, records=5000) == rs.Schema({"x": rs.Scalar("int64")})
    assert rs.infer_schema(path, records=5001)["x"] == rs.Tensor("int64", (None,))


def test_all_files_count(tmp_path: Path):
    write(tmp_path / "a-train.tfrecord", {"x": 1})
    write(tmp_path / "b-test.tfrecord.gz", {"x": 1, "y": 2}, compression="gzip")
    assert rs.infer_schema(tmp_path) == rs.Schema({"x": rs.Scalar("int64"), "y": rs.Scalar("int64", optional=True)})
    assert rs.infer_schema(tmp_path, split="train") == rs.Schema({"x": rs.Scalar("int64")})
    assert rs.infer_schema([tmp_path / "b-test.tfrecord.gz"]).keys() == {"x", "y"}


def test_an_empty_file_has_an_empty_schema(tmp_path: Path):
    (tmp_path / "empty.tfrecord").touch()
    assert rs.infer_schema(tmp_path / "empty.tfrecord") == rs.Schema({})


def test_sequence_examples(tmp_path: Path):
    path = tmp_path / "data.tfrecord"
    payloads = [
        rs.encode_sequence_example({"id": n}, {"a": [[1, 2]] * n, "b": ["x"] * n, "c": [0.5, [0.5, 1.5]]})
        for n in range(4)
    ]
    payloads.append(rs.encode_sequence_example({"id": 9}, {"a": [[1, 2]], "b": []}))
    path.write_bytes(file_bytes(payloads))
    assert rs.infer_schema(path) == rs.Schema(
        {
            "id": rs.Scalar("int64"),
            "a": rs.Steps(rs.Tensor("int64", (2,))),
            "b": rs.Steps(rs.Text()),
            "c": rs.Steps(rs.Tensor("float32", (None,)), optional=True),
        }
    )
    assert len(list(rs.open(path))) == 5


def test_one_sequence_example_makes_all_of_them_such(tmp_path: Path):
    path = tmp_path / "data.tfrecord"
    path.write_bytes(file_bytes([rs.encode_example({"id": 1}), rs.encode_sequence_example({"id": 2}, {"a": [1, 2]})]))
    census = take_census([str(path)])
    assert census.payloads == {"example": 1, "sequence_example": 1}
    assert census.payload == "sequence_example"
    rows = list(rs.open(path))
    assert rows[0]["a"] is None
    assert rows[1]["a"].tolist() == [1, 2]


def test_a_census_says_whether_it_is_complete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = str(write(tmp_path / "data.tfrecord", *[{"x": n} for n in range(10_000)]))
    whole = sample_census([path])
    assert (whole.records, whole.complete) == (10_000, True)
    monkeypatch.setattr(inference, "_SAMPLED_BYTES", 1)
    part = sample_census([path])
    assert 0 < part.records < 10_000
    assert not part.complete


def test_a_census_does_not_depend_on_how_records_are_divided(tmp_path: Path):
    random = np.random.default_rng(0)
    names = [f"f{number}" for number in range(40)]
    values: list[Any] = [1, [1, 2], 0.5, "text", b"\xff", np.empty(0, np.float32)]
    rows = [
        {str(name): values[random.integers(len(values))] for name in random.permutation(names)[: random.integers(40)]}
        for _ in range(200)
    ]
    whole = take_census([str(write(tmp_path / "whole.tfrecord", *rows))])
    cuts = [0, 1, 5, 5, 90, 200]
    parts = [write(tmp_path / f"{n}.tfrecord", *rows[a:b]) for n, (a, b) in enumerate(itertools.pairwise(cuts))]
    assert take_census([str(part) for part in parts]) == whole


def test_files_after_a_damaged_one_are_not_counted(tmp_path: Path):
    files = [write(tmp_path / f"{n}.tfrecord", *[{f"f{n}": 1}] * 10) for n in range(4)]
    files[1].write_bytes(files[1].read_bytes()[:-3])
    census = take_census([str(file) for file in files], stop_at_damage=True)
    assert (census.records, census.complete) == (19, False)
    assert [feature.key for feature in census.features] == ["f0", "f1"]


def test_a_census_of_many_files_samples_them(tmp_path: Path):
    files = [str(write(tmp_path / f"{n}.tfrecord", {"x": n})) for n in range(100)]
    census = sample_census(files)
    assert 30 <= census.records <= 50
    assert not census.complete


def test_damage_is_an_error_of_infer_schema(tmp_path: Path):
    path = write(tmp_path / "data.tfrecord", *[{"x": n} for n in range(10)])
    content = path.read_bytes()
    path.write_bytes(content[:-3])
    with pytest.raises(rs.TruncatedFileError, match="record 9"):
        rs.infer_schema(path)
    path.write_bytes(gzip.compress(content)[:-9])
    with pytest.raises(rs.CompressionError):
        rs.infer_schema(path)


def test_a_payload_that_does_not_parse(tmp_path: Path):
    path = tmp_path / "data.tfrecord"
    path.write_bytes(file_bytes([rs.encode_example({"x": 1}), rs.encode_example({"x": 2})[:-1]]))
    with pytest.raises(rs.RecordsmithError):
        rs.infer_schema(path)


# --- telling payloads apart ---


@pytest.mark.parametrize(
    ("payload", "kind"),
    [
        (b"", "empty"),
        (rs.encode_example({"a": 1}), "example"),
        (rs.encode_example({"a": 1}) * 2, "example"),
        (rs.encode_sequence_example({"a": 1}, {"b": [1, 2]}), "sequence_example"),
        (rs.encode_sequence_example({}, {"b": [[1, 2], [3]]}), "sequence_example"),
        (rs.encode_sequence_example({"a": 1}), "example"),  # without lists they are the same bytes
        (wire.delimited(1, rs.encode_example({"a": 1})) * 2, "example_list"),
        (
            wire.delimited(1, rs.encode_example({"a": 1})) + wire.delimited(2, rs.encode_example({"q": "b"})),
            "example_list",
        ),
        (b"a line of text", "text"),
        ("Zeile é漢\n".encode(), "text"),
        (b'{"json": [1, 2, 3]}', "text"),
        (b"\xff\xfe\x00\x01", "unknown"),
        (b"\x08\x96\x01", "unknown"),
        (wire.tag(1, wire.FIXED64) + bytes(8) + wire.delimited(3, b"brain.Event:2"), "event"),
        (wire.tag(1, wire.FIXED64) + bytes(8) + wire.delimited(3, b"sensor 7"), "unknown"),
        (wire.tag(1, wire.FIXED64) + bytes(8) + wire.tag(2, wire.FIXED64) + bytes(8), "unknown"),
    ],
)
def test_payloads_are_told_apart(payload: bytes, kind: str, tmp_path: Path):
    path = tmp_path / "data.tfrecord"
    path.write_bytes(file_bytes([payload, payload]))
    assert take_census([str(path)]).payloads == {kind: 2}


@pytest.mark.parametrize("text", [b"\n", b"\n\n", b"\n\x20 a line that begins with a newline....", b"text\n" * 50])
def test_text_that_begins_like_an_example(text: bytes, tmp_path: Path):
    """A newline is the byte that Examples begin with. Text must not be shown as Examples for it."""
    path = tmp_path / "data.tfrecord"
    path.write_bytes(file_bytes([text] * 3))
    assert rs.open(path).payload == "text"
