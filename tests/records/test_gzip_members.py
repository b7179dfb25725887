"""Gzip files are written as many members of whole records: the layout, and that every reader of gzip reads them."""

from __future__ import annotations

import gzip
import hashlib
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import recordsmith as rs
from recordsmith.records.index import load_index
from tests.made_records import file_bytes

RNG = np.random.default_rng(5)
# Records of all sizes, one of them larger than a member.
PAYLOADS = [RNG.integers(0, 40, int(size), np.uint8).tobytes() for size in RNG.integers(0, 6000, 900)]
PAYLOADS[500] = b"large" * 500_000
SCHEMA = rs.Schema({"x": rs.Tensor("float32", (784,)), "label": rs.Scalar("int64")})


class Member(NamedTuple):
    """A member of a file, by its own header."""

    data: bytes
    records: int


def members(content: bytes) -> Iterator[Member]:
    at = 0
    while at < len(content):
        assert content[at : at + 16] == bytes.fromhex("1f8b0804 00000000 00ff 0c00") + b"RS\x08\x00"
        length, records = struct.unpack_from("<II", content, at + 16)
        yield Member(gzip.decompress(content[at : at + length]), records)
        at += length
    assert at == len(content)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("members") / "data.tfrecord.gz"
    with rs.RecordWriter(path, "gzip", level=1) as writer:
        for payload in PAYLOADS:
            writer.write(payload)
    return path


def test_a_member_has_whole_records_and_at_least_1_mib(written: Path):
    found = list(members(written.read_bytes()))
    assert b"".join(member.data for member in found) == file_bytes(PAYLOADS)
    first = 0
    for member in found:
        payloads = PAYLOADS[first : first + member.records]
        assert member.data == file_bytes(payloads)
        if member is not found[-1]:
            assert len(member.data) >= 1 << 20 > len(member.data) - len(payloads[-1]) - 16
        first += member.records
    assert len(found) == 4


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_the_threads_make_no_difference(threads: int, written: Path, quick_path: Path):
    path = quick_path / "same.gz"
    with rs.RecordWriter(path, "gzip", level=1, threads=threads) as writer:
        for payload in PAYLOADS:
            writer.write(payload)
    assert path.read_bytes() == written.read_bytes()


@pytest.mark.parametrize("threads", [0, -1, True, 1.5])
def test_a_number_of_threads_that_cannot_be(threads: Any, quick_path: Path):
    with pytest.raises(rs.RecordsmithError, match="at least 1"):
        rs.RecordWriter(quick_path / "data", "gzip", threads=threads)


def test_how_records_are_given_makes_no_difference(quick_path: Path):
    x, label = RNG.integers(0, 9, (1500, 784)).astype(np.float32), np.arange(1500)
    with rs.RecordWriter(quick_path / "columns", "gzip", level=1) as writer:
        writer.write_columns({"x": x, "label": label}, SCHEMA)
    with rs.RecordWriter(quick_path / "rows", "gzip", level=1) as writer:
        writer.write_rows(({"x": row, "label": number} for number, row in enumerate(x)), SCHEMA)
    frames = np.frombuffer(gzip.decompress((quick_path / "rows").read_bytes()), np.uint8)
    with rs.RecordWriter(quick_path / "frames", "gzip", level=1) as writer:
        writer.write_frames(frames)
    contents = {(quick_path / name).read_bytes() for name in ("columns", "rows", "frames")}
    assert len(contents) == 1
    assert len(list(members(contents.pop()))) == 5


def test_a_file_without_records_is_a_gzip_file(quick_path: Path):
    with rs.RecordWriter(quick_path / "empty", "gzip"):
        pass
    assert list(members((quick_path / "empty").read_bytes())) == [Member(b"", 0)]
    assert list(rs.RecordReader(quick_path / "empty")) == []


def test_flushing_does_not_end_a_member(quick_path: Path):
    with rs.RecordWriter(quick_path / "flushed", "gzip") as writer:
        for payload in PAYLOADS[:20]:
            writer.write(payload)
            writer.flush()
    assert list(members((quick_path / "flushed").read_bytes())) == [Member(file_bytes(PAYLOADS[:20]), 20)]


def test_a_digest_is_that_of_the_compressed_file(quick_path: Path):
    with rs.RecordWriter(quick_path / "data", "gzip", digest="blake2b") as writer:
        writer.write(b"one")
    assert writer.hexdigest == hashlib.blake2b((quick_path / "data").read_bytes()).hexdigest()


def read_by_python(path: Path) -> bytes:
    with gzip.open(path) as file:
        return file.read()


def read_by_zcat(path: Path) -> bytes:
    if shutil.which("zcat") is None:
        pytest.skip("there is no zcat")
    return subprocess.run(["zcat", str(path)], capture_output=True, check=True).stdout


def read_by_tensorflow(path: Path) -> bytes:
    tf = pytest.importorskip("tensorflow")
    dataset = tf.data.TFRecordDataset(str(path), compression_type="GZIP")
    return file_bytes([record.numpy() for record in dataset])


def read_by_tfrecord(path: Path) -> bytes:
    if find_spec("tfrecord") is None:
        pytest.skip("tfrecord is not installed")
    # In a process of its own: its messages have the names of TensorFlow's.
    program = (
        "import sys, tfrecord.reader as reader\n"
        "for one in reader.tfrecord_iterator(sys.argv[1], compression_type='gzip'): print(bytes(one).hex())"
    )
    ended = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True)
    return file_bytes([bytes.fromhex(line) for line in ended.stdout.split("\n")[:-1]])


@pytest.mark.parametrize("read", [read_by_python, read_by_zcat, read_by_tensorflow, read_by_tfrecord])
def test_other_readers_read_it(read: Callable[[Path], bytes], written: Path):
    assert read(written) == file_bytes(PAYLOADS)


def test_our_readers_read_it(written: Path, quick_path: Path):
    assert list(rs.RecordReader(written)) == PAYLOADS
    index = load_index(written)
    assert (index.compression, index.records) == ("gzip", len(PAYLOADS))
    assert rs.open(written).raw(700) == PAYLOADS[700]
    assert rs.open(written).verify() == len(PAYLOADS)


@pytest.mark.parametrize("form", ["shorter", "damaged"])
def test_damaged_files_lose_little(form: str, written: Path, quick_path: Path):
    content = bytearray(written.read_bytes())
    if form == "shorter":
        del content[len(content) * 3 // 4 :]
    else:
        content[len(content) // 2] ^= 0xFF
    (quick_path / "bad").write_bytes(content)
    with pytest.raises(rs.RecordsmithError):
        list(rs.RecordReader(quick_path / "bad"))
    rs.repair(quick_path / "bad", quick_path / "good")
    kept = list(rs.RecordReader(quick_path / "good"))
    assert len(kept) > len(PAYLOADS) // 3
    assert set(kept) <= set(PAYLOADS)
