"""Damaged gzip and zlib: all that can be inflated, wherever inflating can begin again."""

from __future__ import annotations

import gzip
import random
import zlib
from pathlib import Path

import pytest

import recordsmith as rs
from recordsmith.repairing.damaged_file import look_at
from tests.made_records import file_bytes
from tests.repairing.damages import Damage, check_kept, kept_payloads, payloads_of

SOURCE = random.Random(1)
IMAGES = [SOURCE.randbytes(SOURCE.randrange(500, 9000)) for _ in range(120)]  # as hard to compress as JPEG
ROWS = [rs.encode_example({"number": number, "text": b"some text %d" % (number * 7919)}) for number in range(3000)]


def flushed(content: bytes, every: int, *, window_bits: int) -> bytes:
    compressor = zlib.compressobj(6, zlib.DEFLATED, window_bits)
    parts = []
    for at in range(0, len(content), every):
        parts += [compressor.compress(content[at : at + every]), compressor.flush(zlib.Z_FULL_FLUSH)]
    return b"".join([*parts, compressor.flush()])


def test_each_byte_of_a_small_file(tmp_path: Path) -> None:
    """Whatever is changed, cut or removed: nothing is made up, and a sound beginning is kept.

    Compressed data copies from what came before, so that a change may copy an earlier record once more.
    """
    path = tmp_path / "bad.tfrecord.gz"
    payloads = [SOURCE.randbytes(30) for _ in range(8)]
    for whole in (gzip.compress(file_bytes(payloads), mtime=0), zlib.compress(file_bytes(payloads))):
        for at in range(len(whole)):
            for damage in (
                Damage("flip", at, 1, bytes([whole[at] ^ 4])),
                Damage("cut", at, len(whole) - at, b""),
                Damage("remove", at, 1, b""),
            ):
                path.write_bytes(damage.done_to(whole))
                assert set(kept_payloads(path)) <= set(payloads)
        for end in (len(whole) // 2, len(whole) - 1):
            path.write_bytes(whole[:end])
            check_kept(payloads, set(range(end * 8 // len(whole) - 1)), kept_payloads(path))


@pytest.mark.parametrize("compress", [gzip.compress, zlib.compress], ids=["gzip", "zlib"])
def test_images_come_back_behind_the_damage(compress: object, tmp_path: Path) -> None:
    path = tmp_path / "bad.tfrecord.gz"
    whole = compress(file_bytes(IMAGES))  # type: ignore[operator]
    half = len(whole) // 2
    for damage, most_lost in [
        (Damage("flip", half, 1, bytes([whole[half] ^ 0x55])), 1),
        (Damage("zeros", half, 4096, bytes(4096)), 3),
        (Damage("remove", half, 99, b""), 40),
        (Damage("insert", half, 0, b"garbage" * 9), 40),
        (Damage("beginning", 0, 2, b"\0\0"), 0),
    ]:
        path.write_bytes(damage.done_to(whole))
        kept = kept_payloads(path)
        check_kept(IMAGES, set(), kept)
        assert len(kept) >= len(IMAGES) - most_lost, damage.kind
        assert damage.kind == "beginning" or kept[-1] == IMAGES[-1]


def test_every_other_member_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "bad.tfrecord.gz"
    members = [gzip.compress(file_bytes(ROWS[at : at + 300])) for at in range(0, 3000, 300)]
    members[4] = Damage("zeros", 200, 100, bytes(100)).done_to(members[4])
    path.write_bytes(b"".join(members))
    kept = kept_payloads(path)
    check_kept(ROWS, set(range(1200)) | set(range(1500, 3000)), kept)


@pytest.mark.parametrize("window_bits", [15, 31], ids=["zlib", "gzip"])
def test_everything_behind_a_full_flush_is_kept(window_bits: int, tmp_path: Path) -> None:
    path = tmp_path / "bad.tfrecord.gz"
    content = file_bytes(ROWS)
    whole = flushed(content, 20_000, window_bits=window_bits)
    path.write_bytes(Damage("remove", len(whole) // 2, 50, b"").done_to(whole))
    kept = kept_payloads(path)
    check_kept(ROWS, set(range(1300)) | set(range(1850, 3000)), kept)


def test_the_gap_is_told(tmp_path: Path) -> None:
    path, good = tmp_path / "bad.tfrecord.gz", tmp_path / "good.tfrecord.gz"
    whole = gzip.compress(file_bytes(ROWS))
    path.write_bytes(whole[: len(whole) // 2])
    result = rs.repair(path, good)
    (file,) = result.files
    assert file.compression == "gzip"
    assert [(gap.reason, gap.end) for gap in file.gaps] == [("cut-off", len(whole) // 2)]
    assert not result.ok
    assert good.read_bytes()[:2] == b"\x1f\x8b"
    assert list(rs.RecordReader(good)) == ROWS[: result.records]
    assert result.records > 1200


def test_a_wrong_checksum_of_the_stream_loses_nothing(tmp_path: Path) -> None:
    path, good = tmp_path / "bad.tfrecord.gz", tmp_path / "good.tfrecord.gz"
    whole = gzip.compress(file_bytes(ROWS))
    path.write_bytes(whole[:-8] + bytes(8))
    result = rs.repair(path, good)
    assert result.ok
    assert not result.files[0].is_undamaged
    assert list(rs.RecordReader(good)) == ROWS


def test_nothing_is_left_in_the_folder(tmp_path: Path) -> None:
    path = tmp_path / "bad.tfrecord.gz"
    path.write_bytes(gzip.compress(file_bytes(ROWS))[:5000])
    rs.repair(path, tmp_path / "out" / "good.tfrecord.gz")
    assert [entry.name for entry in (tmp_path / "out").iterdir()] == ["good.tfrecord.gz"]
    with look_at(str(path), scratch=str(tmp_path)) as file:
        assert payloads_of(file.kept_frames()) == ROWS[: file.records]
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["bad.tfrecord.gz", "out"]
