"""Rules on order: how labels are mixed, whether epochs differ, whether everything arrives."""

from __future__ import annotations

from collections.abc import Iterator

from recordsmith.doctor.diagnose.observing.observations import Observations
from recordsmith.doctor.diagnose.rules.chain import all_steps
from recordsmith.errors import list_names
from recordsmith.rules import Finding, Severity, rule
from recordsmith.wording.numbers import count_text

__all__ = ["ORDER_RULES"]


@rule("T040", "sorted-labels", Severity.ERROR)
def sorted_labels(observed: Observations) -> Iterator[Finding]:
    """Each batch contains a single class: the data is sorted by label.

    Why it matters:
        Each batch pulls the model towards one class, and the next one towards another. The loss jumps, and the model
        prefers the classes that it has seen last.

    Example:
        Records were written class by class and are read without a shuffle, or through a shuffle buffer that is shorter
        than the runs of equal labels.

    Fix:
        `dataset.shuffle(buffer)` before `.batch()`, with a buffer longer than the longest run of equal labels, or all
        records. Recordsmith's `.shuffle()` has no buffer: it is exact. It also helps to shuffle once when writing.
    """
    labels = observed.labels
    if labels is None or labels.batches < 2 or max(observed.batch_sizes, default=0) < 2:
        return
    stored = observed.records.stored_classes if observed.records is not None else {}
    if labels.kind == "numbers":
        if abs(labels.trend) > 0.95 and labels.rows >= 64:
            way = "rises" if labels.trend > 0 else "falls"
            yield sorted_labels.finding(
                f"The target {way} from the first of {labels.rows} rows to the last (rank correlation "
                f"{labels.trend:.2f}): the data is sorted by it.{_about_shuffle(observed)}",
                severity=Severity.WARNING,
            )
        return
    if labels.classes == 1 and not labels.whole and len(stored) > 1 and labels.rows >= 32:
        value, count = next(iter(labels.counts)), max(stored.values())
        if count < 0.9 * sum(stored.values()):
            yield sorted_labels.finding(
                f"All {labels.rows} rows of the first {labels.batches} batches have the label {observed.named(value)}, "
                f"and the records have {count_text(len(stored), 'class', 'classes')}: the data is sorted by label."
                f"{_about_shuffle(observed)}"
            )
        return
    commonest = max(labels.counts.values(), default=0) / max(labels.rows, 1)
    if labels.classes < 2 or labels.chance > 0.001 or commonest > 0.9:
        return
    share = labels.single_label_batches / labels.batches
    if share >= 0.6:
        yield sorted_labels.finding(
            f"{labels.single_label_batches} of {labels.batches} batches hold a single label, of {labels.classes} "
            f"classes: the data is sorted by label.{_about_shuffle(observed)}",
            evidence={"spread": labels.spread, "expected": labels.expected_spread, "chance": labels.chance},
        )


@rule("T041", "weak-shuffle", Severity.WARNING)
def weak_shuffle(observed: Observations) -> Iterator[Finding]:
    """The mix of labels differs from batch to batch more than after a shuffle.

    What arrived is compared with 999 true shuffles of the same labels. It is reported if not one of them was as uneven
    (one false alarm in 1,000 healthy pipelines), and if at least a tenth of the rows would have to move to another
    batch.

    Why it matters:
        Batches do not represent the data: training drifts with the classes that happen to arrive.

    Example:
        `shuffle(100)` over records that were written class by class.

    Fix:
        A larger buffer: longer than the longest run of equal labels, or all records.
    """
    labels = observed.labels
    if labels is None or labels.kind != "classes" or labels.classes < 2 or labels.chance > 0.001:
        return
    commonest = max(labels.counts.values()) / labels.rows
    if labels.single_label_batches / labels.batches >= 0.6 and commonest <= 0.9:
        return  # T040 says it
    if labels.spread - labels.expected_spread < 0.1:
        return
    yield weak_shuffle.finding(
        f"In {labels.batches} batches {labels.spread:.0%} of the rows would have to move for each batch to have the "
        f"overall mix; after a true shuffle it would be {labels.expected_spread:.0%}.{_about_shuffle(observed)}",
        evidence={"spread": labels.spread, "expected": labels.expected_spread, "chance": labels.chance},
    )


@rule("T042", "same-order-every-epoch", Severity.WARNING)
def same_order(observed: Observations) -> Iterator[Finding]:
    """Two epochs have exactly the same order.

    It is a warning with a model; without one it may be validation data, which needs no shuffle.

    Why it matters:
        The same rows are together in a batch in every epoch, which makes training noisier than with new batches.

    Example:
        No shuffle at all; `shuffle(..., reshuffle_each_iteration=False)`; `.cache()` after the shuffle.

    Fix:
        Shuffle after the cache and before batching: `.cache().shuffle(10_000).batch(32)`; in PyTorch
        `DataLoader(..., shuffle=True)`. Validation data need not be shuffled.
    """
    order = observed.order
    steps = list(all_steps(observed.chain))
    # A few batches come in the same order twice by chance, where batches are what is shuffled.
    shuffles = any(step.name == "shuffle" and step.reshuffles for step in steps)
    if order is None or not order.same_order or order.batches < (8 if shuffles else 4):
        return
    if order.by == "labels" and any(step.branches for step in steps):
        return  # a mixture may take its classes in turns
    own_loop = observed.kind in ("a list", "an iterable")
    names = {step.name for step in steps}
    split = "shuffle" in names and not shuffles and bool(names & {"take", "skip"})  # the order is kept on purpose
    detail = "in file order" if observed.records is not None and observed.records.file_order else "in the same order"
    what = "rows" if order.by == "content" else "labels"
    yield same_order.finding(
        f"The first {order.batches} batches of both epochs hold the same {what} {detail}.{_about_shuffle(observed)}",
        severity=Severity.INFO if own_loop or split or observed.model is None else Severity.WARNING,
    )


@rule("T043", "same-batch-again", Severity.WARNING)
def same_batch(observed: Observations) -> Iterator[Finding]:
    """Every batch holds the same rows.

    Why it matters:
        The model memorises these rows and never sees the others.

    Example:
        `next(iter(loader))` in the training loop, which starts again at every step; `dataset.take(1).repeat()`, left
        over from a test with one batch.

    Fix:
        Start the iteration once: `for batch in loader:`.
    """
    order = observed.order
    if order is None or not order.same_batch or not observed.epochs:
        return
    count = observed.records.count if observed.records is not None else None
    rows = observed.batch_sizes[0] if observed.batch_sizes else 0
    more = count is not None and count > rows
    detail = f" There are {count} records." if more else " That is right only if there are no others."
    yield same_batch.finding(
        f"All {observed.epochs[0].batches} sampled batches hold the same {count_text(rows, 'row')}.{detail}",
        severity=Severity.ERROR if more else Severity.INFO,
    )


@rule("T044", "records-missing", Severity.INFO)
def records_missing(observed: Observations) -> Iterator[Finding]:
    """Not all records arrive in an epoch.

    It is a warning where hardly any arrive; otherwise a part may be kept for validation.

    Why it matters:
        Nothing is learned from records that do not arrive.

    Example:
        `.take(100)`, left over from a test; a filter that removes more than it should.

    Fix:
        Remove the step, or pass only the intended part as `records=`, such as `rs.open("data", split="train")`.
    """
    records = observed.records
    if records is None or records.different is None or observed.sharded or not observed.epochs[0].whole:
        return
    missing = records.count - records.different
    largest = max(observed.batch_sizes, default=0)
    if missing <= largest or (observed.order is not None and observed.order.same_batch):
        return
    few = records.different < 0.03 * records.count
    yield records_missing.finding(
        f"{records.different:,} of {count_text(records.count, 'record')} arrive in an epoch.",
        severity=Severity.WARNING if few else Severity.INFO,
        evidence={"arrived": records.different, "records": records.count},
    )


@rule("T045", "records-repeated", Severity.INFO)
def records_repeated(observed: Observations) -> Iterator[Finding]:
    """Records arrive several times in an epoch.

    It is a warning where each worker of a DataLoader gives all rows; otherwise it may be intended.

    Why it matters:
        It is intended where rare classes are repeated, or where several epochs follow each other. Otherwise some rows
        count more than others. Where each of four workers gives all rows, an epoch is four epochs, and a batch and the
        next three have the same rows.

    Example:
        A list of files that names one twice; `interleave` over a glob that matches files and their copies; an
        IterableDataset whose `__iter__` does not look at `get_worker_info()`, with `num_workers=4`.

    Fix:
        Look at the list of files, and at `repeat`. In an IterableDataset, give each worker a part of the rows:
        `itertools.islice(rows, info.id, None, info.num_workers)`.
    """
    workers = observed.workers
    if workers is not None and workers.same_rows:
        yield records_repeated.finding(
            f"Each of the {workers.count} workers gives all rows: the IterableDataset does not divide its rows among "
            f"them, so that every row arrives {workers.count} times in an epoch.",
            severity=Severity.WARNING,
            corrected="info = torch.utils.data.get_worker_info()\n"
            "rows = itertools.islice(rows, info.id, None, info.num_workers)",
        )
        return
    records = observed.records
    if records is None or records.different is None or not records.repeated:
        return
    if records.repeated > 0.01 * (records.different + records.repeated) and not (
        observed.order and observed.order.same_batch
    ):
        yield records_repeated.finding(
            f"{records.different + records.repeated:,} rows arrive in an epoch, and {records.repeated:,} of them are "
            "repetitions.",
            count=records.repeated,
        )


@rule("T046", "class-never-arrives", Severity.WARNING)
def class_never_arrives(observed: Observations) -> Iterator[Finding]:
    """A class that the records have does not arrive in a whole epoch.

    Why it matters:
        The model never sees it.

    Example:
        `.take(n)` of records that are sorted by class; a filter that compares with the wrong value.

    Fix:
        Shuffle before splitting, or look at the filter.
    """
    labels, records = observed.labels, observed.records
    if labels is None or records is None or not labels.whole or labels.kind != "classes" or labels.classes < 2:
        return
    if observed.sharded or records.mapping or not set(labels.counts) <= set(records.stored_classes):
        return
    # Of a small part, rare classes may well be missing by chance.
    share = labels.rows / max(records.count, 1)
    absent = {name: n for name, n in records.stored_classes.items() if name not in labels.counts and n * share >= 10}
    if absent:
        yield class_never_arrives.finding(
            f"Of {len(records.stored_classes)} classes in {records.label!r}, {len(absent)} never arrive: "
            f"{list_names(map(records.named, absent))}.",
            count=len(absent),
        )


@rule("T047", "one-epoch-only", Severity.INFO)
def one_epoch_only(observed: Observations) -> Iterator[Finding]:
    """The pipeline can be iterated only once.

    Why it matters:
        There is nothing left for a second epoch, and the orders of two epochs cannot be compared.

    Example:
        A generator, `iter(dataset)`, or a function with `yield` that was called once.

    Fix:
        Use an object that starts again each time it is iterated: a dataset, a class with `__iter__`, or a list.
    """
    if observed.kind == "a generator":
        yield one_epoch_only.finding(
            "It is a generator, which can be iterated only once: there was no second epoch to compare with, and it is "
            "now exhausted."
        )


def _about_shuffle(observed: Observations) -> str:
    """Say what is known about why: the shuffles in the chain, and how long runs of equal labels are on disk."""
    notes = []
    shuffles = [step for step in all_steps(observed.chain) if step.name == "shuffle" and step.buffer is not None]
    if observed.chain and not shuffles:
        notes.append("The dataset has no shuffle.")
    elif shuffles:
        notes.append(f"Its shuffle has a buffer of {max(step.buffer or 0 for step in shuffles):,}.")
    if observed.records is not None and observed.records.longest_run > 1:
        notes.append(f"On disk up to {observed.records.longest_run:,} records in a row have the same label.")
    return "".join(f" {one}" for one in notes)


ORDER_RULES = (
    sorted_labels,
    weak_shuffle,
    same_order,
    same_batch,
    records_missing,
    records_repeated,
    class_never_arrives,
    one_epoch_only,
)
