"""rs.diagnose: draw, measure, compare, try, and say what is wrong."""

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
from recordsmith.doctor.diagnose.observing.measuring import find_leaks, measure_columns, rows_without_tokens
from recordsmith.doctor.diagnose.observing.observations import Drawn, RecordFacts
from recordsmith.doctor.diagnose.observing.sampling import DrawnEpoch, draw_epochs, random_numbers_kept
from recordsmith.doctor.diagnose.pipelines import Pipeline, open_pipeline
from recordsmith.doctor.diagnose.probes.label_order import compare_epochs, measure_labels
from recordsmith.doctor.diagnose.probes.pair_checking import Match, compare_with_records
from recordsmith.doctor.diagnose.probes.training_signal import probe_signal
from recordsmith.doctor.diagnose.report_sections import report_sections
from recordsmith.doctor.diagnose.rules import RULES
from recordsmith.errors import PipelineError
from recordsmith.loader import open_dataset
from recordsmith.report import Report
from recordsmith.rules import Baseline, Configuration, Judge, Severity
from recordsmith.workers.progress_display import OnPhase, phase_progress

__all__ = ["diagnose"]

PathLike = str | os.PathLike[str]


def diagnose(  # noqa: PLR0913 - each is a choice of its own, and most are named
    pipeline: Any,
    records: PathLike | Iterable[PathLike] | StoredDataset | None = None,
    model: Any = None,
    loss: Any = None,
    *,
    batches: int = 100,
    epochs: int = 2,
    time_limit: float = 60,
    seed: int = 0,
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    fail_on: str | None = None,
    baseline: Baseline | PathLike | None = None,
    configuration: Configuration | None = None,
    progress: bool | OnPhase = True,
) -> Report:
    """Look at what a pipeline really feeds, and say why training on it may not improve.

    It draws some batches of two epochs and looks at their form, values and order. With `records`, elements are looked
    up on disk and their labels compared. With a model, form and labels are compared with what it takes, and a copy of
    it is trained for a while. The model's weights, its optimizer and everybody's random numbers stay as they are.

    Args:
        pipeline: a recordsmith loader, a tf.data.Dataset, a PyTorch DataLoader, or any iterable of batches. A generator
            can be drawn once only: it is used up then, and there is no second epoch to compare with.
        records: the TFRecords behind it: a path as for `rs.open`, or what that returns. A recordsmith loader knows its
            own.
        model: a Keras 3 model or a PyTorch module.
        loss: its loss; None takes that of a compiled Keras model.
        batches: how many batches to draw of each epoch at most.
        epochs: how many epochs to draw.
        time_limit: how many seconds it may take, about.
        seed: for what is dealt out at random.
        select: the rules to apply, by code, beginning of a code, or name; without any, all.
        ignore: the rules to leave out.
        fail_on: the least severity that makes the report not `ok`; None: as the configuration says, or "warning".
        baseline: known findings, or the file of them, which are not reported again; None: as the configuration says.
        configuration: a project's settings, from `rs.load_configuration()`; None: no file is read.
        progress: True shows a bar on a terminal, and nothing elsewhere; False shows none. A function is called now and
            then with the phase, what is done of it, and how much it is (0 where that is not known).

    Returns:
        The report: `.findings`, `.ok`, `.to_html(path)` with images and histograms, `.to_json()`.

    >>> import numpy as np, recordsmith as rs
    >>> x, y = np.random.default_rng(0).normal(size=(256, 4)), np.repeat([0, 1], 128)
    >>> batches = [(x[i : i + 16], y[i : i + 16]) for i in range(0, 256, 16)]
    >>> for finding in rs.diagnose(batches).findings:
    ...     print(finding.code, finding.message)
    T040 16 of 16 batches hold a single label, of 2 classes: the data comes sorted by label.
    """
    _check(batches=batches, epochs=epochs, time_limit=time_limit)
    judge = Judge(RULES, configuration, select=select, ignore=ignore, fail_on=fail_on, baseline=baseline)
    begun = time.perf_counter()
    source = open_pipeline(pipeline)
    dataset = _opened(records) if records is not None else source.records
    with random_numbers_kept(), phase_progress(shown=progress is True) as bar:
        on_phase = progress if callable(progress) else bar
        drawn_epochs = draw_epochs(source, batches=batches, epochs=epochs, seconds=0.35 * time_limit, progress=on_phase)
        first = drawn_epochs[0]
        matches: list[Match] = []
        with np.errstate(all="ignore"):  # values may be anything here, and are looked at for that
            drawn = _observed(source, drawn_epochs, seed)
            if dataset is not None:
                on_phase("comparing with records", 0, 0)
                drawn, matches = _with_records(drawn, dataset, first, source, seconds=0.25 * time_limit)
        probe: ModelProbe | None = None
        kept = _rows_without_tokens_first(first.kept, drawn)
        if model is not None and kept:
            on_phase("looking at the model", 0, 0)
            probe, why_not = open_model(model, loss)
            drawn = replace(drawn, notes=(*drawn.notes, *([why_not] if why_not else [])))
            if probe is not None:
                facts, failed = _tried("The model was not looked at", None, probe.facts, kept[0])
                drawn = replace(drawn, model=facts, notes=(*drawn.notes, *failed))
        found = without_consequences(judge.find(drawn))
        left = begun + time_limit - time.perf_counter()
        if probe is not None and drawn.model is not None:
            on_phase("training a copy", 0, 0)
            stopped = any(finding.severity is Severity.ERROR for finding in found)
            drawn = _with_signal(
                drawn, probe, kept, seconds=max(min(left, 0.5 * time_limit), 1.0), seed=seed, stopped=stopped
            )
            if any(finding.code == "T070" for finding in judge.find(drawn)):
                rows = max(drawn.batch_sizes, default=1)
                drawn = replace(drawn, slowest=source.slowest_step(min(2.0, 0.1 * time_limit), rows))
            found = without_consequences(judge.find(drawn))
    return Report(
        "diagnose",
        **judge.judgement(found),
        sections=report_sections(drawn, drawn_epochs, dataset, matches),
        subject=source.kind,
    )


def _check(*, batches: int, epochs: int, time_limit: float) -> None:
    for name, value, least in (("batches", batches, 1), ("epochs", epochs, 1)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise PipelineError(f"{name} is a whole number from {least} on.", found=repr(value))
    if not time_limit > 0:
        raise PipelineError("time_limit is a number of seconds.", found=repr(time_limit))


def _opened(records: Any) -> StoredDataset:
    return records if isinstance(records, StoredDataset) else open_dataset(records)


def _observed(source: Pipeline, epochs: list[DrawnEpoch], seed: int) -> Drawn:
    first = epochs[0]
    kept = first.kept
    notes = []
    if len(kept) < len(first.batches):
        notes.append(f"Values are those of the first {len(kept)} of {len(first.batches)} batches.")
    sizes = [one.batch.rows for one in first.batches]
    columns, no_columns = _tried("Values were not measured", (), measure_columns, kept)
    leaks, _ = _tried("", (), find_leaks, kept)
    labels, no_labels = _tried("Labels were not looked at", None, measure_labels, first, seed=seed)
    order, no_order = _tried("Order was not looked at", None, compare_epochs, epochs)
    return Drawn(
        source.kind,
        epochs=tuple(epoch.facts for epoch in epochs),
        form=first.batches[0].batch.form if first.batches else "inputs",
        failure=next((epoch.failure for epoch in epochs if epoch.failure), ""),
        columns=columns,
        unequal_rows=next((one.batch.unequal_rows for one in first.batches if one.batch.unequal_rows), None),
        batch_sizes=tuple(sizes[:-1] if first.whole and len(sizes) > 1 else sizes),
        leaks=leaks,
        endless=source.endless,
        fixed=source.fixed,
        sharded=source.sharded,
        labels=labels,
        order=order,
        chain=source.chain,
        notes=(*notes, *no_columns, *no_labels, *no_order),
    )


def _with_records(
    drawn: Drawn, dataset: StoredDataset, first: DrawnEpoch, source: Pipeline, *, seconds: float
) -> tuple[Drawn, list[Match]]:
    try:
        facts, matches = compare_with_records(dataset, first, label=source.label, seconds=seconds)
    except Exception as error:  # noqa: BLE001 - damaged records are for `check`; what arrives is looked at all the same
        note = f"The records could not be compared with: {str(error).splitlines()[0]}"
        names = tuple(dataset.schema)
        return replace(drawn, records=RecordFacts(dataset.files[0], 0, names=names), notes=(*drawn.notes, note)), []
    return replace(drawn, records=facts), matches


def _with_signal(
    drawn: Drawn, probe: ModelProbe, kept: list[Batch], *, seconds: float, seed: int, stopped: bool
) -> Drawn:
    """Train a copy, unless that cannot work or would say nothing new."""
    model = drawn.model
    if stopped:
        return _noted(drawn, "Training was not tried: what is found here has to be mended first.")
    if model is None or model.refusal or model.loss_refusal or model.output is None:
        return drawn
    if model.loss is None:
        return _noted(drawn, "Training was not tried: no loss is known. Compile the model, or give loss=.")
    trainer = probe.trainer()
    if trainer is None:
        return _noted(drawn, "Training was not tried: it needs TensorFlow as Keras' backend, and weights to be learnt.")
    try:
        signal = probe_signal(trainer, kept, loss=model.loss, labels=drawn.labels, seconds=seconds, seed=seed)
    except Exception as error:  # noqa: BLE001 - a model may do anything when it is trained
        return _noted(drawn, f"Training a copy failed: {type(error).__name__}: {str(error).splitlines()[0][:200]}")
    finally:
        trainer.close()
    return replace(drawn, signal=signal)


def _tried(
    failed: str, otherwise: Any, function: Callable[..., Any], *given: Any, **settings: Any
) -> tuple[Any, list[str]]:
    """Call what measures; a pipeline may yield anything, and what cannot be measured is said instead of raised."""
    try:
        return function(*given, **settings), []
    except Exception as error:  # noqa: BLE001 - as said
        reason = (str(error).splitlines() or [""])[0][:200]
        return otherwise, [f"{failed}: {type(error).__name__}: {reason}"] if failed else []


def _rows_without_tokens_first(kept: list[Batch], drawn: Drawn) -> list[Batch]:
    """Put a batch with rows that hold no token first, so that the model is asked about them."""
    for column in drawn.inputs:
        if column.without_tokens:
            empty = rows_without_tokens(column.name, [batch.inputs[column.name] for batch in kept])
            return [kept[place] for place in sorted(range(len(kept)), key=lambda place: not empty[place].any())]
    return kept


def _noted(drawn: Drawn, note: str) -> Drawn:
    return replace(drawn, notes=(*drawn.notes, note))
