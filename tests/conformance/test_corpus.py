"""Real files written by other projects, read to the end and compared with TensorFlow.

They lie outside this project and may not be copied into it. Where `../shared/corpus` is absent, these are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import recordsmith as rs
from tests.conformance.protobuf_reference import example_of, sequence_example_of

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus"
PAYLOADS = {
    "Example": "example",
    "SequenceExample": "sequence_example",
    "ELWC": "example_list",
    "raw text": "text",
}

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus of real files is not at ../shared/corpus")


@dataclass(frozen=True)
class Entry:
    """A line of the table in the corpus's README."""

    name: str
    bytes: int
    compression: str | None
    records: int
    payload: str

    @property
    def path(self) -> Path:
        return CORPUS / self.name

    @property
    def has_features(self) -> bool:
        return self.payload in ("example", "sequence_example")


def entries() -> list[Entry]:
    if not CORPUS.is_dir():
        return []
    row = re.compile(r"^\| (\S+/\S+) \| (\d+) \| (none|gzip) \| (\d+) \| ([\w ]+) \|", re.MULTILINE)
    return [
        Entry(name, int(size), None if compression == "none" else compression, int(records), PAYLOADS[payload])
        for name, size, compression, records, payload in row.findall((CORPUS / "README.md").read_text())
    ]


ENTRIES = entries()
every_file = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
every_file_of_features = pytest.mark.parametrize(
    "entry", [entry for entry in ENTRIES if entry.has_features], ids=lambda entry: entry.name
)


@pytest.fixture
def linked(entry: Entry, tmp_path: Path) -> Path:
    """The file under another folder's name, so that its index is not left beside the original."""
    link = tmp_path / Path(entry.name).name
    link.symlink_to(entry.path)
    return link


@cache
def payloads(path: Path) -> list[bytes]:
    return list(rs.RecordReader(path))


def plain(value: Any) -> Any:
    """Values that are compared at once, bit by bit: an array as its dtype and bytes."""
    if isinstance(value, np.ndarray):
        return value.dtype.name, value.tobytes()
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if isinstance(value, dict):
        return {name: plain(entry) for name, entry in value.items()}
    return value


@cache
def expected_records(entry: Entry) -> list[Any]:
    """What protobuf makes of each record: an Example's features, or a SequenceExample's context and lists."""
    decode = example_of if entry.payload == "example" else sequence_example_of
    return [plain(decode(payload)) for payload in payloads(entry.path)]


def expected_rows(entry: Entry) -> list[Any]:
    """The same with context and feature lists side by side, as rows have them."""
    if entry.payload == "example":
        return expected_records(entry)
    return [{**context, **lists} for context, lists in expected_records(entry)]


def as_stored(feature: Any, value: Any) -> Any:
    """Turn a row's value back into what the Example holds: an array or a list of bytes."""
    if isinstance(feature, rs.Steps):
        return [as_stored(feature.feature, step) for step in value]
    if isinstance(feature, rs.Text):
        return [value.encode()] if isinstance(value, str) else [entry.encode() for entry in value]
    if isinstance(feature, rs.Bytes):
        return [value] if isinstance(value, bytes) else value
    return np.asarray(value).reshape(-1)


def row_as_stored(schema: rs.Schema, row: dict[str, Any]) -> dict[str, Any]:
    return {name: plain(as_stored(schema[name], value)) for name, value in row.items() if value is not None}


def rows_of(schema: rs.Schema, batch: dict[str, Any]) -> Iterator[dict[str, Any]]:
    count = len(next(iter(batch.values())))
    for i in range(count):
        yield {name: feature.row(batch[name], i) for name, feature in schema.items()}


def test_the_corpus_is_whole():
    assert len(ENTRIES) == 41
    assert sum(entry.records for entry in ENTRIES) > 30_000


@every_file
def test_records_compression_and_payload(entry: Entry, linked: Path):
    assert entry.path.stat().st_size == entry.bytes
    assert rs.RecordReader(entry.path).compression == entry.compression
    assert len(payloads(entry.path)) == entry.records
    dataset = rs.open(linked)
    assert len(dataset) == entry.records
    assert dataset.payload == entry.payload
    assert dataset.verify() == entry.records


@every_file
def test_payloads_are_those_of_tensorflow(entry: Entry, linked: Path):
    compression = {None: "", "gzip": "GZIP"}[entry.compression]
    records = tf.data.TFRecordDataset(str(entry.path), compression_type=compression).batch(1000)
    theirs = [payload for batch in records for payload in batch.numpy()]
    assert payloads(entry.path) == theirs
    dataset = rs.open(linked)
    last = entry.records - 1
    picked = [0, last, last // 2, last // 3, last]
    assert dataset.raw(picked) == [theirs[number] for number in picked]
    assert dataset.raw(-1) == theirs[-1]


@every_file_of_features
def test_every_record_decodes_as_protobuf_decodes_it(entry: Entry):
    decode: Any = rs.decode_example if entry.payload == "example" else rs.decode_sequence_example
    assert [plain(decode(payload)) for payload in payloads(entry.path)] == expected_records(entry)


@pytest.mark.parametrize(
    "entry", [entry for entry in ENTRIES if entry.payload == "sequence_example"], ids=lambda entry: entry.name
)
def test_a_sequence_example_read_as_an_example_is_its_context(entry: Entry):
    for payload in payloads(entry.path):
        assert plain(rs.decode_example(payload)) == plain(example_of(payload))


@every_file_of_features
def test_rows_are_what_protobuf_decodes(entry: Entry, linked: Path):
    dataset = rs.open(linked)
    schema = dataset.schema
    assert [row_as_stored(schema, row) for row in dataset] == expected_rows(entry)
    last = entry.records - 1
    for number in (0, last // 2, last):
        assert row_as_stored(schema, dataset[number]) == expected_rows(entry)[number]


@every_file_of_features
def test_batches_from_two_threads_are_what_protobuf_decodes(entry: Entry, linked: Path):
    dataset = rs.open(linked)
    schema = dataset.schema
    batches = dataset.batch(64, threads=2)
    found = [row_as_stored(schema, row) for batch in batches for row in rows_of(schema, batch)]
    assert found == expected_rows(entry)


@pytest.mark.parametrize("entry", [entry for entry in ENTRIES if not entry.has_features], ids=lambda entry: entry.name)
def test_other_payloads_are_never_shown_as_examples(entry: Entry, linked: Path):
    dataset = rs.open(linked)
    for attempt in (lambda: dataset.schema, lambda: dataset[0], lambda: next(iter(dataset)), dataset.head):
        with pytest.raises(rs.SchemaError, match=r"not tf\.train\.Example"):
            attempt()
    with pytest.raises(rs.SchemaError, match=r"not tf\.train\.Example"):
        next(iter(dataset.batch(2)))
    assert len(dataset.raw(0)) > 0


@pytest.mark.parametrize(
    ("uncompressed", "compressed"),
    [
        ("ray-project+ray/iris.tfrecords", "ray-project+ray/iris.tfrecords.gz"),
        (
            "google+yggdrasil-decision-forests/toy.nocompress-tfe-tfrecord-00000-of-00002",
            "google+yggdrasil-decision-forests/toy.tfe-tfrecord-00000-of-00002",
        ),
        (
            "google+yggdrasil-decision-forests/toy.nocompress-tfe-tfrecord-00001-of-00002",
            "google+yggdrasil-decision-forests/toy.tfe-tfrecord-00001-of-00002",
        ),
        (
            "google+yggdrasil-decision-forests/adult_test.recordio",
            "google+yggdrasil-decision-forests/adult_test.recordio.gz",
        ),
    ],
)
def test_plain_and_gzip_pairs_hold_the_same(uncompressed: str, compressed: str):
    assert payloads(CORPUS / uncompressed) == payloads(CORPUS / compressed)


@pytest.mark.parametrize(
    ("pattern", "records"),
    [
        ("google+yggdrasil-decision-forests/toy.tfe-tfrecord-*", 4),
        ("google+yggdrasil-decision-forests/toy.nocompress-tfe-tfrecord-*", 4),
        ("tensorflow+tfx/Split-train/*", 9909),
        ("google+deepvariant/golden*", 49),
        ("google-research+google-research/train-*", 512),
        ("google-research+google-research/validation-*", 128),
    ],
)
def test_sets_of_shards_open_as_one(pattern: str, records: int):
    dataset = rs.open(CORPUS / pattern)
    assert len(dataset) == records
    assert sum(len(next(iter(batch.values()))) for batch in dataset.batch(100)) == records


def test_a_folder_of_shards_has_its_splits():
    dataset = rs.open(CORPUS / "google-research+google-research")
    assert dataset.splits == ("train", "validation")
    assert len(dataset) == 640
    assert len(rs.open(CORPUS / "google-research+google-research", split="validation")) == 128
