"""What a comparison of two datasets consists of: pairs of facts, with a distance between their distributions.

Two distances are used, both from 0 (equal) to 1 (nothing in common):

    numbers   Kolmogorov-Smirnov: by how much the shares below some value differ at most. It is computed from nine
              quantiles, so the true distance is at least what is reported.
    values    Jensen-Shannon (base 2, square root): of classes, and of texts that repeat.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from recordsmith.checking.feature_reading import is_ordering
from recordsmith.checking.split_reading import number_distance, smallest_gap, spread_apart
from recordsmith.facts.dataset_facts import DatasetFacts, LabelFacts
from recordsmith.facts.shared_records import SharedRecords
from recordsmith.facts.value_facts import FeatureFacts

__all__ = ["Comparison", "FeaturePair", "LabelPair", "Side", "paired"]

_UNIQUE = 0.9  # share of different whole numbers, at which they are ids or times


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two.

    Attributes:
        name: what it is called.
        facts: all that one pass found out about it.
        split: the split that it is; None for all.
    """

    name: str
    facts: DatasetFacts
    split: str | None = None


@dataclass(frozen=True, slots=True)
class FeaturePair:
    """A feature in both; None on the side that does not have it.

    Attributes:
        name: its name.
        first, second: what its values are like.
        measure: the distance that applies: "Kolmogorov-Smirnov", "Jensen-Shannon", or "" for none.
        distance: how far the distributions are apart; None where none applies.
        by_chance: two samples of one distribution would often be so far apart.
    """

    name: str
    first: FeatureFacts | None
    second: FeatureFacts | None
    measure: str = ""
    distance: float | None = None
    by_chance: bool = True


@dataclass(frozen=True, slots=True)
class LabelPair:
    """A label that both have: how often each class occurs, in the order of the first, then of the second.

    Attributes:
        feature: its name.
        first, second: records by class.
        distance: the Jensen-Shannon distance.
        chance: of such a distance, for two samples of one population.
    """

    feature: str
    first: dict[str, int]
    second: dict[str, int]
    distance: float
    chance: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two datasets or splits side by side.

    Attributes:
        first, second: the sides.
        features: all features of either, in the order of the first.
        labels: the labels that both have.
        shared: which records both have; None where it was not asked for.
        splits_of_one: they are two splits of one dataset.
    """

    first: Side
    second: Side
    features: tuple[FeaturePair, ...]
    labels: tuple[LabelPair, ...]
    shared: SharedRecords | None
    splits_of_one: bool


def paired(
    first: Side, second: Side, *, shared: SharedRecords | None = None, splits_of_one: bool = False
) -> Comparison:
    """Put two sides together, and measure how far they are apart."""
    labels = tuple(_label_pairs(first.facts.labels, second.facts.labels))
    measured = {one.feature for one in labels}
    there = {(one.name, one.in_steps): one for one in second.facts.features}
    features = [
        _feature_pair(one, there.pop((one.name, one.in_steps), None), is_label=one.name in measured)
        for one in first.facts.features
    ]
    features += [FeaturePair(one.name, None, one) for one in there.values()]
    return Comparison(first, second, tuple(features), labels, shared, splits_of_one)


def _label_pairs(first: Iterable[LabelFacts], second: Iterable[LabelFacts]) -> Iterable[LabelPair]:
    there = {one.feature: one for one in second}
    for one in first:
        other = there.get(one.feature)
        if other is not None:
            ours, theirs = _counts(one), _counts(other)
            yield LabelPair(one.feature, ours, theirs, *spread_apart(ours, theirs))


def _counts(label: LabelFacts) -> dict[str, int]:
    counts: dict[str, int] = dict.fromkeys(label.classes, 0)
    for split in label.counts.values():
        for name, count in split.items():
            counts[name] += count
    return counts


def _feature_pair(first: FeatureFacts, second: FeatureFacts | None, *, is_label: bool) -> FeaturePair:
    if second is None or is_label:
        return FeaturePair(first.name, first, second)
    if first.numbers is not None and second.numbers is not None:
        if is_ordering(first.name) or _is_unique(first) or not first.numbers.quantiles or not second.numbers.quantiles:
            return FeaturePair(first.name, first, second)
        distance = number_distance(first.numbers, second.numbers)
        chance = smallest_gap(max(1, first.records), max(1, second.records))
        return FeaturePair(first.name, first, second, "Kolmogorov-Smirnov", distance, by_chance=distance <= chance)
    if first.categories and second.categories:
        ours, theirs = ({repr(one.value): one.count for one in side.categories} for side in (first, second))
        distance, likelihood = spread_apart(ours, theirs)
        return FeaturePair(first.name, first, second, "Jensen-Shannon", distance, by_chance=likelihood > 1e-6)
    return FeaturePair(first.name, first, second)


def _is_unique(feature: FeatureFacts) -> bool:
    numbers = feature.numbers
    return numbers is not None and feature.number_kind == "int64" and feature.distinct >= _UNIQUE * numbers.count
