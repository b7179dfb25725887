"""Shuffling compressed files that do not fit into memory: nothing is lost or read twice, and how well it mixes."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from recordsmith.dataset.compressed import open_indexed
from recordsmith.loader.engine import feeding
from recordsmith.loader.fetching import read_windows
from recordsmith.loader.order import read_blocks
from recordsmith.loader.order.block_shuffle import BlockShuffled
from recordsmith.loader.order.read_blocks import Blocks
from recordsmith.loader.order.record_order import Records, Shuffled
from recordsmith.loader.order.shuffle_quality import shuffle_quality
from recordsmith.records.index import ShardIndex, build_index, save_index
from tests.loader.numbered import SCHEMA, numbers_of, write_numbered

FILES, ROWS = 5, 200

CHAINS: dict[str, Callable[[rs.Dataset], rs.Loader[Any]]] = {
    "shuffled": lambda ds: ds.shuffle(seed=3).batch(32),
    "filtered": lambda ds: ds.shuffle(seed=3).filter(lambda row: row["n"] % 3 == 0).batch(10),
    "repeated": lambda ds: ds.shuffle(seed=1).repeat(3).batch(50),
    "shard of a shuffle": lambda ds: ds.shuffle(seed=1).shard(1, 3).batch(8),
    "shuffle of a shard": lambda ds: ds.shard(1, 3).shuffle(seed=1).batch(8),
    "shuffle of a part": lambda ds: ds.skip(150).take(500).shuffle(seed=1).batch(8),
    "shuffle of a slice": lambda ds: ds[100:800:3].shuffle(seed=1).batch(8),
    "buckets": lambda ds: ds.shuffle(seed=2).bucket_batch("values", [2, 4], size=[5, 7, 9]),
    "not shuffled": lambda ds: ds.filter(lambda row: row["n"] % 2 == 0).batch(20),
    "mixed": lambda ds: ds.take(300).shuffle(seed=1).mix(ds.skip(300).shuffle(seed=2), weights=[0.3, 0.7]).batch(30),
    "balanced": lambda ds: ds.balance("label").batch(300),
}


@pytest.fixture
def ds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> rs.Dataset:
    """A dataset that is larger than the memory for decompressed data, by far."""
    monkeypatch.setattr(read_blocks, "CACHE_BYTES", 20_000)
    monkeypatch.setattr(read_blocks, "BLOCK_BYTES", 1_000)
    monkeypatch.setattr(feeding, "_TASK_BYTES", 2_000)  # as tasks are small beside windows in reality too
    for shard in range(FILES):
        compression = {0: None, 1: "zlib"}.get(shard, "gzip")
        write_numbered(tmp_path / f"a-{shard}.tfrecord", ROWS, ROWS * shard, compression=compression)
    return rs.open(str(tmp_path / "a-*"), schema=SCHEMA)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that were opened to be decompressed from their front, as often as they were."""
    paths: list[str] = []

    def counted(index: ShardIndex, *, verify: bool) -> Any:
        paths.append(index.path)
        return open_indexed(index, verify=verify)

    monkeypatch.setattr(read_windows, "open_indexed", counted)
    return paths


def rows(loader: Any) -> list[list[int]]:
    return [batch["n"].tolist() for batch in loader]


@pytest.mark.parametrize("threads", [0, 2, 4])
def test_every_row_comes_once_and_every_file_is_read_once(threads: int, ds: rs.Dataset, opened: list[str]):
    loader = ds.shuffle(seed=3).batch(16, threads=threads)
    first = numbers_of(loader)
    assert sorted(first) == list(range(FILES * ROWS))
    assert len(opened) == len(set(opened)) == FILES - 1  # one is not compressed
    second = numbers_of(loader)
    assert sorted(second) == sorted(first)
    assert second != first
    assert first == numbers_of(ds.shuffle(seed=3).batch(100, threads=0))


def test_rows_are_those_of_their_records(ds: rs.Dataset):
    assert ds.shuffle(seed=3).batch(32).pairs(["text", "values"], "proof").verify_pairs(500) == 500


@pytest.mark.parametrize("name", CHAINS)
def test_the_rest_is_the_same(name: str, ds: rs.Dataset):
    chain = CHAINS[name]
    first = rows(chain(ds))
    for count in (1, len(first) // 2, len(first) - 1):
        stopped = chain(ds)
        batches = iter(stopped)
        before = [next(batches)["n"].tolist() for _ in range(count)]
        state = json.loads(json.dumps(stopped.state()))
        batches.close()  # type: ignore[attr-defined]
        assert before + rows(chain(ds).restore(state)) == first


def test_ranks_have_everything_once(ds: rs.Dataset):
    shares = [numbers_of(ds.shuffle(seed=1).shard(rank, 3).batch(8)) for rank in range(3)]
    assert sorted(n for share in shares for n in share) == list(range(FILES * ROWS))


def test_what_fits_into_memory_is_shuffled_exactly(ds: rs.Dataset, monkeypatch: pytest.MonkeyPatch):
    in_blocks = ds.shuffle(seed=3).batch(16)
    monkeypatch.setattr(read_blocks, "CACHE_BYTES", 1 << 20)
    exact = ds.shuffle(seed=3).batch(16)
    order = Shuffled(Records(FILES * ROWS), 3).at(0, np.arange(FILES * ROWS)).numbers
    assert numbers_of(exact) == order.tolist()
    assert (exact.shuffle_quality.kind, in_blocks.shuffle_quality.kind) == ("exact", "blocks")
    assert "parts=" in repr(in_blocks)
    with pytest.raises(rs.PipelineError, match="another chain"):
        exact.restore(in_blocks.state())


def test_a_damaged_file_costs_its_own_records_only(ds: rs.Dataset):
    path = Path(ds.files[3])
    data = bytearray(path.read_bytes())
    data[len(data) // 2 :] = bytes(len(data) - len(data) // 2)
    whole = build_index(path)
    path.write_bytes(data)
    facts = path.stat()
    damaged = replace(whole, inode=facts.st_ino, modified=facts.st_mtime_ns, changed=facts.st_ctime_ns)
    save_index(replace(damaged, noted=facts.st_ctime_ns + 10**9))  # as if the disk had done it
    with pytest.raises(rs.RecordsmithError):
        numbers_of(ds.shuffle(seed=3).batch(16))
    loader = ds.shuffle(seed=3).batch(16, on_error="skip")
    fed = numbers_of(loader)
    lost = set(range(FILES * ROWS)) - set(fed)
    assert lost <= set(range(3 * ROWS, 4 * ROWS))
    assert 0 < len(lost) == loader.skipped.count < ROWS


def test_orders_of_known_seeds_are_pinned():
    """Whoever resumes a run, or repeats one from a paper, relies on these values."""
    order = sorted_files(files=2, blocks=3, window=2)
    assert order.at(0, np.arange(6)).numbers.tolist() == [3, 33, 30, 0, 36, 1]
    assert sorted(order.at(1, np.arange(order.length)).numbers.tolist()) == list(range(order.length))


def sorted_files(*, files: int, blocks: int, window: int) -> BlockShuffled:
    """A shuffle of files of so many blocks of ten records, of which so many are in memory at a time."""
    starts = np.arange(files * blocks + 1) * 10
    cut = Blocks(np.repeat(np.arange(files), blocks), starts, np.full(files * blocks, 100), 100 * window)
    return BlockShuffled(Records(files * blocks * 10), cut, starts, seed=0)


@pytest.mark.parametrize(("files", "spread"), [(1, 0.1), (8, 0.2), (64, 0.7), (1000, 0.6)])
def test_how_well_it_mixes_sorted_data(files: int, spread: float):
    """These are the figures in docs/loading.md: shards of 140 MB, of which 128 MB are in memory."""
    quality = shuffle_quality(sorted_files(files=files, blocks=140, window=128))
    assert quality.spread > spread
    assert quality.rows <= 1280


def test_files_that_are_each_sorted_are_mixed_where_there_are_many():
    order = sorted_files(files=200, blocks=140, window=128)
    starts = np.linspace(0, order.length - 64, 50).astype(np.int64)
    tenths = [order.at(0, np.arange(start, start + 64)).numbers % 1400 // 140 for start in starts.tolist()]
    assert np.mean([len(np.unique(batch)) for batch in tenths]) > 8.5
