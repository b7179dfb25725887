"""mix: rows of several datasets, in given shares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from recordsmith import _core
from recordsmith.errors import PipelineError, list_names
from recordsmith.loader.order import ENDLESS, Drawn, Int64s, Order
from recordsmith.loader.plan import Plan
from recordsmith.loader.verbs.shuffle import check_whole_number
from recordsmith.priorities import stream_key

__all__ = ["Mixed", "mix"]

_WINDOW = 1000  # so many rows have the shares exactly, to within one row

Stop = Literal["first", "all"]


@dataclass(frozen=True, eq=False)
class Mixed(Order):
    """Several orders in given shares: exact in every thousand rows, random within them.

    Args:
        inner: the orders.
        shifts: what is added to the records of each, so that they are numbered through.
        shares: how much of the rows each has; they add up to 1.
        seed: another seed, another interleaving.
        length: how many rows there are in all.
    """

    inner: tuple[Order, ...]
    shifts: tuple[int, ...]
    shares: tuple[float, ...]
    seed: int
    length: int = field(default=0)

    def at(self, epoch: int, positions: Int64s) -> Drawn:
        """Return the records at these positions."""
        numbers, epochs = np.empty_like(positions), np.empty_like(positions)
        windows = positions // _WINDOW
        for window in np.unique(windows).tolist():
            mine = np.flatnonzero(windows == window)
            key = stream_key(self.seed, f"mix/{epoch}/{window}")
            first, last = window * _WINDOW, min((window + 1) * _WINDOW, self.length)
            slots = _core.Permutation(last - first, key).at(positions[mine] - first)
            # How many rows each order has given before this window, and how many after it.
            before, after = _given(self.shares, first), _given(self.shares, last)
            starts = np.cumsum([0, *(b - a for a, b in zip(before, after, strict=True))])
            owners = np.searchsorted(starts, slots, side="right") - 1
            for owner in np.unique(owners).tolist():
                this = mine[owners == owner]
                turn = before[owner] + slots[owners == owner] - int(starts[owner])
                order = self.inner[owner]
                rounds, within = np.divmod(turn, order.length)
                for number in np.unique(rounds).tolist():  # gone through again where "all" asks for it
                    chosen = this[rounds == number]
                    drawn = order.at(epoch + number * 1_000_003, within[rounds == number])
                    numbers[chosen], epochs[chosen] = drawn.numbers + self.shifts[owner], drawn.epochs
        return Drawn(numbers, epochs)


def _given(shares: Sequence[float], rows: int) -> list[int]:
    """Return how many of the first so many rows each order gives: whole numbers that add up."""
    ends = [round(share * rows) for share in np.cumsum(shares)]
    ends[-1] = rows
    return [int(count) for count in np.diff([0, *ends])]


def mix(plan: Plan, others: Sequence[Plan], weights: Sequence[float] | None, *, seed: int, stop: Stop) -> Plan:
    """Mix rows of several datasets; see `Loader.mix`."""
    check_whole_number("The seed", seed, least=None)
    plans = [plan, *others]
    for one in plans:
        if one.changes or one.batching is not None:
            raise PipelineError(
                "mix takes datasets whose rows are as they are stored.",
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
            raise PipelineError("mix needs datasets that have rows, and an end.", advice="Repeat what was mixed.")
    given = [1.0] * len(plans) if weights is None else [float(weight) for weight in weights]
    if len(given) != len(plans) or min(given) <= 0 or not np.isfinite(given).all():
        raise PipelineError(
            "mix needs a weight above 0 for each dataset.", found=repr(weights), expected=f"{len(plans)} numbers"
        )
    if stop not in ("first", "all"):
        raise PipelineError("mix stops at the first end or when all are through.", found=repr(stop))
    shares = tuple(weight / sum(given) for weight in given)
    lengths = [one.order.length / share for one, share in zip(plans, shares, strict=True)]
    length = max(1, int(min(lengths) if stop == "first" else max(lengths)))
    while stop == "first" and length > 1 and not _enough(plans, shares, length):
        length -= 1  # rounding
    sizes = [sum(len(dataset) for dataset in one.datasets) for one in plans]
    shifts = tuple(int(shift) for shift in np.cumsum([0, *sizes[:-1]]))
    order = Mixed(tuple(one.order for one in plans), shifts, shares, seed, length)
    settings = {
        "others": [[str(verb) for verb in one.verbs] for one in others],
        "weights": list(given),
        "seed": seed,
        "stop": stop,
    }
    datasets = tuple(dataset for one in plans for dataset in one.datasets)
    return plan.then("mix", settings, datasets=datasets, order=order, even_world=None)


def _enough(plans: Sequence[Plan], shares: Sequence[float], rows: int) -> bool:
    return all(count <= one.order.length for one, count in zip(plans, _given(shares, rows), strict=True))
