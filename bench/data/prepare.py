"""Bring the datasets onto the disk before anything is measured."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from bench.data.datasets import SHARDS, DatasetSpec
from bench.data.framing import copy_first_records
from bench.data.store import StoredDataset, ensure_columns, has_shards, load_shards, save_truth, shard_paths

if TYPE_CHECKING:
    from bench.measuring.workers import WorkerProcess

# Records of the larger datasets that the slow peers read; the rate counts. `img` is small enough to be read whole.
SAMPLE_FRACTION = {"tab": 0.05, "vec": 0.1, "tok": 0.1}

Say = Callable[[str], None]


def prepare_dataset(spec: DatasetSpec, writer: WorkerProcess, *, folder: Path, scale: float, say: Say) -> StoredDataset:
    """The dataset at that scale with shards written by that peer, from the cache where it is there."""
    say(f"{spec.name}: columns")
    columns = ensure_columns(spec, folder, scale)
    shards_folder = columns.parent / f"by-{writer.peer}"
    if has_shards(shards_folder):
        return load_shards(spec.name, columns, shards_folder)
    say(f"{spec.name}: shards, written by {writer.peer}")
    shutil.rmtree(shards_folder, ignore_errors=True)
    shards_folder.mkdir()
    form = writer.ask("writing_forms", dataset=spec.name)["forms"][0]
    writer.ask("prepare_writing", dataset=spec.name, columns=columns, form=form, limit=None)
    writer.ask("write", form=form, paths=[str(path) for path in shard_paths(shards_folder, spec.name)])
    writer.ask("forget")
    save_truth(spec, columns, shards_folder)
    return load_shards(spec.name, columns, shards_folder)


def sample_of(spec: DatasetSpec, stored: StoredDataset) -> StoredDataset:
    """The first records of each shard as a dataset of its own, for peers that would take minutes over all of it."""
    if spec.name not in SAMPLE_FRACTION:
        return stored
    taken = max(1, round(stored.shards[0].records * SAMPLE_FRACTION[spec.name]))
    folder = stored.paths[0].parent / "sample"
    if not has_shards(folder):
        folder.mkdir(exist_ok=True)
        for source, target in zip(stored.paths, shard_paths(folder, spec.name), strict=True):
            copy_first_records(source, target, records=taken)
        save_truth(spec, stored.columns_folder, folder, limit=taken * SHARDS)
    return load_shards(spec.name, stored.columns_folder, folder)
