"""What every loader of the comparison offers: its own form of the data, and batches out of a store."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench.loaders.contract import BRIGHTNESS, SIZE

__all__ = ["LOADERS", "WORKERS", "Rows", "Store", "augmented", "module_of"]

# The module of each, and the folder in the bucket that it reads.
LOADERS = {
    "recordsmith": ("recordsmith_remote", "tfrecord"),
    "litdata": ("litdata_remote", "litdata"),
    "mosaicml-streaming": ("mosaicml_remote", "mds"),
    "webdataset": ("webdataset_remote", "tar"),
    "tf.data": ("tensorflow_remote", "tfrecord"),
    "plain download": ("plain_download", "tfrecord"),
}
WORKERS = len(os.sched_getaffinity(0))

Rows = Iterator[dict[str, Any]]


@dataclass(frozen=True)
class Store:
    """Where the data are.

    Attributes:
        url: the folder: s3://..., or a local one.
        cache: a folder for what a loader keeps on disk.
        subject: "vec" or "img".
        batch: the rows of a batch.
    """

    url: str
    cache: Path
    subject: str
    batch: int

    @property
    def endpoint(self) -> str:
        """The address of the server."""
        return os.environ["AWS_ENDPOINT_URL"]

    def names(self) -> list[str]:
        """Return the names of the objects in the folder."""
        from recordsmith.storage.objects import open_folder

        return [one.key for one in open_folder(self.url).contents()[0]]


def module_of(name: str) -> Any:
    """Return the module of a loader: `write(rows, subject, folder)`, `epochs(store)` and `versions()`."""
    return importlib.import_module(f"bench.remote.{LOADERS[name][0]}")


def augmented(random: np.random.Generator) -> Callable[[bytes], Any]:
    """Return what decodes, resizes, flips and brightens an image, as the peers' users do it with OpenCV."""
    cv2 = importlib.import_module("cv2")
    cv2.setNumThreads(0)

    def decode(data: bytes) -> Any:
        pixels = cv2.cvtColor(cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR), cv2.COLOR_BGR2RGB)
        pixels = cv2.resize(pixels, (SIZE[1], SIZE[0]), interpolation=cv2.INTER_LINEAR)
        if random.random() < 0.5:
            pixels = pixels[:, ::-1]
        change = np.float32(random.uniform(-BRIGHTNESS, BRIGHTNESS))
        return np.ascontiguousarray(pixels, np.float32) * np.float32(1 / 255) + change

    return decode


def labels_of(batches: Iterable[Any]) -> Iterator[Any]:
    """Give the labels of batches that are dicts of tensors."""
    for batch in batches:
        yield batch["label"].numpy().reshape(-1)
