"""Finds where records and the declared schema disagree.

What the core counts on its way (kinds, numbers of values, sizes, labels outside their classes, absent features) needs
no second look. Constraints do, but only of features whose facts do not already show that every value keeps to them:
those are read again, alone.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np

from recordsmith import _core
from recordsmith.errors import RecordsmithError, SchemaMismatchError
from recordsmith.facts.dataset_facts import LabelFacts, Mismatch, ShardFacts
from recordsmith.facts.from_core.survey_places import FilePlaces, lengths_of
from recordsmith.facts.sound_records import sound_records
from recordsmith.facts.value_facts import FeatureFacts, LengthFacts, NumberFacts, Place
from recordsmith.schema import Audio, Boxes, Feature, Image, Label, Packed, Schema, Sparse, Steps, Tensor
from recordsmith.schema import Sequence as SequenceFeature
from recordsmith.schema.features.numeric import NumericFeature
from recordsmith.schema.features.strings import StringFeature
from recordsmith.schema.native import compile_plan
from recordsmith.schema.plan import PlanColumn
from recordsmith.wording.numbers import count_text
from recordsmith.workers.progress_display import OnPhase

__all__ = ["expectations_of", "mismatches_of", "record_batches"]

_MOST_PLACES = 5
_BATCH = 512


def expectations_of(schema: Schema | None) -> dict[tuple[str, bool], _core.Expectation]:
    """Return what the core compares records with: by key, and whether it is in the feature lists."""
    if schema is None:
        return {}
    return {(column.key, column.steps): _expectation(feature, column) for _, feature, column in _columns(schema)}


def _expectation(feature: Feature, column: PlanColumn) -> _core.Expectation:
    return _core.Expectation(
        column.kind,
        count=column.count,
        row_bytes=column.row_bytes,
        classes=feature.size if isinstance(feature, Label) else None,
        raw_numbers=_raw_numbers(column.raw_dtype),
    )


def _raw_numbers(dtype: np.dtype[Any] | None) -> list[_core.RawNumbers]:
    if dtype is None:
        return []
    if dtype.fields is None:
        return [_core.RawNumbers("", dtype.name, 0, None)]
    parts = [(name, field[0], field[1]) for name, field in dtype.fields.items()]
    return [_core.RawNumbers(name, part.base.name, offset, math.prod(part.shape)) for name, part, offset in parts]


def _columns(schema: Schema) -> Iterator[tuple[str, Feature, PlanColumn]]:
    for name, feature in schema.items():
        for column in feature.plan(name):
            yield name, feature, column


def mismatches_of(
    schema: Schema,
    counted: _core.SplitSummary,
    features: Sequence[FeatureFacts],
    labels: Sequence[LabelFacts],
    shards: Sequence[ShardFacts],
    progress: OnPhase = lambda _phase, _done, _total: None,
) -> tuple[Mismatch, ...]:
    """Return the disagreements, in the order of the schema, and then of features that it does not know.

    Args:
        schema: what records should hold.
        counted: what the core counted over all splits.
        features: the same, as facts.
        labels: the labels.
        shards: the files.
        progress: called now and then with the phase, the records done and those in all.
    """
    if not counted.examples:
        return ()
    found: list[Mismatch] = []
    by_key = {(feature.name, feature.in_steps): feature for feature in features}
    raw = {(feature.key, feature.in_steps): feature for feature in counted.features}
    places = FilePlaces([shard.path for shard in shards])
    declared = {(column.key, column.steps) for _, _, column in _columns(schema)}
    unexpected = [feature for key, feature in by_key.items() if key not in declared]
    for name, feature, column in _columns(schema):
        facts = by_key.get((column.key, column.steps))
        found += _presence(name, feature, column, facts, counted.examples, shards, unexpected)
        if facts is None:
            continue
        found += _kinds(name, feature, column, facts)
        found += _shape(name, feature, column, facts, raw[column.key, column.steps], places)
    for label in labels:
        if label.declared and label.outside:
            found.append(_outside(label, schema[label.feature]))
    absent = [name for name, _, column in _columns(schema) if (column.key, column.steps) not in by_key]
    for facts in unexpected:
        nearest = _nearest(facts.name, absent or list(schema))
        places_seen = next(iter(facts.kind_places.values()), ())
        found.append(
            Mismatch("unexpected", facts.name, facts.records, places_seen, _kinds_in_words(facts), "", nearest)
        )
    found += _broken_constraints(schema, by_key, shards, progress)
    return tuple(found)


def _presence(
    name: str,
    feature: Feature,
    column: PlanColumn,
    facts: FeatureFacts | None,
    examples: int,
    shards: Sequence[ShardFacts],
    unexpected: Sequence[FeatureFacts],
) -> Iterator[Mismatch]:
    lacking = examples if facts is None else facts.missing + (0 if column.steps else facts.unset)
    if column.presence == "required":
        if lacking:
            first = tuple(Place(shard.path, 0) for shard in shards if shard.records)[:_MOST_PLACES]
            places = first if facts is None else facts.missing_places
            others = [other.name for other in unexpected] if facts is None else []
            yield Mismatch("missing", name, lacking, places, "", repr(feature), _nearest(column.key, others))
    elif lacking == examples:
        yield Mismatch("default-always", name, examples, (), "no record has it", repr(feature))
    elif not lacking and column.presence == "default":
        yield Mismatch("default-never", name, examples, (), "every record has it", repr(feature))


def _kinds(name: str, feature: Feature, column: PlanColumn, facts: FeatureFacts) -> Iterator[Mismatch]:
    others = {kind: count for kind, count in facts.kinds.items() if kind != column.kind}
    if others:
        places = tuple(place for kind in others for place in facts.kind_places.get(kind, ()))[:_MOST_PLACES]
        found = " and ".join(f"{kind} lists" for kind in others)
        yield Mismatch("dtype", name, sum(others.values()), places, found, f"{column.kind} lists: {feature!r}")


def _shape(
    name: str,
    feature: Feature,
    column: PlanColumn,
    facts: FeatureFacts,
    raw: _core.FeatureSummary,
    places: FilePlaces,
) -> Iterator[Mismatch]:
    if not raw.wrong_shape:
        return
    expected = (
        count_text(column.count, "value")
        if column.row_bytes is None and column.count is not None
        else count_text(column.row_bytes or 0, "byte")
    )
    strings = facts.strings.lengths if facts.strings is not None else None
    sizes = lengths_of(raw.lengths) if column.row_bytes is None or strings is None else strings
    found = _range_in_words(sizes, "values" if column.row_bytes is None else "bytes")
    seen = places.all_of(raw.wrong_shape_places)
    yield Mismatch("shape", name, raw.wrong_shape, seen, found, f"{expected}: {feature!r}")


def _outside(label: LabelFacts, feature: Feature) -> Mismatch:
    values = ", ".join(dict.fromkeys(place.detail for place in label.outside_places))
    return Mismatch(
        "label",
        label.feature,
        label.outside,
        label.outside_places,
        f"the numbers {values}",
        f"0 to {len(label.names) - 1}: {feature!r}",
    )


def _kinds_in_words(facts: FeatureFacts) -> str:
    return " and ".join(f"{kind} lists" for kind in facts.kinds) or "no values"


def _range_in_words(lengths: LengthFacts | None, unit: str) -> str:
    if lengths is None:
        return ""
    return f"{lengths.min} {unit}" if lengths.fixed else f"{lengths.min} to {lengths.max} {unit}"


def _nearest(name: str, others: Iterable[str]) -> str | None:
    """Return the name that is probably meant, if one is near."""
    folded = {other.casefold(): other for other in others}
    near = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=0.6)
    return folded[near[0]] if near else None


# --- constraints ---


@dataclass(slots=True)
class _Broken:
    """One constraint of one feature."""

    kind: str
    expected: str
    count: int = 0
    places: list[Place] = field(default_factory=list)
    found: str = ""

    def add(self, path: str, record: int, found: str) -> None:
        self.count += 1
        self.found = self.found or found
        if len(self.places) < _MOST_PLACES:
            self.places.append(Place(path, record, None, found))


def _broken_constraints(
    schema: Schema, by_key: dict[tuple[str, bool], FeatureFacts], shards: Sequence[ShardFacts], progress: OnPhase
) -> Iterator[Mismatch]:
    broken: dict[tuple[str, str], _Broken] = {}
    in_all = sum(shard.records for shard in shards)
    for name, feature in schema.items():
        parts = [by_key.get((column.key, column.steps)) for column in feature.plan(name)]
        facts = [part for part in parts if part is not None]
        shape_is_open = any(_may_not_fit(feature, part) for part in facts)
        if not shape_is_open and not any(_may_break(feature, part) for part in facts):
            continue
        alone = schema.select([name])
        done = 0
        for shard in shards:
            for batch in record_batches(shard.path):
                _check(alone, name, shard.path, batch, broken, shape_is_open=shape_is_open)
                done += len(batch)
                progress(f"reading {name!r} again", min(done, in_all), in_all)
    for (name, _), one in broken.items():
        yield Mismatch(one.kind, name, one.count, tuple(one.places), one.found, one.expected)


def _may_break(feature: Feature, facts: FeatureFacts) -> bool:
    """Whether a feature has constraints that the facts do not already show to be kept."""
    if isinstance(feature, Steps):
        inner = feature.feature
        if isinstance(inner, Label):
            return facts.numbers is not None and _outside_bounds(facts.numbers, 0, inner.size - 1)
        return _may_break(inner, facts)
    if isinstance(feature, Image):
        return not _images_agree(feature, facts)
    if isinstance(feature, Audio):
        return True  # the facts do not have the headers of sounds
    if isinstance(feature, Boxes):
        return False  # box_facts.py looks at them
    if isinstance(feature, NumericFeature):
        bounds = feature.bounds
        if not feature.constrained:
            return False
        if bounds.one_of is not None or facts.numbers is None or (isinstance(feature, Tensor) and feature.lengths.any):
            return True
        return _outside_bounds(facts.numbers, bounds.low, bounds.high)
    if isinstance(feature, StringFeature):
        return feature.constrained
    return isinstance(feature, Sparse)


def _may_not_fit(feature: Feature, facts: FeatureFacts) -> bool:
    """Whether the number of values does not prove that every record has the declared shape and dtype."""
    if isinstance(feature, Steps):
        return _may_not_fit(feature.feature, facts)
    if isinstance(feature, SequenceFeature):
        return True
    if isinstance(feature, Packed):
        bools = [one for one, (dtype, _) in zip(facts.parts, feature.parts.values(), strict=False) if dtype == "bool"]
        return any(part.numbers is not None and _outside_bounds(part.numbers, 0, 1) for part in bools)
    if not isinstance(feature, NumericFeature):
        return False
    if feature.packing:
        return True
    if facts.numbers is not None and _outside_dtype(feature.dtype, facts.numbers):
        return True
    sizes = [size for size in feature.row_shape if size is not None]
    if len(sizes) == len(feature.row_shape):
        return False
    if len(sizes) + 1 < len(feature.row_shape):
        return True
    raw = feature.stored_as == "bytes"
    lengths = facts.lengths if not raw or facts.strings is None else facts.strings.lengths
    unit = math.prod(sizes) * (feature.dtype.itemsize if raw else 1)
    return lengths is not None and unit > 1 and not (lengths.fixed and lengths.min % unit == 0)


def _outside_dtype(dtype: np.dtype[Any], numbers: NumberFacts) -> bool:
    """Whether a list, or a byte of a bool, holds what the dtype does not."""
    if dtype.kind not in "bui":
        return dtype.name == "float16" and _magnitude(numbers) > np.finfo(dtype).max
    low, high = (0, 1) if dtype.kind == "b" else (int(np.iinfo(dtype).min), int(np.iinfo(dtype).max))
    return (numbers.min or 0) < low or (numbers.max or 0) > high


def _magnitude(numbers: NumberFacts) -> float:
    return max(abs(numbers.min or 0), abs(numbers.max or 0))


def _images_agree(feature: Image, facts: FeatureFacts) -> bool:
    images = facts.images
    if images is None or images.no_header or images.heights is None or images.widths is None:
        return facts.strings is None
    sizes = ((feature.height, images.heights), (feature.width, images.widths))
    right_size = all(size is None or found.min == found.max == size for size, found in sizes)
    return right_size and (feature.encoding is None or set(images.formats) == {feature.encoding})


def _outside_bounds(numbers: NumberFacts, low: float | None, high: float | None) -> bool:
    if numbers.nan or numbers.positive_infinity or numbers.negative_infinity:
        return True
    below = low is not None and numbers.min is not None and numbers.min < low
    return below or (high is not None and numbers.max is not None and numbers.max > high)


def record_batches(path: str) -> Iterator[list[tuple[int, bytes]]]:
    """Give the sound records of a file with their numbers, some at a time."""
    records = ((number, payload) for _, number, payload in sound_records(path))
    while batch := list(islice(records, _BATCH)):
        yield batch


def _check(
    alone: Schema,
    name: str,
    path: str,
    records: list[tuple[int, bytes]],
    broken: dict[tuple[str, str], _Broken],
    *,
    shape_is_open: bool,
) -> None:
    """Decode one feature of some records, and note those that break a constraint."""
    try:
        columns = alone.assemble(_core.decode_payloads(compile_plan(alone), [payload for _, payload in records]))
    except RecordsmithError as error:
        if len(records) > 1:
            for record in records:
                _check(alone, name, path, [record], broken, shape_is_open=shape_is_open)
        elif shape_is_open and isinstance(error, SchemaMismatchError) and error.found is not None:
            kind = "shape" if isinstance(error.found, str) else "dtype"  # a size in words, or a value
            one = broken.setdefault((name, kind), _Broken(kind, str(error.expected)))
            one.add(path, records[0][0], str(error.found))
        return  # anything else is reported as a wrong kind, count or presence
    for violation in alone[name].violations(columns[name]):
        key = name, violation.constraint
        one = broken.setdefault(key, _Broken("constraint", f"{violation.constraint}: {violation.expected}"))
        one.add(path, records[violation.row][0], violation.found)
