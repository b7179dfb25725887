"""The rules about two datasets or splits: C001 to C010."""

from __future__ import annotations

from collections.abc import Iterator

from recordsmith.checking.wording import amount, listed, share
from recordsmith.comparing.comparison import Comparison, FeaturePair, LabelPair, Side
from recordsmith.facts.value_facts import FeatureFacts
from recordsmith.rules import Finding, Location, Rule, RuleSet, Severity, rule
from recordsmith.schema import Label
from recordsmith.wording.numbers import count_text

__all__ = ["RULES"]

_RECORDS = 30  # of a side, below which distributions are not compared
_VALUES_APART = 0.15
_CLASSES_APART = 0.1
_TINY_CHANCE = 1e-6
_EXPECTED = 14.0  # records: none of them by chance is less likely than one in a million
_OFTEN, _RARER = 0.99, 0.9  # shares of records that have a feature


@rule("C001", "changed-type", Severity.ERROR)
def changed_type(pair: Comparison) -> Iterator[Finding]:
    """A feature is stored or declared with another type in the second dataset.

    Compared are the kind of list in the records (bytes, float, int64), and the declared type where both sides have a
    schema.

    Why it matters:
        A parser that was written for the first fails on the second, or reads wrong values.

    Example:
        A column of numbers came as text this time, and was written as bytes.

    Fix:
        Write the second with the schema of the first, or read each with its own.
    """
    for one in pair.features:
        if one.first is None or one.second is None:
            continue
        kinds = {frozenset(side.kinds) for side in (one.first, one.second) if side.kinds}
        if len(kinds) > 1:
            ours, theirs = (" or ".join(sorted(side.kinds)) for side in (one.first, one.second))
            yield changed_type.finding(
                f"Feature {one.name!r} is {ours} in {pair.first.name!r} and {theirs} in {pair.second.name!r}.",
                location=Location(feature=one.name),
                evidence={"first": ours, "second": theirs},
            )
            continue
        declared = [_declared(side, one.name) for side in (pair.first, pair.second)]
        if None not in declared and declared[0] != declared[1]:
            yield changed_type.finding(
                f"Feature {one.name!r} is declared as {declared[0]} in {pair.first.name!r} and as {declared[1]} in "
                f"{pair.second.name!r}.",
                location=Location(feature=one.name),
                evidence={"first": declared[0], "second": declared[1]},
            )


@rule("C002", "vanished-feature", Severity.ERROR)
def vanished_feature(pair: Comparison) -> Iterator[Finding]:
    """A feature of the first dataset is in no record of the second.

    Why it matters:
        Whatever reads it fails on the second dataset, or gets defaults without notice.

    Example:
        A column was renamed in the source.

    Fix:
        Write the feature again, or rename it: `recordsmith copy SRC -o DST --rename OLD=NEW`.
    """
    gone = [one.name for one in pair.features if one.second is None and pair.second.facts.records]
    if gone:
        message = f"No record of {pair.second.name!r} has {listed(gone)}, which {pair.first.name!r} has."
        yield _about_features(vanished_feature, gone, message)


@rule("C003", "new-feature", Severity.INFO)
def new_feature(pair: Comparison) -> Iterator[Finding]:
    """A feature of the second dataset is in no record of the first.

    Why it matters:
        A model that was trained on the first does not use it.

    Example:
        A column was added to the source.

    Fix:
        Nothing, if it is intended.
    """
    added = [one.name for one in pair.features if one.first is None and pair.first.facts.records]
    if added:
        message = f"{pair.second.name!r} has {listed(added)}, which no record of {pair.first.name!r} has."
        yield _about_features(new_feature, added, message)


@rule("C004", "rarer-feature", Severity.WARNING)
def rarer_feature(pair: Comparison) -> Iterator[Finding]:
    """A feature that nearly all records of the first dataset have is missing in many of the second.

    Reported if at least 99 % of the first have it, and less than 90 % of the second, but some.

    Why it matters:
        Missing values are read as defaults, and a required feature makes reading fail.

    Example:
        One of several sources does not deliver the column any more.

    Fix:
        Find the records with `recordsmith show SECOND --where "NAME is missing"`.
    """
    for one in pair.features:
        if one.first is None or one.second is None:
            continue
        before, after = _presence(one.first), _presence(one.second)
        if before >= _OFTEN and after < _RARER:
            yield rarer_feature.finding(
                f"Feature {one.name!r} is in {before:.0%} of the records of {pair.first.name!r} and in {after:.0%} of "
                f"{pair.second.name!r}.",
                location=Location(feature=one.name),
                evidence={"first": round(before, 4), "second": round(after, 4)},
            )


@rule("C005", "vanished-class", Severity.WARNING)
def vanished_class(pair: Comparison) -> Iterator[Finding]:
    """A class of the first dataset has no record in the second, and that is not chance.

    Reported if the second should have at least 14 records of the class, by its share in the first: that none is among
    them happens by chance less than once in a million times.

    Why it matters:
        A model that is trained on the second forgets the class; one that is tested on it is not tested for the class.

    Example:
        A class folder was spelt in another way, or left out of an export.

    Fix:
        Compare the class names of both, and add the missing records.
    """
    for label in pair.labels:
        ours, theirs = sum(label.first.values()), sum(label.second.values())
        gone = [
            name
            for name, count in label.first.items()
            if not label.second.get(name) and ours and count / ours * theirs >= _EXPECTED
        ]
        if gone:
            yield _about_classes(vanished_class, gone, label.feature, pair.first.name, pair.second.name)


@rule("C006", "new-class", Severity.WARNING)
def new_class(pair: Comparison) -> Iterator[Finding]:
    """A class of the second dataset has no record in the first.

    Why it matters:
        A model that was trained on the first cannot predict it, and its numbers may be outside of the model's output.

    Example:
        The same class under two names, such as `Cat` and `cat`.

    Fix:
        Rename the class if it is the same; train again if it is new.
    """
    for label in pair.labels:
        added = [name for name, count in label.second.items() if count and not label.first.get(name)]
        if added and any(label.first.values()):
            yield _about_classes(new_class, added, label.feature, pair.second.name, pair.first.name)


@rule("C007", "changed-class-shares", Severity.WARNING)
def changed_class_shares(pair: Comparison) -> Iterator[Finding]:
    """Classes have different shares in the two datasets, by more than chance explains.

    Reported if the Jensen-Shannon distance (0: equal, 1: nothing in common) is over 0.1 and the p-value of a G-test is
    below one in a million, with at least 30 records on each side.

    Why it matters:
        A model learns how frequent classes are. With other frequencies, its errors are others.

    Example:
        Data of one year and data of the next; a file that was sorted before it was divided.

    Fix:
        Find out where the difference comes from. Weigh classes with `ds.class_weights()` or `.balance()` if it is real.
    """
    for label in pair.labels:
        if min(sum(label.first.values()), sum(label.second.values())) < _RECORDS:
            continue
        if label.distance > _CLASSES_APART and label.chance < _TINY_CHANCE:
            name, before, after = _most_changed(label)
            yield changed_class_shares.finding(
                f"The class shares of {label.feature!r} differ: {name!r} has {before} in {pair.first.name!r} and "
                f"{after} in {pair.second.name!r}. The Jensen-Shannon distance is {label.distance:.2f} of 1.",
                location=Location(feature=label.feature),
                evidence={"distance": round(label.distance, 4), "measure": "Jensen-Shannon", "class": name},
            )


@rule("C008", "changed-distribution", Severity.WARNING)
def changed_distribution(pair: Comparison) -> Iterator[Finding]:
    """The values of a feature have different distributions in the two datasets, by more than chance explains.

    Numbers are compared by the Kolmogorov-Smirnov distance (computed from quantiles, so it is at least what is
    reported), and texts that repeat by the Jensen-Shannon distance. Reported above 0.15, with at least 30 records on
    each side. Numbers that number or date records are not compared.

    Why it matters:
        A model that was trained on the first sees values in the second that it does not know.

    Example:
        Images divided by 255 in one and not in the other; another unit; a sensor that was replaced.

    Fix:
        Prepare both with the same code. If the world has changed, train on newer data.
    """
    for one in pair.features:
        if one.distance is None or one.by_chance or one.distance <= _VALUES_APART:
            continue
        if one.first is None or one.second is None or min(one.first.records, one.second.records) < _RECORDS:
            continue
        shown = f": {_span(one.first)} and {_span(one.second)}" if one.first.numbers is not None else ""
        at_least = "at least " if one.measure == "Kolmogorov-Smirnov" else ""
        yield changed_distribution.finding(
            f"Feature {one.name!r} has different distributions in {pair.first.name!r} and {pair.second.name!r}{shown}. "
            f"The {one.measure} distance is {at_least}{one.distance:.2f} of 1.",
            location=Location(feature=one.name),
            evidence={"distance": round(one.distance, 4), "measure": one.measure},
        )


@rule("C009", "changed-class-numbers", Severity.ERROR)
def changed_class_numbers(pair: Comparison) -> Iterator[Finding]:
    """The same class number means another class in the second dataset.

    Compared are the class names of declared labels. Names that are added at the end change no number.

    Why it matters:
        A model that was trained on the first predicts wrong classes on the second, and nothing fails.

    Example:
        A class was added, and the names were sorted again.

    Fix:
        Keep the order of the names: give both datasets the same list, and add new classes at its end.
    """
    for one in pair.features:
        ours, theirs = (_classes(side, one.name) for side in (pair.first, pair.second))
        changed = [number for number, (mine, other) in enumerate(zip(ours, theirs, strict=False)) if mine != other]
        if changed:
            number = changed[0]
            yield changed_class_numbers.finding(
                f"Class {number} of {one.name!r} is {ours[number]!r} in {pair.first.name!r} and {theirs[number]!r} in "
                f"{pair.second.name!r}; {count_text(len(changed), 'number')} changed.",
                location=Location(feature=one.name),
                count=len(changed),
                evidence={"numbers": changed[:50]},
            )


@rule("C010", "records-in-both", Severity.INFO)
def records_in_both(pair: Comparison) -> Iterator[Finding]:
    """Some records are in both. Between two splits of a dataset this is a warning.

    Records are compared by their content, without the features that only say where a record comes from.

    Why it matters:
        A model that was trained on a record is not tested by it: results look better than they are.

    Example:
        A test set that was drawn from all data, before the training set was.

    Fix:
        Split again: `recordsmith copy SRC -o DST --merge-splits --dedupe --split train=0.8,test=0.2`. Two versions of
        one dataset may well share records.
    """
    shared = pair.shared
    if shared is not None and shared.both:
        smaller = min(shared.both + shared.only_first, shared.both + shared.only_second)
        place = shared.examples[0][0] if shared.examples else None
        yield records_in_both.finding(
            f"{count_text(shared.both, 'record')} of {pair.first.name!r} {'is' if shared.both == 1 else 'are'} in "
            f"{pair.second.name!r} too: {share(shared.both, smaller)} of the smaller one.",
            location=Location() if place is None else Location(path=place.path, record=place.record),
            count=shared.both,
            evidence={"both": shared.both, "only_first": shared.only_first, "only_second": shared.only_second},
            severity=Severity.WARNING if pair.splits_of_one else Severity.INFO,
        )


def _about_features(one: Rule[Comparison], names: list[str], message: str) -> Finding:
    location = Location(feature=names[0] if len(names) == 1 else None)
    return one.finding(message, location=location, count=len(names), evidence={"features": names[:50]})


def _about_classes(one: Rule[Comparison], classes: list[str], feature: str, existing: str, missing: str) -> Finding:
    """Report classes of one dataset that have no record in the other."""
    return one.finding(
        f"{count_text(len(classes), 'class', 'classes')} of {feature!r} in {existing!r} "
        f"{'has' if len(classes) == 1 else 'have'} no record in {missing!r}: {listed(classes)}.",
        location=Location(feature=feature),
        count=len(classes),
        evidence={"classes": classes[:50]},
    )


def _declared(side: Side, name: str) -> str | None:
    """Return the declared type and shape in words; whether a feature is optional does not count."""
    feature = None if side.facts.schema is None else side.facts.schema.get(name)
    if feature is None:
        return None
    dtype, shape = getattr(feature, "dtype", None), getattr(feature, "shape", ())
    words = f"{feature.type_name} of {dtype}" if dtype is not None else feature.type_name
    return f"{words} and shape {shape}" if shape else words


def _classes(side: Side, name: str) -> tuple[str, ...]:
    feature = None if side.facts.schema is None else side.facts.schema.get(name)
    return feature.names if isinstance(feature, Label) else ()


def _presence(feature: FeatureFacts) -> float:
    records = feature.records + feature.missing + feature.unset
    return (feature.records - feature.empty) / records if records else 0.0


def _most_changed(label: LabelPair) -> tuple[str, str, str]:
    ours, theirs = sum(label.first.values()), sum(label.second.values())
    names = {**label.first, **label.second}
    name = max(names, key=lambda one: abs(label.first.get(one, 0) / ours - label.second.get(one, 0) / theirs))
    return name, share(label.first.get(name, 0), ours), share(label.second.get(name, 0), theirs)


def _span(feature: FeatureFacts) -> str:
    numbers = feature.numbers
    if numbers is None:
        return ""
    return f"median {amount(numbers.quantiles.get(0.5))} ({amount(numbers.min)} to {amount(numbers.max)})"


def drifts(one: FeaturePair) -> bool:
    """Whether a feature is so far apart that it is reported."""
    return one.distance is not None and not one.by_chance and one.distance > _VALUES_APART


RULES: RuleSet[Comparison] = RuleSet([one for one in list(vars().values()) if isinstance(one, Rule)])
