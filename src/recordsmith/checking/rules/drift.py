"""D012 to D014: splits that differ by more than chance."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from recordsmith.checking.feature_reading import are_classes, declared_feature, is_ordering, label_features
from recordsmith.checking.split_reading import (
    is_balanced,
    is_training,
    number_distance,
    shown_split,
    smallest_gap,
    spread_apart,
    stratifying,
)
from recordsmith.checking.wording import amount, listed, share
from recordsmith.facts.dataset_facts import DatasetFacts, SplitFacts
from recordsmith.facts.feature_order import with_parts
from recordsmith.facts.value_facts import FeatureFacts, NumberFacts
from recordsmith.rules import Finding, Location, Severity, rule

__all__ = ["feature_absent_from_split", "label_drift", "value_drift"]

_RECORDS = 30
_TINY_CHANCE = 1e-6
_LABELS_APART = 0.1
_VALUES_APART = 0.15
_UNIQUE = 0.9  # share of different values, from which on whole numbers are ids or times
_USUAL = 0.9  # share of records that have a feature, from which on its absence is remarkable


@rule("D012", "label-drift", Severity.WARNING)
def label_drift(facts: DatasetFacts) -> Iterator[Finding]:
    """Classes have different shares in two splits, by more than chance explains.

    Reported if the Jensen-Shannon distance (0: equal, 1: nothing in common) is over 0.1 and the p-value of a G-test is
    below one in a million, with at least 30 records in each split. A training split that was balanced when it was made
    is not compared.

    Why it matters:
        The model is evaluated on another mix of classes than it was trained on, so the results say little.

    Example:
        Training data from one year and test data from the next; a split by cutting a sorted file.

    Fix:
        Split at random with stratification (`recordsmith copy SRC -o DST --split ... --stratify label`, or the same
        options of `recordsmith make`), or keep the difference if it is intended.
    """
    for label in label_features(facts):
        for first, second in combinations([split for split in label.counts if split], 2):
            if is_balanced(facts) and (is_training(first) or is_training(second)):
                continue
            ours, theirs = label.counts[first], label.counts[second]
            if min(sum(ours.values()), sum(theirs.values())) < _RECORDS:
                continue
            distance, chance = spread_apart(ours, theirs)
            if distance > _LABELS_APART and chance < _TINY_CHANCE:
                name = max(
                    {**ours, **theirs},
                    key=lambda name: abs(
                        ours.get(name, 0) / sum(ours.values()) - theirs.get(name, 0) / sum(theirs.values())
                    ),
                )
                yield label_drift.finding(
                    f"The class shares of {label.feature!r} differ between {first!r} and {second!r}: {name!r} has "
                    f"{share(ours.get(name, 0), sum(ours.values()))} in the first and "
                    f"{share(theirs.get(name, 0), sum(theirs.values()))} in the second (distance {distance:.2f} of 1).",
                    location=Location(split=f"{first}, {second}", feature=label.feature),
                    advice=f"{stratifying(label)} Or accept the drift, if it is intended.",
                    evidence={"splits": [first, second], "distance": round(distance, 4), "chance": chance},
                )


@rule("D013", "value-drift", Severity.WARNING)
def value_drift(facts: DatasetFacts) -> Iterator[Finding]:
    """A number feature is distributed differently in two splits, by more than chance explains.

    Reported if the Kolmogorov-Smirnov distance is over 0.15 and larger than chance gives once in a million, with at
    least 30 records in each split. Labels are not compared, nor features that number or date records: whole numbers
    that nearly all differ, and names such as id, index, time or date.

    Why it matters:
        The model is evaluated on other inputs than it was trained on: either the split is wrong, or one split was
        prepared differently.

    Example:
        Training images divided by 255 and test images not; a sensor that was replaced between training and test days.

    Fix:
        Prepare all splits with the same code. Split at random, or by time if the model will predict the future.
    """
    labels = {label.feature for label in facts.labels if are_classes(label)}
    for first, second in combinations(facts.splits.values(), 2):
        if min(first.records, second.records) < _RECORDS:
            continue
        there = {_key(feature): feature for feature in with_parts(second.features)}
        for feature in with_parts(first.features):
            other = there.get(_key(feature))
            if other is None or feature.name in labels or feature.numbers is None or other.numbers is None:
                continue
            if _is_unique(feature) or is_ordering(feature.name) or min(feature.records, other.records) < _RECORDS:
                continue
            distance = number_distance(feature.numbers, other.numbers)
            if distance > max(_VALUES_APART, smallest_gap(feature.records, other.records)):
                yield value_drift.finding(
                    f"Feature {feature.name!r} has different distributions in {first.name!r} "
                    f"({_shown(feature.numbers)}) and {second.name!r} ({_shown(other.numbers)}): the distance is "
                    f"{distance:.2f} of 1.",
                    location=Location(split=f"{first.name}, {second.name}", feature=feature.name),
                    evidence={"splits": [first.name, second.name], "distance": round(distance, 4)},
                )


@rule("D014", "feature-absent-from-split", Severity.WARNING)
def feature_absent_from_split(facts: DatasetFacts) -> Iterator[Finding]:
    """A feature that nearly all records of one split have is missing or empty in all records of another.

    Nearly all means 90 % or more. Labels that are missing in a test split are an info, because competitions publish
    data like this. Optional features are not reported.

    Why it matters:
        A parser for all splits fails on the split without the feature, or returns nothing there.

    Example:
        The column has another name in the source of the validation split.

    Fix:
        Write the feature into all splits, or declare it optional.
    """
    labels = {label.feature for label in facts.labels}
    filled = [split for split in facts.splits.values() if split.records]
    having = {split.name: _records_with_values(split) for split in filled}
    usual = {
        key for split in filled for key, records in having[split.name].items() if records >= _USUAL * split.records
    }
    for split in filled:
        absent: dict[bool, list[str]] = {True: [], False: []}
        for feature in facts.features:
            declared = declared_feature(facts, feature)
            if declared is not None and (declared.optional or declared.default is not None):
                continue
            if _key(feature) in usual and not having[split.name].get(_key(feature)):
                absent[feature.name in labels and not is_training(split.name)].append(feature.name)
        for hidden, names in absent.items():
            if names:
                yield feature_absent_from_split.finding(
                    f"No record of {shown_split(split.name)} has a value of {listed(names)}, although nearly all "
                    f"records of another split {'has' if len(names) == 1 else 'have'}.",
                    location=Location(split=split.name, feature=names[0] if len(names) == 1 else None),
                    count=len(names),
                    evidence={"features": names},
                    severity=Severity.INFO if hidden else Severity.WARNING,
                )


def _key(feature: FeatureFacts) -> tuple[str, bool]:
    return feature.name, feature.in_steps


def _records_with_values(split: SplitFacts) -> dict[tuple[str, bool], int]:
    return {_key(feature): feature.records - feature.empty for feature in split.features}


def _is_unique(feature: FeatureFacts) -> bool:
    numbers = feature.numbers
    return numbers is not None and feature.number_kind == "int64" and feature.distinct >= _UNIQUE * numbers.count


def _shown(numbers: NumberFacts) -> str:
    middle = numbers.quantiles.get(0.5)
    return f"median {amount(middle)}, {amount(numbers.min)} to {amount(numbers.max)}"
