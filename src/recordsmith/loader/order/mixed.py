"""Several orders in given shares."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

import numpy as np

from recordsmith import _core
from recordsmith.errors import PipelineError
from recordsmith.keyed_random import stream_key
from recordsmith.loader.order.record_order import AGAIN, ENDLESS, Int64s, Order, OrderedRecords, Part, groups

__all__ = ["Changes", "Joined", "Mixed", "Phases", "Stop", "mixed_length"]

_WINDOW = 1000  # so many rows have the shares, to within a row or two

Stop: TypeAlias = Literal["first", "all"]
Phases: TypeAlias = tuple[tuple[int, tuple[int, ...]], ...]
Changes: TypeAlias = tuple[tuple[Phases, int], ...]


@dataclass(frozen=True, eq=False)
class Mixed(Order):
    """Several orders in given shares: kept in every thousand rows, random within them.

    Args:
        inner: the orders.
        shifts: what is added to the records of each, so that they are numbered through.
        phases: from which row on each order has how much of the rows, in relation to the others.
        seed: another seed, another interleaving.
        length: how many rows there are in all.
        stop: whether it ends with the first of the orders, or when all have ended.
        begun: how many rows of each order were given before the first of these; () if there were none.
    """

    inner: tuple[Order, ...]
    shifts: tuple[int, ...]
    phases: Phases
    seed: int
    length: int = field(default=0)
    stop: Stop = "first"
    begun: tuple[int, ...] = ()

    def given(self, rows: int) -> tuple[int, ...]:
        """Return how many rows of each order were given after so many rows of these, those before them included."""
        return tuple(map(operator.add, self.begun or [0] * len(self.inner), _given_in(self.phases, rows)))

    def after(self, begun: Sequence[int]) -> Mixed:
        """Return what is left of an epoch in which so many rows of each order were given, in whatever shares."""
        fed = sum(begun)
        phases = tuple((max(0, start - fed), shares) for start, shares in self.phases)
        last = max(number for number, (start, _) in enumerate(phases) if start == 0)
        left = [max(0, order.length - rows) for order, rows in zip(self.inner, begun, strict=True)]
        length = mixed_length(left, phases[last:], self.stop)
        return replace(self, phases=phases[last:], length=length, begun=tuple(begun) if any(begun) else ())

    def changed(self, changes: Changes) -> Order:
        """Return the rows of an epoch that began with other shares, or with fewer orders: after that come these shares.

        Args:
            changes: the shares in turn, and for how many rows each held.
        """
        begun: tuple[int, ...] = (0,) * len(self.inner)
        parts: list[Order] = []
        for phases, rows in changes:
            count = len(phases[0][1])
            before = replace(self, inner=self.inner[:count], shifts=self.shifts[:count], phases=phases)
            part = before.after(begun[:count])
            parts.append(Part(part, 0, rows))
            begun = (*part.given(min(rows, part.length)), *begun[count:])
        return Joined((*parts, self.after(begun)))

    def rows_to_end(self, rows: int) -> int:
        """Return after how many rows shares can change, so many of which were fed: those that are mixed go together."""
        return min(-(-rows // _WINDOW) * _WINDOW, self.length)

    def at(self, epoch: int, positions: Int64s) -> OrderedRecords:
        """Return the records at these positions."""
        numbers, epochs = np.empty_like(positions), np.empty_like(positions)
        for window, mine in groups(positions // _WINDOW):
            key = stream_key(self.seed, f"mix/{epoch}/{window}" + (f"/{sum(self.begun)}" if self.begun else ""))
            first, last = window * _WINDOW, min((window + 1) * _WINDOW, self.length)
            slots = _core.Permutation(last - first, key).at(positions[mine] - first)
            # How many rows each order has given before this window, and how many after it.
            before, after = _given_in(self.phases, first), _given_in(self.phases, last)
            starts = np.cumsum([0, *(b - a for a, b in zip(before, after, strict=True))])
            for owner, these in groups(np.searchsorted(starts, slots, side="right") - 1):
                order = self.inner[owner]
                first_row = before[owner] + (self.begun[owner] if self.begun else 0)
                rounds, within = np.divmod(first_row + slots[these] - int(starts[owner]), order.length)
                for turn, again in groups(rounds):  # repeated where "all" asks for it
                    chosen = mine[these[again]]
                    records = order.at(epoch + turn * AGAIN, within[again])
                    numbers[chosen], epochs[chosen] = records.numbers + self.shifts[owner], records.epochs
        return OrderedRecords(numbers, epochs)


@dataclass(frozen=True, eq=False)
class Joined(Order):
    """Several mixtures one after the other; the last of them has all sources."""

    parts: tuple[Order, ...]

    @property
    def starts(self) -> list[int]:
        """Where each of them begins, and where the last one ends."""
        return [0, *itertools.accumulate(part.length for part in self.parts)]

    @property
    def inner_orders(self) -> tuple[Order, ...]:
        """The last one: the orders of the others are among its own."""
        return self.parts[-1:]

    @property
    def length(self) -> int:  # type: ignore[override] # it is that of the parts
        """How many rows there are."""
        return self.starts[-1]

    def at(self, epoch: int, positions: Int64s) -> OrderedRecords:
        """Return the records at these positions."""
        numbers, epochs = np.empty_like(positions), np.empty_like(positions)
        starts = self.starts
        for part, mine in groups(np.searchsorted(starts[1:], positions, side="right")):
            records = self.parts[part].at(epoch, positions[mine] - starts[part])
            numbers[mine], epochs[mine] = records.numbers, records.epochs
        return OrderedRecords(numbers, epochs)


def _given_in(phases: Phases, rows: int) -> list[int]:
    """Return how many of the first so many rows each order gives, where the shares change.

    >>> _given_in(((0, (1, 1)), (4, (1, 0))), 6)
    [4, 2]
    """
    totals = [0] * len(phases[0][1])
    for number, (start, shares) in enumerate(phases):
        end = phases[number + 1][0] if number + 1 < len(phases) else rows
        if rows > start:
            totals = list(map(operator.add, totals, _given(shares, min(rows, end) - start)))
    return totals


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
    if not left + right:
        return [0] * len(shares)
    ours = (2 * rows * left + left + right) // (2 * (left + right))
    return [*_given(shares[:half], ours), *_given(shares[half:], rows - ours)]


def mixed_length(lengths: Sequence[int], phases: Phases, stop: Stop) -> int:
    """Return how many rows there are until the first order is used up, or until all are."""
    if len(phases) > 1 or 0 in phases[0][1]:
        return _length_of_phases(lengths, phases, stop)
    shares = phases[0][1]
    reached = [(2 * length * sum(shares) + share) // (2 * share) for length, share in zip(lengths, shares, strict=True)]
    rows = min(reached) if stop == "first" else max(reached)
    if rows >= ENDLESS:
        raise _endless()
    fits, step = (operator.le, -1) if stop == "first" else (operator.ge, 1)
    while not all(map(fits, _given(shares, rows), lengths)):
        rows += step  # the shares hold to within a row or two
    return rows


def _length_of_phases(lengths: Sequence[int], phases: Phases, stop: Stop) -> int:
    """Return the same where the shares change: the numbers of rows never fall, so it can be searched for by halves."""

    def is_over(rows: int) -> bool:
        given = _given_in(phases, rows)
        if stop == "all":
            return all(map(operator.ge, given, lengths))
        return any(map(operator.gt, given, lengths))

    high = 1
    while not is_over(high):
        high *= 2
        if high >= ENDLESS:
            raise _endless()
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_over(middle) else (middle, high)
    return high if stop == "all" else low


def _endless() -> PipelineError:
    return PipelineError(
        "With these weights, an epoch of all datasets would not end.",
        advice="Give weights that are closer to each other, or write stop='first'.",
    )
