"""Rules on how rows are loaded: a pipeline that hangs, worker processes, samplers, subsets, and files."""

from __future__ import annotations

from collections.abc import Iterator

from recordsmith.doctor.diagnose.observing.observations import Observations
from recordsmith.errors import list_names
from recordsmith.rules import Finding, Location, Severity, rule
from recordsmith.wording.numbers import count_text

__all__ = ["LOADING_RULES"]

_SHORT = 2  # seconds in which a pipeline that is not slow may give no batch
_GLOBAL = {"numpy": "numpy's random numbers", "random": "Python's random numbers"}


@rule("T019", "pipeline-hangs", Severity.ERROR)
def pipeline_hangs(observed: Observations) -> Iterator[Finding]:
    """The pipeline gave no batch within the time limit.

    The finding names the line of your code that was being executed, also in a worker process of a DataLoader. The
    pipeline is left alone then: its thread stays where it is until the program ends.

    Why it matters:
        Training stops without an error message and without using the processor.

    Example:
        `queue.get()` from a thread that ended; a lock that is held while worker processes are started; `repeat()`
        before a `filter` that lets nothing through.

    Fix:
        Look at the named line. If it waits for another thread or process, give it a timeout. If the pipeline is only
        slow, give the diagnosis more time: `time_limit=300`.
    """
    if observed.hangs is None or _saw_nothing(observed):
        return
    workers = observed.workers.count if observed.workers is not None else 0
    where = f" It is at {observed.hangs}." if observed.hangs else " It waits inside a library."
    drawn = sum(epoch.batches for epoch in observed.epochs)
    first = "No batch arrived" if not drawn else f"After {count_text(drawn, 'batch', 'batches')}, no other one arrived"
    yield pipeline_hangs.finding(
        f"{first} within the time limit: the pipeline hangs, or is extremely slow.{where}",
        advice="Set num_workers=0 to see the line at which a worker waits." if workers and not observed.hangs else "",
    )


def _saw_nothing(observed: Observations) -> bool:
    """The time was too short to say that a pipeline without a batch hangs."""
    drawn = any(epoch.batches for epoch in observed.epochs)
    return observed.hangs is not None and observed.time_limit < _SHORT and not drawn


@rule("T102", "nothing-seen", Severity.WARNING)
def nothing_seen(observed: Observations) -> Iterator[Finding]:
    """The time limit is so short that no batch arrived: nothing was looked at.

    Why it matters:
        A report without findings would look like one of a healthy pipeline.

    Example:
        `rs.diagnose(train, time_limit=0.1)`: opening the files alone takes longer.

    Fix:
        Give it more time; without `time_limit`, it takes up to a minute.
    """
    if _saw_nothing(observed):
        yield nothing_seen.finding(
            f"No batch arrived within the time limit of {observed.time_limit:g} seconds: nothing was checked.",
            advice="Increase it, for example time_limit=60.",
        )


@rule("T048", "fed-same-random-numbers", Severity.WARNING)
def workers_draw_alike(observed: Observations) -> Iterator[Finding]:
    """The rows or workers of a DataLoader draw the same random numbers, or draw the same ones in every epoch.

    Each worker process gets a copy of the dataset. A generator that is stored in the dataset is copied with its state,
    when an epoch begins. Likewise a `worker_init_fn` that sets a fixed seed. Both are tried out: rows are asked for and
    the state of the generator is compared, and two workers are started to compare their seeds.

    Why it matters:
        With four workers, four rows in a row have the same crop, flip and noise, and every epoch repeats them: there is
        much less augmentation than there seems to be.

    Example:
        `self.rng = np.random.default_rng(0)` in `__init__`, used in `__getitem__`, with `num_workers=4`;
        `worker_init_fn=lambda worker: np.random.seed(0)`; `random.seed(0)` in `__getitem__`.

    Fix:
        Make the generator in the worker, from PyTorch's seed, which is different for each worker and epoch:
        `np.random.default_rng(torch.initial_seed())` in a `worker_init_fn`, or when it is first used.
    """
    workers = observed.workers
    if workers is None:
        return
    if workers.reseeds:
        yield workers_draw_alike.finding(
            f"The dataset sets the seed of {_GLOBAL[workers.reseeds]} for each row: all rows are augmented with the "
            "same random numbers, in every epoch.",
            advice="Remove the seed from __getitem__. Set it once, at the beginning of the program.",
        )
        return
    count = count_text(workers.count, "worker")
    if workers.shared_generator:
        yield workers_draw_alike.finding(
            f"Rows draw random numbers from the generator {workers.shared_generator!r} of the dataset, and each of "
            f"{count} gets a new copy of it in every epoch: all workers and all epochs draw the same numbers."
            if workers.count > 1
            else f"Rows draw random numbers from the generator {workers.shared_generator!r} of the dataset, and the "
            "worker gets a new copy of it in every epoch: all epochs draw the same numbers.",
            corrected="worker_init_fn=lambda worker: setattr(torch.utils.data.get_worker_info().dataset, "
            f'"{workers.shared_generator}", np.random.default_rng(torch.initial_seed()))',
        )
    elif workers.seeded_alike:
        same = (
            "gives all workers the same seed"
            if workers.seeded_alike == "workers"
            else "sets the same seeds in every epoch"
        )
        yield workers_draw_alike.finding(
            f"The worker_init_fn {same} for numpy's random numbers, which the rows draw from.",
            corrected="worker_init_fn=lambda worker: np.random.seed(torch.initial_seed() % 2**32)",
        )


@rule("T049", "set-epoch-needed", Severity.INFO)
def set_epoch_needed(observed: Observations) -> Iterator[Finding]:
    """The sampler gives a new order only if the training loop calls its `set_epoch`, which was not called so far.

    `diagnose` calls it as a training loop should, and compares the epochs after that. Whether your loop does, only the
    code says: `recordsmith doctor` reads it.

    Why it matters:
        Without `set_epoch` every epoch has the same order, and every rank the same rows.

    Example:
        `DataLoader(data, sampler=DistributedSampler(data))` and a loop without `loader.sampler.set_epoch(epoch)`.

    Fix:
        Call `loader.sampler.set_epoch(epoch)` at the beginning of each epoch.
    """
    if observed.workers is not None and observed.workers.needs_set_epoch:
        yield set_epoch_needed.finding(
            f"{observed.workers.needs_set_epoch}.set_epoch was not called so far. Unless the training loop calls it at "
            "the beginning of each epoch, all epochs have the same order.",
            corrected="loader.sampler.set_epoch(epoch)",
        )


@rule("T058", "whole-dataset-instead-of-subset", Severity.WARNING)
def whole_dataset_fed(observed: Observations) -> Iterator[Finding]:
    """The loader feeds a whole dataset, of which the program made Subsets.

    Why it matters:
        The rows of the validation split are trained on too, so the validation figures are too good.

    Example:
        `train, val = random_split(data, [800, 200])`, and then `DataLoader(train.dataset)`: `.dataset` of a Subset is
        the whole dataset.

    Fix:
        `DataLoader(train)`.
    """
    workers = observed.workers
    if workers is None or len(workers.subsets) < 2:
        return
    sizes = " and ".join(f"{size:,}" for size in workers.subsets[:3])
    yield whole_dataset_fed.finding(
        f"The loader feeds the whole dataset, and the program split it into Subsets of {sizes} rows: validation rows "
        "leak into training.",
        corrected="DataLoader(train_subset, ...)  # not train_subset.dataset",
    )


@rule("T063", "sequence-examples-misread", Severity.ERROR)
def sequence_examples_misread(observed: Observations) -> Iterator[Finding]:
    """The files hold SequenceExamples, and the pipeline parses them as Examples.

    Why it matters:
        `parse_single_example` reads a SequenceExample without an error and finds none of its feature lists: features
        are empty or have their default value in every row.

    Example:
        Tokens written to `feature_lists`, and read with `tf.io.parse_single_example`.

    Fix:
        `tf.io.parse_single_sequence_example(record, context_features, sequence_features)`.
    """
    source = observed.source
    if source is None or source.payload != "sequence_example":
        return
    wanted = "No value arrives" if not observed.failure else "Parsing fails"
    yield sequence_examples_misread.finding(
        f"The records are SequenceExamples, with {list_names(source.names)} in their feature_lists. {wanted}, because "
        "they are parsed as Examples.",
        location=Location(source.path),
        corrected="context, steps = tf.io.parse_single_sequence_example(record, context_features, sequence_features)",
    )


@rule("T064", "files-cannot-be-read", Severity.ERROR)
def files_cannot_be_read(observed: Observations) -> Iterator[Finding]:
    """Reading failed, because a file is compressed in another way than the pipeline expects, damaged, or no TFRecord.

    The files are looked at with recordsmith's own reader, which detects compression from the content.

    Why it matters:
        TensorFlow calls all of these `DataLossError: corrupted record`.

    Example:
        `tf.data.TFRecordDataset("data.tfrecord.gz")` without `compression_type="GZIP"`.

    Fix:
        Pass the compression; `recordsmith repair` recovers the undamaged records of a damaged file.
    """
    source = observed.source
    if source is None or not observed.failure:
        return
    name = source.path
    if source.expected_compression not in (None, source.compression):
        actual = "not compressed" if source.compression == "none" else f"compressed with {source.compression}"
        told = "no compression" if source.expected_compression == "none" else source.expected_compression
        given = "" if source.compression == "none" else f', compression_type="{source.compression.upper()}"'
        yield files_cannot_be_read.finding(
            f"{name} is {actual}, and the pipeline expects {told}.",
            location=Location(name),
            corrected=f"tf.data.TFRecordDataset(files{given})",
        )
    elif source.looks_like:
        yield files_cannot_be_read.finding(f"{name} {source.looks_like}.", location=Location(name))
    elif source.damage:
        yield files_cannot_be_read.finding(
            f"{name} is damaged: {source.damage}",
            location=Location(name),
            advice=f"Save its undamaged records: recordsmith repair {name} -o repaired.",
        )


@rule("T098", "stored-rows-change", Severity.WARNING)
def stored_rows_change(observed: Observations) -> Iterator[Finding]:
    """A PyTorch dataset changes the rows that it keeps, when it is asked for them.

    It is tried out: the first row is asked for once, and compared with what was stored before. It is put back then.

    Why it matters:
        A row of an array is a view of it: what augments the row in place changes the array. Every epoch starts from
        what the epoch before left, and the data moves away from the truth.

    Example:
        `image = self.images[i]`, then `image += noise`.

    Fix:
        `image = self.images[i].copy()`, or `.clone()` for a tensor.
    """
    field = observed.workers.changed_field if observed.workers is not None else ""
    if field:
        yield stored_rows_change.finding(
            f"The dataset changes its field {field!r} in place whenever a row is asked for: every epoch starts from "
            "the changed rows of the epoch before.",
            corrected=f"row = self.{field}[index].copy()",
        )


LOADING_RULES = (
    stored_rows_change,
    pipeline_hangs,
    nothing_seen,
    workers_draw_alike,
    set_epoch_needed,
    whole_dataset_fed,
    sequence_examples_misread,
    files_cannot_be_read,
)
