"""Converts what the core counted of each feature to FeatureFacts."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from recordsmith import _core
from recordsmith.facts.from_core.survey_places import FilePlaces, lengths_of
from recordsmith.facts.value_facts import (
    FeatureFacts,
    FrequentValue,
    Histogram,
    ImageFacts,
    LengthFacts,
    NumberFacts,
    StringFacts,
)
from recordsmith.schema import Schema

if TYPE_CHECKING:
    import numpy as np

__all__ = ["SHARES", "features_of"]

SHARES = (0.0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1.0)
_MOST_LISTED = 20  # different values that are all listed, however rare
_MOST_CATEGORIES = 1000
_LONGEST_CATEGORY = 100  # bytes
_FEW_EXTRA = 1.5  # a value stands out that occurs so much more often than the average one


def features_of(counted: _core.SplitSummary, schema: Schema | None, places: FilePlaces) -> tuple[FeatureFacts, ...]:
    """Return the features of one split, or of all, in the order of their first appearance."""
    dtypes = {} if schema is None else {(one.key, one.steps): one.raw_dtype for one in schema.plan()}
    return tuple(
        _feature(feature, counted.examples, dtypes.get((feature.key, feature.in_steps)), places)
        for feature in counted.features
        if feature.records or feature.unset
    )


def _feature(
    counted: _core.FeatureSummary, examples: int, dtype: np.dtype[Any] | None, places: FilePlaces
) -> FeatureFacts:
    facts = _stored_feature(counted, examples, places)
    raw = [entry for entry in counted.raw_numbers if facts.kind == "bytes" and entry.numbers.count]
    if dtype is None or not raw:
        return facts
    if dtype.fields is None:
        return _with_numbers(facts, raw[0], dtype, places)
    return replace(facts, parts=tuple(_part(facts, entry, dtype.fields[entry.part][0], places) for entry in raw))


def _stored_feature(counted: _core.FeatureSummary, examples: int, places: FilePlaces) -> FeatureFacts:
    kinds = counted.kinds
    common = max(kinds, key=lambda kind: kinds[kind], default=None)
    numbers = {"float": counted.floats, "int64": counted.int64s}.get(common or "")
    strings = counted.strings if common == "bytes" else None
    values = numbers or strings
    return FeatureFacts(
        name=counted.key,
        in_steps=counted.in_steps,
        records=counted.records,
        missing=examples - counted.records - (0 if counted.in_steps else counted.unset),
        unset=counted.unset,
        empty=counted.empty,
        kinds=kinds,
        kind_places={kind: places.all_of(found) for kind, found in counted.kind_places.items()},
        missing_places=places.all_of(counted.missing_places),
        nan_places=places.all_of(counted.not_finite_places),
        lengths=lengths_of(counted.lengths),
        steps=lengths_of(counted.steps),
        stored_bytes=counted.stored_bytes,
        distinct=_distinct(values) if values else 0,
        distinct_exact=values.values.is_exact if values else True,
        distinct_error=values.values.distinct_error if values else 0.0,
        frequent=_frequent(values) if values else (),
        numbers=_numbers(numbers) if numbers else None,
        strings=_strings(strings) if strings else None,
        images=_images(strings, places) if strings else None,
        categories=_categories(strings) if strings else (),
    )


def _with_numbers(
    facts: FeatureFacts, raw: _core.RawNumberSummary, dtype: np.dtype[Any], places: FilePlaces
) -> FeatureFacts:
    """Return a feature of byte strings as the numbers that these are."""
    values = raw.numbers
    lengths = facts.strings.lengths if facts.strings is not None else LengthFacts(0, 0, 0.0)
    size = dtype.itemsize
    return replace(
        facts,
        nan_places=places.all_of(raw.not_finite_places),
        lengths=LengthFacts(lengths.min // size, lengths.max // size, lengths.mean / size),
        distinct=_distinct(values),
        distinct_exact=values.values.is_exact,
        distinct_error=values.values.distinct_error,
        frequent=_frequent(values),
        numbers=_numbers(values),
        images=None,
        categories=(),
        raw_dtype=dtype.name,
    )


def _part(facts: FeatureFacts, raw: _core.RawNumberSummary, dtype: np.dtype[Any], places: FilePlaces) -> FeatureFacts:
    count = math.prod(dtype.shape)
    whole = _with_numbers(replace(facts, name=f"{facts.name}[{raw.part}]", strings=None), raw, dtype.base, places)
    return replace(whole, lengths=LengthFacts(count, count, float(count)), stored_bytes=0)


def _frequent(values: _core.NumberSummary | _core.StringSummary) -> tuple[FrequentValue, ...]:
    """Return the most common values, unless there are many and none of them stands out."""
    found = values.frequent
    if values.values.is_exact and found and values.values.distinct > _MOST_LISTED:
        average = values.count / values.values.distinct
        if found[0][1] < _FEW_EXTRA * average:
            return ()
    return tuple(FrequentValue(value, count) for value, count in found)


def _distinct(values: _core.NumberSummary | _core.StringSummary) -> int:
    """Return how many values differ: an estimate may be larger than the number of values."""
    most = values.finite if isinstance(values, _core.NumberSummary) else values.count
    return min(round(values.values.distinct), most)


def _categories(values: _core.StringSummary) -> tuple[FrequentValue, ...]:
    """Return all values of a feature of texts that repeat."""
    distinct, lengths = values.values.distinct, values.lengths
    repeat = values.values.is_exact and 0 < 2 * distinct <= values.count == values.utf8
    if not repeat or distinct > _MOST_CATEGORIES or lengths is None or lengths.max > _LONGEST_CATEGORY:
        return ()
    return tuple(FrequentValue(value, count) for value, count in values.all)


def _numbers(values: _core.NumberSummary) -> NumberFacts:
    finite = values.finite > 0
    return NumberFacts(
        count=values.count,
        min=values.min if finite else None,
        max=values.max if finite else None,
        mean=values.mean if finite else None,
        deviation=values.deviation if finite else None,
        zeros=values.zeros,
        negatives=values.negatives,
        nan=values.nan,
        positive_infinity=values.positive_infinity,
        negative_infinity=values.negative_infinity,
        integral=values.is_integral,
        quantiles=dict(zip(SHARES, values.quantiles, strict=True)) if finite else {},
        quantiles_exact=values.quantiles_are_exact,
        rank_error=values.rank_error,
        histogram=Histogram.between(values.edges, values.counts, integral=values.is_integral) if finite else None,
    )


def _strings(values: _core.StringSummary) -> StringFacts | None:
    lengths = values.lengths
    if lengths is None:
        return None
    return StringFacts(
        count=values.count,
        bytes=lengths.sum,
        lengths=LengthFacts(lengths.min, lengths.max, lengths.sum / lengths.count),
        empty=values.empty,
        ascii=values.ascii,
        utf8=values.utf8,
        leading_space=values.leading_space,
        trailing_space=values.trailing_space,
        control=values.control,
    )


def _images(values: _core.StringSummary, places: FilePlaces) -> ImageFacts | None:
    images = values.images
    if 2 * images.images <= values.count:
        return None
    return ImageFacts(
        formats=images.formats,
        channels=images.channels,
        heights=lengths_of(images.heights),
        widths=lengths_of(images.widths),
        no_header=values.count - images.images,
        no_header_places=places.all_of(images.no_header_places),
        suffix_differs=images.suffix_differs,
        suffix_places=places.all_of(images.suffix_places),
    )
