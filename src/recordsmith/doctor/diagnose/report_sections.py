"""What the report shows beside its findings: batches as images, values, labels, the chain, and what was tried."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.dataset import StoredDataset
from recordsmith.doctor.diagnose.observing.batch import Batch
from recordsmith.doctor.diagnose.observing.content import stored_pixels
from recordsmith.doctor.diagnose.observing.image_measuring import as_images
from recordsmith.doctor.diagnose.observing.observations import ColumnFacts, Observations
from recordsmith.doctor.diagnose.observing.sampling import SampledEpoch
from recordsmith.doctor.diagnose.probes.label_order import class_values
from recordsmith.doctor.diagnose.probes.pair_checking import Match
from recordsmith.report.sections import GridImage, HistogramSection, ImageGrid, Section, TableSection, TextSection
from recordsmith.wording.numbers import count_text

__all__ = ["report_sections"]

_IMAGES = 12
_LARGEST = 160


def report_sections(
    observed: Observations, epochs: list[SampledEpoch], dataset: StoredDataset | None, matches: list[Match]
) -> tuple[Section, ...]:
    """Return the sections of a report.

    >>> [section.title for section in report_sections(Observations("a list"), [], None, [])]
    ['What was checked']
    """
    sections: list[Section] = [_looked_at(observed)]
    if observed.columns:
        sections.append(_columns(observed))
    if epochs and epochs[0].kept:
        sections += _images(epochs[0].kept, observed, dataset, matches)
    for column in observed.columns:
        if column.histogram is not None and column.values > 1:
            title = f"Values of {column.shown}"
            sections.append(HistogramSection(title, {"as it arrives": column.histogram}))
    if observed.labels is not None and observed.labels.counts:
        sections.append(_labels(observed))
    if observed.chain:
        sections.append(_chain(observed))
    if observed.signal is not None:
        sections.append(_training(observed))
    return tuple(sections)


def _looked_at(observed: Observations) -> TextSection:
    lines = [f"The pipeline is {observed.kind}."]
    for number, epoch in enumerate(observed.epochs, 1):
        ended = "the whole epoch" if epoch.whole else "not the whole epoch"
        lines.append(
            f"Epoch {number}: {count_text(epoch.batches, 'batch', 'batches')}, "
            f"{count_text(epoch.rows, 'row')}; {ended}."
        )
    if observed.records is not None:
        records = observed.records
        lines.append(
            f"Records: {records.looked_at:,} of {records.count:,} read from {records.path}; {records.found} of "
            f"{records.elements} elements found again; labels of {records.compared} compared, {records.agree} agree."
        )
    if observed.validation is not None:
        facts = observed.validation
        lines.append(
            f"Validation: {count_text(facts.rows, 'row')}; {facts.repeated:,} of {facts.different:,} different ones "
            "are also in the training data."
        )
    return TextSection("What was checked", "\n\n".join([*lines, *observed.notes]))


def _columns(observed: Observations) -> TableSection:
    heads = ("", "dtype", "shape of a row", "min", "max", "mean", "std", "zeros", "NaN", "infinite")
    rows = []
    for column in observed.columns:
        shape = f"({', '.join(str(side) for side in column.shape)})"
        zeros = column.zeros / column.values if column.values else None
        rows.append(
            (
                column.shown,
                column.dtype,
                shape,
                _short(column.min),
                _short(column.max),
                _short(column.mean),
                _short(column.deviation),
                None if zeros is None else f"{zeros:.0%}",
                column.nan,
                column.infinite,
            )
        )
    return TableSection("Inputs and target", heads, tuple(rows))


def _short(value: float | None) -> str | None:
    return None if value is None else f"{value:.4g}"


def _images(
    kept: list[Batch], observed: Observations, dataset: StoredDataset | None, matches: list[Match]
) -> list[Section]:
    batch = kept[0]
    labels = class_values(next(iter(batch.target.values()))) if len(batch.target) == 1 else None
    sections: list[Section] = []
    by_row = {match.row: match for match in matches}
    for name, column in batch.inputs.items():
        images = as_images(column)
        if images is None:
            continue
        shown = []
        for row in range(min(len(images), _IMAGES)):
            label = "" if labels is None or row >= len(labels) else observed.named(_label(labels[row]))
            shown.append(GridImage(_as_seen(_small(images[row]), observed.column(name)), label, "as it arrives"))
            before = _stored(dataset, observed, by_row.get(row))
            if before is not None:
                shown.append(before)
        what = f" of {name!r}" if name else ""
        text = "Each image as it arrives, with the label that it came with"
        paired = any(image.note != "as it arrives" for image in shown)
        text += "; beside it the record that it was found to be, with the label on disk." if paired else "."
        sections.append(ImageGrid(f"The first images{what}", tuple(shown), text))
    return sections


def _label(value: Any) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def _stored(dataset: StoredDataset | None, observed: Observations, match: Match | None) -> GridImage | None:
    if dataset is None or match is None or observed.records is None or not observed.records.feature:
        return None
    row = dataset[match.record]
    pixels = stored_pixels(row.get(observed.records.feature))
    if pixels is None:
        return None
    label = row.get(observed.records.label) if observed.records.label else None
    exact = observed.records.how in ("index", "content")
    sure = "" if exact else f", {min(match.sureness, 0.99):.0%} sure"
    name = "" if label is None else observed.records.named(_label(label))
    return GridImage(_small(pixels), name, f"record {match.record} on disk{sure}")


def _as_seen(image: npt.NDArray[Any], column: ColumnFacts | None) -> npt.NDArray[Any]:
    """Return pixels from 0 to 1 or 0 to 255 as they are meant; others are stretched by the page, which says so."""
    if column is None or column.min is None or column.max is None or column.min < -0.5 or column.nan or column.infinite:
        return image
    if column.max <= 2 and column.max > 0.05:
        return np.clip(np.round(image * 255), 0, 255).astype(np.uint8)
    return np.clip(np.round(image), 0, 255).astype(np.uint8) if 20 < column.max <= 256 else image


def _small(image: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return an image of at most 160 pixels a side, by leaving out lines, so that the page stays light."""
    step = max(1, -(-max(image.shape[:2]) // _LARGEST))
    return np.ascontiguousarray(image[::step, ::step])


def _labels(observed: Observations) -> TableSection:
    labels = observed.labels
    counts = {} if labels is None else labels.counts
    total = sum(counts.values())
    stored = {} if observed.records is None else observed.records.stored_classes
    rows = tuple(
        (observed.named(name), count, f"{count / total:.1%}", stored.get(name))
        for name, count in list(counts.items())[:50]
    )
    text = ""
    if labels is not None and labels.batches > 1 and labels.chance < 1:
        text = (
            f"{labels.spread:.0%} of the rows would have to change places for every batch to have the mix of all; "
            f"after a true shuffle it would be {labels.expected_spread:.0%}."
        )
    return TableSection("Labels", ("label", "sampled rows", "share", "records on disk"), rows, text)


def _chain(observed: Observations) -> TextSection:
    shown = []
    for step in observed.chain:
        number = step.buffer if step.buffer is not None else step.count
        shown.append(f".{step.name}({'' if number is None else number})")
    return TextSection("The dataset's transformations, read back", "\n".join(shown), code=True)


def _training(observed: Observations) -> TableSection:
    signal = observed.signal
    rows: list[tuple[str, str]] = []
    if signal is not None:
        guess = "not known" if signal.guess_loss is None else f"{signal.guess_loss:.4g}"
        rows = [
            ("loss of the first batch, before training", f"{signal.first_loss:.4g}"),
            (f"lowest loss in {signal.steps} steps on only that batch", f"{signal.best_loss:.4g}"),
            ("loss of a constant prediction", guess),
            ("norm of the first gradient", _short(signal.gradient_norm) or "not finite"),
            ("weights without gradient", f"{signal.zero_gradients} of {signal.gradients}"),
        ]
        if signal.kept_apart:
            rows += [
                (f"loss on {signal.kept_apart} held-out rows, trained on true labels", f"{signal.true_loss:.4g}"),
                ("the same, trained on shuffled labels", f"{signal.permuted_loss:.4g}"),
            ]
    return TableSection("Training a copy of the model", ("", ""), tuple(rows), "The model itself was not changed.")
