"""Loading: chains that shuffle, batch and decode, each in a process of its own: see loaders/__main__.py."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bench.loaders.contract import Loader

# The module of each loader. recordsmith has one process for each framework, so that only that one is imported.
LOADERS = {
    "recordsmith": "recordsmith_loader",
    "recordsmith, to_tf": "recordsmith_loader",
    "recordsmith, to_torch": "recordsmith_loader",
    "recordsmith, to_keras": "recordsmith_loader",
    "recordsmith, to_jax": "recordsmith_loader",
    "tensorflow": "tensorflow_loader",
    "tfrecord": "tfrecord_loader",
}


def open_loader(name: str) -> Loader:
    """The loader of that name, its libraries imported."""
    loader: Loader = importlib.import_module(f"bench.loaders.{LOADERS[name]}").make_loader(name)
    return loader
