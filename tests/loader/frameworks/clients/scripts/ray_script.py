"""A script that reads a dataset with Ray Data, as JSON; see test_ray.py."""

from __future__ import annotations

import json
import logging
import sys
from typing import Any

import ray

import recordsmith as rs


def main(folder: str) -> None:
    """Write the rows of a split, of all splits, and whether the folder itself can be read."""
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
    ray.data.DataContext.get_current().enable_progress_bars = False
    results: dict[str, Any] = {
        "train": _numbers(list(rs.open(folder, split="train").files)),
        "all": _numbers(list(rs.open(folder).files)),
    }
    try:
        results["folder"] = len(_numbers(folder)) > 0
    except Exception:  # noqa: BLE001 - whatever Ray says of a JSON file that is not a TFRecord
        results["folder"] = False
    ray.shutdown()
    sys.stdout.write("\n" + json.dumps(results))


def _numbers(paths: Any) -> list[int]:
    return sorted(int(row["n"]) for row in ray.data.read_tfrecords(paths).take_all())


if __name__ == "__main__":
    main(*sys.argv[1:])
