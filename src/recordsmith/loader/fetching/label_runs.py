"""Runs of equal labels, estimated from a few hundred records: a short shuffle buffer cannot mix them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from recordsmith.columns import ByteColumn
from recordsmith.errors import RecordsmithError
from recordsmith.loader.fetching.record_fetching import Fetcher
from recordsmith.loader.order.record_order import Int64s, OrderedRecords
from recordsmith.loader.plan import Plan
from recordsmith.schema import Feature, Label, Scalar, Text

__all__ = ["label_feature", "long_label_run"]

_USUAL_NAMES = ("label", "labels", "class", "target", "category", "y")
_PLACES = 32  # stretches that are looked at
_LOOKS = 16  # records of each
_MOST_BYTES = 16 << 20  # what is read of files that can only be read from their front
_FEWER = 4  # how many times fewer runs there have to be than in a random order
_MARGIN = 0.3  # by how much stretches of one label have to be more frequent than in a random order


def label_feature(features: Mapping[str, Feature] | None) -> str | None:
    """Return the feature that says the class: the only `Label`, or a number or text that has a usual name.

    >>> label_feature({"text": Text(), "label": Scalar("int64")})
    'label'
    """
    labels = [name for name, feature in (features or {}).items() if isinstance(feature, Label)]
    if labels:
        return labels[0] if len(labels) == 1 else None
    usual = [name for name in _USUAL_NAMES if isinstance((features or {}).get(name), (Scalar, Text))]
    return usual[0] if usual else None


def long_label_run(plan: Plan, buffer: int) -> tuple[str, int] | None:
    """Return the label and the length of a run of equal ones if most runs are longer than a buffer; else None.

    It looks at 512 records at most, or at the front of files that can only be read from there.
    """
    datasets = plan.datasets
    name = label_feature(dict(datasets[0].schema))
    if name is None or plan.order.length <= buffer or plan.order.length < _LOOKS:
        return None
    labels = _Labels(replace(plan, datasets=tuple(dataset.select(name) for dataset in datasets)), name)
    try:
        if labels.random_access:
            run = _run_by_looks(labels, plan.order.length, buffer)
        else:
            run = _run_at_front(labels, buffer)
    except (RecordsmithError, ValueError, OSError):
        return None  # iterating will raise the error
    return None if run is None else (name, run)


class _Labels:
    """The labels of rows by their position in the first epoch."""

    def __init__(self, plan: Plan, name: str) -> None:
        self._plan, self._name = plan, name
        self._fetcher = Fetcher(plan.datasets, plan.order)
        self.random_access = all(dataset.places().is_plain for dataset in plan.datasets)

    def at(self, positions: Int64s) -> list[Any]:
        """Return the labels at these positions."""
        records = self._plan.order.at(0, positions)
        back = np.argsort(np.argsort(records.numbers, kind="stable"), kind="stable")
        rising = np.sort(records.numbers)
        column = self._fetcher.columns(OrderedRecords(rising, np.zeros_like(rising)))[self._name]
        values = _plain(column)
        return [values[place] for place in back.tolist()]

    def front(self) -> list[Any]:
        """Return the first labels of the first dataset, if it is read in that order."""
        if not self._plan.order.is_file_order:
            return []
        rows = max(1, int(_MOST_BYTES / max(1.0, self._fetcher.record_bytes)))
        for batch, _ in self._plan.datasets[0].read_batches(rows):
            return _plain(batch[self._name])
        return []


def _plain(column: Any) -> list[Any]:
    values: list[Any] = column.to_list() if isinstance(column, ByteColumn) else np.ma.getdata(column).tolist()
    return values


def _run_by_looks(labels: _Labels, length: int, buffer: int) -> int | None:
    starts = np.linspace(0, length - buffer, _PLACES).astype(np.int64)
    # At random places, so that labels that come in turns are not met in step.
    within = np.random.default_rng(0).integers(0, buffer, (_PLACES, _LOOKS))
    found = labels.at((starts[:, np.newaxis] + within).reshape(-1))
    codes = np.unique(np.array(found, object).astype(str), return_inverse=True)[1].reshape(_PLACES, _LOOKS)
    one_label = (codes == codes[:, :1]).all(axis=1)
    shares = np.bincount(codes.reshape(-1)) / codes.size
    by_chance = float((shares**_LOOKS).sum())
    if len(shares) < 2 or one_label.mean() < max(0.5, by_chance + _MARGIN):
        return None
    chosen = int(np.flatnonzero(one_label)[0])
    place, label = int(starts[chosen] + within[chosen, 0]), found[chosen * _LOOKS]
    run = _edge(labels, label, place, 1, length) - _edge(labels, label, place, -1, length) - 1
    return run if run > buffer else None


def _edge(labels: _Labels, label: Any, place: int, direction: int, length: int) -> int:
    """Return the first position with another label, as far as a search by halves finds it."""
    near, step = place, 1
    while True:
        far = place + direction * step
        if not 0 <= far < length:
            far = length if direction > 0 else -1
            break
        if labels.at(np.array([far]))[0] != label:
            break
        near, step = far, step * 2
    while abs(far - near) > 1:
        middle = (far + near) // 2
        if labels.at(np.array([middle]))[0] == label:
            near = middle
        else:
            far = middle
    return far


def _run_at_front(labels: _Labels, buffer: int) -> int | None:
    found = labels.front()
    if len(set(found)) < 2:
        return None
    changes = np.flatnonzero([a != b for a, b in pairwise(found)]) + 1
    runs = np.diff(np.concatenate([[0], changes, [len(found)]]))
    shares = np.unique(np.array(found, object).astype(str), return_counts=True)[1] / len(found)
    by_chance = len(found) * (1 - float((shares**2).sum()))  # how many runs a random order has
    mostly = runs[runs > buffer].sum() > len(found) / 2
    return int(runs.max()) if mostly and len(runs) * _FEWER < by_chance else None
