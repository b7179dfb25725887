"""WebDataset: tar files over presigned URLs, with its cache on disk, in a DataLoader."""

from __future__ import annotations

import importlib
import importlib.metadata
import io
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np

from bench.feeders.contract import WORKERS, Rows, Store, augmented, labels_of
from bench.loaders.contract import BUFFER

SHARD = 64 << 20
SHUFFLED = {"vec": BUFFER, "img": 1000}  # rows of its buffer: as many images would be gigabytes


def versions() -> dict[str, str]:
    """Import the libraries that do the work."""
    for name in ("cv2", "obstore", "torch", "webdataset"):
        importlib.import_module(name)
    return {name: importlib.metadata.version(name) for name in ("webdataset", "torch")}


def write(rows: Rows, subject: str, folder: Path) -> None:
    """Write tar files."""
    wds = importlib.import_module("webdataset")
    with wds.ShardWriter(str(folder / "part-%05d.tar"), maxsize=SHARD, verbose=0) as writer:
        for number, row in enumerate(rows):
            content = {"jpg": row["image"]} if subject == "img" else {"npy": _npy(row["pixels"])}
            writer.write({"__key__": f"{number:08d}", "cls": str(row["label"]).encode(), **content})


def _npy(values: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, values)
    return file.getvalue()


def epochs(store: Store) -> Iterator[Iterator[Any]]:
    """Give one epoch after the other."""
    wds = importlib.import_module("webdataset")
    torch = importlib.import_module("torch")
    decode = augmented(np.random.default_rng()) if store.subject == "img" else lambda data: np.load(io.BytesIO(data))
    shards, cache = (_signed(store), str(store.cache)) if store.is_remote else (store.paths(), None)
    data = (
        wds.WebDataset(shards, shardshuffle=100, seed=0, cache_dir=cache, empty_check=False)
        .shuffle(SHUFFLED[store.subject], initial=SHUFFLED[store.subject])
        .to_tuple("jpg" if store.subject == "img" else "npy", "cls")
        .map_tuple(decode, int)
        .batched(store.batch)
    )
    loader = torch.utils.data.DataLoader(data, batch_size=None, num_workers=WORKERS)
    values = "image" if store.subject == "img" else "pixels"
    while True:
        yield labels_of(_tensors(torch, values, batch) for batch in loader)


def _tensors(torch: Any, values: str, batch: tuple[Any, Any]) -> dict[str, Any]:
    return {values: torch.as_tensor(batch[0]), "label": torch.as_tensor(batch[1])}


def _signed(store: Store) -> list[str]:
    """Return addresses that need no keys: the package reads s3:// by other programs only."""
    from obstore import sign
    from obstore.store import S3Store

    bucket, _, prefix = store.url.partition("://")[2].partition("/")
    signing = S3Store(bucket, prefix=prefix, endpoint=store.endpoint, client_options={"allow_http": True})
    return [sign(signing, "GET", key, timedelta(hours=2)) for key in store.names()]
