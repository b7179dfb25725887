"""What every library of the comparison offers: its own form of the data, and batches from a folder of it."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench.loaders.contract import BRIGHTNESS, SIZE

__all__ = ["LOADERS", "WORKERS", "Rows", "Store", "augmented", "labels_of", "module_of"]

# The module of each, and the folder of the data in its own form. What follows a comma is the way to use it.
LOADERS = {
    "recordsmith": ("recordsmith_feeder", "tfrecord"),
    "recordsmith, to_torch": ("recordsmith_feeder", "tfrecord"),
    "litdata": ("litdata_feeder", "litdata"),
    "mosaicml-streaming": ("mosaicml_feeder", "mds"),
    "webdataset": ("webdataset_feeder", "tar"),
    "grain + array_record, threads": ("grain_feeder", "array_record"),
    "grain + array_record, processes": ("grain_feeder", "array_record"),
    "Hugging Face datasets, DataLoader": ("hugging_face_feeder", "arrow"),
    "Hugging Face datasets, DataLoader with workers": ("hugging_face_feeder", "arrow"),
    "Ray Data": ("ray_feeder", "parquet"),
    "tf.data": ("tensorflow_feeder", "tfrecord"),
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
        way: how the library is used, if there are several ways.
    """

    url: str
    cache: Path
    subject: str
    batch: int
    way: str = ""

    @property
    def is_remote(self) -> bool:
        """Whether the data are in an object store."""
        return "://" in self.url

    @property
    def endpoint(self) -> str:
        """The address of the server."""
        return os.environ["AWS_ENDPOINT_URL"]

    def names(self) -> list[str]:
        """Return the names of the objects in the folder."""
        from recordsmith.storage.objects import open_folder

        return [one.key for one in open_folder(self.url).contents()[0]]

    def paths(self) -> list[str]:
        """Return the files of a local folder."""
        return sorted(str(path) for path in Path(self.url).iterdir() if path.is_file())


def module_of(name: str) -> Any:
    """Return the module of a loader: `write(rows, subject, folder)`, `epochs(store)` and `versions()`."""
    return importlib.import_module(f"bench.feeders.{LOADERS[name][0]}")


def augmented(random: np.random.Generator) -> Callable[[bytes], Any]:
    """Return what decodes, resizes, flips and brightens an image, by the fastest decoder that the peers' users have.

    That is simplejpeg if it is installed: the same libjpeg-turbo as in OpenCV, with its fast settings.
    """
    cv2 = importlib.import_module("cv2")
    cv2.setNumThreads(0)
    try:
        decode_jpeg = importlib.import_module("simplejpeg").decode_jpeg
    except ImportError:
        decode_jpeg = None

    def decode(data: bytes) -> Any:
        if decode_jpeg is not None:
            pixels = decode_jpeg(data, fastdct=True, fastupsample=True, min_height=SIZE[0], min_width=SIZE[1])
        else:
            pixels = cv2.cvtColor(cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR), cv2.COLOR_BGR2RGB)
        pixels = cv2.resize(pixels, (SIZE[1], SIZE[0]), interpolation=cv2.INTER_LINEAR)
        if random.random() < 0.5:
            pixels = pixels[:, ::-1]
        change = np.float32(random.uniform(-BRIGHTNESS, BRIGHTNESS))
        return np.ascontiguousarray(pixels, np.float32) * np.float32(1 / 255) + change

    return decode


def labels_of(batches: Iterable[Any]) -> Iterator[Any]:
    """Give the labels of batches that are dicts of tensors, once the first one has the right form."""
    for number, batch in enumerate(batches):
        if number == 0:
            values = batch["image"] if "image" in batch else batch["pixels"]
            shape, kind = tuple(values.shape[1:]), str(values.dtype)
            if shape not in {(784,), (*SIZE, 3)} or kind != "torch.float32":
                raise ValueError(f"batches are {kind} of shape {tuple(values.shape)}")
        yield batch["label"].numpy().reshape(-1)
