"""W: unusual contents of correctly framed records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from recordsmith.checking.wording import first_detail, located, share
from recordsmith.facts.dataset_facts import Anomaly, DatasetFacts
from recordsmith.rules import Finding, Location, Rule, Severity, rule
from recordsmith.wording.numbers import count_text

__all__ = [
    "duplicate_key",
    "key_not_utf8",
    "many_feature_names",
    "mixed_kinds",
    "mixed_payloads",
    "not_an_example",
    "two_kinds_at_once",
    "unknown_fields",
    "values_after_list",
]

_NAMES = {
    "example": "tf.train.Example",
    "sequence_example": "tf.train.SequenceExample",
    "example_list": "ExampleListWithContext (ELWC)",
    "event": "TensorBoard events",
    "text": "plain text",
    "empty": "empty payloads",
    "unknown": "something unknown",
    "other": "something unknown",
}
_MANY_NAMES = 1000
_PARSED = ("example", "sequence_example", "empty")


@rule("W001", "not-an-example", Severity.ERROR)
def not_an_example(facts: DatasetFacts) -> Iterator[Finding]:
    """A record's payload is not a tf.train.Example.

    An info if no record of the dataset is one: raw text or another message may be what is meant. An error if some are
    and others are not.

    Why it matters:
        `tf.io.parse_example` fails with `Could not parse example input`, at the first such record of the epoch.

    Example:
        A file of TensorBoard events among the shards; JSON lines written as records; a payload compressed by itself.

    Fix:
        Look at the records with `recordsmith show PATH --raw`. Move them to a separate dataset, or write them
        again as Examples.
    """
    kinds = _payloads(facts)
    odd = {kind: count for kind, count in kinds.items() if kind not in _PARSED}
    if not odd:
        return
    places = tuple(place for one in facts.anomalies if one.kind == "not-an-example" for place in one.places)
    found = located(places)
    if not found["location"].path:
        path = next((shard.path for shard in facts.shards if set(shard.payloads) & set(odd)), None)
        found["location"] = Location(path)
    everything = sum(odd.values()) == sum(kinds.values())
    what = ", ".join(f"{_NAMES.get(kind, kind)} ({count:,})" for kind, count in odd.items())
    if everything:
        message = (
            f"The records are not tf.train.Example messages, but {', '.join(_NAMES.get(kind, kind) for kind in odd)}."
        )
        advice = (
            "If that is intended, read them with RecordReader or `.map` a parser of your own; features are not checked."
        )
    else:
        message = (
            f"{count_text(sum(odd.values()), 'record')} of {sum(kinds.values()):,} are not tf.train.Examples: {what}."
        )
        advice = ""
    yield not_an_example.finding(
        message,
        location=Location(found["location"].path) if everything else found["location"],
        count=sum(odd.values()),
        places=() if everything else found["places"],
        advice=advice,
        evidence={"payloads": dict(kinds)},
        severity=Severity.INFO if everything else Severity.ERROR,
    )


@rule("W002", "duplicate-key", Severity.WARNING)
def duplicate_key(facts: DatasetFacts) -> Iterator[Finding]:
    """A record has the same feature twice.

    Why it matters:
        Readers take the last one and silently drop the others.

    Example:
        Examples joined by concatenating their bytes; a hand-written encoder.

    Fix:
        Write the records again with each feature once. `rs.encode_example(rs.decode_example(payload))` keeps the last
        of them (`..._sequence_example` for SequenceExamples).
    """
    yield from _anomalies(duplicate_key, facts, "duplicate-key", "have a feature twice")


@rule("W003", "mixed-kinds", Severity.ERROR)
def mixed_kinds(facts: DatasetFacts) -> Iterator[Finding]:
    """A feature is of one kind (bytes, float, int64) in some records and of another in others.

    Why it matters:
        A parser expects one type: `Data types don't match. Data type: float but expected type: int64`, at the first
        record of the other kind.

    Example:
        A column that is whole in one source file and has a decimal point in another: 3 was written as int64, 3.5 as
        float.

    Fix:
        Declare a schema and write the records with it, so that every value gets the declared kind.
    """
    for feature in facts.features:
        if len(feature.kinds) > 1:
            rare = min(feature.kinds, key=lambda kind: feature.kinds[kind])
            by_count = sorted(feature.kinds.items(), key=lambda item: -item[1])
            kinds = ", ".join(f"{kind} in {count_text(count, 'record')}" for kind, count in by_count)
            yield mixed_kinds.finding(
                f"Feature {feature.name!r} has several types: {kinds}.",
                count=feature.kinds[rare],
                evidence={"kinds": dict(feature.kinds)},
                **located(feature.kind_places.get(rare, ()), feature.name),
            )


@rule("W004", "values-after-list", Severity.ERROR)
def values_after_list(facts: DatasetFacts) -> Iterator[Finding]:
    """A feature's list continues after its end: the list is stored twice, or in packed and unpacked pieces.

    Why it matters:
        Protobuf joins the pieces, and TensorFlow's parser keeps the first and drops the rest in silence: two readers
        see different values.

    Example:
        Two serialized Features joined; a hand-written encoder that writes the values in chunks.

    Fix:
        Write the records again: `rs.encode_example(rs.decode_example(payload))` joins the pieces, as protobuf does.
    """
    yield from _anomalies(values_after_list, facts, "values-after-list", "have values after the end of a list")


@rule("W005", "unknown-fields", Severity.WARNING)
def unknown_fields(facts: DatasetFacts) -> Iterator[Finding]:
    """A record has fields that tf.train.Example does not know.

    Why it matters:
        Protobuf passes over them; TensorFlow's parser fails on some of them with `Could not parse example input`.
        Often the payload is another message altogether.

    Example:
        A custom message with the same first fields; a broken encoder.

    Fix:
        Find out what wrote the records. `rs.encode_example(rs.decode_example(payload))` is the record without the
        fields.
    """
    yield from _anomalies(unknown_fields, facts, "unknown-field", "have fields that are not part of tf.train.Example")


@rule("W006", "key-not-utf8", Severity.ERROR)
def key_not_utf8(facts: DatasetFacts) -> Iterator[Finding]:
    """A feature's name is not UTF-8.

    Why it matters:
        Protobuf refuses the whole record. TensorFlow's parser passes over the feature, which nobody can ask for by its
        name.

    Example:
        A name in Latin-1: `größe` as the bytes 67 72 f6 df 65.

    Fix:
        Write the records again with names in UTF-8.
    """
    yield from _anomalies(key_not_utf8, facts, "non-utf8-key", "have a feature name that is not UTF-8")


@rule("W007", "two-kinds-at-once", Severity.ERROR)
def two_kinds_at_once(facts: DatasetFacts) -> Iterator[Finding]:
    """One feature of one record contains lists of two kinds.

    Why it matters:
        Protobuf keeps the last of them and TensorFlow's parser the first: two readers see different values.

    Example:
        Two serialized Features joined, one with int64 and one with floats.

    Fix:
        Write the records again with one kind.
    """
    yield from _anomalies(two_kinds_at_once, facts, "mixed-kinds", "contain lists of two kinds in one feature")


@rule("W008", "mixed-payloads", Severity.ERROR)
def mixed_payloads(facts: DatasetFacts) -> Iterator[Finding]:
    """Some records are Examples and others SequenceExamples.

    Why it matters:
        They need different parsers. A SequenceExample passes for an Example without complaint, and its steps are lost.

    Example:
        Shards of two datasets in one folder.

    Fix:
        Keep them in two folders, or give two globs.
    """
    kinds = _payloads(facts)
    if kinds["example"] and kinds["sequence_example"]:
        rare = min(("example", "sequence_example"), key=lambda kind: kinds[kind])
        path = next((shard.path for shard in facts.shards if shard.payloads.get(rare)), None)
        yield mixed_payloads.finding(
            f"{count_text(kinds['example'], 'record')} are Examples, and "
            f"{kinds['sequence_example']:,} are SequenceExamples.",
            location=Location(path),
            count=kinds[rare],
            evidence={"payloads": dict(kinds)},
        )


@rule("W009", "many-feature-names", Severity.WARNING)
def many_feature_names(facts: DatasetFacts) -> Iterator[Finding]:
    """The records have more than 1000 different feature names together, although each record has only a few.

    Few means that a name is on average in less than half of the records: a wide table has its columns in all of them.

    Why it matters:
        A parser needs every name. So many are rarely intended: data was used as names.

    Example:
        `{user_id: rating}` or `{word: count}` written as features, in place of a list of ids and a list of values.

    Fix:
        Store the names as values: `rs.Sparse`, or two lists of the same length.
    """
    names = len({(feature.name, feature.in_steps) for feature in facts.features}) + facts.features_left_out
    present = sum(feature.records for feature in facts.features)
    if names > _MANY_NAMES and 2 * present < len(facts.features) * facts.records:
        rarest = min(facts.features, key=lambda feature: feature.records)
        yield many_feature_names.finding(
            f"The records have about {names:,} different feature names, such as {rarest.name!r} in "
            f"{count_text(rarest.records, 'record')}.",
            location=Location(facts.files[0] if facts.files else None),
            count=names,
        )


def _payloads(facts: DatasetFacts) -> Counter[str]:
    kinds: Counter[str] = Counter()
    for shard in facts.shards:
        payloads = dict(shard.payloads)
        if "event" in payloads:  # of a log of TensorBoard only the first record says what it is
            payloads["event"] += payloads.pop("unknown", 0)
        kinds.update(payloads)
    return kinds


def _anomalies(one: Rule[DatasetFacts], facts: DatasetFacts, kind: str, what: str) -> Iterator[Finding]:
    for anomaly in facts.anomalies:
        if anomaly.kind == kind:
            yield _anomaly(one, anomaly, facts, what)


def _anomaly(one: Rule[DatasetFacts], anomaly: Anomaly, facts: DatasetFacts, what: str) -> Finding:
    return one.finding(
        f"{count_text(anomaly.count, 'record')} ({share(anomaly.count, facts.records)}) "
        f"{what if anomaly.count > 1 else what.replace('have', 'has', 1).replace('contain', 'contains', 1)}."
        f"{first_detail(anomaly.places)}",
        count=anomaly.count,
        **located(anomaly.places, anomaly.feature),
    )
