"""RecordReader: payloads in order, from files of any compression, from pipes, and from files that still grow."""

from __future__ import annotations

import gzip
import os
import threading
import zlib
from pathlib import Path
from typing import Any

import pytest

import recordsmith as rs
from tests.made_records import HEADER_BYTES, file_bytes, framed, masked_crc32c, starts

PAYLOADS = [b"foo", b"", b"bar" * 100, bytes(range(256))]
CONTENT = file_bytes(PAYLOADS)
COMPRESSED = {None: CONTENT, "gzip": gzip.compress(CONTENT), "zlib": zlib.compress(CONTENT)}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "data.tfrecord"
    path.write_bytes(CONTENT)
    return path


def test_the_golden_bytes():
    """Known from Beam's tests: the framing here is the format's, not only our own."""
    assert file_bytes([b"foo"]).hex() == "0300000000000000b099490e666f6f618abefe"
    assert masked_crc32c(bytes(32)) == 0x0FD7FFFA
    assert masked_crc32c(b"\xff" * 32) == 0xF909B029


def test_payloads_in_order(path: Path):
    assert list(rs.RecordReader(path)) == PAYLOADS
    assert list(rs.RecordReader(str(path))) == PAYLOADS


def test_an_empty_file_has_no_records(tmp_path: Path):
    path = tmp_path / "empty"
    path.touch()
    for compression in ("auto", None, "gzip", "zlib"):
        assert list(rs.RecordReader(path, compression)) == []


@pytest.mark.parametrize("compression", COMPRESSED)
@pytest.mark.parametrize("name", ["data", "data.gz", "data.zlib", "data.tfrecord"])
def test_the_content_tells_the_compression_and_not_the_name(name: str, compression: str | None, tmp_path: Path):
    path = tmp_path / name
    path.write_bytes(COMPRESSED[compression])
    reader = rs.RecordReader(path)
    assert reader.compression == compression
    assert list(reader) == PAYLOADS
    assert list(rs.RecordReader(path, compression)) == PAYLOADS


@pytest.mark.parametrize("level", range(10))
def test_zlib_of_every_level_is_recognised(level: int, tmp_path: Path):
    path = tmp_path / "data"
    path.write_bytes(zlib.compress(CONTENT, level))
    assert rs.RecordReader(path).compression == "zlib"
    assert list(rs.RecordReader(path)) == PAYLOADS


@pytest.mark.parametrize("length", [0x8B1F, 0x0178, 0x5E78, 0x9C78, 0xDA78, 0x1D08])
def test_a_length_that_looks_like_a_compressed_file(length: int, tmp_path: Path):
    """The first bytes of a plain file are a length, which may be the signature of gzip or zlib."""
    path = tmp_path / "data"
    path.write_bytes(framed(bytes(length)) + framed(b"next"))
    reader = rs.RecordReader(path)
    assert reader.compression is None
    assert [len(payload) for payload in reader] == [length, 4]


def test_a_flush_after_every_byte(tmp_path: Path):
    """As in TensorFlow's own tests: full flushes and empty blocks all over the stream."""
    stream = zlib.compressobj()
    compressed = b"".join(
        stream.compress(CONTENT[at : at + 1]) + stream.flush(zlib.Z_FULL_FLUSH) + stream.flush(zlib.Z_SYNC_FLUSH)
        for at in range(len(CONTENT))
    )
    path = tmp_path / "data"
    path.write_bytes(compressed + stream.flush())
    assert list(rs.RecordReader(path)) == PAYLOADS


@pytest.mark.parametrize("size", [4095, 4096, 4097, 65_536, 262_131, 262_132, 262_133, 300_000, 3_000_000])
@pytest.mark.parametrize("compression", COMPRESSED)
def test_records_around_the_size_of_a_read(size: int, compression: str | None, tmp_path: Path):
    payloads = [bytes([n % 256]) * (size + n) for n in range(3)] + [b"end"]
    path = tmp_path / "data"
    with rs.RecordWriter(path, compression, level=1) as writer:
        for payload in payloads:
            writer.write(payload)
    assert list(rs.RecordReader(path)) == payloads


def test_where_the_reader_is(path: Path):
    reader = rs.RecordReader(path)
    places = starts(PAYLOADS)
    for number, payload in enumerate(PAYLOADS):
        assert (reader.record, reader.offset) == (number, places[number])
        assert next(reader) == payload
    assert (reader.record, reader.offset) == (4, len(CONTENT))
    assert reader.path == str(path)


def test_the_end_stays_the_end(path: Path):
    reader = rs.RecordReader(path)
    assert len(list(reader)) == 4
    assert list(reader) == []
    with pytest.raises(StopIteration):
        next(reader)


def test_a_file_that_grows_goes_on(tmp_path: Path):
    path = tmp_path / "growing"
    path.write_bytes(framed(b"one"))
    reader = rs.RecordReader(path)
    assert list(reader) == [b"one"]
    with path.open("ab") as file:
        file.write(framed(b"two"))
        file.flush()
        assert list(reader) == [b"two"]
        # Half a record is an error until its other half is there.
        file.write(framed(b"three")[:HEADER_BYTES])
        file.flush()
        for _ in range(2):
            with pytest.raises(rs.TruncatedFileError, match="still being written"):
                next(reader)
        file.write(framed(b"three")[HEADER_BYTES:] + framed(b"four"))
        file.flush()
    assert list(reader) == [b"three", b"four"]


def test_a_pipe(tmp_path: Path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    many = [b"%d" % number * 50 for number in range(3000)]
    feeder = threading.Thread(target=pipe.write_bytes, args=(file_bytes(many),))
    feeder.start()
    assert list(rs.RecordReader(pipe)) == many
    feeder.join()


def test_closing(path: Path):
    with rs.RecordReader(path) as reader:
        next(reader)
    reader.close()
    for attempt in (lambda: next(reader), lambda: reader.record, lambda: reader.offset, lambda: reader.compression):
        with pytest.raises(rs.RecordsmithError, match="The reader is closed"):
            attempt()
    assert reader.path == str(path)


def test_closing_gives_the_file_back(path: Path):
    before = len(os.listdir("/proc/self/fd"))
    readers = [rs.RecordReader(path) for _ in range(10)]
    for reader in readers:
        next(reader)
        reader.close()
    assert len(os.listdir("/proc/self/fd")) == before


def test_readers_do_not_disturb_each_other(path: Path):
    first, second = rs.RecordReader(path), rs.RecordReader(path)
    assert list(zip(first, second, strict=True)) == [(payload, payload) for payload in PAYLOADS]


def test_without_verification_a_damaged_payload_comes_as_it_is(path: Path):
    damaged = bytearray(CONTENT)
    damaged[HEADER_BYTES] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(rs.CorruptRecordError, match="does not match its checksum"):
        next(rs.RecordReader(path))
    assert list(rs.RecordReader(path, verify=False)) == [b"goo", *PAYLOADS[1:]]


def test_a_missing_file(tmp_path: Path):
    with pytest.raises(FileNotFoundError) as caught:
        rs.RecordReader(tmp_path / "missing")
    assert caught.value.filename == str(tmp_path / "missing")


def test_a_folder(tmp_path: Path):
    with pytest.raises(IsADirectoryError):
        rs.RecordReader(tmp_path)


def test_a_name_with_a_nul_is_not_cut_short(path: Path):
    with pytest.raises((ValueError, FileNotFoundError)):
        rs.RecordReader(str(path) + "\0more")


@pytest.mark.parametrize("name", [5, None, ["a"]])
def test_a_name_of_another_type(name: Any):
    with pytest.raises(TypeError):
        rs.RecordReader(name)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"PK\x03\x04" + bytes(30), "zip archive"),
        (b"PAR1" + bytes(30), "Parquet"),
        (b"\x89PNG\r\n\x1a\n" + bytes(30), "PNG image"),
        (b"\xff\xd8\xff\xe0" + bytes(30), "JPEG image"),
        (b"BZh91AY&SY" + bytes(30), "bzip2"),
        (b"\x28\xb5\x2f\xfd" + bytes(30), "Zstandard"),
        (b"\x93NUMPY\x01\x00" + bytes(30), "numpy array"),
        (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS pointer"),
        (b"label,text\n1,hello\n" * 3, "text"),
        (bytes(257) + b"ustar" + bytes(300), "tar archive"),
        (b"\x00" * 64, "does not begin with a record"),
    ],
)
def test_a_file_that_is_something_else_is_named(content: bytes, said: str, tmp_path: Path):
    path = tmp_path / "data.tfrecord"
    path.write_bytes(content)
    with pytest.raises(rs.NotTFRecordError, match=said) as caught:
        list(rs.RecordReader(path))
    assert caught.value.advice
