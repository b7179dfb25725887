"""A dataset from nothing: four files written, shown, and read back in batches. `make demo` runs it."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import recordsmith as rs

SHARDS = 4
ROWS = 25_000  # in each shard
WORDS = np.array(["sunny", "cloudy", "rainy", "windy"])

SCHEMA = rs.Schema(
    {
        "station": rs.Scalar("int64"),
        "readings": rs.Tensor("float32", (24,)),
        "events": rs.Tensor("int64", (None,)),
        "weather": rs.Text(),
    }
)


def made_columns(random: np.random.Generator) -> dict[str, object]:
    """One shard's worth of weather that never was."""
    lengths = random.integers(0, 6, ROWS)
    return {
        "station": random.integers(0, 500, ROWS),
        "readings": random.normal(15, 8, (ROWS, 24)).astype(np.float32),
        "events": rs.Ragged(random.integers(0, 1440, lengths.sum()), np.concatenate([[0], np.cumsum(lengths)])),
        "weather": list(WORDS[random.integers(0, len(WORDS), ROWS)]),
    }


def main(folder: Path) -> None:
    """Write, show, read."""
    random = np.random.default_rng(7)
    shards = [made_columns(random) for _ in range(SHARDS)]
    SCHEMA.save(folder / "schema.json")

    begin = time.perf_counter()
    for number, columns in enumerate(shards):
        with rs.RecordWriter(folder / f"weather-train.tfrecord-{number:05}-of-{SHARDS:05}") as writer:
            writer.write_columns(columns, SCHEMA)
    seconds = time.perf_counter() - begin
    print(f"Wrote {SHARDS * ROWS:,} records to {SHARDS} files in {seconds:.2f} s.\n", flush=True)

    command = [sys.executable, "-m", "recordsmith", "show", str(folder)]
    print("$ recordsmith show", folder, flush=True)
    subprocess.run(command, check=True)

    dataset = rs.open(folder)
    begin = time.perf_counter()
    rows = 0
    total = 0.0
    for batch in dataset.batch(1024):
        rows += len(batch["station"])
        total += float(batch["readings"].sum())
    seconds = time.perf_counter() - begin
    print(f"\nRead {rows:,} records back in batches of 1024 in {seconds:.2f} s; the mean is {total / rows / 24:.2f}.")
    print(f"Record 12345 by its number: {dataset[12_345]['weather']!r} at station {dataset[12_345]['station']}.")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="recordsmith-demo-") as scratch:
        main(Path(scratch))
