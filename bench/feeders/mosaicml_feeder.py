"""mosaicml-streaming: MDS shards and StreamingDataset in a DataLoader."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bench.feeders.contract import WORKERS, Rows, Store, augmented, labels_of

COLUMNS = {"vec": {"pixels": "ndarray:float32:784", "label": "int"}, "img": {"image": "bytes", "label": "int"}}


def _streaming() -> Any:
    """Import the package without torchvision, which it needs only for datasets that are not used here.

    torchvision on PyPI is built for CUDA, and cannot be imported beside a torch that is not.
    """
    importlib.import_module("transformers.feature_extraction_utils")  # it looks for torchvision itself
    for name in ("torchvision", "torchvision.datasets", "torchvision.transforms", "torchvision.transforms.functional"):
        sys.modules.setdefault(name, types.ModuleType(name))
    sys.modules["torchvision.datasets"].VisionDataset = object  # type: ignore[attr-defined]
    sys.modules["torchvision.transforms.functional"].to_tensor = None  # type: ignore[attr-defined]
    return importlib.import_module("streaming")


def versions() -> dict[str, str]:
    """Import the libraries that do the work."""
    importlib.import_module("cv2")
    _streaming()
    return {name: importlib.metadata.version(name) for name in ("mosaicml-streaming", "torch")}


def write(rows: Rows, subject: str, folder: Path) -> None:
    """Write shards of the usual 64 MB."""
    with _streaming().MDSWriter(out=str(folder), columns=COLUMNS[subject], size_limit="64mb") as writer:
        for row in rows:
            writer.write(row)


def epochs(store: Store) -> Iterator[Iterator[Any]]:
    """Give one epoch after the other."""
    torch = importlib.import_module("torch")
    streaming = _streaming()
    if store.is_remote:
        os.environ["S3_ENDPOINT_URL"] = store.endpoint

    class Data(streaming.StreamingDataset):  # type: ignore[misc, name-defined] # the package is optional
        decode = None

        def __getitem__(self, index: Any) -> Any:
            row = super().__getitem__(index)
            if store.subject == "img":
                self.decode = self.decode or augmented(np.random.default_rng())
                row = {"image": self.decode(row["image"]), "label": row["label"]}
            return row

    places = {"remote": store.url, "local": str(store.cache)} if store.is_remote else {"local": store.url}
    data = Data(**places, shuffle=True, shuffle_seed=0, batch_size=store.batch)
    loader = torch.utils.data.DataLoader(data, batch_size=store.batch, num_workers=WORKERS)
    while True:
        yield labels_of(loader)
