"""A Dataset or IterableDataset of Hugging Face: rows are put into batches here, those of a table in a random order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from recordsmith.doctor.diagnose.observing.batch import TARGET_NAMES
from recordsmith.doctor.diagnose.pipelines.pipeline import Pipeline

__all__ = ["HuggingFaceDataset", "is_hugging_face"]

_ROWS = 32


class HuggingFaceDataset(Pipeline):
    """A dataset of the package `datasets`."""

    kind = "a Hugging Face dataset"
    shuffled_here = True

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset
        features = getattr(dataset, "features", None) or {}
        labels = [name for name in features if name.lower() in TARGET_NAMES]
        self.class_names = tuple(getattr(features[labels[0]], "names", None) or ()) if len(labels) == 1 else ()

    def epoch(self, number: int = 0) -> Iterator[Any]:
        """Begin an epoch."""
        if not hasattr(self._dataset, "__len__"):
            yield from self._dataset.iter(batch_size=_ROWS)
            return
        order = np.random.default_rng(number).permutation(len(self._dataset))
        for start in range(0, len(order), _ROWS):
            yield self._dataset[order[start : start + _ROWS].tolist()]


def is_hugging_face(thing: Any) -> bool:
    """Whether an object is a dataset of the package `datasets`.

    >>> is_hugging_face([1])
    False
    """
    return any(base.__module__.partition(".")[0] == "datasets" for base in type(thing).__mro__) and hasattr(
        thing, "features"
    )
