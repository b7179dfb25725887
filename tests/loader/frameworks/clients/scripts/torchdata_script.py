"""A script that resumes torchdata's StatefulDataLoader at every kind of place, as JSON; see test_torchdata.py.

It runs in a process of its own, because forking one in which TensorFlow or JAX has threads is not safe.
"""

from __future__ import annotations

import json
import sys
import tempfile
import warnings
from itertools import islice
from typing import Any

from tests.loader.frameworks.clients.epochs import COUNT, Epochs, write

PLACES = (0, 5, COUNT, "end")
SETTINGS = ((0, False), (2, False), (3, False), (2, True))  # the number of workers, and whether they are persistent
EXTENTS: dict[str, tuple[Any, Any]] = {
    "few": (SETTINGS[-1:], (5, "end")),
    "all": (SETTINGS, PLACES),
}


def main(method: str, extent: str) -> None:
    """Write what came after each resume: by the settings of the DataLoader and the place."""
    warnings.simplefilter("ignore")  # torchdata's own, of PyTorch's
    from torchdata.stateful_dataloader import StatefulDataLoader

    with tempfile.TemporaryDirectory() as folder:
        epochs = Epochs(write(folder))
        results: dict[str, Any] = {}
        settings, places = EXTENTS[extent]
        for workers, kept in settings:
            options = {"multiprocessing_context": method} if workers else {}

            def fed(batches: Any, workers: int = workers, kept: bool = kept, options: Any = options) -> Any:  # noqa: FBT001 - a setting
                return StatefulDataLoader(
                    batches, batch_size=None, num_workers=workers, persistent_workers=kept, **options
                )

            name = f"{workers} workers{', persistent' if kept else ''}"
            for place in places:
                results[f"{name}, {place}"] = _resumed(epochs, fed, place)
            probed = fed(epochs.loader().to_torch())
            iter(probed)
            results[f"{name}, probed"] = [epochs.named(probed) for _ in range(2)]
    json.dump(results, sys.stdout)


def _resumed(epochs: Epochs, fed: Any, place: Any) -> list[list[str]]:
    """Return the epochs after a resume: in a new loader, in the same one, and in another number of workers."""
    from torch.utils.data import DataLoader

    loader = epochs.loader()
    running = fed(loader.to_torch())
    batches = iter(running)
    for _ in islice(batches, None if place == "end" else place):
        pass
    state = running.state_dict()
    del batches
    given = []
    for again in (epochs.loader(), loader):
        resumed = fed(again.to_torch())
        resumed.load_state_dict(state)
        given.append([epochs.named(resumed) for _ in range(3)])
    running.load_state_dict(state)
    given.append([epochs.named(running) for _ in range(3)])
    elastic = DataLoader(epochs.loader().restore(state).to_torch(), batch_size=None, num_workers=1)
    given.append([epochs.named(elastic) for _ in range(3)])
    return given


if __name__ == "__main__":
    main(*sys.argv[1:])
