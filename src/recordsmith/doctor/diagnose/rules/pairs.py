"""Rules on pairs: whether each feature still has its own label."""

from __future__ import annotations

from collections.abc import Iterator

from recordsmith.doctor.diagnose.observing.observations import Observations, RecordFacts
from recordsmith.rules import Finding, Location, Severity, rule

__all__ = ["PAIR_RULES"]

_BROKEN = {"index": 0.98, "content": 0.98, "nearest": 0.7}
_ENOUGH = {"index": 4, "content": 4, "nearest": 16}

_FEWEST_TWICE = 32
_LEAST_SHARE = 0.2


@rule("T060", "labels-of-other-records", Severity.ERROR)
def labels_of_other_records(observed: Observations) -> Iterator[Finding]:
    """Elements arrive with labels that their records do not have.

    Each element's features are looked up on disk, and its label compared with the one stored beside them: by the
    record's number where the pipeline gives it, by content (also after undoing the usual scalings), or by the most
    similar record.

    Why it matters:
        The model is trained on wrong labels. It may memorise the training data, but learns nothing that generalises.

    Example:
        Features and labels shuffled separately and zipped; labels from a list in another order than the files; a batch
        whose images were reversed or rolled without the labels.

    Fix:
        Keep features and label in one element from the file to the batch, as Recordsmith's `.pairs()` always does.
    """
    records = observed.records
    if records is None or records.compared < _ENOUGH.get(records.how, 4):
        return
    share = records.agree / records.compared
    if share >= _BROKEN[records.how]:
        return
    chance = f", and {records.by_chance:.0%} would by chance" if records.by_chance else ""
    first = records.examples[0] if records.examples else None
    example = ""
    if first is not None:
        stored, fed = records.named(first.stored), records.named(first.fed)
        example = f" Record {first.record} of {first.path} has {stored!r} and came with {fed!r}."
    yield labels_of_other_records.finding(
        f"{records.agree} of {records.compared} elements have the label of their record in {records.label!r} "
        f"({share:.0%}){chance}.{example} {_how(records)}",
        location=Location(path=first.path, record=first.record, feature=records.label) if first else None,
        count=records.compared - records.agree,
        places=[Location(path=one.path, record=one.record, feature=records.label) for one in records.examples[1:]],
        evidence={
            "compared": records.compared,
            "agree": records.agree,
            "by_chance": records.by_chance,
            "how": records.how,
            "sureness": records.sureness,
            "examples": [
                {
                    "path": one.path,
                    "record": one.record,
                    "stored": records.named(one.stored),
                    "fed": records.named(one.fed),
                }
                for one in records.examples
            ],
        },
    )


@rule("T061", "pairs-not-checked", Severity.INFO)
def pairs_not_checked(observed: Observations) -> Iterator[Finding]:
    """Elements could not be found among the records, so their labels were not compared.

    Why it matters:
        Whether features and labels belong together is not known.

    Example:
        Texts that became ids; features computed from others; records of another split.

    Fix:
        Pass the numbers of the records along (`.pairs(..., with_index=True)`), or an id that the records contain.
    """
    records = observed.records
    if records is None or not records.elements:
        return
    if records.found < records.elements / 4 or (records.compared == 0 and records.label):
        yield pairs_not_checked.finding(
            f"{records.found} of {records.elements} elements were found again among {records.looked_at:,} of "
            f"{records.count:,} records; labels of {records.compared} were compared."
        )
    elif not records.label and observed.targets:
        yield pairs_not_checked.finding(
            "Which feature of the records is the label is not known, so labels were not compared.",
            advice="Declare it in the schema: rs.Label(...).",
        )


@rule("T062", "labels-renamed", Severity.INFO)
def labels_renamed(observed: Observations) -> Iterator[Finding]:
    """Each label on disk arrives as another value, always the same one.

    Why it matters:
        It is correct where names become numbers or classes are shifted; class names that are shown later must follow.

    Example:
        Classes 1 to 10 on disk, 0 to 9 as fed.

    Fix:
        Nothing, if it is intended.
    """
    records = observed.records
    if records is not None and records.mapping:
        some = ", ".join(f"{stored!r} as {fed!r}" for stored, fed in list(records.mapping.items())[:4])
        yield labels_renamed.finding(f"Labels of {records.label!r} arrive under other values: {some}.")


def _how(records: RecordFacts) -> str:
    if records.how == "index":
        return "Records were identified by their numbers."
    if records.how == "content":
        undone = f" ({records.change} was undone)" if records.change else ""
        return f"Records were identified by the content of {records.feature!r}{undone}: that is certain."
    sure = min(records.sureness, 0.99)
    return f"Records were identified by the most similar {records.feature!r}: {sure:.0%} sure on average."


@rule("T099", "targets-move-alone", Severity.ERROR)
def targets_move_alone(observed: Observations) -> Iterator[Finding]:
    """The same inputs come with other targets in the next epoch.

    Rows that came in both epochs with unchanged inputs are compared. At least a fifth of them must have another target,
    and the targets must be classes, or the same numbers in another order.

    Why it matters:
        Inputs and targets are put into an order independently of each other, or targets are numbered anew for each
        batch. There is nothing to learn then but how often each target comes.

    Example:
        `np.random.shuffle(self.x)` at the end of each epoch, and nothing for `self.y`;
        `LabelEncoder().fit_transform(batch)` for each batch.

    Fix:
        One order for both: `order = np.random.permutation(len(x))`, then `x[order]` and `y[order]`. Number classes
        once, for all data.
    """
    order, labels = observed.order, observed.labels
    if order is None or order.twice < _FEWEST_TWICE or order.relabelled < _LEAST_SHARE * order.twice:
        return
    if order.same_targets or (labels is not None and labels.kind == "classes" and labels.classes <= order.twice / 4):
        yield targets_move_alone.finding(
            f"{order.relabelled:,} of {order.twice:,} rows that came in both epochs have the same inputs and another "
            "target: inputs and targets are shuffled apart, or targets get new numbers in each epoch or batch.",
            evidence={"rows": order.twice, "relabelled": order.relabelled},
        )


PAIR_RULES = (labels_of_other_records, targets_move_alone, pairs_not_checked, labels_renamed)
