"""Ray Data: Parquet, a buffer that shuffles, and batches of tensors."""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bench.feeders.contract import WORKERS, Rows, Store, augmented, labels_of
from bench.loaders.contract import BUFFER

SHUFFLED = {"vec": BUFFER, "img": 1000}  # rows of its buffer: as many images would be gigabytes
FILES = 4


def versions() -> dict[str, str]:
    """Import the libraries that do the work, and start them."""
    for name in ("cv2", "torch"):
        importlib.import_module(name)
    ray = importlib.import_module("ray")
    ray.init(num_cpus=WORKERS, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    context = importlib.import_module("ray.data").DataContext.get_current()
    context.enable_progress_bars = False
    return {name: importlib.metadata.version(name) for name in ("ray", "torch")}


def write(rows: Rows, subject: str, folder: Path) -> None:
    """Write Parquet files with columns of one length."""
    pa, parquet = importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    table = list(rows)
    for number in range(FILES):
        part = table[number::FILES]
        labels = pa.array([row["label"] for row in part])
        if subject == "img":
            columns = {"image": pa.array([row["image"] for row in part]), "label": labels}
        else:
            values = pa.array(np.concatenate([row["pixels"] for row in part]))
            columns = {"pixels": pa.FixedSizeListArray.from_arrays(values, 784), "label": labels}
        parquet.write_table(pa.table(columns), folder / f"part-{number}.parquet", compression="none")


def epochs(store: Store) -> Iterator[Iterator[Any]]:
    """Give one epoch after the other."""
    data = importlib.import_module("ray.data").read_parquet(store.url)
    if store.subject == "img":
        decode = augmented(np.random.default_rng())
        data = data.map_batches(
            lambda batch: {"image": np.stack([decode(image) for image in batch["image"]]), "label": batch["label"]},
            batch_size=store.batch,
        )
    else:
        data = data.map_batches(lambda batch: {"pixels": np.stack(batch["pixels"]), "label": batch["label"]})
    while True:
        yield labels_of(
            data.iter_torch_batches(batch_size=store.batch, local_shuffle_buffer_size=SHUFFLED[store.subject])
        )
