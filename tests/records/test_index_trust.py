"""An index is compared with its file: an old, foreign, damaged or misleading index never returns a wrong row."""

from __future__ import annotations

import os
import pickle
import random
import shutil
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from recordsmith import _core
from recordsmith.dataset.stored import PlaceTable
from recordsmith.records import index as index_module
from recordsmith.records.core_failures import StaleIndexError
from recordsmith.records.index import (
    ShardIndex,
    build_index,
    cache_paths,
    cached_index,
    keep_index,
    load_index,
    save_index,
)

COUNT = 1500  # the offsets are in three blocks
SCHEMA = rs.Schema({"n": rs.Scalar("int64"), "filler": rs.Bytes()})
HEADER = 88


@pytest.fixture(autouse=True)
def kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Indexes are kept although the files are small."""
    monkeypatch.setattr(index_module, "_WORTH_KEEPING", 0)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def write(path: Path, first: int = 0, count: int = COUNT, *, compression: str | None = None, filler: int = 7) -> Path:
    path.parent.mkdir(exist_ok=True)
    with rs.RecordWriter(path, compression=compression, sync=False) as writer:
        numbers = range(first + 2_000_000, first + 2_000_000 + count)  # all of them take as many bytes
        writer.write_columns({"n": numbers, "filler": [bytes(filler)] * count}, SCHEMA)
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write(tmp_path / "data" / "a.tfrecord")


def numbers_of(batches: Any) -> list[int]:
    return [n - 2_000_000 for batch in batches for n in batch["n"].tolist()]


def opened(path: Path) -> rs.Dataset:
    return rs.open(path, schema=SCHEMA)


def index_file(path: Path) -> Path:
    return Path(cache_paths(str(path))[0])


# --- of another file ---


@pytest.mark.parametrize("compression", [None, "gzip"])
def test_another_file_of_the_same_size_and_time(compression: str | None, path: Path):
    write(path, compression=compression, filler=7)
    assert len(opened(path)) == COUNT
    facts = path.stat()
    other = write(path.parent / "other", 5000, compression=compression, filler=7)
    content = other.read_bytes()
    other.write_bytes(content[: facts.st_size].ljust(facts.st_size, b"\0") if compression else content)
    os.utime(other, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    os.replace(other, path)
    assert path.stat().st_size == facts.st_size
    assert cached_index(path) is None


def test_written_over_in_place_with_the_time_set_back(path: Path):
    len(opened(path))
    facts = path.stat()
    path.write_bytes(write(path.parent / "other", 5000).read_bytes())
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert numbers_of(opened(path)[:3].batch(3)) == [5000, 5001, 5002]


@pytest.mark.parametrize("times", ["whole", "without fractions"])
def test_a_copy_with_its_index_needs_no_new_one(times: str, path: Path, monkeypatch: pytest.MonkeyPatch):
    len(opened(path))
    copied = path.parent.parent / "copied"
    shutil.copytree(path.parent, copied)
    if times == "without fractions":
        facts = path.stat()
        os.utime(copied / path.name, ns=(facts.st_atime_ns, facts.st_mtime_ns // 10**9 * 10**9))
    monkeypatch.setattr(_core, "build_index_file", None)
    monkeypatch.setattr(_core, "build_index", None)
    ds = opened(copied / path.name)
    assert sorted(numbers_of(ds.shuffle(seed=0).batch(64))) == list(range(COUNT))


def test_an_index_without_an_identity_is_not_believed(path: Path):
    whole = build_index(path)
    save_index(ShardIndex(str(path), whole.size, whole.modified, "none", whole.offsets[:101].copy()))
    assert len(opened(path)) == COUNT


# --- made to mislead ---


def ways_of_reading(ds: rs.Dataset) -> Iterator[tuple[str, Any]]:
    yield "shuffled", lambda: numbers_of(ds.shuffle(seed=0).batch(64))
    yield "in order", lambda: numbers_of(ds.batch(64))
    yield "a part", lambda: numbers_of(ds.skip(10).batch(64))
    yield "a slice", lambda: numbers_of(ds[1::2].batch(64))
    yield "rows", lambda: [row["n"] for row in ds[5:]]
    yield "raw", lambda: ds.raw(list(range(len(ds))))
    yield "by number", lambda: [ds[n] for n in range(len(ds))]
    yield "at once", lambda: ds[list(range(len(ds)))]
    yield "to_torch", lambda: list(ds.shuffle(seed=0).batch(64).to_torch())


@pytest.mark.parametrize("compression", [None, "gzip"])
@pytest.mark.parametrize("left_out", [1, 700, COUNT - 2])
def test_a_record_cannot_be_hidden(left_out: int, compression: str | None, path: Path):
    write(path, compression=compression)
    whole = build_index(path)

    def plant() -> None:
        save_index(replace(whole, offsets=np.delete(whole.offsets[:], left_out)))

    plant()
    if len(opened(path)) == COUNT:
        return  # detected from some of the records
    ways = [way for way, _ in ways_of_reading(opened(path))]
    for way in ways if compression is None else ways[:3]:
        if way == "to_torch":
            pytest.importorskip("torch")
        plant()
        ds = opened(path)
        assert len(ds) == COUNT - 1
        read = dict(ways_of_reading(ds))[way]
        with pytest.raises(StaleIndexError, match="index does not match its file"):
            read()
        assert len(opened(path)) == COUNT, f"{way}again to rebuild the index"


def test_copying_by_a_misleading_index_stops(path: Path, tmp_path: Path):
    whole = build_index(path)
    save_index(replace(whole, offsets=np.delete(whole.offsets[:], 700)))
    with pytest.raises(rs.ChangedFileError):
        rs.copy(str(path), str(tmp_path / "out"))


# --- damaged ---


@pytest.mark.parametrize("way", ["shuffled", "by number", "raw", "a slice"])
@pytest.mark.parametrize("damage", ["flipped", "cut", "gone"])
def test_a_damaged_index_is_built_anew_while_it_is_used(damage: str, way: str, path: Path):
    ds = opened(path)
    assert len(ds) == COUNT
    target = index_file(path)
    content = bytearray(target.read_bytes())
    content[HEADER + 8 * 700] ^= 1
    if damage == "flipped":
        with target.open("r+b") as file:
            file.write(content)
    elif damage == "cut":
        os.truncate(target, 0)
    else:
        target.unlink()
    read = dict(ways_of_reading(ds))[way]
    first = read()
    assert len(first) == (COUNT // 2 if way == "a slice" else COUNT)
    if way == "shuffled":
        assert sorted(first) == list(range(COUNT))
    assert load_index(path).records == COUNT


def test_a_thread_that_meets_damage_after_another_reads_from_the_new_index(path: Path):
    ds = opened(path)
    old = ds.places()
    with index_file(path).open("r+b") as file:
        file.seek(HEADER + 8 * 700)
        file.write(b"\xff")
    numbers = np.arange(COUNT, dtype=np.int64)

    def read(table: PlaceTable) -> list[bytes]:
        try:
            return table.files.read(numbers, True)
        except StaleIndexError:
            if threading.current_thread() is threading.main_thread():
                other.start()  # and replaces the index, before this thread can
                other.join()
            raise

    other = threading.Thread(target=lambda: ds._with_sound_index(read))
    assert len(ds._with_sound_index(read)) == COUNT
    assert ds.places() is not old


def with_valid_checksum(content: bytes, count: int) -> bytes:
    """The bytes of an index with the magic, the count and all checksums right."""
    body = content[HEADER : HEADER + 8 * count]
    header = b"RSINDEX2" + content[8:64] + struct.pack("<Q", count - 1) + content[72:80]
    sums = [_core.masked_crc32c(body[at : at + 4096]) for at in range(0, len(body), 4096)]
    return header + struct.pack("<Q", _core.masked_crc32c(header)) + body + struct.pack(f"<{len(sums)}I", *sums)


@pytest.mark.parametrize("seed", range(4))
def test_random_changes_of_an_index_give_no_wrong_row(seed: int, path: Path):
    chance = random.Random(seed)
    write(path, count=600)
    offsets = np.array(keep_index(path)[0].offsets[:])
    whole = index_file(path).read_bytes()
    for _ in range(60):
        content = bytearray(whole)
        kind = chance.randrange(4)
        if kind == 0:
            del content[chance.randrange(len(content)) :]
        elif kind == 1:
            content += chance.randbytes(chance.randrange(1, 40))
        for _ in range(chance.randrange(1, 4)):
            content[chance.randrange(len(content) or 1) : chance.randrange(len(content) or 1)] = b""
            if content:
                content[chance.randrange(len(content))] = chance.randrange(256)
        if kind == 2:
            content = bytearray(with_valid_checksum(bytes(content).ljust(len(whole), b"\0"), 601))
        elif kind == 3:  # offsets that fit the file, with some left out, twice or moved
            changed = np.sort(chance.choices(offsets.tolist(), k=chance.randrange(1, 601)))
            changed[0], changed[-1] = 0, offsets[-1]
            content = bytearray(with_valid_checksum(whole[:HEADER] + changed.astype("<u8").tobytes(), len(changed)))
        index_file(path).write_bytes(content)
        ds = opened(path)
        try:
            seen = numbers_of(ds.shuffle(seed=1).batch(50))
        except StaleIndexError:
            assert sorted(numbers_of(opened(path).shuffle(seed=1).batch(50))) == list(range(600))
        else:
            assert sorted(seen) == list(range(600))


# --- the file behind it ---


def test_another_process_notices_that_a_file_was_replaced(path: Path):
    ds = opened(path)
    len(ds)
    there = pickle.dumps(ds)
    assert len(pickle.loads(there)) == COUNT
    os.replace(write(path.parent / "other", 5000), path)
    with pytest.raises(rs.ChangedFileError, match="after another process opened"):
        len(pickle.loads(there))


@pytest.mark.parametrize("action", ["chmod", "link", "rename"])
def test_what_does_not_change_the_content_is_no_change(action: str, path: Path):
    ds = opened(path)
    batches = iter(ds.shuffle(seed=0).batch(100))
    seen = [next(batches)]
    if action == "chmod":
        path.chmod(0o600)
    elif action == "link":
        os.link(path, path.parent / "linked")
    else:
        os.rename(path, path.parent / "renamed")
    assert sorted(numbers_of([*seen, *batches])) == list(range(COUNT))


@pytest.mark.parametrize("compression", [None, "gzip"])
def test_shards_that_are_replaced_before_their_turn(compression: str | None, tmp_path: Path):
    files = [write(tmp_path / "data" / f"{shard}.tfrecord", 1000 * shard, 1000) for shard in range(3)]
    rows = iter(rs.open(tmp_path / "data", schema=SCHEMA))
    next(rows)
    os.replace(write(tmp_path / "other", 9000, 500, compression=compression), files[2])
    with pytest.raises(rs.ChangedFileError, match="replaced by another file"):
        list(rows)


def test_skipping_rows_does_not_skip_a_file_that_changed(path: Path):
    loader = opened(path).shuffle(seed=0).batch(50, on_error="skip")
    batches = iter(loader)
    next(batches)
    path.write_bytes(write(path.parent / "other", 5000).read_bytes()[:-40])
    with pytest.raises(rs.ChangedFileError):
        list(batches)


# --- many records, many files ---

PEAK = """
import sys, recordsmith as rs
ds = rs.open(sys.argv[1], schema=rs.Schema({}))
len(ds)
ds.raw([5, len(ds) - 1])
print(*(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


def test_memory_does_not_grow_with_the_number_of_records(tmp_path: Path):
    path = tmp_path / "r.tfrecord"
    with rs.RecordWriter(path, sync=False) as writer:
        writer.write(b"")
    block = path.read_bytes() * 65536
    peaks = []
    for blocks in (1, 48):
        path.write_bytes(block * blocks)
        for _ in range(2):  # once to build the index, which takes no memory either
            ended = subprocess.run([sys.executable, "-c", PEAK, str(path)], capture_output=True, text=True, check=True)
            peaks.append(int(ended.stdout) // 1024)
    assert max(peaks[2:]) < min(peaks[:2]) + 12, peaks  # the index has 25 MB


MANY = """
import resource, sys, recordsmith as rs
resource.setrlimit(resource.RLIMIT_NOFILE, (64, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
ds = rs.open(sys.argv[1], schema=rs.Schema({"n": rs.Scalar("int64"), "filler": rs.Bytes()}))
several = [iter(ds.shuffle(seed=seed).batch(50)) for seed in range(3)]
rows = [sum(len(batch["n"]) for batch in loader) for loader in several]
assert rows == [600] * 3, rows
assert len(ds.raw(list(range(600)))) == 600
assert ds.verify() == 600
assert sum(1 for _ in ds) == 600
"""


def test_more_shards_than_a_process_may_open(tmp_path: Path):
    for shard in range(200):
        write(tmp_path / "data" / f"train-{shard:05}-of-00200", shard, 3, filler=2_000_000 if shard == 7 else 10)
    subprocess.run([sys.executable, "-c", MANY, str(tmp_path / "data")], check=True)
