"""D003 to D006 and D015: repeated records, and images that look alike."""

from __future__ import annotations

from collections.abc import Iterator

from recordsmith.checking.split_reading import is_balanced, is_training, shown_split
from recordsmith.checking.wording import Located, located, share
from recordsmith.facts.dataset_facts import DatasetFacts, DuplicateGroup
from recordsmith.rules import Finding, Severity, rule
from recordsmith.wording.numbers import count_text

__all__ = [
    "contradictory_labels",
    "duplicate_records",
    "record_in_two_splits",
    "similar_across_splits",
    "similar_images",
]

_SMALL_RECORD = 256  # bytes; smaller ones may be equal by chance
_MANY = 0.01  # share of records, from which on copies are not chance


@rule("D003", "duplicate-records", Severity.WARNING)
def duplicate_records(facts: DatasetFacts) -> Iterator[Finding]:
    """Records repeat earlier ones of the same split.

    Features that only say where a record comes from (a file's name, a source's number) may differ. If they are less
    than 1 % of the split, it is an info. A training split that was balanced when it was made repeats records on
    purpose, and is not reported.

    Why it matters:
        Repeated records weigh more in training and in the evaluation, and a later split of the data spreads the
        copies over training and test.

    Example:
        A job that ran twice and appended; a crawl that met the same image at two addresses.

    Fix:
        Remove the copies: `recordsmith copy SRC -o DST --dedupe`.
    """
    if facts.duplicates is None:
        return
    for split, copies in facts.duplicates.within.items():
        if not copies or (is_training(split) and is_balanced(facts)):
            continue
        records = facts.splits[split].records if split in facts.splits else facts.records
        group = _largest(facts.duplicates.groups, split)
        often = f" One of them occurs {group.count:,} times." if group and group.count > 2 else ""
        yield duplicate_records.finding(
            f"{count_text(copies, 'record')} of {shown_split(split)} ({share(copies, records)}) "
            f"{'repeats' if copies == 1 else 'repeat'} an earlier record{_except_for(group)}.{often}",
            count=copies,
            advice=_advice(group),
            evidence={"copies": copies, "records": records},
            severity=Severity.INFO if copies < _MANY * records else Severity.WARNING,
            **_located(group, split),
        )


@rule("D004", "record-in-two-splits", Severity.ERROR)
def record_in_two_splits(facts: DatasetFacts) -> Iterator[Finding]:
    """The same record is in two splits.

    Features that only say where a record comes from (a file's name, a source's number) may differ. If they are less
    than 1 % of the smaller split, it is a warning, because in tables that may be chance.

    Why it matters:
        The model is tested on its training data. The results look better than they are, and nobody notices until the
        model is used.

    Example:
        Oversampling or augmentation before the split; a random split of data with duplicates.

    Fix:
        Split first, and copy only records of the training split; remove duplicates before splitting
        (`--dedupe`). `recordsmith
        make` keeps equal rows in one split.
    """
    if facts.duplicates is None:
        return
    for (first, second), common in facts.duplicates.across.items():
        if not common:
            continue
        smaller = min(facts.splits[name].records if name in facts.splits else facts.records for name in (first, second))
        group = next((one for one in facts.duplicates.groups if {first, second} <= set(one.splits)), None)
        yield record_in_two_splits.finding(
            f"{count_text(common, 'record')} {'is' if common == 1 else 'are'} in both {first!r} and {second!r}"
            f"{_except_for(group)}: {share(common, smaller)} of the smaller split.",
            count=common,
            evidence={"splits": [first, second], "records": common},
            severity=Severity.ERROR if common >= _MANY * smaller else Severity.WARNING,
            **_located(group, f"{first}, {second}"),
        )


@rule("D005", "similar-across-splits", Severity.WARNING)
def similar_across_splits(facts: DatasetFacts) -> Iterator[Finding]:
    """Images in two splits look alike, though their bytes differ.

    Checked on request (`--similar-images`), by a hash of what the image looks like at a very small size.

    Why it matters:
        A resized, recompressed or neighbouring image in the test split is almost the same image: the model is tested on
        what it has seen.

    Example:
        Frames of one video in both splits; the same photograph in two sizes.

    Fix:
        Split by group (video, patient, place): `recordsmith make --split ... --group FEATURE`.
    """
    if facts.duplicates is None or not facts.duplicates.similar_across:
        return
    group = next((one for one in facts.duplicates.similar_groups if len(set(one.splits)) > 1), None)
    pairs = facts.duplicates.similar_across
    yield similar_across_splits.finding(
        f"{count_text(pairs, 'pair')} of similar images {'is' if pairs == 1 else 'are'} in different splits.",
        count=pairs,
        **_located(group),
    )


@rule("D006", "similar-images", Severity.INFO)
def similar_images(facts: DatasetFacts) -> Iterator[Finding]:
    """Images of one split look alike, though their bytes differ.

    Checked on request (`--similar-images`).

    Why it matters:
        The model learns little from them, and a later split may put them into different splits.

    Example:
        A photograph in two sizes; neighbouring frames of a video.

    Fix:
        Keep one of them, or keep them in one split with `--group`.
    """
    if facts.duplicates is None or not facts.duplicates.similar:
        return
    pairs = facts.duplicates.similar - (facts.duplicates.similar_across or 0)
    if pairs <= 0:
        return
    group = next((one for one in facts.duplicates.similar_groups if len(set(one.splits)) < 2), None)
    yield similar_images.finding(
        f"{count_text(pairs, 'pair')} of images {'looks' if pairs == 1 else 'look'} alike.",
        count=pairs,
        **_located(group),
    )


@rule("D015", "contradictory-labels", Severity.WARNING)
def contradictory_labels(facts: DatasetFacts) -> Iterator[Finding]:
    """Records are equal except for their labels.

    Features that only say where a record comes from may differ too. For small records it is an info: rows of a table
    with few features may be equal by chance.

    Why it matters:
        At most one of the labels is correct. The model cannot learn both, and in a test split one of them always counts
        as an error.

    Example:
        A photograph in two class folders; two annotators who disagree; labels joined to images by a key that is not
        unique.

    Fix:
        Look at the records (`recordsmith show`), correct the label, and remove the others. `recordsmith make` keeps
        such rows in one split.
    """
    duplicates = facts.duplicates
    if duplicates is None or not duplicates.contradictory:
        return
    labels = " and ".join(repr(label.feature) for label in facts.labels) or "label"
    across = {split for pair in duplicates.contradictory_across for split in pair}
    for split, count in duplicates.contradictory.items():
        records = facts.splits[split].records if split in facts.splits else facts.records
        group = _largest(duplicates.contradictory_groups, split)
        pairs = [pair for pair in duplicates.contradictory_across if split in pair]
        others = sorted({name for pair in pairs for name in pair} - {split})
        besides = f" Some of them are in {' and '.join(map(repr, others))} too." if split in across else ""
        yield contradictory_labels.finding(
            f"{count_text(count, 'record')} of {shown_split(split)} ({share(count, records)}) "
            f"{'has' if count == 1 else 'have'} the same content as another record, but a different {labels}.{besides}",
            count=count,
            evidence={"records": count, "of": records, "also_in": others},
            severity=Severity.INFO if facts.bytes < _SMALL_RECORD * facts.records else Severity.WARNING,
            **_located(group, split),
        )


def _located(group: DuplicateGroup | None, split: str = "") -> Located:
    return located(group.places if group else (), split=split or None)


def _except_for(group: DuplicateGroup | None) -> str:
    names = group.but_for if group else ()
    return f", except for {' and '.join(map(repr, names))}" if names else ""


def _advice(group: DuplicateGroup | None) -> str:
    if group is None or not group.but_for:
        return ""  # the rule's own
    return (
        "Remove the copies at their source, or drop the features that differ and then the copies: `recordsmith copy "
        f"SRC -o DST --drop {','.join(group.but_for)}`, and `--dedupe` of the result."
    )


def _largest(groups: tuple[DuplicateGroup, ...], split: str) -> DuplicateGroup | None:
    return next((one for one in groups if not split or split in one.splits), None)
