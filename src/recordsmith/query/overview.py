"""An overview of a dataset: its files, its features with examples, and some of its rows.

Files are indexed for their number of records, a census of the first records says which features there are, and a few
records spread over all files give the examples. Damage does not stop it: what can be read is shown, and the errors
come along as `problems`. Only where nothing at all can be read is the first error raised.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, cast

from recordsmith.dataset.inference import Census, CensusFeature, sample_census, schema_from_census
from recordsmith.dataset.layout import DatasetLayout, find_layout
from recordsmith.dataset.payload_reading import DatasetPayloads, FileOverview, survey_files
from recordsmith.dataset.row_decoding import RowOverview, decode_row
from recordsmith.errors import RecordsmithError, SchemaError, SchemaMismatchError, did_you_mean, list_names
from recordsmith.query.row_search import search_rows
from recordsmith.query.where import Where, compile_where
from recordsmith.schema import Feature, Schema

__all__ = ["DatasetOverview", "FeatureOverview", "FileOverview", "RowOverview", "RowRange", "known_features", "look_at"]

_SAMPLED_RECORDS = 100
_SAMPLED_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class RowRange:
    """Which rows to show, by the rules of a slice.

    >>> RowRange(-2, None).of(10)
    range(8, 10)
    """

    start: int | None = None
    stop: int | None = None
    step: int | None = None

    def of(self, records: int) -> range:
        """Return the numbers of the rows, in a dataset of so many."""
        return range(records)[self.start : self.stop : self.step]


@dataclass(frozen=True, slots=True)
class FeatureOverview:
    """What is known of one feature.

    Attributes:
        name: its name in the record.
        steps: it lives in the feature lists of a SequenceExample, one value a step.
        feature: its type, declared or inferred; None where records disagree, or none has a value.
        declared: the type comes from a schema.
        records: how many of the records looked at have it.
        kinds: how often each kind of list was met: "int64", "float", "bytes".
        counts: the least and the most values in one record, or in one step.
        lengths: the least and the most bytes in one value, for kind bytes.
        examples: the values in the sampled records that have it.
    """

    name: str
    feature: Feature | None
    declared: bool
    steps: bool = False
    records: int = 0
    kinds: dict[str, int] = field(default_factory=dict)
    counts: tuple[int, int] = (0, 0)
    lengths: tuple[int, int] = (0, 0)
    examples: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class DatasetOverview:
    """What is in a dataset.

    Attributes:
        name: what was asked for, in a few words.
        files: the files, with their numbers of records.
        splits: the number of records of each split, as far as known from names or a description.
        described_by: the file that declares the schema; None where it was inferred.
        payload: what the records are, such as "example" or "text"; "unknown" also where they differ.
        payloads: how many of the records looked at are of each kind.
        looked_at: how many records the census saw, and so what the features' counts are to be compared with.
        looked_at_all: these were all records.
        sampled: how many records the examples come from.
        features: the features, in the order of the schema or of their first appearance.
        rows: the rows that were asked for.
        problems: errors that were met on the way; what they are about is not in the rest.
        where: the condition that the rows fit; None without one.
        searched_all: all records were looked at for it; else the search ended with the last row that was asked for.
    """

    name: str
    files: tuple[FileOverview, ...]
    splits: dict[str, int]
    described_by: str | None
    payload: str
    payloads: dict[str, int]
    looked_at: int
    looked_at_all: bool
    sampled: int
    features: tuple[FeatureOverview, ...]
    rows: tuple[RowOverview, ...]
    problems: tuple[RecordsmithError, ...]
    where: str | None = None
    searched_all: bool = True

    @property
    def records(self) -> int:
        """How many records can be read."""
        return sum(file.records for file in self.files)

    @property
    def bytes(self) -> int:
        """How many bytes the files take."""
        return sum(file.bytes for file in self.files)


def look_at(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    rows: RowRange | None = None,
    where: str | None = None,
    features: Sequence[str] = (),
    split: str | None = None,
    schema: Schema | None = None,
    schema_name: str | None = None,
    on_file: Callable[[int], object] = lambda _: None,
) -> DatasetOverview:
    """Look at a file, folder, glob, or list of them.

    Args:
        paths: what to look at.
        rows: which rows to fetch; None: none.
        where: a condition, as in `facts.where`; `rows` then counts those that fit.
        features: the features to include; empty: all.
        split: only the files of this split.
        schema: what the records hold; None: the schema next to the files, or what the records show.
        schema_name: what to call that schema.
        on_file: called with the size of each file, once it is indexed.

    >>> import recordsmith as rs, tempfile
    >>> path = tempfile.mkdtemp() + "/data.tfrecord"
    >>> with rs.RecordWriter(path) as writer:
    ...     writer.write_example({"label": 3})
    >>> look_at(path, rows=RowRange(0, 5)).rows[0].features
    {'label': np.int64(3)}
    """
    layout = find_layout(paths).select(split)
    declared = schema if schema is not None else layout.schema
    problems: list[RecordsmithError] = []
    files = survey_files(layout, problems, on_file)
    if problems and not any(file.records for file in files):
        raise problems[0]
    census = _census(files, problems)
    known = known_features(census, declared)
    kept = _kept_features(known, features)
    condition = None if where is None else compile_where(where, _types(known))
    payloads = DatasetPayloads(files, problems)
    sample = payloads.sample(records=_SAMPLED_RECORDS, bytes_in_all=_SAMPLED_BYTES)
    names = [feature.name for feature in kept if feature.declared]
    wanted = declared.select(names) if declared is not None and names else None
    decoded = [decode_row(stored, kept, wanted, problems) for stored in sample]
    numbers, searched_all = _wanted_rows(rows, payloads, condition, known)
    shown = payloads.read(numbers)
    return DatasetOverview(
        name=_name(paths),
        files=tuple(files),
        splits=_splits(layout, files),
        described_by=(schema_name or "a schema") if schema is not None else layout.described_by if declared else None,
        payload=census.payload,
        payloads=dict(census.payloads),
        looked_at=census.records,
        looked_at_all=census.complete,
        sampled=len(sample),
        features=tuple(_with_examples(feature, decoded) for feature in kept),
        rows=tuple(decode_row(stored, kept, wanted, problems) for stored in shown),
        problems=tuple(_distinct(problems)),
        where=where,
        searched_all=searched_all,
    )


def _types(features: Iterable[FeatureOverview]) -> dict[str, Feature]:
    """The types by name; None, for a feature on which records disagree, is one that conditions know what to do with."""
    return {feature.name: cast("Feature", feature.feature) for feature in features}


def _wanted_rows(
    rows: RowRange | None, payloads: DatasetPayloads, condition: Where | None, features: Sequence[FeatureOverview]
) -> tuple[Sequence[int], bool]:
    """Return the numbers of the rows that were asked for, and whether all records were searched for them."""
    if rows is None:
        return [], True
    if condition is None:
        return rows.of(payloads.records), True
    matches = search_rows(
        payloads.files, condition, _types(features), lambda stored: decode_row(stored, features, None, [])
    )
    forwards = (rows.start or 0) >= 0 and rows.stop is not None and rows.stop >= 0
    found = list(islice(matches, rows.stop)) if forwards else list(matches)
    searched_all = not forwards or next(matches, None) is None
    return found[rows.start : rows.stop : rows.step], searched_all


def _census(files: Sequence[FileOverview], problems: list[RecordsmithError]) -> Census:
    """Look at the records of the sound files or, where there are none, at those before the damage."""
    readable = [file for file in files if file.records]
    paths = [file.path for file in readable if not file.damaged] or [file.path for file in readable]
    for verify in (True, False):  # unverified only if the very first record is the one that is damaged
        try:
            census = sample_census(paths, verify=verify)
        except RecordsmithError as error:
            problems.append(error)
        else:
            if census.records or not paths:
                return census
    return Census(0, False, {}, ())


def known_features(census: Census, declared: Schema | None) -> list[FeatureOverview]:
    """Return the features that are declared or that some record has, in that order."""
    stored = {(facts.key, facts.in_steps): facts for facts in census.features}
    found = []
    for name, feature in (declared or {}).items():
        # A feature may be stored in several parts, of which the last has the values.
        parts = [
            stored.pop((column.key, column.steps), CensusFeature(column.key, column.steps))
            for column in feature.plan(name)
        ]
        found.append(_feature(name, feature, parts[-1], declared=True))
    for (name, _), facts in stored.items():
        found.append(_feature(name, _inferred(facts, census), facts, declared=False))
    return found


def _feature(name: str, feature: Feature | None, facts: CensusFeature, *, declared: bool) -> FeatureOverview:
    return FeatureOverview(
        name=name,
        feature=feature,
        declared=declared,
        steps=facts.in_steps,
        records=facts.records,
        kinds={kind: count for kind, count in facts.kinds.items() if kind != "nothing"},
        counts=facts.counts,
        lengths=facts.lengths,
    )


def _inferred(facts: CensusFeature, census: Census) -> Feature | None:
    """Infer the type of one feature alone, so that one on which the records disagree does not hide the others."""
    payload = "sequence_example" if facts.in_steps else "example"
    alone = Census(census.records, census.complete, {payload: census.records}, (facts,))
    try:
        return schema_from_census(alone, ()).get(facts.key)
    except SchemaError:
        return None


def _kept_features(found: list[FeatureOverview], names: Sequence[str]) -> list[FeatureOverview]:
    if not names:
        return found
    existing: dict[str, list[FeatureOverview]] = {}
    for feature in found:
        existing.setdefault(feature.name, []).append(feature)
    for name in names:
        if name not in existing:
            raise SchemaError(
                f"There is no feature {name!r}.{did_you_mean(name, existing)}",
                expected=list_names(existing)
                if existing
                else "no features: the records are not tf.train.Example messages",
            )
    return [feature for name in dict.fromkeys(names) for feature in existing[name]]


def _with_examples(feature: FeatureOverview, rows: Iterable[RowOverview]) -> FeatureOverview:
    values = (row.value(feature.name, steps=feature.steps) for row in rows)
    return replace(feature, examples=tuple(value for value in values if value is not None))


def _splits(layout: DatasetLayout, files: Sequence[FileOverview]) -> dict[str, int]:
    records = {file.path: file.records for file in files}
    return {split: sum(records[path] for path in paths) for split, paths in layout.splits.items()}


def _name(paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> str:
    if isinstance(paths, (str, os.PathLike)):
        return os.fspath(paths)
    first = os.fspath(paths[0])
    return first if len(paths) == 1 else f"{first} and {len(paths) - 1} more"


def _distinct(problems: Iterable[RecordsmithError]) -> list[RecordsmithError]:
    """Leave out errors about the same place, met on two ways, and all but the first record that a schema misses."""
    found: dict[object, RecordsmithError] = {}
    for error in problems:
        place = () if isinstance(error, SchemaMismatchError) else (error.path, error.record)
        found.setdefault((type(error), error.feature, *place), error)
    return list(found.values())
