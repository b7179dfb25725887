"""The cache of blocks: its limit, damage, several processes, full disks, and what it never removes."""

import contextlib
import errno
import multiprocessing
import os
import time
from pathlib import Path

import pytest

from recordsmith.errors import RecordsmithError
from recordsmith.storage.ranged import block_cache
from recordsmith.storage.ranged.block_cache import BLOCK, BlockCache, cache_limit

NAME = "ab" * 16
OTHER = "cd" * 16
TRAILER = 8


def blocks_of(cache):
    return sorted(path.name for path in cache.folder.rglob("*.block"))


def bytes_of(cache):
    sizes = 0
    for path in cache.folder.rglob("*.block"):
        with contextlib.suppress(FileNotFoundError):  # another process has removed it
            sizes += path.stat().st_size
    return sizes


def test_a_block_comes_back_as_it_was_put_also_for_another_process(tmp_path):
    assert BlockCache(tmp_path, 10 * BLOCK).put(NAME, 3, b"x" * 100)
    assert BlockCache(tmp_path, 10 * BLOCK).read(NAME, 3, 10, 20, size=100) == b"x" * 10
    assert BlockCache(tmp_path, 10 * BLOCK).read(NAME, 4, 0, 1, size=100) is None


@pytest.mark.parametrize("damage", ["a flipped bit", "cut", "longer", "empty", "the checksum"])
def test_a_damaged_block_is_noticed_and_removed(tmp_path, damage):
    cache = BlockCache(tmp_path, 10 * BLOCK)
    cache.put(NAME, 0, bytes(range(200)))
    (path,) = tmp_path.rglob("*.block")
    stored = bytearray(path.read_bytes())
    if damage == "a flipped bit":
        stored[50] ^= 1
    elif damage == "the checksum":
        stored[-1] ^= 1
    path.write_bytes({"cut": stored[:-1], "longer": stored + b"x", "empty": b""}.get(damage, stored))
    assert BlockCache(tmp_path, 10 * BLOCK).read(NAME, 0, 0, 5, size=200) is None
    assert not path.exists()
    assert cache.put(NAME, 0, bytes(range(200)))


def test_the_limit_is_held_and_the_blocks_used_farthest_in_the_future_go(tmp_path):
    cache = BlockCache(tmp_path, 10 * (1000 + TRAILER))
    now = time.time()
    for number in range(10):
        assert cache.put(NAME, number, bytes(1000), expected=now + 100 * (number + 1))
    assert cache.put(OTHER, 0, bytes(1000), expected=now + 50)  # sooner than all
    assert f"{NAME}-9.block" not in blocks_of(cache)
    assert f"{NAME}-0.block" in blocks_of(cache)
    assert not cache.put(OTHER, 1, bytes(1000), expected=now + 10_000)  # later than all: not worth keeping
    assert not cache.put(OTHER, 2, bytes(1000))  # nobody knows: what is in use stays
    assert bytes_of(cache) <= cache.limit


def test_blocks_that_nobody_used_for_long_go_first(tmp_path):
    cache = BlockCache(tmp_path, 3 * (1000 + TRAILER))
    for number in range(3):
        cache.put(NAME, number, bytes(1000))
    old = time.time() - 7200
    os.utime(tmp_path / "ab" / f"{NAME}-1.block", (old, old))
    assert cache.put(OTHER, 0, bytes(1000))
    assert blocks_of(cache) == [f"{NAME}-0.block", f"{NAME}-2.block", f"{OTHER}-0.block"]


def test_a_block_that_is_being_read_stays_readable_when_it_is_removed(tmp_path):
    cache = BlockCache(tmp_path, BLOCK)
    cache.put(NAME, 0, b"y" * 1000)
    with open(tmp_path / "ab" / f"{NAME}-0.block", "rb") as reader:
        cache.empty()
        assert reader.read(1000) == b"y" * 1000


def test_only_its_own_files_are_removed(tmp_path):
    cache = BlockCache(tmp_path, 2 * (1000 + TRAILER))
    (tmp_path / "ab").mkdir()
    foreign = [tmp_path / "ab" / "notes.txt", tmp_path / "data.tfrecord", tmp_path / "ab" / f"{NAME}-x.block"]
    for path in foreign:
        path.write_text("mine")
    (tmp_path / "ab" / f"{OTHER}-7.block").symlink_to(foreign[1])
    for number in range(5):
        cache.put(NAME, number, bytes(1000), expected=time.time() - number)
    cache.empty()
    assert all(path.read_text() == "mine" for path in foreign)
    assert cache.use().blocks == 0


def test_a_full_disk_keeps_nothing_and_breaks_nothing(tmp_path, monkeypatch):
    cache = BlockCache(tmp_path, 100 * BLOCK)

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(block_cache.os, "utime", full)
        assert not cache.put(NAME, 0, bytes(1000), expected=time.time())
    assert bytes_of(cache) == 0
    monkeypatch.setattr(block_cache, "_REST", 0.0)
    cache._rest()
    assert cache.put(NAME, 0, bytes(1000))


def test_a_folder_that_cannot_be_written_keeps_nothing(tmp_path):
    (tmp_path / "file").write_text("")
    cache = BlockCache(tmp_path / "file" / "below", 100 * BLOCK)
    assert not cache.put(NAME, 0, bytes(1000))
    assert cache.read(NAME, 0, 0, 10, size=1000) is None
    assert cache.use().blocks == 0
    assert cache.empty() == 0


def test_what_a_killed_process_left_is_removed_and_not_counted(tmp_path, monkeypatch):
    cache = BlockCache(tmp_path, 2 * (1000 + TRAILER))
    left = tmp_path / "ab" / f"{NAME}-0.block.{'0' * 16}.partial"
    left.parent.mkdir()
    left.write_bytes(bytes(500))
    monkeypatch.setattr(block_cache, "_ABANDONED", -1.0)
    (tmp_path / "used").write_text("999999999")  # it had counted blocks that never came
    assert cache.put(NAME, 1, bytes(1000))
    assert not left.exists()
    assert int((tmp_path / "used").read_text()) == 1000 + TRAILER


def fill(folder, limit, start):
    cache = BlockCache(folder, limit)
    worst = 0
    for number in range(300):
        mine = (start + number) % 120
        data = bytes([mine]) * 10_000
        cache.put(NAME, mine, data, expected=time.time() + (mine * 37) % 120)
        found = cache.read(NAME, mine, 0, 10_000, size=10_000)
        assert found in (None, data)
        if number % 20 == 0:
            with cache._ledger():  # so that nothing is removed while it is counted
                worst = max(worst, bytes_of(cache))
    return worst


def test_four_processes_share_a_cache_below_its_limit(tmp_path):
    limit = 40 * 10_008
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        worst = pool.starmap(fill, [(tmp_path, limit, 30 * i) for i in range(4)])
    assert 0 < max(worst) <= limit
    cache = BlockCache(tmp_path, limit)
    assert cache.use().bytes == int((tmp_path / "used").read_text()) <= limit
    for number in range(120):
        assert cache.read(NAME, number, 0, 10_000, size=10_000) in (None, bytes([number]) * 10_000)


def test_a_limit_that_is_no_size_is_an_error(monkeypatch):
    monkeypatch.setenv("RECORDSMITH_CACHE_LIMIT", "plenty")
    with pytest.raises(RecordsmithError, match="RECORDSMITH_CACHE_LIMIT is not a size"):
        cache_limit()
    monkeypatch.setenv("RECORDSMITH_CACHE_LIMIT", "0")
    assert cache_limit() == 0
    assert not BlockCache(Path("/nowhere"), 0).put(NAME, 0, b"x")
