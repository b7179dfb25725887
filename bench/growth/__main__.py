"""The process of one measurement, new each time: `python -m bench.growth WORK FOLDER RECORDS FEATURES SHARDS`.

It prints the seconds and the memory of its own at the highest, both without the imports. The data are float32 values
from a fixed seed. Each work needs what the one before it left: make, open, check, feed.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

import recordsmith as rs
import recordsmith.checking
import recordsmith.loader
from bench.measuring import memory_probe

AT_ONCE = 2_000_000  # values that are made at a time
BATCH = 256


def make(folder: str, records: int, features: int, shards: int) -> None:
    """Write a dataset from columns, as many rows at a time as are made at a time."""
    random = np.random.default_rng(0)
    schema = rs.Schema({f"x{number}": rs.Scalar("float32") for number in range(features)})
    rows = max(1, AT_ONCE // features)
    with rs.write(folder, schema, name="growth", shards=shards) as writer:
        for start in range(0, records, rows):
            count = min(rows, records - start)
            writer.extend({name: random.random(count, np.float32) for name in schema})


def open_dataset(folder: str, records: int, _features: int, _shards: int) -> None:
    """Open the shards without manifest and index: the schema is inferred, every record is found."""
    with tempfile.TemporaryDirectory(dir=Path(folder).parent) as bare:
        for path in Path(folder).glob("*.tfrecord-*"):
            os.link(path, Path(bare) / path.name)
        assert len(rs.open(bare)) == records


def check(folder: str, records: int, _features: int, _shards: int) -> None:
    """Check all rules."""
    facts = rs.check(folder).facts
    assert facts is not None
    assert facts.records == records


def feed(folder: str, records: int, _features: int, _shards: int) -> None:
    """Feed one shuffled epoch."""
    assert sum(len(batch["x0"]) for batch in rs.open(folder).shuffle(seed=0).batch(BATCH)) == records


WORK = {"make": make, "open": open_dataset, "check": check, "feed": feed}


def measured(work: str, folder: str, *amounts: int) -> dict[str, float]:
    """Do the work, and watch the memory from another thread."""
    highest, done = [0], threading.Event()

    def watch() -> None:
        while not done.wait(0.01):
            highest[0] = max(highest[0], memory_probe.now().own)

    before = memory_probe.now().own
    watcher = threading.Thread(target=watch)
    watcher.start()
    begun = time.perf_counter()
    try:
        WORK[work](folder, *amounts)
    finally:
        seconds = time.perf_counter() - begun
        done.set()
        watcher.join()
    return {"seconds": seconds, "memory": max(0, max(highest[0], memory_probe.now().own) - before)}


if __name__ == "__main__":
    print(json.dumps(measured(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))))
