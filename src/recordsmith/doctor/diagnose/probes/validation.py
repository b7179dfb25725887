"""The validation data beside the training data: rows in both, other scales, other labels, active augmentation."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.doctor.diagnose.observing.batch import Batch
from recordsmith.doctor.diagnose.observing.image_measuring import as_images
from recordsmith.doctor.diagnose.observing.measuring import measure_columns
from recordsmith.doctor.diagnose.observing.observations import ColumnFacts, LabelFacts
from recordsmith.doctor.diagnose.observing.sampling import SampledEpoch
from recordsmith.doctor.diagnose.observing.validation_facts import ColumnDifference, ValidationFacts
from recordsmith.doctor.diagnose.probes.label_order import measure_labels
from recordsmith.doctor.diagnose.rules.wording import shape_text

__all__ = ["compare_validation"]

_ENOUGH_ROWS = 32
_FAR = 3.0  # times a deviation, where both data sets should be alike
_SHIFTED = 0.8  # of a deviation, for the mean of all pixels


def compare_validation(
    training: SampledEpoch,
    epochs: list[SampledEpoch],
    *,
    labels: LabelFacts | None,
    names: tuple[tuple[str, ...], tuple[str, ...]] = ((), ()),
    seed: int = 0,
) -> ValidationFacts:
    """Compare one or two epochs of the validation data with an epoch of the training data.

    Args:
        training: what was drawn of the training data.
        epochs: what was drawn of the validation data.
        labels: the labels of the training data.
        names: the names of the classes in training, and in validation.
        seed: of the test whether labels are mixed.
    """
    first = epochs[0]
    if not first.batches:
        return ValidationFacts(0, first.failure, first.whole)
    ours, theirs = _contents(training), _contents(first)
    mine = measure_labels(first, seed=seed)
    known = set(labels.counts) if labels is not None and labels.whole and labels.kind == "classes" else None
    classes = set(mine.counts) if mine is not None and mine.kind == "classes" else set()
    changes, reorders = _between_epochs(epochs)
    return ValidationFacts(
        rows=first.facts.rows,
        failure=first.failure,
        whole=first.whole,
        repeated=len(ours & theirs),
        different=len(theirs),
        compared_with=len(ours),
        differences=_differences(training.kept, first.kept),
        unknown_classes=tuple(sorted(classes - known)) if known else (),
        other_names=tuple(
            (str(number), one, other)
            for number, (one, other) in enumerate(zip(*names, strict=False))
            if one != other and names[0] and names[1]
        ),
        changes=changes,
        reorders=reorders,
    )


def _contents(epoch: SampledEpoch) -> set[int]:
    return {number for one in epoch.batches for number in one.content.tolist()}


def _between_epochs(epochs: list[SampledEpoch]) -> tuple[bool, bool]:
    """Say whether rows change from epoch to epoch, and whether only their order does."""
    if len(epochs) < 2 or not all(epoch.whole and epoch.batches for epoch in epochs[:2]):
        return False, False
    one, other = _contents(epochs[0]), _contents(epochs[1])
    orders = [[number for batch in epoch.batches for number in batch.content.tolist()] for epoch in epochs[:2]]
    changes = len(one) >= _ENOUGH_ROWS / 4 and len(one & other) < 0.9 * len(one)
    return changes, not changes and orders[0] != orders[1]


def _differences(training: list[Batch], validation: list[Batch]) -> tuple[ColumnDifference, ...]:
    ours = {(one.role, one.name): one for one in measure_columns(training)}
    found: list[ColumnDifference] = []
    for theirs in measure_columns(validation):
        mine = ours.get((theirs.role, theirs.name))
        if mine is None:
            continue
        difference = _of_form(mine, theirs)
        if difference is None and mine.role == "input":
            parts = [[batch.inputs[mine.name] for batch in batches] for batches in (training, validation)]
            difference = _of_values(mine, theirs, parts)
        if difference is not None:
            found.append(ColumnDifference(mine.shown, mine.name or mine.role, *difference))
    return tuple(found)


def _of_form(mine: ColumnFacts, theirs: ColumnFacts) -> tuple[str, str, str] | None:
    if len(mine.shape) != len(theirs.shape) or any(
        one is not None and other is not None and one != other
        for one, other in zip(mine.shape, theirs.shape, strict=True)
    ):
        return "shape", f"rows of {shape_text(mine.shape)}", f"rows of {shape_text(theirs.shape)}"
    if mine.numeric != theirs.numeric:
        return "type", mine.dtype, theirs.dtype
    if mine.role == "target" and bool(mine.one_hot) != bool(theirs.one_hot):
        return (
            "type",
            "one-hot rows" if mine.one_hot else mine.dtype,
            "one-hot rows" if theirs.one_hot else theirs.dtype,
        )
    return None


def _of_values(mine: ColumnFacts, theirs: ColumnFacts, parts: list[list[Any]]) -> tuple[str, str, str] | None:
    """Compare scales. Two random parts of the same data have nearly the same mean and deviation."""
    if min(mine.rows, theirs.rows) < _ENOUGH_ROWS or not mine.numeric or mine.integral != theirs.integral:
        both_images = mine.image is not None and theirs.image is not None
        if not both_images or min(mine.rows, theirs.rows) < _ENOUGH_ROWS / 4:
            return None
    if mine.mean is None or theirs.mean is None or not mine.deviation or not theirs.deviation:
        return None
    ratio = theirs.deviation / mine.deviation
    shift = abs(theirs.mean - mine.mean) / max(mine.deviation, theirs.deviation)
    ranges = f"{mine.min:.3g} to {mine.max:.3g}", f"{theirs.min:.3g} to {theirs.max:.3g}"
    if mine.image is not None:
        # Images of another part of the data differ in their mean by a fraction of the deviation of pixels.
        if not 1 / 1.7 < ratio < 1.7 or shift > _SHIFTED:
            return "scale", *ranges
        if _swapped(parts):
            return "colours", "red first", "blue first"
        return None
    if len(mine.shape) == 1 and theirs.shape == mine.shape:
        far = _columns_far_apart(parts)
        if far is not None and far > 0.5:
            return "scale", *ranges
        return None
    return ("scale", *ranges) if not 1 / _FAR < ratio < _FAR or shift > _FAR else None


def _columns_far_apart(parts: list[list[Any]]) -> float | None:
    """Return the share of columns whose mean or deviation is far from that in training."""
    if any(not isinstance(one, np.ndarray) for part in parts for one in part):
        return None
    ours, theirs = (np.concatenate(part).astype(np.float64) for part in parts)
    deviation, other = ours.std(axis=0), theirs.std(axis=0)
    varies = (deviation > 0) & (other > 0)
    if not varies.any():
        return None
    ratio = other[varies] / deviation[varies]
    shift = np.abs(theirs.mean(axis=0) - ours.mean(axis=0))[varies] / np.maximum(deviation, other)[varies]
    return float(((ratio > _FAR) | (ratio < 1 / _FAR) | (shift > _FAR)).mean())


def _swapped(parts: list[list[Any]]) -> bool:
    """Say whether red and blue seem swapped: the means of the channels fit far better in the other order."""
    means: list[npt.NDArray[np.float64]] = []
    for part in parts:
        images = [as_images(one) for one in part]
        if any(one is None or one.shape[3] != 3 for one in images):
            return False
        each = np.concatenate([one.astype(np.float64).mean(axis=(1, 2)) for one in images if one is not None])
        means.append(each)
    ours, theirs = (each.mean(axis=0) for each in means)
    noise = float(np.sqrt(sum(each.var(axis=0).mean() / len(each) for each in means)))
    as_they_are = float(np.abs(ours - theirs).max())
    turned = float(np.abs(ours - theirs[::-1]).max())
    return as_they_are > 6 * noise and turned < as_they_are / 4
