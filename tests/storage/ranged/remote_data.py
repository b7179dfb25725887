"""A dataset in an object store, whose every row proves what it is."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

import recordsmith as rs
from recordsmith.storage.objects import open_folder

ROWS, SHARDS = 900, 3

SCHEMA = rs.Schema({"n": rs.Scalar("int64"), "label": rs.Scalar("int64"), "x": rs.Tensor("float32", (64,))})


def label_of(numbers):
    return (numbers * 7919) % 1000


def write_rows(folder: Path, *, rows: int = ROWS, shards: int = SHARDS, first: int = 0) -> Path:
    """Write a dataset to a local folder; each row's label and values follow from its number."""
    numbers = np.arange(first, first + rows)
    values = np.repeat(numbers.astype("float32")[:, None], 64, axis=1)
    with rs.write(folder, SCHEMA, name="proof", split="train", shards=shards) as writer:
        writer.extend({"n": numbers, "label": label_of(numbers), "x": values})
    return folder


def upload(folder: Path, url: str) -> str:
    """Put the files of a local folder into a store."""
    remote = open_folder(url)
    for name in sorted(os.listdir(folder)):
        if not name.startswith("."):
            remote.upload(name, str(folder / name))
    return url


def check_pairs(batch) -> None:
    """Make sure that what was written together came together."""
    assert (batch["label"] == label_of(batch["n"])).all()
    assert (batch["x"] == batch["n"][:, None].astype("float32")).all()
