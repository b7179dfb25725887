"""mix: rows of several datasets, in given shares."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from recordsmith import _core
from recordsmith.errors import PipelineError, list_names
from recordsmith.keyed_random import stream_key
from recordsmith.loader.order.record_order import AGAIN, ENDLESS, Int64s, Order, OrderedRecords, groups
from recordsmith.loader.verbs.arguments import check_whole_number, verb
from recordsmith.loader.verbs.chain import Chain, LoaderT

__all__ = ["MixVerb", "Mixed"]

_WINDOW = 1000  # so many rows have the shares, to within a row or two

Stop = Literal["first", "all"]


@dataclass(frozen=True, eq=False)
class Mixed(Order):
    """Several orders in given shares: kept in every thousand rows, random within them.

    Args:
        inner: the orders.
        shifts: what is added to the records of each, so that they are numbered through.
        shares: how much of the rows each has, in relation to the others.
        seed: another seed, another interleaving.
        length: how many rows there are in all.
    """

    inner: tuple[Order, ...]
    shifts: tuple[int, ...]
    shares: tuple[int, ...]
    seed: int
    length: int = field(default=0)

    def at(self, epoch: int, positions: Int64s) -> OrderedRecords:
        """Return the records at these positions."""
        numbers, epochs = np.empty_like(positions), np.empty_like(positions)
        for window, mine in groups(positions // _WINDOW):
            key = stream_key(self.seed, f"mix/{epoch}/{window}")
            first, last = window * _WINDOW, min((window + 1) * _WINDOW, self.length)
            slots = _core.Permutation(last - first, key).at(positions[mine] - first)
            # How many rows each order has given before this window, and how many after it.
            before, after = _given(self.shares, first), _given(self.shares, last)
            starts = np.cumsum([0, *(b - a for a, b in zip(before, after, strict=True))])
            for owner, these in groups(np.searchsorted(starts, slots, side="right") - 1):
                order = self.inner[owner]
                rounds, within = np.divmod(before[owner] + slots[these] - int(starts[owner]), order.length)
                for turn, again in groups(rounds):  # repeated where "all" asks for it
                    chosen = mine[these[again]]
                    records = order.at(epoch + turn * AGAIN, within[again])
                    numbers[chosen], epochs[chosen] = records.numbers + self.shifts[owner], records.epochs
        return OrderedRecords(numbers, epochs)


def _given(shares: Sequence[int], rows: int) -> list[int]:
    """Return how many of the first so many rows each order gives: its share to within a row or two, and never falling.

    Rows are divided between two halves of the orders, and so on. Neither side's number falls while that of both rises;
    were the shares rounded side by side, that of a small one between two others would.

    >>> [_given([1, 1, 1], rows) for rows in (1000, 1001, 1002)]
    [[333, 334, 333], [334, 334, 333], [334, 334, 334]]
    """
    if len(shares) == 1:
        return [rows]
    half = len(shares) // 2
    left, right = sum(shares[:half]), sum(shares[half:])
    ours = (2 * rows * left + left + right) // (2 * (left + right))
    return [*_given(shares[:half], ours), *_given(shares[half:], rows - ours)]


class MixVerb(Chain[LoaderT]):
    """Gives a chain the method `mix`."""

    @verb
    def mix(
        self,
        *others: Chain[Any],
        weights: Sequence[float] | None = None,
        seed: int = 0,
        stop: Stop = "first",
    ) -> LoaderT:
        """Mix the rows with those of other datasets. The shares hold in every thousand rows.

        Args:
            others: the other datasets, or chains that only select and order rows.
            weights: the share of each, this one first; None: equal shares.
            seed: a different seed gives another interleaving.
            stop: an epoch ends when the first dataset ends, or when all have ended and shorter ones were repeated.
        """
        plan = self.plan
        check_whole_number("The seed", seed, least=None)
        for other in others:
            if not isinstance(other, Chain):
                raise PipelineError(
                    "mix needs datasets.", found=repr(other)[:200], expected="what rs.open returns, or a chain over it"
                )
        plans = [plan, *(other.plan for other in others)]
        for one in plans:
            if one.changes or one.batching is not None:
                raise PipelineError(
                    "mix needs datasets whose rows are not changed or batched yet.",
                    advice="Mix first, and then .map(), .images() and .batch() what was mixed.",
                )
            if one.features != plan.features:
                raise PipelineError(
                    "The datasets to be mixed have different features.",
                    found=list_names(one.features or ()),
                    expected=list_names(plan.features or ()),
                    advice="Bring them to the same features with .select(), or to the same schema when they are made.",
                )
            if one.order.length == 0 or one.order.length >= ENDLESS:
                raise PipelineError(
                    "mix needs datasets that are neither empty nor endless.", advice="Repeat what was mixed."
                )
        given = _weights(weights, len(plans))
        if stop not in ("first", "all"):
            raise PipelineError("Unknown stop.", found=repr(stop), expected="'first' or 'all'")
        shares = _exact(given)
        length = _length([one.order.length for one in plans], shares, stop)
        sizes = [sum(len(dataset) for dataset in one.datasets) for one in plans]
        shifts = tuple(int(shift) for shift in np.cumsum([0, *sizes[:-1]]))
        order = Mixed(tuple(one.order for one in plans), shifts, shares, seed, length)
        settings = {
            "others": [[str(verb) for verb in one.verbs] for one in plans[1:]],
            "weights": list(given),
            "seed": seed,
            "stop": stop,
        }
        datasets = tuple(dataset for one in plans for dataset in one.datasets)
        return self._then(plan.then("mix", settings, datasets=datasets, order=order, even_world=None))


def _weights(weights: Sequence[float] | None, count: int) -> list[float]:
    try:
        given = [1.0] * count if weights is None else [float(weight) for weight in weights]
    except (TypeError, ValueError, OverflowError):
        given = []
    if len(given) != count or min(given) <= 0 or not np.isfinite(given).all():
        raise PipelineError(
            "mix needs a weight above 0 for each dataset.", found=repr(weights), expected=f"{count} numbers"
        )
    return given


def _exact(weights: Sequence[float]) -> tuple[int, ...]:
    """Return whole numbers in the same relation to each other.

    >>> _exact([0.5, 2.0])
    (1, 4)
    """
    ratios = [weight.as_integer_ratio() for weight in weights]
    unit = max(denominator for _, denominator in ratios)  # all are powers of two
    return tuple(numerator * (unit // denominator) for numerator, denominator in ratios)


def _length(lengths: Sequence[int], shares: Sequence[int], stop: Stop) -> int:
    """Return how many rows there are until the first order is used up, or until all are."""
    reached = [(2 * length * sum(shares) + share) // (2 * share) for length, share in zip(lengths, shares, strict=True)]
    rows = min(reached) if stop == "first" else max(reached)
    if rows >= ENDLESS:
        raise PipelineError(
            "With these weights, an epoch of all datasets would not end.",
            advice="Give weights that are closer to each other, or write stop='first'.",
        )
    fits, step = (operator.le, -1) if stop == "first" else (operator.ge, 1)
    while not all(map(fits, _given(shares, rows), lengths)):
        rows += step  # the shares hold to within a row or two
    return rows
