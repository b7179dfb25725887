"""Damage of every kind at every place: it is always noticed, named, and what comes before it is delivered."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import recordsmith as rs
from recordsmith.records.index import build_index
from tests.made_records import HEADER_BYTES, file_bytes, framed, starts

ROWS = [{"n": number, "name": f"row {number}"} for number in range(4)]
PAYLOADS = [rs.encode_example(row) for row in ROWS]
CONTENT = file_bytes(PAYLOADS)
STARTS = starts(PAYLOADS)
SCHEMA = rs.Schema({"n": rs.Scalar("int64"), "name": rs.Text()})

# Ways of reading a file: each yields what was delivered, one entry a record.
Way = Callable[[Path], Iterator[Any]]


def batches(size: int, threads: int) -> Way:
    def read(path: Path) -> Iterator[Any]:
        for batch in rs.open(path, schema=SCHEMA).batch(size, threads=threads):
            for n, name in zip(batch["n"].tolist(), batch["name"], strict=True):
                yield rs.encode_example({"n": n, "name": name})

    return read


def rows(path: Path) -> Iterator[Any]:
    return (rs.encode_example(row) for row in rs.open(path, schema=SCHEMA))


WAYS: dict[str, Way] = {
    "reader": rs.RecordReader,
    "rows": rows,
    **{f"batches of {size} on {threads} threads": batches(size, threads) for size in (3, 100) for threads in (0, 2)},
}


def read(way: Way, path: Path) -> tuple[list[Any], rs.RecordsmithError | None]:
    delivered: list[Any] = []
    try:
        delivered.extend(way(path))
    except rs.RecordsmithError as error:
        return delivered, error
    return delivered, None


def whole_records(size: int) -> int:
    """How many records lie within the first `size` bytes."""
    return sum(end <= size for end in STARTS[1:])


# --- plain files ---


@pytest.mark.parametrize("way", WAYS)
def test_a_file_cut_at_every_byte(way: str, tmp_path: Path):
    path = tmp_path / "cut.tfrecord"
    for size in range(len(CONTENT)):
        path.write_bytes(CONTENT[:size])
        delivered, error = read(WAYS[way], path)
        whole = whole_records(size)
        assert delivered == PAYLOADS[:whole], size
        if size in STARTS:
            assert error is None, size
        else:
            assert type(error) is rs.TruncatedFileError, size
            assert (error.path, error.record, error.offset) == (str(path), whole, STARTS[whole]), size


def test_a_file_cut_at_every_byte_has_no_index_and_does_not_verify(tmp_path: Path):
    path = tmp_path / "cut.tfrecord"
    for size in range(len(CONTENT)):
        path.write_bytes(CONTENT[:size])
        whole = whole_records(size)
        if size in STARTS:
            assert build_index(path).offsets.tolist() == STARTS[: whole + 1]
            assert rs.open(path, schema=SCHEMA).verify() == whole
            continue
        for attempt in (lambda: build_index(path), lambda: rs.open(path).verify(1), lambda: rs.open(path).verify(3)):
            with pytest.raises(rs.TruncatedFileError) as caught:
                attempt()
            assert (caught.value.record, caught.value.offset) == (whole, STARTS[whole])


def expected_for_flip(bit: int) -> tuple[int, type[rs.RecordsmithError]]:
    """The record that a flipped bit damages, and the error that says so."""
    record = whole_records(bit // 8)
    in_header = bit // 8 - STARTS[record] < HEADER_BYTES
    # A first header that does not hold is all that tells a TFRecord file from any other.
    return record, rs.NotTFRecordError if in_header and record == 0 else rs.CorruptRecordError


def flipped(content: bytes, bit: int) -> bytes:
    damaged = bytearray(content)
    damaged[bit // 8] ^= 1 << bit % 8
    return bytes(damaged)


@pytest.mark.parametrize("way", WAYS)
def test_every_single_bit_flipped(way: str, tmp_path: Path):
    path = tmp_path / "flipped.tfrecord"
    for bit in range(8 * len(CONTENT)):
        path.write_bytes(flipped(CONTENT, bit))
        delivered, error = read(WAYS[way], path)
        record, kind = expected_for_flip(bit)
        assert delivered == PAYLOADS[:record], bit
        assert type(error) is kind, bit
        assert error.path == str(path)
        if kind is rs.CorruptRecordError:
            assert (error.record, error.offset) == (record, STARTS[record]), bit


def test_every_single_bit_flipped_fails_verification(tmp_path: Path):
    path = tmp_path / "flipped.tfrecord"
    for bit in range(8 * len(CONTENT)):
        path.write_bytes(flipped(CONTENT, bit))
        record, kind = expected_for_flip(bit)
        for threads in (1, 2):
            with pytest.raises(kind) as caught:
                rs.open(path, schema=SCHEMA).verify(threads)
            assert caught.value.record in (record, None)


def test_without_verification_only_lengths_are_checked(tmp_path: Path):
    path = tmp_path / "flipped.tfrecord"
    for bit in range(0, 8 * len(CONTENT), 3):
        path.write_bytes(flipped(CONTENT, bit))
        record, _ = expected_for_flip(bit)
        within = bit // 8 - STARTS[record]
        if within < HEADER_BYTES:
            with pytest.raises((rs.NotTFRecordError, rs.CorruptRecordError)):
                list(rs.RecordReader(path, verify=False))
            continue
        found = list(rs.RecordReader(path, verify=False))
        assert [number for number in range(4) if found[number] != PAYLOADS[number]] == (
            [record] if within < HEADER_BYTES + len(PAYLOADS[record]) else []
        )


@pytest.mark.parametrize("missing", [1, 2])
def test_records_cut_out_of_the_middle_leave_no_gap_unnoticed(missing: int, tmp_path: Path):
    """Bytes that are gone from the middle shift what follows: the next header does not hold."""
    path = tmp_path / "gap.tfrecord"
    for at in range(1, len(CONTENT) - missing):
        path.write_bytes(CONTENT[:at] + CONTENT[at + missing :])
        delivered, error = read(rs.RecordReader, path)
        assert error is not None, at
        assert delivered == PAYLOADS[: len(delivered)], at


# --- compressed files ---

COMPRESSED = {"gzip": gzip.compress(CONTENT, mtime=0), "zlib": zlib.compress(CONTENT)}
SAID = {"as said": lambda name: name, "auto": lambda _: "auto"}


def read_compressed(path: Path, compression: str) -> tuple[list[bytes], rs.RecordsmithError | None]:
    return read(lambda name: rs.RecordReader(name, compression=compression), path)


@pytest.mark.parametrize("said", SAID)
@pytest.mark.parametrize("name", COMPRESSED)
def test_a_compressed_file_cut_at_every_byte(name: str, said: str, tmp_path: Path):
    path = tmp_path / "cut.tfrecord"
    for size in range(1, len(COMPRESSED[name])):
        path.write_bytes(COMPRESSED[name][:size])
        delivered, error = read_compressed(path, SAID[said](name))
        assert error is not None, size
        assert delivered == PAYLOADS[: len(delivered)], size
        assert error.path == str(path)
        # Of one or two bytes nobody can tell what they were.
        assert type(error) is rs.CompressionError or (said == "auto" and size < 3), size
    # Only checksums are missing at the end: all records are there, and the cut is noticed all the same.
    assert delivered == PAYLOADS


@pytest.mark.parametrize("said", SAID)
@pytest.mark.parametrize("name", COMPRESSED)
def test_every_single_bit_of_a_compressed_file_flipped(name: str, said: str, tmp_path: Path):
    path = tmp_path / "flipped.tfrecord"
    unnoticed = []
    for bit in range(8 * len(COMPRESSED[name])):
        path.write_bytes(flipped(COMPRESSED[name], bit))
        delivered, error = read_compressed(path, SAID[said](name))
        if error is None:
            unnoticed.append(bit // 8)
            assert delivered == PAYLOADS, bit
        else:
            assert delivered == PAYLOADS[: len(delivered)], bit
            assert error.path == str(path)
    # What may change without a trace: the bits that fill up the last byte before the checksum, and gzip's remarks (is
    # it text, when and where was it made).
    remarks = {3, 4, 5, 6, 7, 8, 9} if name == "gzip" else set()
    assert set(unnoticed) <= remarks | {len(COMPRESSED[name]) - (9 if name == "gzip" else 5)}


@pytest.mark.parametrize("threads", [0, 2])
@pytest.mark.parametrize("name", COMPRESSED)
def test_batches_of_a_cut_compressed_file(name: str, threads: int, tmp_path: Path):
    path = tmp_path / "cut.tfrecord"
    for size in range(3, len(COMPRESSED[name]), 5):
        path.write_bytes(COMPRESSED[name][:size])
        delivered, error = read(batches(3, threads), path)
        assert delivered == PAYLOADS[: len(delivered)], size
        assert type(error) is rs.CompressionError, size
        assert (error.path, error.record) == (str(path), len(delivered)), size


@pytest.mark.parametrize("garbage", [b"garbage", b"\0", bytes(100), b"\x1f", b"\x1f\x8b", b"\x1f\x8b\x08", CONTENT])
def test_garbage_after_gzip(garbage: bytes, tmp_path: Path):
    path = tmp_path / "garbage.tfrecord.gz"
    path.write_bytes(COMPRESSED["gzip"] + garbage)
    for way in (rs.RecordReader, rows, batches(3, 0), batches(3, 2)):
        delivered, error = read(way, path)
        assert delivered == PAYLOADS
        assert type(error) is rs.CompressionError
        assert error.path == str(path)


@pytest.mark.parametrize("name", COMPRESSED)
@pytest.mark.parametrize("cut", [1, 30, STARTS[1], STARTS[2] + 5])
def test_streams_one_after_the_other_are_one_file(name: str, cut: int, tmp_path: Path):
    """Also where the border between the streams lies inside a record."""
    compress = gzip.compress if name == "gzip" else zlib.compress
    path = tmp_path / "members.tfrecord"
    path.write_bytes(compress(CONTENT[:cut]) + compress(b"") + compress(CONTENT[cut:]))
    assert read_compressed(path, "auto") == (PAYLOADS, None)
    assert rs.open(path).verify() == 4


def test_a_damaged_second_stream_does_not_take_the_first_with_it(tmp_path: Path):
    path = tmp_path / "members.tfrecord"
    second = gzip.compress(CONTENT[STARTS[2] :], mtime=0)
    path.write_bytes(gzip.compress(CONTENT[: STARTS[2]], mtime=0) + second[:10] + b"\xff" * 8 + second[18:])
    delivered, error = read(rs.RecordReader, path)
    assert delivered[:2] == PAYLOADS[:2]
    assert type(error) is rs.CompressionError


@pytest.mark.parametrize("name", ["BZ2", "snappy", "zip", "gzipp", "none ", 5, b"gzip", ["gzip"]])
def test_an_unknown_compression_is_refused_at_once(name: Any, tmp_path: Path):
    missing = tmp_path / "there is no such file"
    for attempt in (rs.RecordReader, rs.RecordWriter):
        with pytest.raises(rs.CompressionError, match="Unknown compression"):
            attempt(missing, compression=name)
    (tmp_path / "a.tfrecord").write_bytes(CONTENT)
    with pytest.raises(rs.CompressionError, match="Unknown compression"):
        rs.open(tmp_path / "a.tfrecord", compression=name)


# --- the middle of a dataset ---


@pytest.mark.parametrize("threads", [0, 1, 2, 4])
@pytest.mark.parametrize("size", [1, 5, 7, 64, 1000])
def test_damage_in_the_middle_of_a_dataset(size: int, threads: int, tmp_path: Path):
    payloads = [rs.encode_example({"n": number, "name": "x" * (number % 5)}) for number in range(200)]
    first, second = tmp_path / "a-00000-of-00002", tmp_path / "a-00001-of-00002"
    first.write_bytes(file_bytes(payloads[:100]))
    content, place = file_bytes(payloads[100:]), starts(payloads[100:])[37]
    second.write_bytes(flipped(content, 8 * (place + 20)))
    delivered, error = read(batches(size, threads), tmp_path)
    assert delivered == payloads[:137]
    assert type(error) is rs.CorruptRecordError
    assert (error.path, error.record, error.offset) == (str(second), 37, place)
    assert f"{second}, record 37, byte {place}" in str(error)


@pytest.mark.parametrize("threads", [0, 2])
def test_damage_among_large_records(threads: int, tmp_path: Path):
    """Large records are found by their headers alone, and read where they are decoded."""
    payloads = [rs.encode_example({"n": number, "name": "x" * 20_000}) for number in range(40)]
    content, places = file_bytes(payloads), starts(payloads)
    path = tmp_path / "large.tfrecord"
    for bit, record in ((8 * (places[25] + 3), 25), (8 * (places[25] + 500), 25), (8 * (places[26] - 1), 25)):
        path.write_bytes(flipped(content, bit))
        delivered, error = read(batches(16, threads), path)
        assert delivered == payloads[:record]
        assert type(error) is rs.CorruptRecordError
        assert (error.path, error.record, error.offset) == (str(path), record, places[record])
    path.write_bytes(content[: places[25] + 10_000])
    delivered, error = read(batches(16, threads), path)
    assert delivered == payloads[:25]
    assert type(error) is rs.TruncatedFileError
    assert (error.record, error.offset) == (25, places[25])


@pytest.mark.parametrize("threads", [0, 2])
def test_a_payload_that_does_not_parse(threads: int, tmp_path: Path):
    """Its checksums hold, so it was written like this: the error still names the place."""
    path = tmp_path / "malformed.tfrecord"
    path.write_bytes(file_bytes([*PAYLOADS[:3], PAYLOADS[3][:-1], *PAYLOADS]))
    delivered, error = read(batches(2, threads), path)
    assert delivered == PAYLOADS[:3]
    assert type(error) is rs.CorruptRecordError
    assert (error.path, error.record, error.offset) == (str(path), 3, STARTS[3])


@pytest.mark.parametrize("damage", ["cut", "flipped", "gzip cut"])
def test_the_schema_is_inferred_from_what_is_sound(damage: str, tmp_path: Path):
    """Without a given schema, too, what comes before the damage is delivered."""
    path = tmp_path / "damaged.tfrecord"
    content = {
        "cut": CONTENT[: STARTS[3] + 20],
        "flipped": flipped(CONTENT, 8 * (STARTS[3] + 20)),
        "gzip cut": gzip.compress(CONTENT[: STARTS[3] + 20])[:-4],
    }[damage]
    path.write_bytes(content)
    delivered: list[bytes] = []
    with pytest.raises(rs.RecordsmithError) as caught:
        delivered.extend(rs.encode_example(row) for row in rs.open(path))
    assert delivered == PAYLOADS[:3]
    assert caught.value.path == str(path)
    assert caught.value.record == 3


def test_a_file_that_begins_with_damage_says_so_when_its_schema_is_asked_for(tmp_path: Path):
    path = tmp_path / "damaged.tfrecord"
    path.write_bytes(flipped(CONTENT, 8 * 14))
    with pytest.raises(rs.CorruptRecordError, match="record 0"):
        _ = rs.open(path).schema


def test_zeros_after_the_records(tmp_path: Path):
    """What a copy to a full or a failing disk may leave."""
    path = tmp_path / "zeros.tfrecord"
    for count in (1, 11, 12, 16, 4096, 300_000):
        path.write_bytes(CONTENT + bytes(count))
        delivered, error = read(rs.RecordReader, path)
        assert delivered == PAYLOADS
        assert type(error) is (rs.TruncatedFileError if count < HEADER_BYTES else rs.CorruptRecordError)
        assert error.offset == len(CONTENT)


def test_after_an_error_the_reader_says_the_same_again(tmp_path: Path):
    path = tmp_path / "cut.tfrecord"
    path.write_bytes(CONTENT[:-1])
    reader = rs.RecordReader(path)
    assert [next(reader) for _ in range(3)] == PAYLOADS[:3]
    for _ in range(3):
        with pytest.raises(rs.TruncatedFileError, match="record 3"):
            next(reader)
    # The rest arrives: as with a file that is still being written, the reader goes on.
    path.write_bytes(CONTENT + framed(b"one more"))
    assert list(reader) == [PAYLOADS[3], b"one more"]
