"""A few records of a dataset, decoded, for people to look at beside its facts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from recordsmith.errors import RecordsmithError
from recordsmith.facts.dataset_facts import DatasetFacts, FeatureFacts, ShardFacts
from recordsmith.facts.feature_order import features_in_order
from recordsmith.facts.payload_reading import DatasetPayloads, FileOverview
from recordsmith.facts.row_decoding import RowOverview, decode_row
from recordsmith.schema import Bytes, Feature, Scalar, Schema, Steps, Text

__all__ = ["sample_rows"]

_BYTES = 16 << 20  # that are read at most, however large the records are
_DTYPES = {"float": "float32", "int64": "int64"}


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
    features += [_known(one) for one in features_in_order(facts) if one.name not in parts]
    wanted = Schema(declared) if declared else None
    groups: dict[str | None, list[ShardFacts]] = {}
    for shard in facts.shards:
        if _readable(shard):
            groups.setdefault(shard.split, []).append(shard)
    rows: list[RowOverview] = []
    for number, shards in enumerate(groups.values()):
        share = (records - len(rows)) // (len(groups) - number)
        rows += _from(shards, share, features, wanted, _BYTES // len(groups))
    return tuple(rows)


def _stored_part(facts: DatasetFacts) -> dict[str, Feature]:
    """The declared features that some record has."""
    stored = {feature.name for feature in facts.features}
    return {
        name: feature
        for name, feature in (facts.schema or {}).items()
        if any(column.key in stored for column in feature.plan(name))
    }


def _from(
    shards: list[ShardFacts], records: int, features: list[_Known], schema: Schema | None, bytes_in_all: int
) -> Iterable[RowOverview]:
    files = [
        FileOverview(shard.path, shard.bytes, shard.compression, _readable(shard), damaged=shard.damage_count > 0)
        for shard in shards
    ]
    problems: list[RecordsmithError] = []  # the facts have told them already
    for stored in DatasetPayloads(files, problems).sample(records=records, bytes_in_all=bytes_in_all):
        row = decode_row(stored, features, schema, problems)
        values = None if row.features is None else _in_order(row.features, features)
        yield replace(row, payload=row.payload if row.kind == "text" else b"", features=values)


def _in_order(values: dict[str, Any], features: list[_Known]) -> dict[str, Any]:
    return {one.name: values[one.name] for one in features if one.name in values and not one.steps}


def _readable(shard: ShardFacts) -> int:
    """How many records lie before the first damage."""
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
