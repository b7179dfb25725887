"""Records by number out of one dataset, or out of several that are numbered through."""

from __future__ import annotations

import os
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.dataset import StoredDataset
from recordsmith.loader.row_access import concatenate, part_of

__all__ = ["Fetcher"]

Int64s = npt.NDArray[np.int64]


class Fetcher:
    """Fetches rows by their number over all datasets of a plan."""

    def __init__(self, datasets: tuple[StoredDataset, ...]) -> None:
        self._datasets = datasets

    @cached_property
    def _starts(self) -> Int64s:
        return np.cumsum([0, *(len(dataset) for dataset in self._datasets)])

    def columns(self, numbers: Int64s) -> dict[str, Any]:
        """Return the rows with these numbers, in this order, as columns."""
        if len(self._datasets) == 1:
            return self._datasets[0][numbers]
        owners = np.searchsorted(self._starts, numbers, side="right") - 1
        parts, places = [], []
        for owner in np.unique(owners).tolist():
            mine = np.flatnonzero(owners == owner)
            parts.append(self._datasets[owner][numbers[mine] - self._starts[owner]])
            places.append(mine)
        back = np.argsort(np.concatenate(places))
        return {name: part_of(concatenate([part[name] for part in parts]), back) for name in parts[0]}

    def place(self, number: int) -> tuple[StoredDataset, int]:
        """Return the dataset that a record is in, and its number there."""
        owner = int(np.searchsorted(self._starts, number, side="right")) - 1
        return self._datasets[owner], number - int(self._starts[owner])

    def file_of(self, number: int) -> tuple[str, int]:
        """Return the file that a record is in, and its number there."""
        dataset, within = self.place(number)
        return dataset.place_of(within)

    def record_bytes(self) -> float:
        """Return how large a record is on average, as it is stored."""
        total = sum(os.path.getsize(file) for dataset in self._datasets for file in dataset.files)
        return total / max(1, int(self._starts[-1]))
