"""Measure one thing on Ray: python -m bench.engines WHAT FOLDER REPEATS PATH... prints the seconds as JSON.

read, write     Ray Data's own read_tfrecords and write_tfrecords, and ours, on the same Ray
make            rs.make of a CSV file with engine="local" and engine="ray" on one node of two processors
nodes           rs.make with engine="ray" on one and on two nodes of one processor each
keys            dividing and shuffling the keys of many rows (the argument), without the rows: what the driver does
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

LOOPBACK = "127.0.0.2"
PART = 20_000  # records of Ray's own functions, which are slow
ROWS = 1_000_000


def main(what: str, folder: str, repeats: str, *paths: str) -> None:
    """Measure, and print."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    work = {"read": _read, "write": _write, "make": _make, "nodes": _nodes, "keys": _keys}[what]
    found = work(place, int(repeats), list(paths))
    print(json.dumps(found))


@contextlib.contextmanager
def _started(processors: int = 2) -> Iterator[Any]:
    import ray

    ray.init(
        address="local", num_cpus=processors, include_dashboard=False, log_to_driver=False, logging_level="error",
        _node_ip_address=LOOPBACK,
    )  # fmt: skip
    ray.data.DataContext.get_current().enable_progress_bars = False
    try:
        yield ray
    finally:
        ray.shutdown()


def _seconds(work: Callable[[], object], repeats: int) -> list[float]:
    found = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
    return found


def _part(place: Path, paths: list[str]) -> str:
    import recordsmith as rs

    part = place / "part.tfrecord"
    if not part.exists():
        rs.copy(paths, part, take=PART)
    return str(part)


def _read(place: Path, repeats: int, paths: list[str]) -> dict[str, Any]:
    import recordsmith as rs
    import recordsmith.ray

    part = _part(place, paths)
    inputs = {"part": [part], "all": paths}
    sums = {name: sum(int(b["label"].sum()) for b in rs.open(files).batch(4096)) for name, files in inputs.items()}
    with _started() as ray:

        def consume(dataset: Any, expected: int) -> None:
            batches = dataset.iter_batches(batch_size=1024, batch_format="numpy")
            assert sum(int(batch["label"].sum()) for batch in batches) == expected

        def ours() -> None:
            consume(recordsmith.ray.read(paths), sums["all"])

        def theirs() -> None:
            consume(ray.data.read_tfrecords(part), sums["part"])

        ours()
        return {"ours": _seconds(ours, repeats), "theirs": _seconds(theirs, max(1, repeats // 2)), "part": PART}


def _write(place: Path, repeats: int, paths: list[str]) -> dict[str, Any]:
    import recordsmith as rs
    import recordsmith.ray

    part = _part(place, paths)
    with _started() as ray:
        every = recordsmith.ray.read(paths).materialize()
        some = recordsmith.ray.read(part).materialize()
        records = every.count()

        def ours() -> None:
            shutil.rmtree(place / "ours", ignore_errors=True)
            every.write_datasink(recordsmith.ray.RecordsmithSink(place / "ours"))

        def theirs() -> None:
            shutil.rmtree(place / "theirs", ignore_errors=True)
            some.write_tfrecords(str(place / "theirs"))

        ours()
        assert len(rs.open(place / "ours")) == records
        found = {"ours": _seconds(ours, repeats), "theirs": _seconds(theirs, max(1, repeats // 2)), "part": PART}
        assert ray.is_initialized()
        return found


def _csv(place: Path) -> Path:
    path = place / "table.csv"
    if not path.exists():
        with path.open("w") as file:
            file.write("n,a,b,c,label,text\n")
            file.writelines(
                f"{n},{n % 97 / 7:.4f},{n * 31 % 1013},{n % 7},{n % 10},word{n % 1000} and {n}\n" for n in range(ROWS)
            )
    return path


def _made(place: Path, engine: Any) -> dict[str, str]:
    """Make the dataset, and return the digests of its shards."""
    import recordsmith as rs

    out = place / f"made-{engine}"
    shutil.rmtree(out, ignore_errors=True)
    source = rs.sources.csv(_csv(place), label="label")
    rs.make(source, out, name="data", split="train=0.9,test=0.1", shards=8, engine=engine, progress=False)
    document = json.loads((out / "recordsmith.json").read_text())
    return {one["file"]: one["sha256"] for split in document["splits"].values() for one in split["shards"]}


def _make(place: Path, repeats: int, _: list[str]) -> dict[str, Any]:
    expected = _made(place, "local")
    seconds: dict[str, list[float]] = {"local": [], "ray": []}
    with _started():
        assert _made(place, "ray") == expected
        for _turn in range(repeats):
            for engine in seconds:
                seconds[engine] += _seconds(partial(_made, place, engine), 1)
    return {**seconds, "records": ROWS}


def _nodes(place: Path, repeats: int, _: list[str]) -> dict[str, Any]:
    import ray
    from ray.cluster_utils import Cluster

    seconds = {}
    for nodes in (1, 2):
        local = {"node_ip_address": LOOPBACK, "include_dashboard": False, "object_store_memory": 80 << 20}
        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, **local})
        try:
            for _node in range(nodes):
                cluster.add_node(num_cpus=1, node_ip_address=LOOPBACK, object_store_memory=80 << 20)
            ray.init(address=cluster.address, _node_ip_address=LOOPBACK, log_to_driver=False, logging_level="error")
            _made(place, "ray")
            seconds[str(nodes)] = _seconds(partial(_made, place, "ray"), repeats)
        finally:
            ray.shutdown()
            cluster.shutdown()
    return {**seconds, "records": ROWS}


def _keys(place: Path, _: int, rows: list[str]) -> dict[str, Any]:
    """Gather, divide and shuffle made-up keys, as `make --split train=0.9,test=0.1` does after reading."""
    from recordsmith.run.splits.groups import unit_blocks
    from recordsmith.run.splits.split_order import build_order
    from recordsmith.run.splits.splitting import assign_splits, parse_splits
    from recordsmith.run.staging.keys import KEY
    from recordsmith.run.staging.staging import Staging
    from recordsmith.storage.publication import Publication

    count, block = int(rows[0]), 1 << 20
    staging = Staging.start(Publication(str(place / "keys")), {})
    random = np.random.default_rng(0)
    with open(staging.path("keys"), "wb") as file:
        for first in range(0, count, block):
            keys = np.zeros(min(block, count - first), KEY)
            keys["offset"] = np.arange(first, first + len(keys)) * 116
            keys["length"] = 100
            for name in ("digest", "content"):
                keys[name] = random.integers(0, 2**63, len(keys), np.uint64)
            keys.tofile(file)
    staging.rows, staging.complete = count, True
    before = _own_memory()
    start = time.perf_counter()
    with open(staging.path("splits"), "wb") as file:
        os.posix_fallocate(file.fileno(), 0, count)
    codes = np.memmap(staging.path("splits"), np.uint8, "r+", shape=(count,))
    blocks = unit_blocks(staging, grouped=False, stratified=False)
    assign_splits(blocks, count, parse_splits("train=0.9,test=0.1"), 0, staging.path("sort"), codes)
    divided = time.perf_counter()
    order = build_order(
        staging, "train", lambda a, b: (codes[a:b] == 0).astype(np.int64), expected_rows=count * 9 // 10, shuffle_seed=0
    )
    ordered = time.perf_counter()
    disk = sum(path.stat().st_size for path in Path(staging.path()).rglob("*") if path.is_file())
    staging.remove()
    return {
        "rows": order.rows,
        "dividing": divided - start,
        "ordering": ordered - divided,
        "disk": disk,
        "memory_before": before,
        "memory": _own_memory(),
    }


def _own_memory() -> int:
    """The highest memory of this process; mapped files count, too."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    main(*sys.argv[1:])
