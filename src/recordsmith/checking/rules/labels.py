"""D001, D002 and D007: the distribution of classes over splits and files."""

from __future__ import annotations

from collections.abc import Iterator

from recordsmith.checking.feature_reading import label_features
from recordsmith.checking.split_reading import is_training, shown_split, stratifying
from recordsmith.checking.wording import listed
from recordsmith.facts.dataset_facts import DatasetFacts, LabelFacts
from recordsmith.rules import Finding, Location, Severity, rule
from recordsmith.wording.numbers import count_text

__all__ = ["class_absent_from_split", "class_imbalance", "clustered_labels"]

_RECORDS_FOR_IMBALANCE = 20
_IMBALANCE, _STRONG_IMBALANCE = 10, 50
_CHANCE = 0.001  # that a split lacks a class, below which it is not by chance
_MIXED = 0.5  # share of a shuffled order's variety, below which labels are clustered
_USUAL_BUFFER = 1000
_SORTED_RUN = 10  # records of one class in a row, at least, where all records are sorted by class
_RECORDS_FOR_ORDER, _MANY_RECORDS = 30, 1000


@rule("D001", "class-imbalance", Severity.WARNING)
def class_imbalance(facts: DatasetFacts) -> Iterator[Finding]:
    """The most frequent class of the training data is more than 10 times as frequent as the rarest.

    Up to 50 times, it is an info. Only training data of at least 20 records is checked; classes that do not occur do
    not count.

    Why it matters:
        A model that always predicts the most frequent class has a good accuracy, and often that is what it learns.

    Example:
        99 healthy patients for each ill one.

    Fix:
        Use class weights (`ds.class_weights("label")`), load all classes equally often (`ds.balance("label")`), or make
        the training split with `recordsmith make ... --balance oversample`. Evaluate each class separately.
    """
    for label in label_features(facts):
        for split, counts in label.counts.items():
            known = label.names or counts  # what is no class at all is S006's
            there = {name: count for name, count in counts.items() if count and name in known}
            if not is_training(split) or len(there) < 2 or sum(there.values()) < _RECORDS_FOR_IMBALANCE:
                continue
            most, least = max(there, key=lambda name: there[name]), min(there, key=lambda name: there[name])
            ratio = there[most] / there[least]
            if ratio > _IMBALANCE:
                yield class_imbalance.finding(
                    f"Classes of {label.feature!r} are imbalanced in {shown_split(split)}: "
                    f"{there[most]:,} of {most!r}, {there[least]:,} of {least!r}, {ratio:,.0f} to 1.",
                    location=Location(split=split or None, feature=label.feature),
                    advice=_balancing(facts, label),
                    evidence={"counts": _first(counts), "ratio": round(ratio, 2)},
                    severity=Severity.WARNING if ratio > _STRONG_IMBALANCE else Severity.INFO,
                )


@rule("D002", "class-absent-from-split", Severity.WARNING)
def class_absent_from_split(facts: DatasetFacts) -> Iterator[Finding]:
    """A class occurs in one split and not in another.

    Always reported if the training split lacks a class that another split has. Otherwise only if chance does not
    explain it: a random split of this size would lack one of its classes less than once in a thousand times.

    Why it matters:
        A class that is missing in training cannot be learned, and one that is missing in validation is not measured.

    Example:
        Sorted records, split by cutting the file at 80 %.

    Fix:
        Split with stratification: `recordsmith copy SRC -o DST --split ... --stratify label`, or with these options of
        `make`.
    """
    for label in label_features(facts):
        splits = {split: counts for split, counts in label.counts.items() if split and sum(counts.values())}
        if len(splits) < 2:
            continue
        total = sum(sum(counts.values()) for counts in splits.values())
        for split, counts in splits.items():
            records = sum(counts.values())
            absent = [
                name
                for name in label.classes
                if not counts.get(name)
                and (elsewhere := sum(other.get(name, 0) for other in splits.values()))
                and (is_training(split) or len(label.classes) * (1 - elsewhere / total) ** records < _CHANCE)
            ]
            if absent:
                yield class_absent_from_split.finding(
                    f"{count_text(len(absent), 'class', 'classes')} of {label.feature!r} "
                    f"{'does' if len(absent) == 1 else 'do'} not occur in {shown_split(split)}, but in other splits: "
                    f"{listed(absent)}.",
                    location=Location(split=split, feature=label.feature),
                    advice=stratifying(label),
                    count=len(absent),
                    evidence={"classes": absent[:100]},
                )


@rule("D007", "clustered-labels", Severity.WARNING)
def clustered_labels(facts: DatasetFacts) -> Iterator[Finding]:
    """Records with equal labels are next to each other, so a batch sees few classes.

    Measured over windows of 256 records in file order: their classes, relative to those of a shuffled order. Reported
    if that is less than half, in training data of at least 30 records (below 1000 only if some run of equal labels is
    twice as long as in a shuffled order, too). A warning if it is still less than half after a shuffle buffer of 1000
    records, or if the records are completely sorted: the most common class is one run. Otherwise it is an info.

    Why it matters:
        A shuffle buffer that is smaller than the runs does not mix the classes. The model learns one class, forgets it,
        and learns the next; the loss goes up and down with the files.

    Example:
        Files written class by class, and `dataset.shuffle(1000)` on runs of 5000 equal labels.

    Fix:
        Shuffle the files themselves (`recordsmith make` does; `recordsmith copy SRC -o DST --shuffle`), use
        recordsmith's exact shuffle (`ds.shuffle()`), or a buffer larger than the runs.
    """
    for label in label_features(facts):
        for split, spread in label.batch_spread.items():
            counts = label.counts.get(split, {})
            if not is_training(split) or sum(counts.values()) < _RECORDS_FOR_ORDER or spread >= _MIXED:
                continue
            if sum(counts.values()) < _MANY_RECORDS and not _has_long_runs(label, split):
                continue
            behind = label.buffer_spread.get(split, {})
            run = label.longest_run.get(split, 0)
            whole = run >= _SORTED_RUN and run == max(counts.values())
            helps = behind.get(_USUAL_BUFFER, spread) >= _MIXED and not whole
            where = shown_split(split)
            found = f"Neighbouring records of {where} have few different classes of {label.feature!r}"
            if whole:
                found = f"{where[0].upper()}{where[1:]} is sorted by {label.feature!r}, so a batch has few classes"
            yield clustered_labels.finding(
                f"{found}: {spread:.0%} of the variety of a shuffled order{_behind_buffers(behind)}. The longest "
                f"run of one class has {count_text(run, 'record')}{_expected_run(label, split)}.",
                location=Location(split=split or None, feature=label.feature),
                evidence={
                    "longest_run": label.longest_run.get(split),
                    "variety": round(spread, 3),
                    "variety_behind_buffer": {str(length): round(value, 3) for length, value in behind.items()},
                },
                severity=Severity.INFO if helps else Severity.WARNING,
            )


def _balancing(facts: DatasetFacts, label: LabelFacts) -> str:
    """Say how this label can be balanced: the verbs need a class in every record, and `make` balances the label."""
    ways = []
    stored = facts.feature(label.feature)
    if stored is not None and not (stored.missing or stored.unset or stored.empty):
        ways += [
            f"weigh the classes (`ds.class_weights({label.feature!r})`)",
            f"draw them evenly (`ds.balance({label.feature!r})`)",
        ]
    else:
        ways.append("weigh the classes in the loss")
    if label.declared:
        ways.append("make the training split with `recordsmith make ... --balance oversample`")
    text = ways[0] if len(ways) == 1 else f"{', '.join(ways[:-1])} or {ways[-1]}"
    return f"{text[0].upper()}{text[1:]}; and evaluate each class separately."


def _has_long_runs(label: LabelFacts, split: str) -> bool:
    return label.longest_run.get(split, 0) >= 2 * label.expected_run.get(split, 1.0)


def _expected_run(label: LabelFacts, split: str) -> str:
    expected = label.expected_run.get(split)
    return f" (about {max(1, round(expected)):,} if shuffled)" if expected else ""


def _behind_buffers(behind: dict[int, float]) -> str:
    text = ", ".join(f"{value:.0%} after a shuffle buffer of {length:,}" for length, value in sorted(behind.items()))
    return f"; {text}" if text else ""


def _first(counts: dict[str, int], limit: int = 100) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: -item[1])[:limit])
