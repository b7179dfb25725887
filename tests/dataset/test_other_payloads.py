"""Records that are no Examples: counted, verified, read raw, and never shown as what they are not."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

import recordsmith as rs
from tests.conformance import made_wire as wire
from tests.made_records import file_bytes


def elwc(n: int) -> bytes:
    examples = b"".join(wire.delimited(1, rs.encode_example({"relevance": float(r), "doc": f"d{r}"})) for r in range(3))
    return examples + wire.delimited(2, rs.encode_example({"query": f"query {n}"}))


def event(n: int) -> bytes:
    step = wire.tag(2, wire.VARINT) + wire.varint(n)
    content = wire.delimited(3, b"brain.Event:2") if n == 0 else wire.delimited(5, wire.delimited(1, b"\x0a\x04loss"))
    return wire.tag(1, wire.FIXED64) + struct.pack("<d", 1.7e9 + n) + step + content


OTHERS: dict[str, list[bytes]] = {
    "text": [b"This is line %d of a text." % n for n in range(5)],
    "example_list": [elwc(n) for n in range(5)],
    "event": [event(n) for n in range(5)],
    "unknown": [bytes([255, 254, n, 0, 128]) * 3 for n in range(5)],
}


@pytest.mark.parametrize("kind", OTHERS)
def test_other_payloads_are_counted_verified_and_read_raw(kind: str, tmp_path: Path):
    path = tmp_path / "other.tfrecord"
    path.write_bytes(file_bytes(OTHERS[kind]))
    ds = rs.open(path)
    assert ds.payload == kind
    assert len(ds) == ds.verify() == 5
    assert ds.raw(range(5)) == OTHERS[kind]


@pytest.mark.parametrize("kind", OTHERS)
def test_other_payloads_are_never_shown_as_examples(kind: str, tmp_path: Path):
    path = tmp_path / "other.tfrecord"
    path.write_bytes(file_bytes(OTHERS[kind]))
    ds = rs.open(path)
    attempts = [
        lambda: ds.schema,
        lambda: ds[0],
        lambda: ds[[0, 1]],
        lambda: ds[1:3][0],
        lambda: list(ds),
        lambda: list(ds[1:3]),
        ds.head,
        lambda: list(ds.batch(2)),
        ds.to_arrow,
        ds.to_pandas,
        lambda: ds.select("a"),
        lambda: rs.infer_schema(path),
    ]
    for attempt in attempts:
        with pytest.raises(rs.SchemaError, match=r"not tf\.train\.Example") as caught:
            attempt()
    assert "Dataset.raw" in str(caught.value)


def test_examples_among_other_payloads(tmp_path: Path):
    path = tmp_path / "mixture.tfrecord"
    path.write_bytes(file_bytes([rs.encode_example({"n": 1}), b"This is a line of text.", rs.encode_example({"n": 2})]))
    ds = rs.open(path)
    assert ds.payload == "unknown"
    with pytest.raises(rs.SchemaError, match=r"not tf\.train\.Example"):
        _ = ds.schema
