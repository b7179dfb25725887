"""The index: where it is kept, when it is believed, and the text forms that others read."""

from __future__ import annotations

import gzip
import importlib.util
import os
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from recordsmith import _core
from recordsmith.records import index as index_module
from recordsmith.records.index import build_index, cache_paths, cached_index, export_index, load_index, save_index
from tests.made_records import file_bytes, masked_crc32c, starts
from tests.mounted_disk import make_read_only, mounted_disk

PAYLOADS = [b"foo", b"", b"x" * 100, b"bar"] * 50
STARTS = starts(PAYLOADS)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file whose index is kept although it is small, in a folder of its own."""
    monkeypatch.setattr(index_module, "_WORTH_KEEPING", 0)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "data").mkdir()
    path = tmp_path / "data" / "some.tfrecord"
    path.write_bytes(file_bytes(PAYLOADS))
    return path


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that an index was built for, in order."""
    found: list[str] = []

    def noticing(original: Callable[..., Any]) -> Callable[..., Any]:
        def noticed(path: str, *rest: Any) -> Any:
            found.append(os.path.basename(path))
            return original(path, *rest)

        return noticed

    for name in ("build_index", "build_index_file"):
        monkeypatch.setattr(_core, name, noticing(getattr(_core, name)))
    return found


def beside(path: Path) -> Path:
    return path.parent / ".recordsmith" / f"{path.name}.index"


# --- building ---


@pytest.mark.parametrize("compression", [None, "gzip", "zlib"])
def test_offsets_lengths_and_count(compression: str | None, path: Path):
    compress: Any = {None: bytes, "gzip": gzip.compress, "zlib": zlib.compress}[compression]
    path.write_bytes(compress(file_bytes(PAYLOADS)))
    index = build_index(path)
    assert index.offsets.tolist() == STARTS
    assert index.lengths.tolist() == [len(payload) for payload in PAYLOADS]
    assert index.records == len(PAYLOADS)
    assert index.compression == (compression or "none")
    assert index.size == path.stat().st_size


@pytest.mark.parametrize(
    "sizes", [[], [0], [20_000], [20_000] * 30, [5, 20_000, 5, 9000, 8192, 8191, 300_000, 1, 1, 1]]
)
def test_records_of_all_sizes(sizes: list[int], tmp_path: Path):
    """Over large records the index hops from header to header; small ones it reads through."""
    payloads = [bytes(size) for size in sizes]
    path = tmp_path / "sizes.tfrecord"
    with rs.RecordWriter(path) as writer:
        for payload in payloads:
            writer.write(payload)
    assert build_index(path).offsets.tolist() == starts(payloads)


def test_a_damaged_file_has_no_index(path: Path):
    content = path.read_bytes()
    path.write_bytes(content[: STARTS[10]] + b"\xff" + content[STARTS[10] + 1 :])
    with pytest.raises(rs.CorruptRecordError, match="record 10"):
        load_index(path)
    path.write_bytes(content[:-1])
    with pytest.raises(rs.TruncatedFileError, match="record 199"):
        load_index(path)
    assert not beside(path).exists()


def test_damaged_data_does_not_matter_to_the_index(path: Path):
    content = bytearray(path.read_bytes())
    content[STARTS[10] + 14] ^= 1
    path.write_bytes(content)
    assert build_index(path).offsets.tolist() == STARTS


# --- the cache ---


def test_the_log_says_what_was_indexed(path: Path, caplog: pytest.LogCaptureFixture):
    with caplog.at_level("INFO", logger="recordsmith"):
        load_index(path)
        load_index(path)
    assert caplog.messages == [f"{path}: indexed 200 records into {cache_paths(str(path))[0]}"]


def test_it_is_kept_beside_the_data_and_believed(path: Path, built: list[str]):
    first = load_index(path)
    assert beside(path).is_file()
    second = load_index(path)
    assert built == ["some.tfrecord"]
    assert second.offsets.tolist() == first.offsets.tolist() == STARTS
    assert (second.size, second.modified, second.compression) == (first.size, first.modified, first.compression)
    assert os.listdir(path.parent / ".recordsmith") == ["some.tfrecord.index"]


def test_it_is_not_taken_for_data(path: Path):
    load_index(path)
    assert rs.open(path.parent).files == (str(path),)
    assert rs.open(path.parent / "*").files == (str(path),)


@pytest.mark.parametrize("change", ["size", "modified", "both", "replaced"])
def test_another_state_of_the_file_is_indexed_anew(change: str, path: Path, built: list[str]):
    load_index(path)
    facts = path.stat()
    payloads = PAYLOADS
    if change in ("size", "both"):
        payloads = [*PAYLOADS, b"more"]
        path.write_bytes(file_bytes(payloads))
    if change == "size":
        os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    if change == "modified":
        os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns + 1))
    if change == "replaced":
        payloads = [b"other", b"records"]
        other = path.parent / "other"
        other.write_bytes(file_bytes(payloads))
        other.replace(path)
    assert load_index(path).offsets.tolist() == starts(payloads)
    assert built == ["some.tfrecord"] * 2
    assert load_index(path).offsets.tolist() == starts(payloads)
    assert built == ["some.tfrecord"] * 2  # the new one is kept


def damage_of(kind: str, content: bytes) -> bytes:
    match kind:
        case "empty":
            return b""
        case "cut in the header":
            return content[:20]
        case "cut in the offsets":
            return content[:-8]
        case "cut by a byte":
            return content[:-1]
        case "longer":
            return content + bytes(8)
        case "garbage":
            return os.urandom(len(content))
        case "another version":
            return b"RSINDEX1" + content[8:]
        case "a flipped offset":
            return content[:100] + bytes([content[100] ^ 1]) + content[101:]
        case "an unknown compression":
            return with_checksum(content[:56] + struct.pack("<Q", 9) + content[64:])
    return with_checksum(content[:64] + struct.pack("<Q", 2**61) + content[72:])  # a number of records that cannot be


def with_checksum(content: bytes) -> bytes:
    return content[:80] + struct.pack("<Q", masked_crc32c(content[:80])) + content[88:]


@pytest.mark.parametrize(
    "kind",
    [
        "empty",
        "cut in the header",
        "cut in the offsets",
        "cut by a byte",
        "longer",
        "garbage",
        "another version",
        "a flipped offset",
        "an unknown compression",
        "an impossible count",
    ],
)
def test_a_damaged_index_is_not_believed(kind: str, path: Path, built: list[str]):
    load_index(path)
    whole = beside(path).read_bytes()
    beside(path).write_bytes(damage_of(kind, whole))
    assert load_index(path).offsets.tolist() == STARTS
    assert built == ["some.tfrecord"] * 2
    assert cached_index(path) is not None  # and it is kept


def test_every_single_bit_of_an_index_counts(path: Path):
    path.write_bytes(file_bytes(PAYLOADS[:4]))
    load_index(path)
    whole = beside(path).read_bytes()
    assert cached_index(path) is not None
    for bit in range(8 * len(whole)):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        beside(path).write_bytes(damaged)
        assert cached_index(path) is None, bit


def test_an_index_of_another_file_is_not_believed(path: Path, built: list[str]):
    load_index(path)
    other = path.parent / "other.tfrecord"
    other.write_bytes(file_bytes([b"one"]))
    beside(path).rename(beside(other))
    assert load_index(other).records == 1
    assert built == ["some.tfrecord", "other.tfrecord"]


def test_where_the_folder_cannot_be_written_the_users_cache_is(path: Path, built: list[str], tmp_path: Path):
    (path.parent / ".recordsmith").write_text("a file is in the way, which stops root too")
    load_index(path)
    kept = cache_paths(str(path))[1]
    assert Path(kept).parent == tmp_path / "cache" / "recordsmith"
    assert Path(kept).is_file()
    load_index(path)
    assert built == ["some.tfrecord"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder(path: Path, built: list[str]):
    path.parent.chmod(0o555)
    try:
        load_index(path)
        load_index(path)
    finally:
        path.parent.chmod(0o755)
    assert built == ["some.tfrecord"]
    assert Path(cache_paths(str(path))[1]).is_file()


def test_a_read_only_disk(built: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(index_module, "_WORTH_KEEPING", 0)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with mounted_disk(tmp_path / "disk", "1m") as disk:
        path = disk / "some.tfrecord"
        path.write_bytes(file_bytes(PAYLOADS))
        make_read_only(disk)
        assert load_index(path).offsets.tolist() == load_index(path).offsets.tolist() == STARTS
        assert rs.open(path).raw(2) == PAYLOADS[2]
        kept = cache_paths(str(path))[1]
    assert Path(kept).is_file()
    assert built == ["some.tfrecord"]


def test_where_nothing_can_be_written_it_works_all_the_same(path: Path, built: list[str], tmp_path: Path):
    (path.parent / ".recordsmith").touch()
    (tmp_path / "cache").touch()
    assert load_index(path).records == load_index(path).records == 200
    assert built == ["some.tfrecord"] * 2
    with pytest.raises(OSError, match="writable for the index"):
        save_index(build_index(path))


def test_the_users_cache_without_xdg(path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache_paths(str(path))[1].startswith(str(tmp_path / "home" / ".cache" / "recordsmith"))


def test_two_files_of_one_name_have_two_places_in_the_users_cache(tmp_path: Path):
    assert cache_paths(str(tmp_path / "a" / "x"))[1] != cache_paths(str(tmp_path / "b" / "x"))[1]


def test_small_files_are_not_worth_keeping(path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(index_module, "_WORTH_KEEPING", path.stat().st_size + 1)
    load_index(path)
    assert not beside(path).exists()
    monkeypatch.setattr(index_module, "_WORTH_KEEPING", path.stat().st_size)
    load_index(path)
    assert beside(path).exists()


def test_files_from_a_megabyte_on_are_worth_keeping(tmp_path: Path):
    for size, kept in (((1 << 20) - 17, False), ((1 << 20) - 16, True)):
        path = tmp_path / f"{size}.tfrecord"
        with rs.RecordWriter(path, sync=False) as writer:
            writer.write(bytes(size))
        load_index(path)
        assert beside(path).exists() is kept


def test_without_the_cache_nothing_is_read_or_left(path: Path, built: list[str]):
    load_index(path, use_cache=False)
    assert not beside(path).exists()
    load_index(path)
    load_index(path, use_cache=False)
    load_index(path, rebuild=True)
    assert len(built) == 4


def test_another_compression_than_the_cached_one(path: Path):
    path.write_bytes(gzip.compress(file_bytes(PAYLOADS)))
    assert load_index(path).compression == "gzip"
    assert load_index(path, "gzip").records == 200
    with pytest.raises(rs.NotTFRecordError, match="gzip"):
        load_index(path, None)
    with pytest.raises(rs.CompressionError):
        load_index(path, "zlib")


def test_datasets_use_it(path: Path, built: list[str]):
    assert len(rs.open(path)) == 200
    assert rs.open(path).raw([199, 2]) == [b"bar", b"x" * 100]
    assert built == ["some.tfrecord"]


# --- what others read ---


def tfrecord2idx(content: bytes) -> str:
    """What NVIDIA's script of this name writes: it hops over the lengths and prints where it was and how far it got."""
    lines = []
    at = 0
    while at < len(content):
        (length,) = struct.unpack_from("<Q", content, at)
        lines.append(f"{at} {length + 16}\n")
        at += length + 16
    return "".join(lines)


def test_the_index_of_dali(path: Path):
    written = export_index(path, format="dali")
    assert written == f"{path}.idx"
    assert Path(written).read_text() == tfrecord2idx(path.read_bytes())


@pytest.mark.skipif(importlib.util.find_spec("tfrecord") is None, reason="tfrecord is not installed")
def test_the_index_of_the_tfrecord_package(path: Path, tmp_path: Path):
    theirs = tmp_path / "theirs"
    # In a process of its own: it registers the same protobuf names as TensorFlow.
    subprocess.run([sys.executable, "-m", "tfrecord.tools.tfrecord2idx", str(path), str(theirs)], check=True)
    written = export_index(path, format="vahidk")
    assert written == str(path.with_suffix(".tfindex"))
    assert Path(written).read_text() == theirs.read_text()
    assert np.loadtxt(written, dtype=np.int64)[:, 0].tolist() == STARTS[:-1]


def test_a_text_index_elsewhere(path: Path, tmp_path: Path):
    target = tmp_path / "mine.txt"
    target.write_text("old")
    assert export_index(path, target, format="dali") == str(target)
    assert target.read_text() == tfrecord2idx(path.read_bytes())
    assert sorted(os.listdir(path.parent)) == [".recordsmith", "some.tfrecord"]


def test_the_text_index_of_an_empty_file(tmp_path: Path):
    (tmp_path / "empty.tfrecord").touch()
    assert Path(export_index(tmp_path / "empty.tfrecord", format="dali")).read_text() == ""


def test_compressed_files_have_no_text_index(path: Path):
    path.write_bytes(gzip.compress(file_bytes(PAYLOADS)))
    with pytest.raises(rs.CompressionError, match="a text index cannot give the positions of its records"):
        export_index(path, format="vahidk")
    with pytest.raises(rs.RecordsmithError, match="Unknown index format"):
        export_index(path, format="tfr")  # type: ignore[arg-type]
