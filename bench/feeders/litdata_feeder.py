"""litdata: chunks of its own format, StreamingDataset and StreamingDataLoader."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bench.feeders.contract import WORKERS, Rows, Store, augmented, labels_of

os.environ.setdefault("LITDATA_DISABLE_VERSION_CHECK", "1")
CHUNK = "64MB"


def versions() -> dict[str, str]:
    """Import the libraries that do the work."""
    for name in ("cv2", "litdata", "torch"):
        importlib.import_module(name)
    # It reads chunks through obstore, which takes addresses without TLS only if it is told to.
    importlib.import_module("litdata.streaming.downloader")._OBSTORE_CLIENT_OPTIONS["allow_http"] = True  # noqa: SLF001
    return {name: importlib.metadata.version(name) for name in ("litdata", "torch")}


def write(rows: Rows, _subject: str, folder: Path) -> None:
    """Write chunks."""
    writer = importlib.import_module("litdata.streaming.writer").BinaryWriter(str(folder), chunk_bytes=CHUNK)
    for number, row in enumerate(rows):
        writer[number] = row
    writer.done()
    writer.merge()


def epochs(store: Store) -> Iterator[Iterator[Any]]:
    """Give one epoch after the other."""
    litdata = importlib.import_module("litdata")

    class Data(litdata.StreamingDataset):  # type: ignore[misc, name-defined] # the package is optional
        decode = None

        def __getitem__(self, index: Any) -> Any:
            row = super().__getitem__(index)
            if store.subject == "img":
                self.decode = self.decode or augmented(np.random.default_rng())
                row = {"image": self.decode(row["image"]), "label": row["label"]}
            return row

    data = Data(
        store.url,
        cache_dir=str(store.cache),
        shuffle=True,
        seed=0,
        max_cache_size="50GB",
        storage_options={"endpoint_url": store.endpoint} if store.is_remote else {},
    )
    loader = litdata.StreamingDataLoader(data, batch_size=store.batch, num_workers=WORKERS)
    while True:
        yield labels_of(loader)
