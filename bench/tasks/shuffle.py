"""What a shuffle, opening, buckets and gzip cost, compared with plain reading by recordsmith itself."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

from bench.measuring.workers import PROJECT
from bench.reporting import targets
from bench.reporting.results import Figure, Outcome, Section

if TYPE_CHECKING:
    from bench.data.store import StoredDataset
    from bench.tasks.context import Context

METHOD = (
    "Only recordsmith, in a new process for each dataset, with two threads. In order and shuffled: batches of 1,024 as "
    "numpy, with a given schema and an existing index, in turns. Opening: `rs.open` and the inferred schema, without "
    "imports. `bucket_batch` with eight buckets and `padded_batch`, both shuffled, in batches of 128: CPU time. gzip: "
    "the shards, compressed as one member each by Python's gzip at level 1, in order, in bytes of the inflated files."
)

_CODE = """
import gzip, json, sys, time
import recordsmith as rs
repeats, folder, *paths = json.loads(sys.argv[1])

def best(measure, clock=time.perf_counter):
    found = []
    for _ in range(repeats):
        start = clock()
        measure()
        found.append(clock() - start)
    return found

def consume(loader):
    for batch in loader:
        for column in (batch.values() if isinstance(batch, dict) else batch):
            len(column)

seconds = {"open": best(lambda: rs.open(paths).schema)}
ds = rs.open(paths, schema=rs.open(paths).schema)
chains = {"in order": ds.batch(1024), "shuffled": ds.shuffle(seed=0).batch(1024)}
for chain in chains.values():
    consume(chain)
    seconds.update({name: [] for name in chains})
for _ in range(repeats):
    for name, chain in chains.items():
        start = time.perf_counter()
        consume(chain)
        seconds[name].append(time.perf_counter() - start)
if "tokens" in ds.schema:
    shuffled = ds.shuffle(seed=0)
    bounds = list(range(64, 512, 64))
    seconds["padded"] = best(lambda: consume(shuffled.padded_batch(128)), time.process_time)
    seconds["buckets"] = best(lambda: consume(shuffled.bucket_batch("tokens", bounds, size=128)), time.process_time)
if folder:
    packed = [f"{folder}/{number}.tfrecord.gz" for number in range(len(paths))]
    for path, target in zip(paths, packed):
        with open(path, "rb") as plain, gzip.open(target, "wb", 1) as out:
            out.write(plain.read())
    compressed = rs.open(packed, schema=ds.schema)
    seconds["gzip"] = best(lambda: consume(compressed.batch(1024)))
print(json.dumps(seconds))
"""


def run(context: Context) -> Section:
    """Measure each dataset in a process of its own."""
    section = Section("shuffle", "What a shuffle costs", METHOD)
    for name, stored in context.datasets.items():
        context.say(f"shuffle: {name}")
        folder = context.folder / "gzip" if name in targets.GZIP_SECONDS else None
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
        request = json.dumps([context.repeats, str(folder or ""), *map(str, stored.paths)])
        python = context.workers.python("recordsmith")
        done = subprocess.run([python, "-c", _CODE, request], cwd=PROJECT, capture_output=True, text=True, check=False)
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        if done.returncode != 0:
            section.skipped.append(f"{name}: {done.stderr.strip().splitlines()[-1:]}")
            continue
        _judge(section, stored, json.loads(done.stdout))
    return section


def _judge(section: Section, stored: StoredDataset, seconds: dict[str, Any]) -> None:
    name, gigabytes = stored.name, stored.bytes / 1e9
    for form, measured in seconds.items():
        section.figures.append(Figure(name, "recordsmith", form, measured, stored.records, stored.bytes))
    best = {form: min(measured) for form, measured in seconds.items()}

    def add(what: str, value: float, unit: Any, against: str, target: float | None) -> None:
        section.outcomes.append(Outcome(name, what, value, unit, against, target))

    add("shuffled", best["in order"] / best["shuffled"], "fraction", "in order", targets.SHUFFLED)
    add("a gigabyte in order", best["in order"] / gigabytes, "seconds", "a fixed limit", targets.IN_ORDER.get(name))
    add("open and infer the schema", best["open"], "seconds", "a fixed limit", targets.OPEN_SECONDS)
    if "buckets" in best:
        add("bucket_batch", best["padded"] / best["buckets"], "fraction", "padded_batch, CPU time", targets.BUCKETS)
    if "gzip" in best:
        limit = targets.GZIP_SECONDS[name]
        add("a gigabyte of gzip, inflated", best["gzip"] / gigabytes, "seconds", "a fixed limit", limit)
