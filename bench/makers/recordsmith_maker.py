"""recordsmith's `make`, as anyone would call it."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.makers.inputs import SIZE

SHARDS = 4
WORKERS = 2

MAKE = "make, 2 workers"
READING = "pyarrow.csv.read_csv alone"
FORMS = {"images": [MAKE], "table": [MAKE, READING]}


def prepare(subject: str, form: str) -> Callable[[Path, Path, int | None], None]:
    """Import what is needed, and return what does the work."""
    rs: Any = importlib.import_module("recordsmith")
    importlib.import_module("recordsmith.making.maker")
    library: Any = importlib.import_module("cv2" if subject == "images" else "pyarrow.csv")

    def from_images(source: Path, out: Path, _limit: int | None) -> None:
        rs.make(rs.sources.images(source, size=SIZE), out, name="made", shards=SHARDS, workers=WORKERS)

    def table(source: Path, out: Path, _limit: int | None) -> None:
        rs.make(rs.sources.csv(source), out, name="made", shards=SHARDS, workers=WORKERS)

    def reading(source: Path, _out: Path, _limit: int | None) -> None:
        library.read_csv(source)

    return from_images if subject == "images" else reading if form == READING else table


def check(subject: str, folder: Path) -> dict[str, int]:
    """Read what another one wrote: how many records there are, the sum of their labels, and for images their size."""
    rs: Any = importlib.import_module("recordsmith")
    images: Any = importlib.import_module("recordsmith.images")
    dataset = rs.open(sorted(map(str, folder.glob("*tfrecord*"))))
    label_sum = right_size = 0
    for batch in dataset.batch(1024):
        label_sum += int(batch["label"].sum())
        if subject == "images":
            headers = map(images.read_header, batch["image"])
            right_size += sum((header.height, header.width) == SIZE for header in headers)
    return {"records": len(dataset), "label_sum": label_sum, "right_size": right_size}
