"""rs.diagnose: sample batches, measure, compare with records, train a copy, and report what is wrong."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from recordsmith.dataset import StoredDataset
from recordsmith.doctor.diagnose.consequences import without_consequences
from recordsmith.doctor.diagnose.models import ModelProbe, open_model
from recordsmith.doctor.diagnose.observing.batch import Batch
from recordsmith.doctor.diagnose.observing.measuring import (
    find_leaks,
    find_same_inputs,
    measure_columns,
    rows_without_tokens,
)
from recordsmith.doctor.diagnose.observing.mirroring import find_mirrored
from recordsmith.doctor.diagnose.observing.observations import Observations, RecordFacts, WorkerFacts
from recordsmith.doctor.diagnose.observing.sampling import SampledEpoch, random_numbers_kept, sample_epochs
from recordsmith.doctor.diagnose.pipelines import Pipeline, open_pipeline
from recordsmith.doctor.diagnose.probes.label_order import (
    compare_epochs,
    measure_labels,
    relabelled_rows,
    workers_give_the_same,
)
from recordsmith.doctor.diagnose.probes.pair_checking import Match, compare_with_records
from recordsmith.doctor.diagnose.probes.source_files import look_at_files
from recordsmith.doctor.diagnose.probes.training_signal import probe_signal
from recordsmith.doctor.diagnose.probes.validation import compare_validation
from recordsmith.doctor.diagnose.report_sections import report_sections
from recordsmith.doctor.diagnose.rules import RULES
from recordsmith.errors import PipelineError
from recordsmith.loader import open_dataset
from recordsmith.report import Report
from recordsmith.rules import Baseline, Configuration, Judge, Severity
from recordsmith.workers.progress_display import OnPhase, ShowProgress, phase_progress

__all__ = ["diagnose"]

PathLike = str | os.PathLike[str]
_FEWEST_ROWS = 16
_LARGE_RATE = 0.03


def diagnose(  # noqa: PLR0913 - each is a choice of its own, and most are named
    pipeline: Any,
    records: PathLike | Iterable[PathLike] | StoredDataset | None = None,
    model: Any = None,
    loss: Any = None,
    *,
    validation: Any = None,
    batches: int = 100,
    epochs: int = 2,
    time_limit: float = 60,
    seed: int = 0,
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    fail_on: str | None = None,
    baseline: Baseline | PathLike | None = None,
    configuration: Configuration | None = None,
    progress: OnPhase | ShowProgress = "auto",
) -> Report:
    """Inspect the batches that a pipeline really feeds, and say why training on them may not improve.

    It reads batches of two epochs and checks their shapes, values and order. With `records`, elements are found on disk
    and their labels are compared. With a model, shapes and labels are compared with what the model expects, and a copy
    of it is trained for a few steps. With `validation`, the validation data is compared with the training data. The
    weights of the model, its optimizer and all random states stay unchanged.

    Args:
        pipeline: a recordsmith loader, a tf.data.Dataset, a PyTorch DataLoader or Dataset, a Keras PyDataset, a
            LightningDataModule, a Hugging Face dataset, a pair of arrays, or any iterable of batches. A generator can
            be iterated over only once: it is exhausted afterwards, and there is no second epoch to compare with.
        records: the TFRecords behind the pipeline: a path as for `rs.open`, or an open dataset. A recordsmith loader
            knows its own.
        model: a Keras 3 model or a PyTorch module.
        loss: the loss of the model; None takes that of a compiled Keras model.
        validation: the pipeline of the validation data, of the same kinds; None takes that of a LightningDataModule.
        batches: the maximum number of batches to read in each epoch.
        epochs: the number of epochs to read.
        time_limit: the approximate time limit in seconds. A pipeline that returns no batch in this time is reported as
            hanging.
        seed: of all random choices.
        select: the rules to apply: codes, prefixes of codes, or names; by default all.
        ignore: the rules to leave out.
        fail_on: the lowest severity that makes the report not `ok`; None: that of the configuration, or "warning".
        baseline: known findings, which are not reported again, or their file; None: that of the configuration.
        configuration: a project's settings, from `rs.load_configuration()`; None: no file is read.
        progress: True shows a bar on a terminal and in a notebook, and elsewhere writes a line every few seconds;
            "auto" shows only the bar; False shows nothing. A function is called from time to time with the phase, the
            amount done, and the total (0 if it is not known).

    Returns:
        The report: `.findings`, `.ok`, `.to_html(path)` with images and histograms, `.to_json()`.

    >>> import numpy as np, recordsmith as rs
    >>> x, y = np.random.default_rng(0).normal(size=(256, 4)), np.repeat([0, 1], 128)
    >>> batches = [(x[i : i + 16], y[i : i + 16]) for i in range(0, 256, 16)]
    >>> for finding in rs.diagnose(batches).findings:
    ...     print(finding.code, finding.message)
    T040 16 of 16 batches hold a single label, of 2 classes: the data is sorted by label.
    """
    _check(batches=batches, epochs=epochs, time_limit=time_limit)
    judge = Judge(RULES, configuration, select=select, ignore=ignore, fail_on=fail_on, baseline=baseline)
    begun = time.perf_counter()
    source = open_pipeline(pipeline)
    dataset = _opened(records) if records is not None else source.records
    with random_numbers_kept(), phase_progress(shown=False if callable(progress) else progress) as bar:
        on_phase = progress if callable(progress) else bar
        seconds = 0.35 * time_limit
        sampled = sample_epochs(
            source, batches=batches, epochs=epochs, seconds=seconds, patience=time_limit, progress=on_phase
        )
        first = sampled[0]
        matches: list[Match] = []
        with np.errstate(all="ignore"):  # values may be anything here, and are looked at for that
            observed = replace(_observed(source, sampled, seed), time_limit=time_limit)
            beside = validation if validation is not None else source.validation
            if beside is not None and first.batches:
                on_phase("sampling the validation data", 0, 0)
                observed = _with_validation(
                    observed, beside, source, first, batches=batches, seconds=0.2 * time_limit, seed=seed
                )
            if dataset is not None:
                on_phase("comparing with records", 0, 0)
                observed, matches = _with_records(observed, dataset, first, source, seconds=0.25 * time_limit)
            observed = _with_source_files(observed, source)
        probe: ModelProbe | None = None
        kept = _rows_without_tokens_first(first.kept, observed)
        if model is not None and kept:
            on_phase("looking at the model", 0, 0)
            probe, why_not = open_model(model, loss)
            observed = replace(observed, notes=(*observed.notes, *([why_not] if why_not else [])))
            if probe is not None:
                facts, failed = _tried("The model was not checked", None, probe.facts, kept[0])
                observed = replace(observed, model=facts, notes=(*observed.notes, *failed))
        found = without_consequences(judge.find(observed))
        left = begun + time_limit - time.perf_counter()
        if probe is not None and observed.model is not None:
            on_phase("training a copy", 0, 0)
            stopped = any(finding.severity is Severity.ERROR for finding in found)
            observed = _with_signal(
                observed, probe, kept, seconds=max(min(left, 0.5 * time_limit), 1.0), seed=seed, stopped=stopped
            )
            if any(finding.code == "T070" for finding in judge.find(observed)):
                rows = max(observed.batch_sizes, default=1)
                observed = replace(observed, slowest=source.slowest_step(min(2.0, 0.1 * time_limit), rows))
            found = without_consequences(judge.find(observed))
    return Report(
        "diagnose",
        **judge.judgement(found),
        sections=report_sections(observed, sampled, dataset, matches),
        subject=source.kind,
    )


def _check(*, batches: int, epochs: int, time_limit: float) -> None:
    for name, value, least in (("batches", batches, 1), ("epochs", epochs, 1)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise PipelineError(f"{name} must be an integer of at least {least}.", found=repr(value))
    if not time_limit > 0:
        raise PipelineError("time_limit must be a number of seconds.", found=repr(time_limit))


def _opened(records: Any) -> StoredDataset:
    return records if isinstance(records, StoredDataset) else open_dataset(records)


def _observed(source: Pipeline, epochs: list[SampledEpoch], seed: int) -> Observations:
    first = epochs[0]
    kept = first.kept
    notes = []
    if len(kept) < len(first.batches):
        notes.append(f"Values are those of the first {len(kept)} of {len(first.batches)} batches.")
    sizes = [one.batch.rows for one in first.batches]
    columns, no_columns = _tried("Values were not measured", (), measure_columns, kept)
    leaks, _ = _tried("", (), find_leaks, kept)
    labels, no_labels = _tried("Labels were not checked", None, measure_labels, first, seed=seed)
    order, no_order = _tried("Order was not checked", None, compare_epochs, epochs)
    if order is not None:
        moved, _ = _tried("", {}, relabelled_rows, epochs)
        order = replace(order, **moved)
    same_inputs, _ = _tried("", (), find_same_inputs, kept)
    workers, no_workers = _tried("The workers were not checked", None, _workers, source, first)
    return Observations(
        source.kind,
        epochs=tuple(epoch.facts for epoch in epochs),
        form=first.batches[0].batch.form if first.batches else "inputs",
        failure=next((epoch.failure for epoch in epochs if epoch.failure), ""),
        columns=columns,
        unequal_rows=next((one.batch.unequal_rows for one in first.batches if one.batch.unequal_rows), None),
        batch_sizes=tuple(sizes[:-1] if first.whole and len(sizes) > 1 else sizes),
        last_batch=sizes[-1] if first.whole and len(sizes) > 1 else None,
        leaks=leaks,
        endless=source.endless,
        fixed=source.fixed,
        sharded=source.sharded,
        labels=labels,
        order=order,
        chain=source.chain,
        hangs=next((epoch.hangs for epoch in epochs if epoch.hangs is not None), None),
        workers=workers,
        mirrored=find_mirrored(epoch.places for epoch in epochs[:2]) if len(epochs) > 1 else None,
        same_inputs=same_inputs,
        class_names=source.class_names,
        frozen_augmentation=_frozen_augmentation(source, epochs),
        notes=(*notes, *no_columns, *no_labels, *no_order, *no_workers),
    )


def _workers(source: Pipeline, first: SampledEpoch) -> WorkerFacts | None:
    if first.hangs is not None:
        return None
    facts = source.worker_facts()
    if facts is None or not facts.iterable:
        return facts
    return replace(facts, same_rows=workers_give_the_same(first, facts.count))


def _frozen_augmentation(source: Pipeline, epochs: list[SampledEpoch]) -> str:
    """Return which step is random, if two whole epochs still have the same rows."""
    random = next((step.name for step in source.chain if step.random), "")
    if not random or len(epochs) < 2 or not all(epoch.whole and epoch.batches for epoch in epochs[:2]):
        return ""
    one, other = ({number for batch in epoch.batches for number in batch.content.tolist()} for epoch in epochs[:2])
    return f".{random}()" if len(one) >= _FEWEST_ROWS and len(one & other) >= 0.98 * len(one) else ""


def _with_source_files(observed: Observations, source: Pipeline) -> Observations:
    """Look at the files where reading failed, or where an input has no values."""
    empty = any(column.role == "input" and column.rows and not column.values for column in observed.columns)
    zeros = any(column.values and column.zeros == column.values for column in observed.columns)
    if not source.files or not (observed.failure or empty or zeros):
        return observed
    facts, failed = _tried("The files were not checked", None, look_at_files, source.files, source.compression)
    return replace(observed, source=facts, notes=(*observed.notes, *failed))


def _with_validation(
    observed: Observations,
    validation: Any,
    source: Pipeline,
    first: SampledEpoch,
    *,
    batches: int,
    seconds: float,
    seed: int,
) -> Observations:
    other = open_pipeline(validation)
    sampled = sample_epochs(other, batches=batches, epochs=2, seconds=seconds, patience=3 * seconds)
    if sampled[0].hangs is not None:
        return _noted(observed, f"The validation data gave no batch in {3 * seconds:.0f} seconds.")
    facts, failed = _tried(
        "The validation data was not compared",
        None,
        compare_validation,
        first,
        sampled,
        labels=observed.labels,
        names=(source.class_names, other.class_names),
        seed=seed,
    )
    if facts is not None and other.shuffled_here:
        facts = replace(facts, reorders=False)
    return replace(observed, validation=facts, notes=(*observed.notes, *failed))


def _with_records(
    observed: Observations, dataset: StoredDataset, first: SampledEpoch, source: Pipeline, *, seconds: float
) -> tuple[Observations, list[Match]]:
    try:
        facts, matches = compare_with_records(dataset, first, label=source.label, seconds=seconds)
    except Exception as error:  # noqa: BLE001 - damaged records are for `check`; what arrives is looked at all the same
        note = f"The records could not be compared: {str(error).splitlines()[0]}"
        unread = RecordFacts(dataset.files[0], 0, names=tuple(dataset.schema))
        return replace(observed, records=unread, notes=(*observed.notes, note)), []
    names = () if facts.mapping else facts.class_names  # labels that arrive under other numbers have other names
    return replace(observed, records=facts, class_names=observed.class_names or names), matches


def _with_signal(
    observed: Observations, probe: ModelProbe, kept: list[Batch], *, seconds: float, seed: int, stopped: bool
) -> Observations:
    """Train a copy, unless that cannot work or would say nothing new."""
    model = observed.model
    if stopped:
        return _noted(observed, "Training was not tried: fix the errors found here first.")
    if model is None or model.refusal or model.loss_refusal or model.output is None:
        return observed
    if model.loss is None:
        return _noted(observed, "Training was not tried: no loss is known. Compile the model, or give loss=.")
    trainer = probe.trainer()
    if trainer is None:
        return _noted(observed, "Training was not tried: it needs TensorFlow as Keras' backend, and trainable weights.")
    try:
        large = model.learning_rate is not None and model.learning_rate >= _LARGE_RATE and "Adam" in model.optimizer
        rate = model.learning_rate if large else None  # copies are trained by Adam: others cannot be tried
        signal = probe_signal(
            trainer, kept, loss=model.loss, labels=observed.labels, seconds=seconds, seed=seed, rate=rate
        )
    except Exception as error:  # noqa: BLE001 - a model may do anything when it is trained
        return _noted(observed, f"Training a copy failed: {type(error).__name__}: {str(error).splitlines()[0][:200]}")
    finally:
        trainer.close()
    return replace(observed, signal=signal)


def _tried(
    failed: str, otherwise: Any, function: Callable[..., Any], *given: Any, **settings: Any
) -> tuple[Any, list[str]]:
    """Call what measures; a pipeline may yield anything, and what cannot be measured is said instead of raised."""
    try:
        return function(*given, **settings), []
    except Exception as error:  # noqa: BLE001 - as said
        reason = (str(error).splitlines() or [""])[0][:200]
        return otherwise, [f"{failed}: {type(error).__name__}: {reason}"] if failed else []


def _rows_without_tokens_first(kept: list[Batch], observed: Observations) -> list[Batch]:
    """Put a batch with rows that hold no token first, so that the model is asked about them."""
    for column in observed.inputs:
        if column.without_tokens:
            empty = rows_without_tokens(column.name, [batch.inputs[column.name] for batch in kept])
            return [kept[place] for place in sorted(range(len(kept)), key=lambda place: not empty[place].any())]
    return kept


def _noted(observed: Observations, note: str) -> Observations:
    return replace(observed, notes=(*observed.notes, note))
