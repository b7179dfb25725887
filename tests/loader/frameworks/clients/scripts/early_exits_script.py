"""A script that leaves iterations early, as JSON; see test_early_exits.py.

It runs in a process of its own, because forking one in which TensorFlow or JAX has threads is not safe.
"""

from __future__ import annotations

import json
import sys
import tempfile
import warnings
from itertools import islice
from typing import Any

import torch

import recordsmith as rs
from tests.loader.frameworks.clients.epochs import COUNT, SCHEMA, SIZE, Epochs, write

TAKEN = (0, 1, 0, 0, 2, 3, 0, 1, 1, COUNT - 1, COUNT, None, 0, 1)  # batches of each iteration; None: to the end


def settings(extent: str) -> dict[str, dict[str, Any]]:
    """Return options for DataLoader, by name."""
    few = {"2 workers": {"num_workers": 2}, "2 persistent workers": {"num_workers": 2, "persistent_workers": True}}
    if extent == "few":
        return few
    ahead = {
        f"{name}, {ahead} ahead": {**options, "prefetch_factor": ahead}
        for name, options in few.items()
        for ahead in (1, 5, COUNT)
    }
    spawned = {"spawned": {**few["2 persistent workers"], "multiprocessing_context": "spawn"}}
    text = {f"{name}, text": {**options, "text": True} for name, options in few.items()}
    seeded = {f"{name}, seeded": {**options, "seeded": True} for name, options in few.items()}
    return {"no workers": {}, **few, "3 workers": {"num_workers": 3}, **ahead, **spawned, **text, **seeded}


def main(extent: str) -> None:
    """Write which epochs came, by client and options."""
    warnings.simplefilter("ignore")  # torchdata's own, of PyTorch's
    from torch.utils.data import DataLoader
    from torchdata.stateful_dataloader import StatefulDataLoader

    results: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        epochs = Epochs(write(folder))
        for client in (DataLoader, StatefulDataLoader):
            for name, options in settings(extent).items():
                seeded, text = options.pop("seeded", False), options.pop("text", False)
                loader = epochs.loader()
                if text:
                    rows = rs.open(epochs.path, schema=SCHEMA).shuffle(seed=1)
                    loader = rows.map(lambda row: {"n": str(row["n"])}).batch(SIZE)
                fed = client(loader.to_torch(), batch_size=None, **options)
                results[f"{client.__name__}, {name}"] = [_taken(epochs, fed, count, seeded=seeded) for count in TAKEN]
    json.dump(results, sys.stdout)


def _taken(epochs: Epochs, fed: Any, count: int | None, *, seeded: bool) -> str:
    """Return the epoch of an iteration that is left after some batches."""
    if seeded:
        torch.manual_seed(3)
    taken = list(islice(iter(fed), count))
    return epochs.named([[int(n) for n in batch["n"]] for batch in taken]) if taken else ""


if __name__ == "__main__":
    main(*sys.argv[1:])
