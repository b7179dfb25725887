"""A PyTorch DataLoader."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from recordsmith.doctor.diagnose.pipelines.pipeline import Pipeline

__all__ = ["TorchLoader"]


class TorchLoader(Pipeline):
    """A DataLoader, or an IterableDataset of batches. Drawing from it leaves PyTorch's random numbers as they were."""

    kind = "a PyTorch DataLoader"

    def __init__(self, loader: Any) -> None:
        self._loader = loader
        sampler = type(getattr(loader, "sampler", None)).__name__
        self.sharded = "Distributed" in sampler

    def epoch(self) -> Iterator[Any]:
        """Begin an epoch."""
        return iter(self._loader)
