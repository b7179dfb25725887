"""The cache keeps what is used soonest, in every order: fewer bytes are fetched than by keeping what came first."""

from __future__ import annotations

import time

import numpy as np
import pytest

import recordsmith as rs
from recordsmith.loader.fetching.next_uses import NextUses
from recordsmith.loader.fetching.reading_ahead import ReadAhead
from recordsmith.loader.fetching.record_fetching import Fetcher
from recordsmith.loader.order.record_order import AllRecords, Repeated, Shard, Shuffled
from recordsmith.storage.ranged import block_cache, opening, remote_object
from recordsmith.storage.ranged.block_cache import BLOCK
from tests.storage.ranged.remote_data import upload

pytest.importorskip("obstore")

ROWS = 60
SCHEMA = rs.Schema({"n": rs.Scalar("int64"), "data": rs.Bytes()})


def one_block(n: int) -> bytes:
    """Return a payload whose record is as large as a block, so that each record is one."""
    wanted = BLOCK - 16
    data = np.random.default_rng(n).bytes(wanted)
    return rs.encode_example({"n": n, "data": data[: 2 * wanted - len(rs.encode_example({"n": n, "data": data}))]})


@pytest.fixture
def remote(tmp_path, s3_url, monkeypatch):
    monkeypatch.setenv("RECORDSMITH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "indexes"))
    (tmp_path / "data").mkdir()
    for file in range(2):
        with rs.RecordWriter(tmp_path / "data" / f"{file}.tfrecord", sync=False) as writer:
            for n in range(file, ROWS, 2):
                writer.write(one_block(n))
        assert (tmp_path / "data" / f"{file}.tfrecord").stat().st_size == BLOCK * ROWS // 2
    opening._objects.clear()
    remote_object._arrived.forget()
    return upload(tmp_path / "data", s3_url)


@pytest.fixture
def fetched(monkeypatch):
    """How many bytes came over the network."""
    counted = [0]
    get = remote_object.RemoteObject._get

    def count(self, begin, end):
        counted[0] += end - begin
        return get(self, begin, end)

    monkeypatch.setattr(remote_object.RemoteObject, "_get", count)
    return counted


def wait_until_known(loader_files):
    for _ in range(200):
        if all(opening.open_object(file).next_use is not None for file in loader_files):
            return
        time.sleep(0.02)
    raise AssertionError("the next uses were never told")


@pytest.mark.parametrize("kind", ["exact", "buffer", "in order"])
def test_a_block_is_used_next_where_the_order_says(remote, monkeypatch, kind):
    monkeypatch.setenv("RECORDSMITH_CACHE_LIMIT", "10MB")
    ds = rs.open(remote, schema=SCHEMA)
    orders = {
        "exact": Shuffled(AllRecords(ds), 5),
        "buffer": Repeated(Shard(AllRecords(ds), 0, 2, "even"), 2),
        "in order": AllRecords(ds),
    }
    order = orders[kind]
    uses = NextUses((ds,), order, [None])
    uses.reached(epoch=3, position=0)
    wait_until_known(ds.files)
    table = ds.places()
    for position in (0, order.length // 2, order.length - 1):
        uses.reached(3, position)
        numbers = [order.at(epoch, np.arange(order.length)).numbers.tolist() for epoch in (3, 4)]
        sequence = numbers[0] + numbers[1]
        for file, index in enumerate(table.indexes):
            remote_file = opening.open_object(index.path)
            when = remote_file.next_use
            assert when is not None
            found = [when(block) for block in range(-(-remote_file.size // BLOCK))]
            expected = []
            for block in range(len(found)):
                touching = {
                    int(table.starts[file]) + record
                    for record in range(index.records)
                    if index.offsets[record] < (block + 1) * BLOCK and index.offsets[record + 1] > block * BLOCK
                }
                later = [at for at in range(position + 1, len(sequence)) if sequence[at] in touching]
                expected.append(min(later, default=2 * order.length))
            # Times are estimates; which block comes before which is not.
            assert np.argsort(found, kind="stable").tolist() == np.argsort(expected, kind="stable").tolist()


def misses(sequence, room, *, soonest):
    """Return how many uses find their block gone: if those used soonest stay, or those used last."""
    kept: dict[int, int] = {}
    missed = 0
    for at, block in enumerate(sequence):
        missed += block not in kept
        later = next((when for when in range(at + 1, len(sequence)) if sequence[when] == block), len(sequence))
        kept[block] = -later if soonest else at
        if len(kept) > room:
            del kept[min(kept, key=kept.__getitem__)]
    return missed


@pytest.mark.parametrize("kind", ["in order", "exact", "mixed"])
def test_no_cache_could_save_more_requests(remote, monkeypatch, fetched, kind):
    monkeypatch.setattr(remote_object, "MEMORY", 4 << 20)
    monkeypatch.setattr(Fetcher, "read_ahead", lambda _: ReadAhead(1 << 20, 1 << 20))
    monkeypatch.setattr(block_cache, "_REST", 0.0)
    limit = 20 * (BLOCK + 8)
    dataset = rs.open(remote, schema=SCHEMA, cache=limit)
    chain = dataset.take(ROWS)
    if kind == "exact":
        chain = dataset.shuffle(seed=1, exact=True)
    elif kind == "mixed":  # some rows come more often
        rest = dataset[12:].shuffle(seed=1, exact=True)
        chain = dataset[:12].shuffle(seed=2, exact=True).mix(rest, weights=[0.5, 0.5])
    loader = chain.batch(2).prefetch(1)
    sequence = [n for batch in loader for n in batch["n"].tolist()]
    fetched[0] = 0
    for _ in range(4):
        sequence += [n for batch in loader for n in batch["n"].tolist()]
    length = len(sequence) // 5
    best, usual = (
        misses(sequence, 20, soonest=soonest) - misses(sequence[:length], 20, soonest=soonest)
        for soonest in (True, False)
    )
    # Some blocks may come twice: an epoch is a while under way before its uses are known.
    assert fetched[0] / BLOCK <= min(1.1 * best + 12, usual - 1)
    assert best < usual


def test_the_cache_argument_limits_what_is_kept(remote, tmp_path, monkeypatch):
    def kept():
        return sum(path.stat().st_size for path in (tmp_path / "cache").rglob("*.block"))

    for _ in rs.open(remote, schema=SCHEMA, cache="8MB").batch(4):
        assert kept() <= 8_000_000
    assert kept() > 4_000_000
    block_cache.shared_cache().empty()
    opening._objects.clear()
    remote_object._arrived.forget()
    list(rs.open(remote, schema=SCHEMA, cache=0).batch(4))
    assert kept() == 0
    with pytest.raises(rs.RecordsmithError, match="cache is not a size"):
        rs.open(remote, schema=SCHEMA, cache="plenty")


def test_the_cache_argument_reaches_other_processes(remote):
    import pickle

    ds = pickle.loads(pickle.dumps(rs.open(remote, schema=SCHEMA, cache="3MB")))
    assert opening.open_object(ds.files[0]).cache().limit == 3_000_000
