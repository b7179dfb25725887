"""The limit of the server and the network: the same bytes by obstore alone, in ranges, and nothing done with them."""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from bench.feeders.contract import Store
from recordsmith.storage.objects import open_folder

RANGE = 4 << 20
AT_ONCE = 32


def versions() -> dict[str, str]:
    """Import the libraries that do the work."""
    importlib.import_module("obstore.store")
    return {"obstore": importlib.metadata.version("obstore")}


def epochs(store: Store) -> Iterator[Iterator[Any]]:
    """Download everything each time; a batch is a range."""
    folder = open_folder(store.url)
    facts = folder.contents()[0]
    ranges = [
        (one.key, begin, min(begin + RANGE, one.size or 0)) for one in facts for begin in range(0, one.size or 0, RANGE)
    ]
    while True:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            yield (np.zeros(len(data), np.int8)[:0] for data in pool.map(lambda part: folder.get_range(*part), ranges))
