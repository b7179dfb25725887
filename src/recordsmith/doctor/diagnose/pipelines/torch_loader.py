"""PyTorch: a DataLoader, or a Dataset that no DataLoader was made for."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from typing import Any

from recordsmith.doctor.diagnose.observing.observations import WorkerFacts
from recordsmith.doctor.diagnose.pipelines.class_names import class_names_of
from recordsmith.doctor.diagnose.pipelines.pipeline import Pipeline
from recordsmith.doctor.diagnose.pipelines.torch_workers import look_at_workers
from recordsmith.doctor.diagnose.pipelines.worker_places import WorkerPlaces

__all__ = ["TorchDataset", "TorchLoader", "is_torch_dataset"]

_ROWS = 32


class TorchLoader(Pipeline):
    """A DataLoader. Drawing from it leaves PyTorch's random numbers as they were."""

    kind = "a PyTorch DataLoader"

    def __init__(self, loader: Any) -> None:
        self._loader = loader
        self._places = WorkerPlaces()
        self.sharded = any("Distributed" in type(one).__name__ for one in _samplers(loader))
        self.class_names = class_names_of(loader)

    def worker_facts(self) -> WorkerFacts | None:
        """Return what is known of the workers, and of the data that they are given."""
        facts = look_at_workers(self._loader)
        waiting = [one for one in _samplers(self._loader) if hasattr(one, "set_epoch") and not getattr(one, "epoch", 0)]
        return WorkerFacts(
            **facts,
            needs_set_epoch=type(waiting[0]).__name__ if waiting else "",
            subsets=_subsets_of(getattr(self._loader, "dataset", None)),
        )

    def place_of_worker(self) -> str:
        """Return the line at which a worker is that gives nothing."""
        return self._places.innermost()

    def epoch(self, number: int = 0) -> Iterator[Any]:
        """Begin an epoch; samplers are told its number, as a training loop does."""
        told = [(one, getattr(one, "epoch", 0)) for one in _samplers(self._loader) if hasattr(one, "set_epoch")]
        for one, before in told:
            one.set_epoch(before + number)
        try:
            with self._places.noted(self._loader):
                batches = iter(self._loader)
            yield from batches
        finally:
            for one, before in told:
                one.set_epoch(before)


class TorchDataset(Pipeline):
    """A Dataset without a DataLoader: rows are put into batches here, map-style ones in a random order."""

    kind = "a PyTorch Dataset"
    shuffled_here = True

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset
        self.class_names = class_names_of(dataset)

    def epoch(self, number: int = 0) -> Iterator[Any]:
        """Begin an epoch."""
        import torch

        if hasattr(self._dataset, "__iter__"):
            first = next(iter(self._dataset), None)
            parts = first if isinstance(first, (tuple, list)) else (first,)
            batched = all(getattr(part, "ndim", 0) > 0 for part in parts if not isinstance(part, dict))
            return iter(self._dataset if batched else torch.utils.data.DataLoader(self._dataset, batch_size=_ROWS))
        generator = torch.Generator().manual_seed(number)
        return iter(torch.utils.data.DataLoader(self._dataset, batch_size=_ROWS, shuffle=True, generator=generator))


def is_torch_dataset(thing: Any) -> bool:
    """Whether an object is a Dataset of PyTorch, and no DataLoader.

    >>> is_torch_dataset([1])
    False
    """
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(thing, torch.utils.data.Dataset)


def _samplers(loader: Any) -> list[Any]:
    batches = getattr(loader, "batch_sampler", None)
    found = [getattr(loader, "sampler", None), batches, getattr(batches, "sampler", None)]
    return list({id(one): one for one in found if one is not None}.values())


def _subsets_of(dataset: Any) -> tuple[int, ...]:
    """Return how many rows the Subsets of a dataset have, of which the program has several."""
    subset = sys.modules["torch"].utils.data.Subset
    if dataset is None or isinstance(dataset, subset):
        return ()
    parts = [one for one in gc.get_objects() if type(one) is subset and one.dataset is dataset]
    return tuple(sorted((len(one.indices) for one in parts), reverse=True))
