"""tf.data: asked whether it reads s3:// at all."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from typing import Any

from bench.feeders.contract import Store


def versions() -> dict[str, str]:
    """Import the libraries that do the work."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    return {"tensorflow": importlib.import_module("tensorflow").__version__}


def epochs(store: Store) -> Iterator[Iterator[Any]]:
    """Open the files, and fail with TensorFlow's own words where it has no file system for them."""
    tf = importlib.import_module("tensorflow")
    files = [f"{store.url}/{key}" for key in store.names()]
    for _ in tf.data.TFRecordDataset(files).take(1):
        raise RuntimeError("TensorFlow reads s3:// now: measure it")
    yield iter(())
