"""What is made into datasets: a folder of images in class folders, and a table as CSV."""

from __future__ import annotations

import importlib
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench.data.datasets import SEED, TAB, make_columns
from bench.data.images import jpeg_images
from bench.data.store import scale_folder

IMAGES = 2_000
ROWS = 1_000_000
CLASSES = 10
SIZE = (224, 224)


@dataclass(frozen=True, slots=True)
class Input:
    """A source that lies ready, and what must be in the dataset."""

    path: Path
    records: int
    bytes: int
    label_sum: int


def images(folder: Path, scale: float) -> Input:
    """A folder of JPEGs of 500x375, a folder for each class."""
    records = max(CLASSES, round(IMAGES * scale))
    source = scale_folder(folder, scale) / "make" / "images"
    if not source.is_dir():
        unfinished = source.with_name("images.unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        for number, data in enumerate(jpeg_images(np.random.default_rng([SEED, 100]), records)):
            path = unfinished / f"class{number % CLASSES}" / f"{number:05}.jpg"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        unfinished.rename(source)
    size = sum(path.stat().st_size for path in source.rglob("*.jpg"))
    return Input(source, records, size, sum(number % CLASSES for number in range(records)))


def table(folder: Path, scale: float) -> Input:
    """A CSV file with the columns of `tab`: 10 of floats, 5 of integers, 2 of short strings, and the label."""
    columns = make_columns(TAB, scale * ROWS / TAB.full_records)
    source = scale_folder(folder, scale) / "make" / "table.csv"
    if not source.exists():
        arrow: Any = importlib.import_module("pyarrow")
        arrow_csv: Any = importlib.import_module("pyarrow.csv")
        named = {
            name: column.values if column.offsets is None else [each.decode() for each in column.byte_strings()]
            for name, column in columns.items()
        }
        source.parent.mkdir(parents=True, exist_ok=True)
        unfinished = source.with_suffix(".unfinished")
        arrow_csv.write_csv(arrow.table(named), unfinished, arrow_csv.WriteOptions(quoting_style="none"))
        unfinished.rename(source)
    labels = columns["label"].values
    return Input(source, len(labels), source.stat().st_size, int(labels.sum()))


def label_sum_of_first(source: Input, records: int) -> int:
    """The sum of the labels of the first rows of the table."""
    with source.path.open() as file:
        next(file)
        return sum(int(line.rstrip("\n").rpartition(",")[2]) for line, _ in zip(file, range(records), strict=False))
