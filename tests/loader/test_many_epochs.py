"""A thousand epochs, most of them left early: nothing that belongs to one stays behind."""

from __future__ import annotations

import gc
import itertools
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import recordsmith as rs
from recordsmith.loader.fetching.read_windows import WindowedReading
from recordsmith.loader.order import read_blocks
from tests.loader.numbered import SCHEMA, write_numbered

CHAINS: dict[str, Callable[[rs.Dataset], rs.Loader[Any]]] = {
    "in order": lambda ds: ds.batch(16),
    "shuffled": lambda ds: ds.shuffle(seed=3).batch(16, threads=3),
    "filtered": lambda ds: ds.shuffle(seed=3).filter(lambda row: row["n"] % 3 == 0).batch(10),
    "mapped": lambda ds: ds.map(lambda row: {"n": row["n"]}).batch(16).prefetch(2),
    "buffer": lambda ds: ds.shuffle(seed=0, buffer=20).repeat(2).batch(16),
    "buckets": lambda ds: ds.shard(0, 2).bucket_batch("values", [2, 4], size=8),
    "padded": lambda ds: ds.take(90).skip(10).padded_batch(16).pairs("values", "label"),
    "mixed": lambda ds: ds.take(50).mix(ds.skip(50)).batch(16).repeat(2),
    "balanced": lambda ds: ds.balance("label").batch(16),
    "skipping": lambda ds: ds.shuffle(seed=1).batch(16, on_error="skip"),
}
EPOCHS = 1000


class Held:
    """What this process holds: threads, file descriptors, mappings, and memory of its own."""

    def __init__(self) -> None:
        self.threads = threading.active_count()
        self.descriptors = len(os.listdir("/proc/self/fd"))
        self.mappings = Path("/proc/self/maps").read_text().count("\n")
        fields = Path("/proc/self/status").read_text()
        self.memory = int(fields.partition("RssAnon:")[2].split(maxsplit=1)[0]) << 10


@pytest.fixture
def without_collection() -> Iterator[None]:
    """No garbage collection: what is only let go of by it may be gigabytes until it comes."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="what a process holds is read from Linux's /proc")
def test_a_thousand_epochs_leave_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, without_collection: None
):
    plain = rs.open(write_numbered(tmp_path / "a.tfrecord", 100), schema=SCHEMA)
    packed = rs.open(write_numbered(tmp_path / "a.tfrecord.gz", 100, compression="gzip"), schema=SCHEMA)
    monkeypatch.setattr(read_blocks, "CACHE_BYTES", 2_000)
    loaders = [chain(plain) for chain in CHAINS.values()] + [packed.shuffle(seed=0).batch(16)]
    exits = itertools.cycle([1, 2, 100, 3])

    def epochs(count: int) -> Held:
        for loader, after in zip(itertools.islice(itertools.cycle(loaders), count), exits, strict=False):
            for _ in itertools.islice(loader, after):
                pass
        return Held()

    before = epochs(200)
    after = epochs(EPOCHS - 200)
    assert after.threads <= before.threads
    assert after.descriptors <= before.descriptors
    assert after.mappings <= before.mappings + 8  # the allocator's own
    assert after.memory <= before.memory + (8 << 20)
    # By type: asking objects of other libraries what they are may wake them.
    assert not any(type(one) is WindowedReading for one in gc.get_objects())
