"""Splits of rows that come in groups of different sizes and mixtures of classes.

Groups are placed one by one, large ones first, each where it brings the splits closest to their shares of every class.
What is held in memory is one line a group: its size by class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.keyed_random import Uint64s, priorities, stream_key
from recordsmith.run.splits.splitting import NO_SPLIT, Codes, SplitPlan, UnitBlock, check_counts

__all__ = ["assign_groups"]

_MERGED_AT = 1 << 20  # entries of single blocks, before they are added up


def assign_groups(blocks: Callable[[], Iterable[UnitBlock]], rows: int, plan: SplitPlan, seed: int, out: Codes) -> None:
    """Write the code of its split for each row into `out`; rows of one unit get the same.

    >>> from recordsmith.run.splits.splitting import parse_splits
    >>> codes = np.zeros(10, np.uint8)
    >>> patients = np.array([7, 7, 7, 7, 8, 8, 8, 8, 9, 9], np.uint64)
    >>> blocks = lambda: [(patients, np.full(10, -1, np.int64))]
    >>> assign_groups(blocks, 10, parse_splits("train=0.8,test=0.2"), 0, codes)
    >>> codes.tolist()
    [0, 0, 0, 0, 0, 0, 0, 0, 1, 1]
    """
    check_counts(plan, rows)
    units, counts = _sizes_by_class(blocks())
    codes = _placed(units, counts, _targets(plan, rows), seed)
    first = 0
    for names, _ in blocks():
        out[first : first + len(names)] = codes[np.searchsorted(units, names)]
        first += len(names)


def _sizes_by_class(blocks: Iterable[UnitBlock]) -> tuple[Uint64s, npt.NDArray[np.int64]]:
    """Return the units in ascending order, and how many rows of each class each has."""
    pieces: list[Any] = []  # of (unit, class, count)
    for names, classes in blocks:
        pieces.append(_merged(np.stack([names.view(np.int64), classes, np.ones(len(names), np.int64)])))
        if sum(piece.shape[1] for piece in pieces[1:]) > _MERGED_AT:
            pieces = [_merged(np.concatenate(pieces, axis=1))]
    names, classes, counts = _merged(np.concatenate(pieces, axis=1))
    units, rows = np.unique(names.view(np.uint64), return_inverse=True)
    codes, columns = np.unique(classes, return_inverse=True)
    table = np.zeros((len(units), len(codes)), np.int64)
    table[rows, columns] = counts
    return units, table


def _merged(entries: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Add up the counts of equal units and classes."""
    entries = entries[:, np.lexsort((entries[1], entries[0]))]
    starts = np.flatnonzero(np.append(True, (entries[:2, 1:] != entries[:2, :-1]).any(axis=0)))
    return np.stack([entries[0, starts], entries[1, starts], np.add.reduceat(entries[2], starts)])


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
