"""Splits of rows that come in groups of different sizes and mixtures of classes.

Groups are placed one by one, large ones first, each where it brings the splits closest to their shares of every class.
What is held in memory is one line a group: its size by class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.make.priorities import priorities, stream_key
from recordsmith.make.splitting import NO_SPLIT, Codes, SplitPlan, UnitBlock

__all__ = ["assign_groups"]


def assign_groups(blocks: Callable[[], Iterable[UnitBlock]], rows: int, plan: SplitPlan, seed: int, out: Codes) -> None:
    """Write the code of its split for each row into `out`; rows of one unit get the same.

    >>> from recordsmith.make.splitting import parse_splits
    >>> codes = np.zeros(10, np.uint8)
    >>> patients = np.array([7, 7, 7, 7, 8, 8, 8, 8, 9, 9], np.uint64)
    >>> blocks = lambda: [(patients, np.full(10, -1, np.int64))]
    >>> assign_groups(blocks, 10, parse_splits("train=0.8,test=0.2"), 0, codes)
    >>> codes.tolist()
    [0, 0, 0, 0, 0, 0, 0, 0, 1, 1]
    """
    units, counts = _sizes_by_class(blocks())
    codes = _placed(units, counts, _targets(plan, rows), seed)
    first = 0
    for names, _ in blocks():
        out[first : first + len(names)] = codes[np.searchsorted(units, names)]
        first += len(names)


def _sizes_by_class(blocks: Iterable[UnitBlock]) -> tuple[Any, npt.NDArray[np.int64]]:
    """Return the units in ascending order, and how many rows of each class each has."""
    sizes: dict[tuple[int, int], int] = {}
    for names, classes in blocks:
        pairs, counts = np.unique(np.stack([names.view(np.int64), classes]), axis=1, return_counts=True)
        for name, code, count in zip(*pairs.tolist(), counts.tolist(), strict=True):
            sizes[name, code] = sizes.get((name, code), 0) + count
    units = np.unique(np.array([name for name, _ in sizes], np.int64).view(np.uint64))
    codes = sorted({code for _, code in sizes})
    table = np.zeros((len(units), len(codes)), np.int64)
    rows = np.searchsorted(units, np.array([name for name, _ in sizes], np.int64).view(np.uint64))
    columns = np.searchsorted(codes, [code for _, code in sizes])
    table[rows, columns] = list(sizes.values())
    return units, table


def _targets(plan: SplitPlan, rows: int) -> npt.NDArray[np.float64]:
    """Return the share of all rows that each split should have, and last that of no split."""
    ends = plan.targets(rows)
    sizes = np.diff([0, *ends, rows]).clip(min=0)
    return sizes / max(1, rows)


def _placed(units: Any, counts: npt.NDArray[np.int64], shares: Any, seed: int) -> Codes:
    totals = counts.sum(axis=0)
    targets = shares[:, None] * totals
    # Full splits are not to be filled further, and those that want nothing get nothing.
    weights = 1 / np.maximum(targets, 1e-9)
    filled = np.zeros_like(targets)
    codes = np.zeros(len(units), np.uint8)
    sizes = counts.sum(axis=1)
    magnitude = np.floor(np.log2(sizes)).astype(np.int64)
    for place in np.lexsort((priorities(units, stream_key(seed, "split")), -magnitude)):
        group = counts[place]
        cost = (weights * group * (2 * (filled - targets) + group)).sum(axis=1)
        cost[shares <= 0] = np.inf
        best = int(np.argmin(cost))
        filled[best] += group
        codes[place] = best if best < len(shares) - 1 else NO_SPLIT
    return codes
