"""recordsmith, on TFRecords."""

from __future__ import annotations

import importlib
import importlib.metadata
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import recordsmith as rs
from bench.feeders.contract import Rows, Store, labels_of
from bench.loaders.contract import BRIGHTNESS, SIZE

FILES = "files.txt"  # in the data folder: the TFRecord files to upload as they are


def versions() -> dict[str, str]:
    """Import the libraries that do the work."""
    for name in ("cv2", "obstore.store", "recordsmith.loader", "recordsmith.storage.ranged.opening"):
        importlib.import_module(name)
    return {name: importlib.metadata.version(name) for name in ("recordsmith", "obstore")}


def write(_rows: Rows, _subject: str, folder: Path) -> None:
    """Copy the TFRecord files, which are there already."""
    for path in (folder.parent / FILES).read_text().split("\n"):
        shutil.copy(path, folder)


def epochs(store: Store) -> Iterator[Iterator[Any]]:
    """Give one epoch after the other, each as the labels of its batches."""
    chain = rs.open(store.url).shuffle(seed=0)
    if store.subject == "img":
        augment = [rs.augment.flip_left_right(), rs.augment.brightness(BRIGHTNESS)]
        chain = chain.images(size=SIZE, scale=1 / 255, augment=augment, feature="image")
    loader = chain.batch(store.batch)
    if store.way == "to_torch":
        tensors = loader.to_torch()
        while True:
            yield labels_of(tensors)
    while True:
        yield (batch["label"] for batch in loader)
