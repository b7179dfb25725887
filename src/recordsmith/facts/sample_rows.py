"""Decodes a few records of a dataset, for people to look at."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np

from recordsmith.dataset.payload_reading import StoredPayload
from recordsmith.dataset.row_decoding import RowOverview, decode_row
from recordsmith.errors import RecordsmithError
from recordsmith.facts.dataset_facts import DatasetFacts, ShardFacts
from recordsmith.facts.feature_order import features_in_order
from recordsmith.facts.value_facts import FeatureFacts
from recordsmith.records.reader import RecordReader
from recordsmith.schema import Bytes, Feature, Scalar, Schema, Steps, Text
from recordsmith.schema.features.numeric import DTypeName

__all__ = ["sample_rows"]

_SMALL = 64 << 20  # bytes of a split that is read to its end for it
_BYTES = 16 << 20  # of records that are kept at most, however large they are
_DTYPES: dict[str, DTypeName] = {"float": "float32", "int64": "int64"}


@dataclass(frozen=True, slots=True)
class _Known:
    """A feature as decoding wants to know it."""

    name: str
    steps: bool
    feature: Feature | None


def sample_rows(facts: DatasetFacts, *, records: int = 12) -> tuple[RowOverview, ...]:
    """Read a few records, spread evenly over the splits and their files; damage is passed over.

    Their payloads are left out: what is shown is their values.

    >>> import recordsmith as rs, tempfile
    >>> from recordsmith.facts.survey import survey
    >>> path = tempfile.mkdtemp() + "/data.tfrecord"
    >>> with rs.RecordWriter(path) as writer:
    ...     for n in range(100):
    ...         writer.write_example({"label": n})
    >>> [int(row.features["label"]) for row in sample_rows(survey(path), records=3)]
    [0, 49, 99]
    """
    declared = _stored_part(facts)
    # A feature may be stored in parts, such as a sparse one: they are not shown besides it.
    parts = {column.key for name, feature in declared.items() for column in feature.plan(name)}
    features = [_Known(name, isinstance(feature, Steps), feature) for name, feature in declared.items()]
    others = {one.name for one in facts.features} - parts
    features += [_known(one) for one in features_in_order(facts) if one.name in others]
    wanted = Schema(declared) if declared else None
    groups: dict[str | None, list[ShardFacts]] = {}
    for shard in facts.shards:
        if _readable(shard):
            groups.setdefault(shard.split, []).append(shard)
    rows: list[RowOverview] = []
    for number, shards in enumerate(groups.values()):
        share = (records - len(rows)) // (len(groups) - number)
        rows += _rows_of(shards, share, features, wanted)
    return tuple(rows)


def _stored_part(facts: DatasetFacts) -> dict[str, Feature]:
    """The declared features that some record has."""
    stored = {feature.name for feature in facts.features}
    return {
        name: feature
        for name, feature in (facts.schema or {}).items()
        if any(column.key in stored for column in feature.plan(name))
    }


def _rows_of(
    shards: list[ShardFacts], records: int, features: list[_Known], schema: Schema | None
) -> Iterable[RowOverview]:
    for stored in _payloads(shards, records):
        row = decode_row(stored, features, schema, [])  # mismatches with the schema are in the facts already
        values = None if row.features is None else _in_order(row.features, features)
        yield replace(row, payload=row.payload if row.kind == "text" else b"", features=values)


def _payloads(shards: list[ShardFacts], records: int) -> Iterable[StoredPayload]:
    """Read records of one split: spread over all of it where it is small, else the first ones of files spread over it.

    No index is built for it, which would read large files once more and leave files on the disk.
    """
    counts = [_readable(shard) for shard in shards]
    if sum(shard.bytes for shard in shards) <= _SMALL:
        numbers = _spread(sum(counts), records)
    else:
        starts = np.cumsum([0, *counts])
        chosen = _spread(len(shards), records)
        each = -(-records // max(1, len(chosen)))
        by_turns = [int(starts[one]) + n for n in range(each) for one in chosen if n < counts[one]]
        numbers = sorted(by_turns[:records])
    room = _BYTES
    first = 0
    for shard, count in zip(shards, counts, strict=True):
        wanted = {number - first for number in numbers if first <= number < first + count}
        if wanted:
            with contextlib.suppress(RecordsmithError), RecordReader(shard.path) as reader:
                for number, payload in enumerate(islice(reader, max(wanted) + 1)):
                    if number in wanted and len(payload) <= room:
                        room -= len(payload)
                        yield StoredPayload(first + number, shard.path, number, payload)
        first += count


def _spread(there: int, wanted: int) -> list[int]:
    """Some of so many numbers, evenly spread, the first and the last among them."""
    return [int(number) for number in np.unique(np.linspace(0, there - 1, min(there, wanted)).astype(np.int64))]


def _in_order(values: dict[str, Any], features: list[_Known]) -> dict[str, Any]:
    return {one.name: values[one.name] for one in features if one.name in values and not one.steps}


def _readable(shard: ShardFacts) -> int:
    """How many records are before the first damage."""
    numbers = [damage.record for damage in shard.damages if damage.record is not None]
    return min([shard.records, *numbers]) if shard.damage_count else shard.records


def _known(facts: FeatureFacts) -> _Known:
    """The type that a feature's values are shown in, where nobody declares it."""
    single = facts.lengths is not None and facts.lengths.max == 1
    feature: Feature | None = None
    if facts.strings is not None and facts.kind == "bytes":
        feature = (
            Text(() if single else (None,))
            if facts.strings.utf8 == facts.strings.count
            else Bytes(() if single else (None,))
        )
    elif single and facts.kind in _DTYPES:
        feature = Scalar(_DTYPES[facts.kind])
    return _Known(facts.name, facts.in_steps, Steps(feature) if facts.in_steps and feature is not None else feature)
