"""The process of one measurement, new each time: `python -m bench.feeders REQUEST`, a JSON object. It prints another.

{"do": "write", ...}    the data of a subject in a loader's own form, into a local folder
{"do": "load", ...}     some epochs, each timed; the first one from opening the dataset on
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bench.data.datasets import DATASETS
from bench.data.store import load_columns
from bench.feeders.contract import Store, module_of
from bench.measuring import memory_probe


def rows_of(subject: str, columns_folder: str) -> Iterator[dict[str, Any]]:
    """Give the rows of a dataset, as Python and numpy values."""
    columns = load_columns(DATASETS[subject], Path(columns_folder))
    labels = columns["label"].values.tolist()
    if subject == "img":
        yield from (
            {"image": image, "label": label}
            for image, label in zip(columns["image"].byte_strings(), labels, strict=True)
        )
    else:
        yield from (
            {"pixels": row, "label": label} for row, label in zip(columns["pixels"].values, labels, strict=True)
        )


def write(request: dict[str, Any]) -> dict[str, Any]:
    """Write the data of a subject."""
    folder = Path(request["folder"])
    folder.mkdir(parents=True, exist_ok=True)
    rows = rows_of(request["subject"], request["columns"])
    module_of(request["loader"]).write(rows, request["subject"], folder)
    return {}


def load(request: dict[str, Any]) -> dict[str, Any]:
    """Run some epochs."""
    module = module_of(request["loader"])
    versions = module.versions()
    subject = request["subject"]
    cache = Path(request["cache"])
    store = Store(request["url"], cache, subject, request["batch"], request["loader"].partition(", ")[2])
    found: dict[str, Any] = {
        "versions": versions,
        "seconds": [],
        "cpu": [],
        "records": [],
        "label_sum": [],
        "memory": [],
    }
    largest = _watched(cache) if request.get("watch") else [0]
    begun, spent = time.perf_counter(), _cpu()
    for number, epoch in enumerate(module.epochs(store)):
        if number == request["epochs"]:
            break
        if number:
            begun, spent = time.perf_counter(), _cpu()
        records = label_sum = highest = 0
        for labels in epoch:
            records += len(labels)
            label_sum += int(np.add.reduce(labels))
            if request.get("watch"):
                highest = max(highest, memory_probe.now().own)
        found["seconds"].append(time.perf_counter() - begun)
        found["cpu"].append(_cpu() - spent)
        found["records"].append(records)
        found["label_sum"].append(label_sum)
        found["memory"].append(highest)
    found["cache"] = largest[0]
    return found


def _cpu() -> float:
    """The processor time of this process, and of its workers that have ended."""
    return sum(os.times()[:4])


def _watched(folder: Path) -> list[int]:
    """Watch how large a folder becomes, on a thread; the list has the highest size."""
    highest = [0]

    def watch() -> None:
        while True:
            size = 0
            ledger = folder / "blocks" / "used"  # with its lock, nothing is added and removed meanwhile
            with contextlib.suppress(FileNotFoundError), ledger.open() as locked:
                fcntl.flock(locked, fcntl.LOCK_EX)
                size = sum(path.stat().st_size for path in folder.rglob("*.block"))
            highest[0] = max(highest[0], size)
            time.sleep(0.1)

    threading.Thread(target=watch, daemon=True).start()
    return highest


if __name__ == "__main__":
    asked = json.loads(sys.argv[1])
    print(json.dumps({"write": write, "load": load}[asked["do"]](asked)))
