"""S: disagreements between the records and the declared schema."""

from __future__ import annotations

from collections.abc import Iterator

from recordsmith.checking.wording import listed, located, share
from recordsmith.facts.dataset_facts import DatasetFacts, Mismatch
from recordsmith.rules import Finding, Location, Rule, Severity, rule
from recordsmith.wording.numbers import count_text

__all__ = [
    "class_never_occurs",
    "constraint_broken",
    "default_always_used",
    "default_never_needed",
    "dtype_differs",
    "feature_missing",
    "label_outside_classes",
    "sequence_examples_read_as_examples",
    "shape_differs",
    "unexpected_feature",
]

_RECORDS_FOR_EACH_CLASS = 20


@rule("S001", "feature-missing", Severity.ERROR)
def feature_missing(facts: DatasetFacts) -> Iterator[Finding]:
    """A record lacks a feature that the schema requires.

    Why it matters:
        Parsing fails at that record: `Feature: label (data type: int64) is required but could not be found`.

    Example:
        One source has no label column; a feature was renamed in the writer and not in the schema.

    Fix:
        Write the missing values, or declare the feature with `optional=True` or a default.
    """
    for mismatch in _of_kind(facts, "missing"):
        if facts.feature(mismatch.feature, in_steps=True) is not None:
            continue  # S010 says that they are SequenceExamples
        yield _finding(feature_missing, facts, mismatch, f"lack the feature {mismatch.feature!r}")


@rule("S002", "unexpected-feature", Severity.WARNING)
def unexpected_feature(facts: DatasetFacts) -> Iterator[Finding]:
    """A record has a feature that the schema does not declare.

    Why it matters:
        Nobody reads it. If it is a declared feature with a misspelled name, its values are lost.

    Example:
        `lable` in the writer, `label` in the schema.

    Fix:
        Correct the name (`recordsmith copy SRC -o DST --rename OLD=NEW`), declare the feature, or leave it out
        (`--drop`).
    """
    declared_in_steps = {mismatch.feature for mismatch in _in_steps(facts)}
    for mismatch in _of_kind(facts, "unexpected"):
        if mismatch.feature in declared_in_steps:
            continue  # S010, likewise
        yield _finding(
            unexpected_feature,
            facts,
            mismatch,
            f"have the feature {mismatch.feature!r}, which the schema does not declare",
        )


@rule("S003", "dtype-differs", Severity.ERROR)
def dtype_differs(facts: DatasetFacts) -> Iterator[Finding]:
    """A feature is stored with another type than the schema declares.

    Why it matters:
        Parsing fails: `Data types don't match. Data type: float but expected type: int64`.

    Example:
        A label written as a float list.

    Fix:
        Declare the type that is stored, or write the records again with the schema, which converts them or raises an
        error.
    """
    for mismatch in _of_kind(facts, "dtype"):
        yield _finding(
            dtype_differs, facts, mismatch, f"store {mismatch.feature!r} with a different type than declared"
        )


@rule("S004", "shape-differs", Severity.ERROR)
def shape_differs(facts: DatasetFacts) -> Iterator[Finding]:
    """A feature has another number of values than its declared shape or length.

    Why it matters:
        Parsing fails: `Number of float values != expected`. Where only the total fits by chance, values end up in the
        wrong places.

    Example:
        Images of 28x28 and a declared shape of (32, 32); one box more than `max_length`.

    Fix:
        Declare a free dimension (None) where lengths vary, or bring the values to one shape before they are written.
    """
    for mismatch in _of_kind(facts, "shape"):
        yield _finding(shape_differs, facts, mismatch, f"have a different shape of {mismatch.feature!r} than declared")


@rule("S005", "constraint-broken", Severity.ERROR)
def constraint_broken(facts: DatasetFacts) -> Iterator[Finding]:
    """A value breaks a constraint of the schema: min, max, one_of, finite, or the like.

    Why it matters:
        The constraint was declared because the model or its user relies on it.

    Example:
        `rs.Scalar("float32", min=0, max=1)` and a score of 100, from a source that counts in percent.

    Fix:
        Correct the values at their source, or the constraint if it was too narrow. `recordsmith make` rejects such rows
        with the reason.
    """
    for mismatch in _of_kind(facts, "constraint"):
        yield _finding(constraint_broken, facts, mismatch, f"break a constraint of {mismatch.feature!r}")


@rule("S006", "label-outside-classes", Severity.ERROR)
def label_outside_classes(facts: DatasetFacts) -> Iterator[Finding]:
    """A label is not a number of the declared classes.

    Why it matters:
        Sparse cross entropy fails on a CPU, with an error that names neither file nor record, and is NaN on a GPU.

    Example:
        Classes counted from 1 in the source; -1 for "unknown"; a class added after the schema was written.

    Fix:
        Declare all classes in their order, or correct the labels at their source.
    """
    reported = {mismatch.feature for mismatch in _of_kind(facts, "label")}
    for mismatch in _of_kind(facts, "label"):
        yield _finding(
            label_outside_classes, facts, mismatch, f"have a label in {mismatch.feature!r} that is not a declared class"
        )
    for label in facts.labels:
        if label.outside and label.feature not in reported:
            values = list(dict.fromkeys(place.detail for place in label.outside_places if place.detail))
            found = f": {', '.join(values)}" if values else ""
            yield label_outside_classes.finding(
                f"{count_text(label.outside, 'label')} of {label.feature!r} "
                f"{'is' if label.outside == 1 else 'are'} not among the {len(label.names)} declared classes{found}.",
                count=label.outside,
                **located(label.outside_places, label.feature),
            )


@rule("S007", "default-never-needed", Severity.INFO)
def default_never_needed(facts: DatasetFacts) -> Iterator[Finding]:
    """A feature is declared with a default, and every record has it.

    Why it matters:
        The default would hide it if a later record lacked the feature.

    Example:
        `rs.Scalar("float32", default=0.0)` for a column that is always filled.

    Fix:
        Declare the feature as required: leave `default` and `optional` out.
    """
    for mismatch in _of_kind(facts, "default-never"):
        yield default_never_needed.finding(
            f"Every record has {mismatch.feature!r}, so its default is never used.",
            location=Location(feature=mismatch.feature),
        )


@rule("S008", "default-always-used", Severity.WARNING)
def default_always_used(facts: DatasetFacts) -> Iterator[Finding]:
    """An optional feature that no record has.

    Why it matters:
        The model sees the default, or nothing, in every record: a constant. Often the feature has another name in the
        records.

    Example:
        `rs.Label([...], default=0)` under the name `labels`, where the records have `label`: everything is class 0.

    Fix:
        Correct the name, or remove the feature from the schema.
    """
    for mismatch in _of_kind(facts, "default-always"):
        near = f" Did you mean {mismatch.nearest!r}?" if mismatch.nearest else ""
        yield default_always_used.finding(
            f"No record has the optional feature {mismatch.feature!r}, so its default is always used.{near}",
            location=Location(feature=mismatch.feature),
            evidence={"nearest": mismatch.nearest} if mismatch.nearest else None,
        )


@rule("S009", "class-never-occurs", Severity.INFO)
def class_never_occurs(facts: DatasetFacts) -> Iterator[Finding]:
    """A declared class occurs in no record, though there are 20 records or more for each class.

    Why it matters:
        The model has an output that it never learns, and an index that is off by one goes unnoticed.

    Example:
        A class that is spelled in two ways in the declaration; a background class 0 that nothing is labelled with.

    Fix:
        Remove the class from the declaration, or find out where its records went.
    """
    for label in facts.labels:
        if not label.declared or not label.names:
            continue
        seen = {name for counts in label.counts.values() for name, count in counts.items() if count}
        total = sum(count for counts in label.counts.values() for count in counts.values())
        absent = [name for name in label.names if name not in seen]
        if absent and total >= _RECORDS_FOR_EACH_CLASS * len(label.names):
            yield class_never_occurs.finding(
                f"{count_text(len(absent), 'class', 'classes')} of the {len(label.names)} declared for "
                f"{label.feature!r} {'occurs' if len(absent) == 1 else 'occur'} in no record: {listed(absent)}.",
                location=Location(feature=label.feature),
                count=len(absent),
                evidence={"classes": absent},
            )


@rule("S010", "sequence-examples-read-as-examples", Severity.ERROR)
def sequence_examples_read_as_examples(facts: DatasetFacts) -> Iterator[Finding]:
    """The records are SequenceExamples, and the schema declares their feature lists as features of Examples.

    Why it matters:
        `tf.io.parse_example` reads a SequenceExample without an error and finds none of its feature lists: required
        features fail, and optional ones are empty in every record.

    Example:
        Tokens written to `feature_lists`, and read with `tf.io.parse_single_example`.

    Fix:
        Declare them as steps (`recordsmith schema PATH` prints the schema), and parse with
        `tf.io.parse_single_sequence_example`.
    """
    found = _in_steps(facts)
    if found:
        yield sequence_examples_read_as_examples.finding(
            f"The records are SequenceExamples: {listed([one.feature for one in found])} "
            f"{'is' if len(found) == 1 else 'are'} in their feature lists, and the schema declares "
            f"{'it as a feature' if len(found) == 1 else 'them as features'} of an Example.",
            count=max(one.count for one in found),
            **located(found[0].places, found[0].feature),
        )


def _in_steps(facts: DatasetFacts) -> list[Mismatch]:
    """Return the missing features that the records have in their feature lists."""
    return [one for one in _of_kind(facts, "missing") if facts.feature(one.feature, in_steps=True) is not None]


def _of_kind(facts: DatasetFacts, kind: str) -> list[Mismatch]:
    return [mismatch for mismatch in facts.mismatches if mismatch.kind == kind]


def _finding(one: Rule[DatasetFacts], facts: DatasetFacts, mismatch: Mismatch, what: str) -> Finding:
    verb, _, rest = what.partition(" ")
    single = {"have": "has", "lack": "lacks", "store": "stores", "break": "breaks"}[verb]
    found = f" Found: {mismatch.found}." if mismatch.found else ""
    expected = f" Declared: {mismatch.expected}." if mismatch.expected else ""
    near = f" Did you mean {mismatch.nearest!r}?" if mismatch.nearest else ""
    return one.finding(
        f"{count_text(mismatch.count, 'record')} ({share(mismatch.count, facts.records)}) "
        f"{single if mismatch.count == 1 else verb} {rest}.{found}{expected}{near}",
        **located(mismatch.places, mismatch.feature),
        count=mismatch.count,
        evidence={
            key: value
            for key, value in (
                ("found", mismatch.found),
                ("expected", mismatch.expected),
                ("nearest", mismatch.nearest),
            )
            if value
        },
    )
