"""Where the generated data lives: columns as .npy files, shards as TFRecords, and the truth about both.

- `<folder>/scale-1/tab/columns/f0.values.npy` and so on: what the generator made
- `<folder>/scale-1/tab/by-recordsmith/tab-train.tfrecord-00000-of-00004` and so on: the shards, by who wrote them
- `<folder>/scale-1/tab/by-recordsmith/truth.json`: records, labels and fingerprint of each shard
"""

from __future__ import annotations

import json
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench.data.datasets import SHARDS, Column, Columns, DatasetSpec, make_columns
from bench.data.fingerprint import Fingerprint, add, fingerprint

SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - memory-backed on Linux: no disk in the figures
ROOM_NEEDED = 4 << 30


def default_folder() -> Path:
    """Memory-backed storage where there is room for it, else the temporary folder."""
    if SHARED_MEMORY.is_dir() and shutil.disk_usage(SHARED_MEMORY).free > ROOM_NEEDED:
        return SHARED_MEMORY / "recordsmith-bench"
    return Path(tempfile.gettempdir()) / "recordsmith-bench"


@dataclass(frozen=True, slots=True)
class Shard:
    """One TFRecord file of a dataset, and what must be read from it."""

    path: Path
    records: int
    bytes: int
    label_sum: int
    fingerprint: Fingerprint


@dataclass(frozen=True, slots=True)
class StoredDataset:
    """A dataset whose columns and shards lie ready."""

    name: str
    columns_folder: Path
    shards: tuple[Shard, ...]

    @property
    def paths(self) -> list[Path]:
        """The files, in order."""
        return [shard.path for shard in self.shards]

    @property
    def records(self) -> int:
        """The records of all shards."""
        return sum(shard.records for shard in self.shards)

    @property
    def bytes(self) -> int:
        """The size of all files."""
        return sum(shard.bytes for shard in self.shards)

    @property
    def label_sum(self) -> int:
        """The sum of all labels."""
        return sum(shard.label_sum for shard in self.shards)

    @property
    def fingerprint(self) -> Fingerprint:
        """The fingerprint of all records."""
        whole: Fingerprint = {}
        for shard in self.shards:
            whole = add(whole, shard.fingerprint)
        return whole


def scale_folder(folder: Path, scale: float) -> Path:
    """The folder of all datasets of one scale."""
    return folder / f"scale-{scale:g}"


def shard_paths(folder: Path, name: str) -> list[Path]:
    """The names of a dataset's shards."""
    return [folder / f"{name}-train.tfrecord-{number:05d}-of-{SHARDS:05d}" for number in range(SHARDS)]


def ensure_columns(spec: DatasetSpec, folder: Path, scale: float) -> Path:
    """Generate the columns of a dataset unless they are there; the folder that holds them."""
    columns_folder = scale_folder(folder, scale) / spec.name / "columns"
    if columns_folder.is_dir():
        return columns_folder
    unfinished = columns_folder.with_name("columns.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    for name, column in make_columns(spec, scale).items():
        np.save(unfinished / f"{name}.values.npy", column.values)
        if column.offsets is not None:
            np.save(unfinished / f"{name}.offsets.npy", column.offsets)
    return unfinished.rename(columns_folder)


def load_columns(spec: DatasetSpec, columns_folder: Path) -> Columns:
    """The columns of a dataset, read into memory."""
    columns: Columns = {}
    for feature in spec.features:
        offsets = columns_folder / f"{feature.name}.offsets.npy"
        columns[feature.name] = Column(
            np.load(columns_folder / f"{feature.name}.values.npy"), np.load(offsets) if offsets.exists() else None
        )
    return columns


def shard_columns(columns: Columns, *, limit: int | None = None) -> list[Columns]:
    """The columns cut into shards of equal size; `limit` takes only that many records, the first ones of each shard."""
    records = len(columns["label"])
    taken = (records if limit is None else min(limit, records)) // SHARDS
    starts = [records // SHARDS * number for number in range(SHARDS)]
    return [{name: column.part(start, start + taken) for name, column in columns.items()} for start in starts]


def save_truth(spec: DatasetSpec, columns_folder: Path, shards_folder: Path, *, limit: int | None = None) -> None:
    """Write down what each shard holds, computed from the generated columns and not from the files."""
    parts = shard_columns(load_columns(spec, columns_folder), limit=limit)
    truth = [
        {"records": len(part["label"]), "label_sum": int(part["label"].values.sum()), "fingerprint": fingerprint(part)}
        for part in parts
    ]
    (shards_folder / "truth.json").write_text(json.dumps(truth, indent=1))


def has_shards(shards_folder: Path) -> bool:
    """Whether all shards have been written: the truth about them is written last."""
    return (shards_folder / "truth.json").exists()


def load_shards(name: str, columns_folder: Path, shards_folder: Path) -> StoredDataset:
    """The stored dataset, whose shards must have been written."""
    truth: list[dict[str, Any]] = json.loads((shards_folder / "truth.json").read_text())
    shards = tuple(
        Shard(path, facts["records"], path.stat().st_size, facts["label_sum"], facts["fingerprint"])
        for path, facts in zip(shard_paths(shards_folder, name), truth, strict=True)
    )
    return StoredDataset(name, columns_folder, shards)
