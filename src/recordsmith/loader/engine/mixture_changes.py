"""A mixture whose shares are changed while it is fed, or that gets more sources: what was fed stays fed.

In every thousand rows of a mixture, rows stand in random order. So these are finished as they were begun, and what is
left of each source is mixed in the new shares after them. The shares before are kept in the place, and in its state,
until the epoch ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from recordsmith.loader.engine.rest_of_epoch import mixture_of, with_rows
from recordsmith.loader.order.mixed import Changes, Joined, Mixed, Phases, mixed_length
from recordsmith.loader.order.record_order import ENDLESS
from recordsmith.loader.plan import Plan

__all__ = ["changes_after", "changes_json", "plan_as_saved", "read_changes", "shares_json"]

_MOST_CHANGES = 1000
_MOST_PHASES = 100_000
_MOST_BITS = 2200  # of a share: a float is a whole number of at most so many bits, in units of the smallest


def shares_json(mixture: Mixed) -> list[Any]:
    """Return the shares of a mixture, JSON-ready."""
    return [[start, list(shares)] for start, shares in mixture.phases]


def changes_json(changes: Changes) -> list[Any]:
    """Return the shares before, JSON-ready."""
    return [[[[start, list(shares)] for start, shares in phases], rows] for phases, rows in changes]


def plan_as_saved(plan: Plan, shares: Any) -> Plan | None:
    """Return a plan with the mixture that a state was saved with; None if that cannot be."""
    mixture = mixture_of(plan)
    phases = None if mixture is None else _phases(shares, len(mixture.inner))
    if mixture is None or phases is None:
        return None
    if phases == mixture.phases:
        return plan
    count = len(phases[0][1])
    before = replace(mixture, inner=mixture.inner[:count], shifts=mixture.shifts[:count], phases=phases)
    length = mixed_length([order.length for order in before.inner], phases, mixture.stop)
    return with_rows(plan, replace(before, length=length))


def read_changes(plan: Plan, document: Any) -> Changes | None:
    """Return the shares before, as `changes_json` wrote them; None if that cannot be."""
    mixture = mixture_of(plan)
    if mixture is None or not isinstance(document, Sequence) or len(document) > _MOST_CHANGES:
        return None
    changes: list[tuple[Phases, int]] = []
    for entry in document:
        if not isinstance(entry, Sequence) or len(entry) != 2:
            return None
        phases = _phases(entry[0], len(mixture.inner))
        if phases is None or type(entry[1]) is not int or not 0 < entry[1] < ENDLESS:
            return None
        changes.append((phases, entry[1]))
    counts = [len(phases[0][1]) for phases, _ in changes]
    joined = mixture.changed(tuple(changes))
    whole = isinstance(joined, Joined) and all(
        part.length == rows for part, (_, rows) in zip(joined.parts[:-1], changes, strict=True)
    )
    return tuple(changes) if whole and counts == sorted(counts) else None


def changes_after(saved: Plan, changes: Changes, fed: int) -> Changes:
    """Return the shares before, if those of a saved plan are changed after so many rows of an epoch."""
    mixture = mixture_of(saved)
    before = sum(rows for _, rows in changes)
    if mixture is None or fed <= before:
        return changes
    current = mixture.changed(changes)
    part = current.parts[-1] if isinstance(current, Joined) else current
    rows = part.rows_to_end(fed - before) if isinstance(part, Mixed) else fed - before
    return (*changes, (mixture.phases, rows))


def _phases(document: Any, most: int) -> Phases | None:
    """Return shares, and the rows from which on they hold; None if it is not that."""
    if not isinstance(document, Sequence) or not 0 < len(document) <= _MOST_PHASES:
        return None
    phases: list[tuple[int, tuple[int, ...]]] = []
    for entry in document:
        if not isinstance(entry, Sequence) or len(entry) != 2 or type(entry[0]) is not int:
            return None
        start, shares = entry
        if not isinstance(shares, Sequence) or not 0 < len(shares) <= most or start >= ENDLESS:
            return None
        if not all(type(share) is int and share >= 0 and share.bit_length() < _MOST_BITS for share in shares):
            return None
        if not any(shares) or (phases and (start <= phases[-1][0] or len(shares) != len(phases[0][1]))):
            return None
        phases.append((start, tuple(shares)))
    return tuple(phases) if phases[0][0] == 0 else None
