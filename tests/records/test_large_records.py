"""Records past 2 GiB: carried raw, refused in words as Examples."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import recordsmith as rs

SIZE = 2**31 + 5

pytestmark = pytest.mark.proof  # several GiB beside the memory of all other tests


@pytest.fixture
def room(tmp_path: Path) -> Path:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")
    disk = os.statvfs(tmp_path)
    if memory < 9 * 2**30 or disk.f_bavail * disk.f_frsize < 3 * 2**30:
        pytest.skip("a record of 2 GiB needs 9 GiB of free memory and 3 GiB of disk")
    return tmp_path


def test_a_payload_past_2_gib_is_written_and_read_and_refused_as_an_example(room: Path) -> None:
    path = room / "large.tfrecord"
    with rs.RecordWriter(path, sync=False) as writer:
        writer.write(bytes(SIZE))
        writer.write(b"after")
    ds = rs.open(path)
    assert len(ds) == 2
    assert ds.raw(1) == b"after"
    assert ds.verify(threads=1) == 2
    payload = next(rs.RecordReader(path))
    assert len(payload) == SIZE
    with pytest.raises(rs.CorruptRecordError, match=r"not a tf\.train\.Example"):
        rs.decode_example(payload)
    path.unlink()


def test_an_example_past_2_gib_is_refused_in_words(room: Path) -> None:
    with (
        pytest.raises(rs.EncodeError, match="a protobuf message is limited to 2 GiB") as caught,
        rs.RecordWriter(room / "example.tfrecord") as writer,
    ):
        writer.write_columns({"blob": [b"small", bytes(SIZE)]}, rs.Schema({"blob": rs.Bytes()}))
    assert caught.value.row == 1
    assert list(room.iterdir()) == []
