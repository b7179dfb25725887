"""Hugging Face datasets: Arrow files, taken by batches of row numbers, in this process or in a DataLoader's workers."""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bench.feeders.contract import WORKERS, Rows, Store, augmented, labels_of


def versions() -> dict[str, str]:
    """Import the libraries that do the work."""
    for name in ("cv2", "datasets", "torch"):
        importlib.import_module(name)
    return {name: importlib.metadata.version(name) for name in ("datasets", "torch")}


def write(rows: Rows, subject: str, folder: Path) -> None:
    """Save a dataset with the types that its torch format reads best."""
    datasets = importlib.import_module("datasets")
    pixels = datasets.List(datasets.Value("float32"), length=784)
    values = {"image": datasets.Value("binary")} if subject == "img" else {"pixels": pixels}
    features = datasets.Features({**values, "label": datasets.Value("int64")})
    table = list(rows)
    made = datasets.Dataset.from_dict({name: [row[name] for row in table] for name in features}, features=features)
    made.save_to_disk(str(folder))


def epochs(store: Store) -> Iterator[Iterator[Any]]:
    """Give one epoch after the other."""
    torch = importlib.import_module("torch")
    data = importlib.import_module("datasets").load_from_disk(store.url)
    if store.subject == "img":
        decode = augmented(np.random.default_rng())

        def decoded(batch: dict[str, Any]) -> dict[str, Any]:
            images = np.stack([decode(image) for image in batch["image"]])
            return {"image": torch.from_numpy(images), "label": torch.as_tensor(batch["label"])}

        data = data.with_transform(decoded)
    else:
        data = data.with_format("torch")
    utilities = torch.utils.data
    numbers = utilities.BatchSampler(utilities.RandomSampler(data), store.batch, drop_last=False)
    workers = WORKERS if store.way.endswith("workers") else 0
    loader = utilities.DataLoader(
        data, sampler=numbers, batch_size=None, num_workers=workers, persistent_workers=workers > 0
    )
    while True:
        yield labels_of(loader)
