"""Which row goes into which split.

Rows that must stay together form a unit: rows of one group, or rows with the same content. Units are put into a random
order, by a number that depends on the seed and the unit alone, and the splits take their shares of that order, from
each class separately if it is to be stratified. Nothing larger than a block of rows is held in memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from recordsmith.errors import RecordsmithError, list_names
from recordsmith.keyed_random import Uint64s, priorities, stream_key
from recordsmith.records.shards import TRAINING
from recordsmith.run.splits.external_sort import sorted_blocks
from recordsmith.wording.numbers import count_text

__all__ = ["NO_SPLIT", "SplitPlan", "assign_splits", "check_counts", "check_number_of_splits", "parse_splits"]

Int64s: TypeAlias = npt.NDArray[np.int64]
Codes: TypeAlias = npt.NDArray[np.uint8]

NO_SPLIT = 255  # the code of rows that counts left over

UnitBlock: TypeAlias = tuple[Uint64s, Int64s]
"""For some rows in order: the 64-bit name of the unit, and the class (-1 where there is none)."""


@dataclass(frozen=True)
class SplitPlan:
    """The splits by name, in order: all fractions that add up to 1, or counts of rows, one of which may be the rest.

    Attributes:
        shares: by split; meaningless where splits are kept.
        kept: rows stay in the splits that they came from.
    """

    shares: dict[str, float | int | None]
    kept: bool = False

    @classmethod
    def keeping(cls, names: Iterable[str]) -> SplitPlan:
        """Return the plan that leaves rows in the splits that they are in.

        >>> SplitPlan.keeping(["train", "test"]).to_json()
        {'train': 'kept', 'test': 'kept'}
        """
        shares: dict[str, float | int | None] = {}
        for name in names:
            _check_name(name, shares)
            shares[name] = None
        return cls(shares, kept=True)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the splits."""
        return tuple(self.shares)

    @property
    def training(self) -> str:
        """The split that is shuffled, balanced and fitted on: "train", or the only or first one."""
        return next((name for name in self.names if name.lower() in TRAINING), self.names[0])

    def to_json(self) -> dict[str, float | int | str]:
        """Return the shares, JSON-ready.

        >>> parse_splits({"train": "rest", "test": 100}).to_json()
        {'train': 'rest', 'test': 100}
        """
        rest = "kept" if self.kept else "rest"
        return {name: rest if share is None else share for name, share in self.shares.items()}

    def boundaries(self, totals: Mapping[int, int]) -> dict[int, Int64s]:
        """Return where each split ends within each class, so that the splits have their shares of classes and of all.

        What is left over by rounding down goes to the classes with the largest remainders.

        >>> plan = parse_splits("train=0.8,test=0.2")
        >>> {code: ends.tolist() for code, ends in plan.boundaries({0: 3, 1: 7}).items()}
        {0: [2, 3], 1: [6, 7]}
        >>> {code: ends.tolist() for code, ends in parse_splits("train=rest,test=3").boundaries({0: 10}).items()}
        {0: [7, 10]}
        """
        sizes = np.array(list(totals.values()), np.float64)
        rows = int(sizes.sum())
        ends = np.zeros((len(self.shares), len(sizes)), np.int64)
        for number, target in enumerate(self.targets(rows)):
            ideal = sizes * (target / rows) if rows else sizes
            ends[number] = np.floor(ideal + 1e-9)
            remainder = np.argsort(ends[number] - ideal, kind="stable")[: target - int(ends[number].sum())]
            ends[number][remainder] += 1
        ends = np.maximum.accumulate(ends, axis=0)
        return {code: ends[:, place] for place, code in enumerate(totals)}

    def targets(self, rows: int) -> list[int]:
        """Return where each split ends among all rows."""
        shares = list(self.shares.values())
        if all(isinstance(share, float) for share in shares):
            ends = [round(float(end) * rows) for end in np.cumsum([share or 0.0 for share in shares])]
            ends[-1] = rows
            return ends
        rest = max(0, rows - sum(int(share) for share in shares if share is not None))
        return [int(end) for end in np.cumsum([rest if share is None else int(share) for share in shares])]


def parse_splits(given: str | Mapping[str, Any] | None) -> SplitPlan:
    """Read splits from "train=0.8,val=0.1,test=0.1", a mapping, or None for one split "train".

    >>> parse_splits("train=rest,test=500").shares
    {'train': None, 'test': 500}
    >>> parse_splits("train").shares
    {'train': 1.0}
    """
    if given is None:
        return SplitPlan({"train": 1.0})
    entries = _entries(given) if isinstance(given, str) else list(given.items())
    shares: dict[str, float | int | None] = {}
    for name, share in entries:
        _check_name(name, shares)
        shares[name] = _share(name, share)
    check_number_of_splits(len(shares))
    if not shares:
        raise RecordsmithError("The list of splits is empty.", advice="Write for example train=0.8,test=0.2.")
    _check_shares(shares, given)
    return SplitPlan(shares)


def check_number_of_splits(count: int) -> None:
    """Raise for more splits than one byte can number; one value means no split."""
    if count > NO_SPLIT:
        raise RecordsmithError("There are too many splits.", found=f"{count:,}", expected=f"at most {NO_SPLIT}")


def assign_splits(
    blocks: Callable[[], Iterable[UnitBlock]], rows: int, plan: SplitPlan, seed: int, folder: str, out: Codes
) -> None:
    """Write the code of its split (its place in `plan.names`) for each row into `out`.

    Args:
        blocks: gives the units and classes of all rows in order, from the start with each call.
        rows: how many rows there are.
        plan: the splits.
        seed: another seed, another division.
        folder: for temporary files.
        out: one code a row.

    >>> import tempfile
    >>> codes = np.zeros(10, np.uint8)
    >>> units = lambda: [(np.arange(10, dtype=np.uint64), np.full(10, -1, np.int64))]
    >>> assign_splits(units, 10, parse_splits("train=0.8,test=0.2"), 0, tempfile.mkdtemp() + "/sort", codes)
    >>> np.bincount(codes).tolist()
    [8, 2]
    """
    if len(plan.names) == 1 and plan.shares[plan.names[0]] in (1.0, None):
        out[:] = 0
        return
    totals = _class_totals(blocks())
    check_counts(plan, rows)
    dealer = _UnitDealer(plan.boundaries(totals))
    for block in sorted_blocks(_entries_of(blocks(), stream_key(seed, "split")), rows, folder):
        out[block[:, 1]] = dealer.codes(block[:, 0], block[:, 2].view(np.int64))


class _UnitDealer:
    """Gives the codes of rows that come in the order of their units; a unit goes where its first row falls."""

    def __init__(self, ends: dict[int, Int64s]) -> None:
        self._ends = ends
        self._met = dict.fromkeys(ends, 0)
        self._last: tuple[int, int, int] | None = None  # the unit that the next rows may continue, its class and code

    def codes(self, units: Uint64s, classes: Int64s) -> Codes:
        """Return the codes of the next rows."""
        rows = len(units)
        codes = np.zeros(rows, np.uint8)
        begun = 0
        if self._last is not None:  # a unit may be larger than a block
            unit, its_class, its_code = self._last
            begun = int(np.argmax(units != unit)) if units[-1] != unit else rows
            codes[:begun] = its_code
            self._met[its_class] += begun
        if begun < rows:
            codes[begun:] = self._new_units(units[begun:], classes[begun:])
        return codes

    def _new_units(self, units: Uint64s, classes: Int64s) -> Codes:
        starts = np.flatnonzero(np.concatenate([[True], units[1:] != units[:-1]]))
        sizes = np.diff(np.append(starts, len(units)))
        classes = classes[starts]  # a unit counts as the class of its first row
        unit_codes = np.zeros(len(starts), np.uint8)
        for code in np.unique(classes).tolist():
            mine = np.flatnonzero(classes == code)
            position = self._met[code] + np.cumsum(sizes[mine]) - sizes[mine]
            split = np.searchsorted(self._ends[code], position, side="right")
            self._met[code] += int(sizes[mine].sum())
            unit_codes[mine] = np.where(split < len(self._ends[code]), split, NO_SPLIT)
        self._last = int(units[-1]), int(classes[-1]), int(unit_codes[-1])
        return np.repeat(unit_codes, sizes)


def _entries_of(blocks: Iterable[UnitBlock], stream: int) -> Iterator[Uint64s]:
    first = 0
    for units, classes in blocks:
        rows = np.arange(first, first + len(units), dtype=np.uint64)
        first += len(units)
        yield np.stack([priorities(units, stream), rows, classes.view(np.uint64)], axis=1)


def _class_totals(blocks: Iterable[UnitBlock]) -> dict[int, int]:
    totals: dict[int, int] = {}
    for _, classes in blocks:
        values, counts = np.unique(classes, return_counts=True)
        for value, count in zip(values.tolist(), counts.tolist(), strict=True):
            totals[value] = totals.get(value, 0) + count
    return totals


def check_counts(plan: SplitPlan, rows: int) -> None:
    """Refuse splits that ask for more rows than there are."""
    wanted = sum(share for share in plan.shares.values() if isinstance(share, int))
    if not any(isinstance(share, float) for share in plan.shares.values()) and wanted > rows:
        raise RecordsmithError(
            "The splits ask for more rows than the source has.",
            found=count_text(rows, "row"),
            expected=f"at least {wanted}",
            advice="Ask for fewer, or give fractions such as train=0.8,test=0.2.",
        )


def _entries(text: str) -> list[tuple[str, str]]:
    entries = []
    parts = [part.strip() for part in text.split(",") if part.strip()]
    for part in parts:
        name, equals, share = part.partition("=")
        if not equals and len(parts) > 1:
            raise RecordsmithError(
                f"The split {part!r} has no share.", found=text, expected="name=share, such as train=0.8,test=0.2"
            )
        entries.append((name.strip(), share.strip() if equals else "1.0"))
    return entries


def _check_name(name: str, shares: Mapping[str, Any]) -> None:
    if not name or not all(letter.isalnum() or letter == "_" for letter in name):
        raise RecordsmithError(
            "A split name may contain only letters, digits and underscores, because it is part of file names.",
            found=repr(name),
        )
    if name in shares:
        raise RecordsmithError(f"The split {name!r} is given twice.")


def _share(name: str, share: Any) -> float | int | None:
    if share is None or share in ("rest", "*"):
        return None
    try:
        number = float(share)
    except (TypeError, ValueError):
        number = math.nan
    is_fraction = isinstance(share, float) or (isinstance(share, str) and not share.isdigit())
    if is_fraction and 0 < number <= 1:
        return number
    if not is_fraction and number >= 1 and number == int(number):
        return int(number)
    raise RecordsmithError(
        f"The share of the split {name!r} is neither a fraction nor a count.",
        found=share,
        expected="a fraction such as 0.8, a count such as 500, or rest",
    )


def _check_shares(shares: Mapping[str, float | int | None], given: object) -> None:
    fractions = [share for share in shares.values() if isinstance(share, float)]
    counts = [share for share in shares.values() if isinstance(share, int)]
    rests = [name for name, share in shares.items() if share is None]
    if len(rests) > 1:
        raise RecordsmithError("Only one split can be the rest.", found=list_names(rests))
    if fractions and (counts or (rests and sum(fractions) >= 1)):
        raise RecordsmithError(
            "Splits must be either all fractions or all counts.",
            found=given,
            advice="With counts, one split may be the rest.",
        )
    if fractions and not rests and abs(sum(fractions) - 1) > 1e-6:
        raise RecordsmithError(
            "The splits' fractions do not add up to 1.",
            found=f"a sum of {sum(fractions):g}",
            advice="Change one of them, or let one be the rest: train=rest,test=0.2.",
        )
    if fractions and rests:
        for name in rests:
            # The rest of fractions is a fraction.
            shares[name] = 1 - sum(fractions)  # type: ignore[index] # the caller's own dict
