"""A script that reads a dataset in worker processes of grain, as JSON; see test_grain.py."""

from __future__ import annotations

import json
import sys

import grain
from absl import flags

import recordsmith as rs
from tests.loader.frameworks.clients.epochs import SCHEMA


def number(row: dict[str, object]) -> int:
    """Return the number of a row."""
    return int(str(row["n"]))


def main(path: str) -> None:
    """Write the rows that two workers read."""
    flags.FLAGS([path])  # grain asks for its own
    rows = grain.MapDataset.source(rs.open(path, schema=SCHEMA)).map(number).to_iter_dataset()
    workers = rows.mp_prefetch(grain.multiprocessing.MultiprocessingOptions(num_workers=2))
    json.dump(sorted(workers), sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
