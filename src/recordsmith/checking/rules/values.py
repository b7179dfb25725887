"""V001 to V005, V014 and V019: suspicious numbers, and empty, constant or rarely missing features."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from recordsmith.checking.feature_reading import (
    declared_feature,
    describes_images,
    is_about_objects,
    is_mask,
    is_ordering,
    label_features,
    named_like_images,
    named_like_labels,
    values_per_record,
)
from recordsmith.checking.storage_reading import float_pixels
from recordsmith.checking.wording import amount, listed, located, share
from recordsmith.facts.dataset_facts import DatasetFacts
from recordsmith.facts.feature_order import with_parts
from recordsmith.facts.value_facts import FeatureFacts, NumberFacts
from recordsmith.rules import Finding, Location, Severity, rule
from recordsmith.wording.numbers import count_text

__all__ = [
    "almost_always_empty",
    "constant_feature",
    "integers_as_floats",
    "missing_in_a_few",
    "normalised_twice",
    "not_finite",
    "unnormalised",
]

_RECORDS_FOR_CONSTANT = 10
_RECORDS_FOR_EMPTY = 20
_EMPTY_SHARE = 0.95
_RECORDS_FOR_FEW = 100
_FEW_SHARE = 0.05
_MISTAKE_SHARE = 0.001
_MANY = 5  # features, from which on one finding reports them all
_VECTOR = 16  # values a record, from which on a feature may be pixels
_WIDE_SCALE = 100.0
_SCALES_APART = 1000.0
_EXACT_FLOATS = {"float16": 2**11, "float64": 2**53}  # beyond it a dtype does not have every whole number
_EXACT_FLOAT32 = 2**24
_MOST_WHOLE = 2**63  # beyond it a float is whole by its nature, and no integer is meant

_DIVIDE = "Divide the pixels by 255 in the input pipeline, as in `.map(...)` or a Rescaling layer."
_STANDARDISE = (
    "Normalise each feature in the input pipeline with its mean and standard deviation in the training split, as a "
    "Normalization layer does. Decision trees do not need it."
)


@rule("V001", "not-finite", Severity.ERROR)
def not_finite(facts: DatasetFacts) -> Iterator[Finding]:
    """A feature contains NaN or infinity.

    Why it matters:
        One NaN makes the loss NaN, and then all weights.

    Example:
        `tf.math.log(x)` of a zero; empty cells of a table that were read as NaN.

    Fix:
        Find out where they come from, and leave out the rows or replace the values. With `finite=True` in a Scalar or
        Tensor of the schema, writing them is an error.
    """
    for feature in with_parts(facts.features):
        numbers = feature.numbers
        if numbers is None:
            continue
        bad = {
            "NaN": numbers.nan,
            "infinity": numbers.positive_infinity,
            "negative infinity": numbers.negative_infinity,
        }
        total = sum(bad.values())
        if total:
            kinds = ", ".join(f"{count:,} {name}" for name, count in bad.items() if count)
            yield not_finite.finding(
                f"Feature {feature.name!r} contains {kinds} among {count_text(numbers.count, 'value')} "
                f"({share(total, numbers.count)}).",
                count=total,
                evidence={name: count for name, count in bad.items() if count},
                **located(feature.nan_places, feature.name),
            )


@rule("V002", "constant-feature", Severity.INFO)
def constant_feature(facts: DatasetFacts) -> Iterator[Finding]:
    """A feature has the same value in every record.

    Checked if there are at least 10 records and all have the feature. Features that describe another one (height,
    channels, format, mask, ...) and features declared with one class or value may be constant. For a label that is
    declared with several classes, it is a warning.

    Why it matters:
        A model learns nothing from it. Often it is a mistake: a column that was never filled, or a label that was read
        from the wrong place.

    Example:
        Every label is 0, because the writer read it before it was set.

    Fix:
        Fill the feature, or leave it out: `recordsmith copy SRC -o DST --drop NAME`.
    """
    for feature in with_parts(facts.features):
        if feature.records < _RECORDS_FOR_CONSTANT or feature.missing or feature.unset or feature.empty:
            continue
        if not (feature.distinct == 1 and feature.distinct_exact) or describes_images(feature.name):
            continue
        if is_mask(feature.name) or (feature.numbers is not None and feature.numbers.not_finite):
            continue  # V001 reports NaN and infinities, which are never equal
        declared = declared_feature(facts, feature)
        if len(getattr(declared, "names", ()) or getattr(declared, "one_of", None) or ()) == 1:
            continue
        is_label = any(label.feature == feature.name for label in label_features(facts))
        value = f" ({_shown(feature)})" if feature.frequent else ""
        yield constant_feature.finding(
            f"{'Label' if is_label else 'Feature'} {feature.name!r} has the same value{value} in all "
            f"{count_text(feature.records, 'record')}.",
            location=Location(feature=feature.name),
            advice=_filling(feature, is_label=is_label),
            severity=Severity.WARNING if len(getattr(declared, "names", ()) or ()) > 1 else Severity.INFO,
        )


@rule("V003", "almost-always-empty", Severity.INFO)
def almost_always_empty(facts: DatasetFacts) -> Iterator[Finding]:
    """A feature is missing or empty in more than 95 % of at least 20 records.

    Why it matters:
        The model nearly always sees padding or the default. Often the source has the values under another name.

    Example:
        A join that found a partner for 1 row in 100.

    Fix:
        Look for the values in the source. If the feature is meant to be rare, declare it optional.
    """
    rare: list[tuple[str, int, int]] = []
    for feature in facts.features:
        known = feature.records + feature.missing + feature.unset
        blank = feature.missing + feature.unset + feature.empty
        if feature.strings is not None and feature.lengths is not None and feature.lengths.max <= 1:
            blank += feature.strings.empty
        if known >= _RECORDS_FOR_EMPTY and blank > _EMPTY_SHARE * known:
            rare.append((feature.name, blank, known))
    if len(rare) > _MANY:
        names = [name for name, _, _ in rare]
        yield almost_always_empty.finding(
            f"{len(rare):,} features are missing or empty in more than 95 % of the records: {listed(names)}.",
            count=len(rare),
            evidence={"features": names[:100]},
        )
        return
    for name, blank, known in rare:
        has = known - blank
        yield almost_always_empty.finding(
            f"Feature {name!r} is missing or empty in {share(blank, known)} of the records: "
            f"{'none has' if not has else 'only ' + format(has, ',') + (' has' if has == 1 else ' have')} a value.",
            location=Location(feature=name),
            count=blank,
            evidence={"without_value": blank, "records": known},
        )


@rule("V019", "missing-in-a-few-records", Severity.WARNING)
def missing_in_a_few(facts: DatasetFacts) -> Iterator[Finding]:
    """A feature is missing in a few records, although nearly all others have it.

    That is: in at most 5 % of at least 100 records. Below 1 in 1,000 it is a warning, because it is probably a mistake;
    otherwise an info. If a schema declares the feature, S001 reports it instead.

    Why it matters:
        A parser that requires the feature (`FixedLenFeature` without a default) fails at the first such record, hours
        into an epoch. A parser with a default trains on a value that nobody chose.

    Example:
        3,000 records are written, and one of them without its label.

    Fix:
        Write the missing values, leave these records out, or give the parser a default.
    """
    few: dict[Severity, list[FeatureFacts]] = {Severity.WARNING: [], Severity.INFO: []}
    for feature in facts.features:
        absent = feature.missing + feature.unset
        known = feature.records + absent
        if declared_feature(facts, feature) is not None or feature.in_steps or known < _RECORDS_FOR_FEW:
            continue
        if 0 < absent <= _FEW_SHARE * known:
            few[Severity.WARNING if absent < _MISTAKE_SHARE * known else Severity.INFO].append(feature)
    for severity, features in few.items():
        if not features:
            continue
        absent, known = features[0].missing + features[0].unset, features[0].records + features[0].missing
        of_all = count_text(known + features[0].unset, "record")
        one = f"Feature {features[0].name!r} is missing in {absent:,} of {of_all}"
        others = [feature.name for feature in features[1:]]
        more_features = f"; a few records also lack {listed(others)}" if others else ""
        yield missing_in_a_few.finding(
            f"{one}{more_features}.",
            count=absent,
            severity=severity,
            **located(features[0].missing_places, features[0].name),
        )


@rule("V004", "unnormalised", Severity.INFO)
def unnormalised(facts: DatasetFacts) -> Iterator[Finding]:
    """Float features have scales that make learning hard for a network.

    Two cases: 16 or more values per record from 0 to 200..255, like pixels that were not divided by 255; and a feature
    whose standard deviation is over 100, and 1000 times that of another feature. Features that number or date records,
    or are named like labels, do not count.

    Why it matters:
        The largest numbers dominate the gradients; with inputs of 0..255 a network often does not learn. It does not
        matter if the input pipeline normalises, or for decision trees.

    Example:
        `image.astype("float32")` without `/ 255`; an income in dollars beside an age in years.

    Fix:
        Normalise in the input pipeline: pixels by dividing by 255, other features by their mean and deviation in the
        training split (a Normalization layer does both).
    """
    for feature in with_parts(facts.features):
        numbers = _pixel_range(feature)
        if numbers is not None:
            pixels = _are_pixels(facts, feature, numbers)
            yield unnormalised.finding(
                f"The floats of {feature.name!r} range from {amount(numbers.min)} to {amount(numbers.max)}, "
                f"{'like pixels that were not scaled to 0..1' if pixels else 'far from what networks learn well'}.",
                location=Location(feature=feature.name),
                advice=_DIVIDE if pixels else _STANDARDISE,
                evidence={"min": numbers.min, "max": numbers.max, "mean": numbers.mean},
            )
    labels = {label.feature for label in facts.labels}
    spreads = {
        feature.name: feature.numbers.deviation
        for feature in with_parts(facts.features)
        if feature.number_kind == "float"
        and not is_about_objects(facts, feature.name)
        and feature.name not in labels
        and not (named_like_labels(feature.name) or is_ordering(feature.name) or is_mask(feature.name))
        and feature.records >= _RECORDS_FOR_CONSTANT
        and feature.numbers is not None
        and feature.numbers.deviation
        and _pixel_range(feature) is None
    }
    if len(spreads) < 2:
        return
    widest, narrowest = max(spreads, key=lambda name: spreads[name]), min(spreads, key=lambda name: spreads[name])
    if spreads[widest] > _WIDE_SCALE and spreads[widest] > _SCALES_APART * spreads[narrowest]:
        wide = [name for name in spreads if spreads[name] > _WIDE_SCALE]
        yield unnormalised.finding(
            f"Float features have very different scales: {widest!r} has a standard deviation of "
            f"{amount(spreads[widest])}, {narrowest!r} of {amount(spreads[narrowest])}. "
            f"Over {_WIDE_SCALE:.0f}: {listed(wide)}.",
            location=Location(feature=widest),
            advice=_STANDARDISE,
            evidence={"deviations": spreads},
        )


@rule("V005", "normalised-twice", Severity.WARNING)
def normalised_twice(facts: DatasetFacts) -> Iterator[Finding]:
    """Float values look as if they had been normalised twice.

    That is: 16 or more values per record, all within 0..1/255 (divided by 255 twice), or all within -1..-0.99 (scaled
    to -1..1 after they had been scaled to 0..1).

    Why it matters:
        All inputs are nearly equal, and the network learns nothing or very slowly.

    Example:
        `tf.image.convert_image_dtype(image, tf.float32)` divides by 255 already, and `/ 255` follows.

    Fix:
        Normalise once, and preferably where the data is read, not where it is stored.
    """
    for feature in with_parts(facts.features):
        numbers = feature.numbers
        if feature.number_kind != "float" or numbers is None or numbers.min is None or numbers.max is None:
            continue
        if values_per_record(feature) < _VECTOR or feature.distinct <= 2:
            continue
        divided = numbers.min >= 0 and 0 < numbers.max <= 1.001 / 255 and numbers.max > 0.2 / 255
        shifted = -1.0001 <= numbers.min <= -0.995 and numbers.max <= 2 / 255 - 1 + 0.0001
        if divided or shifted:
            again = "divided by 255 twice" if divided else "scaled to -1..1 after 0..1"
            yield normalised_twice.finding(
                f"The values of {feature.name!r} range from {amount(numbers.min)} to {amount(numbers.max)}, as if they "
                f"had been {again}.",
                location=Location(feature=feature.name),
                evidence={"min": numbers.min, "max": numbers.max},
            )


@rule("V014", "integers-as-floats", Severity.INFO)
def integers_as_floats(facts: DatasetFacts) -> Iterator[Finding]:
    """A float feature contains only integers.

    Checked if there are at least 10 records and more than two different values (flags of 0.0 and 1.0 are normal). It is
    a warning if numbers are larger than the dtype can represent exactly, so that two ids may have become
    one: 2**24 (16,777,216) of float32, 2**11 of float16 and 2**53 of float64.

    Why it matters:
        A float takes four bytes and a small integer one, and large ids or times lose their last digits.

    Example:
        A table column with a missing cell, whose integers pandas converts to floats.

    Fix:
        Declare the feature with an integer dtype, and write the records again.
    """
    whole = [
        (feature, feature.numbers)
        for feature in with_parts(facts.features)
        if feature.number_kind == "float"
        and not feature.raw_dtype.startswith("complex")
        and feature.numbers is not None
        and feature.numbers.integral
        and _magnitude(feature.numbers) < _MOST_WHOLE
        and feature.records >= 10
        and feature.distinct > 2
        and float_pixels(feature) is None
        and not is_about_objects(facts, feature.name)
    ]
    small: list[str] = []
    for feature, numbers in whole:
        dtype = feature.raw_dtype or "float32"
        exact = _EXACT_FLOATS.get(dtype, _EXACT_FLOAT32)
        if _magnitude(numbers) < exact:
            small.append(feature.name)
        else:
            yield integers_as_floats.finding(
                f"The integers of {feature.name!r} are stored as floats and reach {amount(numbers.max)}: above "
                f"2**{exact.bit_length() - 1}, {dtype} cannot represent every integer, so digits are lost.",
                location=Location(feature=feature.name),
                evidence={"max": numbers.max},
                severity=Severity.WARNING,
            )
    if small:
        yield integers_as_floats.finding(
            f"{count_text(len(small), 'float feature')} {'holds' if len(small) == 1 else 'hold'} only integers: "
            f"{listed(small)}.",
            location=Location(feature=small[0] if len(small) == 1 else None),
            count=len(small),
            evidence={"features": small},
        )


def _pixel_range(feature: FeatureFacts) -> NumberFacts | None:
    """The numbers of a feature, if they are floats of 0..255 in vectors."""
    numbers = feature.numbers
    if feature.number_kind != "float" or numbers is None or numbers.min is None or numbers.max is None:
        return None
    if values_per_record(feature) < _VECTOR or feature.distinct <= 16:
        return None
    return numbers if numbers.min >= 0 and 200 <= numbers.max <= 255 else None


def _filling(feature: FeatureFacts, *, is_label: bool) -> str:
    if is_label:
        return "Find out why every record has the same label, and write the records again with their own."
    if "[" in feature.name:  # a part of a packed feature
        return "Fill the part, or write the records again without it."
    return f"Fill the feature, or leave it out: `recordsmith copy SRC -o DST --drop {shlex.quote(feature.name)}`."


def _are_pixels(facts: DatasetFacts, feature: FeatureFacts, numbers: NumberFacts) -> bool:
    """Whether such floats are pixels: by their name, their declared shape, or because all are whole numbers."""
    shape: tuple[int | None, ...] = getattr(declared_feature(facts, feature), "shape", ())
    flat = len(shape) == 2 or (len(shape) == 3 and shape[-1] in (1, 3, 4))
    return named_like_images(feature.name) or (flat and numbers.integral)


def _magnitude(numbers: NumberFacts) -> float:
    if numbers.min is None or numbers.max is None:
        return 0.0
    return max(abs(numbers.min), abs(numbers.max))


def _shown(feature: FeatureFacts) -> str:
    value = feature.frequent[0].value
    if isinstance(value, bytes):
        text = value.decode("utf-8", "backslashreplace")
        return repr(text if len(text) <= 40 else text[:37] + "...")
    return amount(value)
