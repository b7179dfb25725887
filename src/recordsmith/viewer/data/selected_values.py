"""The values of the selected records, for the bars and histograms next to the grid.

All selected records are counted where they are few; of many, a random sample, within a limit of records and bytes.
Counts are then estimates, and are shown as such.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith import _core
from recordsmith.columns import ByteColumn
from recordsmith.dataset.layout import DatasetLayout
from recordsmith.dataset.stored import StoredDataset
from recordsmith.errors import RecordsmithError
from recordsmith.schema import Feature, Label, Scalar, Schema, Text
from recordsmith.viewer.data.opened import OpenedDataset
from recordsmith.wording.numbers import number_text

__all__ = ["SelectedValues", "selected_values"]

_MOST_RECORDS = 2_000
_MOST_BYTES = 64 << 20
_MOST_FEATURES = 120
_LONGEST_TEXT = 100  # bytes of a text that is counted


@dataclass(frozen=True, slots=True)
class SelectedValues:
    """What selected records contain.

    Attributes:
        selected: how many records are selected.
        looked_at: how many of them were looked at.
        counts: how often each value occurs among those, as the bars name it.
        numbers: the numbers among those.
    """

    selected: int
    looked_at: int
    counts: Mapping[str, Mapping[str, int]]
    numbers: Mapping[str, npt.NDArray[np.float64]]

    @property
    def is_exact(self) -> bool:
        """Whether all selected records were looked at."""
        return self.looked_at == self.selected

    def count_of(self, name: str, value: str) -> int | None:
        """Return how many selected records have a value, or about how many; None if that is not known."""
        if name not in self.counts or not self.looked_at:
            return None
        return round(self.counts[name].get(value, 0) * self.selected / self.looked_at)


def selected_values(dataset: OpenedDataset, numbers: npt.NDArray[np.int64], selected: int) -> SelectedValues:
    """Look at selected records, of which `numbers` are known."""
    wanted = _chosen(dataset, numbers)
    features = {one.name: one.feature for one in dataset.features[:_MOST_FEATURES] if _is_counted(one.feature)}
    schema = Schema({name: feature for name, feature in features.items() if feature is not None})
    counts: dict[str, Counter[str]] = {name: Counter() for name in schema}
    values: dict[str, list[npt.NDArray[np.float64]]] = {name: [] for name in schema}
    looked_at = 0
    starts = dataset.positions()
    for place, file in enumerate(dataset.files):
        within = wanted[(wanted >= starts[place]) & (wanted < starts[place + 1])] - starts[place]
        if not len(within) or file.damaged or not schema:
            continue
        try:
            batch = StoredDataset(DatasetLayout((file.path,)), schema=schema)[within]
        except (RecordsmithError, OSError):
            continue  # records of another type: the others say enough
        looked_at += len(within)
        for name, feature in schema.items():
            _count(batch[name], feature, counts[name], values[name])
    joined = {name: np.concatenate(parts) for name, parts in values.items() if parts}
    return SelectedValues(selected, looked_at, counts, joined)


def _chosen(dataset: OpenedDataset, numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    size = sum(file.bytes for file in dataset.files) // max(1, dataset.records)
    most = min(_MOST_RECORDS, max(20, _MOST_BYTES // max(1, size)))
    if len(numbers) <= most:
        return np.sort(numbers)
    chosen = _core.Permutation(len(numbers), 0).at(np.arange(most, dtype=np.int64))  # at random: data may have a period
    return np.sort(numbers[chosen])


def _is_counted(feature: Feature | None) -> bool:
    return isinstance(feature, (Scalar, Label)) or (isinstance(feature, Text) and feature.shape == ())


def _count(column: Any, feature: Feature, counts: Counter[str], values: list[npt.NDArray[np.float64]]) -> None:
    if isinstance(column, ByteColumn):
        short = column.lengths <= _LONGEST_TEXT
        counts.update(str(column[int(row)]) for row in np.flatnonzero(short))
        return
    array = np.ma.compressed(column) if isinstance(column, np.ma.MaskedArray) else np.asarray(column)
    if array.ndim != 1 or array.dtype.kind not in "biuf":
        return
    if isinstance(feature, Label):
        names = feature.names
        counts.update(names[one] if 0 <= one < len(names) else str(one) for one in array.tolist())
        return
    values.append(array.astype(np.float64))
    if array.dtype.kind in "biu":
        counts.update(number_text(one) for one in array.tolist())
