"""Rules on the validation data, compared with the training data."""

from __future__ import annotations

from collections.abc import Iterator

from recordsmith.doctor.diagnose.observing.observations import Observations
from recordsmith.doctor.diagnose.observing.validation_facts import ColumnDifference
from recordsmith.errors import list_names
from recordsmith.rules import Finding, Location, Severity, rule

__all__ = ["VALIDATION_RULES"]

_FEWEST_LEAKED = 3


@rule("T090", "validation-leak", Severity.ERROR)
def validation_leak(observed: Observations) -> Iterator[Finding]:
    """Rows of the validation data are also in the training data.

    Rows are compared by the content of all their inputs. Rows that were augmented are not found again, so that more may
    be in both than are reported. It is a warning where less than 5 % are.

    Why it matters:
        The model has seen the answers: validation figures are too good, and hide overfitting.

    Example:
        `dataset.shuffle(n)` reshuffles in each epoch before `take` and `skip`; rare classes were copied before the
        split; the whole dataset was loaded twice.

    Fix:
        Split first, once, and by an order that does not change: `shuffle(n, reshuffle_each_iteration=False)`.
    """
    facts = observed.validation
    if facts is None or facts.repeated < _FEWEST_LEAKED or facts.different < 2 * _FEWEST_LEAKED:
        return
    share = facts.repeated / facts.different
    if share < 0.005:
        return
    yield validation_leak.finding(
        f"{facts.repeated:,} of {facts.different:,} different validation rows ({share:.0%}) are also in the training "
        "data.",
        severity=Severity.ERROR if share >= 0.05 else Severity.WARNING,
        evidence={"repeated": facts.repeated, "validation": facts.different, "training": facts.compared_with},
    )


@rule("T091", "validation-scale", Severity.WARNING)
def validation_scale(observed: Observations) -> Iterator[Finding]:
    """Inputs have another scale in validation than in training.

    Why it matters:
        The model meets values that it never saw: validation figures are poor however well it learns.

    Example:
        Training images go through `preprocess_input` (-1 to 1) and validation images are divided by 255 (0 to 1);
        `Normalize` in the training transform only.

    Fix:
        Use the same function for both, without the augmentation.
    """
    for one in _differences(observed, "scale"):
        yield validation_scale.finding(
            f"{one.name[0].upper()}{one.name[1:]} is scaled differently: {one.training} in training, {one.validation} "
            "in validation.",
            location=Location(feature=one.feature),
        )


@rule("T092", "validation-shape", Severity.ERROR)
def validation_shape(observed: Observations) -> Iterator[Finding]:
    """Inputs or targets have another shape or type in validation than in training.

    Why it matters:
        Validation fails after the first epoch, or compares different things.

    Example:
        Only the training images are resized; labels are one-hot in training and numbers in validation.

    Fix:
        Use the same steps for both, without the augmentation.
    """
    for what in ("shape", "type"):
        for one in _differences(observed, what):
            yield validation_shape.finding(
                f"{one.name[0].upper()}{one.name[1:]} differs: {one.training} in training, {one.validation} in "
                "validation.",
                location=Location(feature=one.feature),
            )


@rule("T093", "validation-labels", Severity.ERROR)
def validation_labels(observed: Observations) -> Iterator[Finding]:
    """Labels of the validation data do not mean what those of the training data mean.

    A class that the training data does not have is a warning; a number that stands for another class is an error.

    Why it matters:
        The model cannot predict a class that it never saw, and a right answer under another number counts as wrong.

    Example:
        Class numbers from an unsorted listing of folders, once for each split; a validation folder without one of the
        classes.

    Fix:
        Make the list of classes once, sorted, and use it for both.
    """
    facts = observed.validation
    if facts is None:
        return
    if facts.other_names:
        number, training, validation = facts.other_names[0]
        yield validation_labels.finding(
            f"{len(facts.other_names)} class numbers have other names in validation: {number} is {training!r} in "
            f"training and {validation!r} in validation."
        )
    elif facts.unknown_classes:
        shown = list_names(map(observed.named, facts.unknown_classes))
        yield validation_labels.finding(
            f"Validation has labels that no training row has: {shown}.", severity=Severity.WARNING
        )


@rule("T094", "validation-augmented", Severity.WARNING)
def validation_augmented(observed: Observations) -> Iterator[Finding]:
    """The rows of the validation data are different in each epoch: augmentation is active.

    Why it matters:
        Validation figures change by chance from epoch to epoch, and are worse than the model is.

    Example:
        One dataset with random transforms is split by `random_split`, so that both parts are augmented;
        `ImageDataGenerator(rotation_range=20, validation_split=0.2)`.

    Fix:
        Give the validation data a dataset of its own, without random transforms.
    """
    facts = observed.validation
    if facts is not None and facts.changes:
        yield validation_augmented.finding(
            f"The {facts.rows:,} validation rows are different when they are read again: random augmentation is active."
        )


@rule("T095", "validation-colours", Severity.WARNING)
def validation_colours(observed: Observations) -> Iterator[Finding]:
    """Red and blue seem to be swapped between training and validation.

    The mean colours of both are compared: in the other order they fit far better.

    Why it matters:
        The model is validated on colours that it never saw.

    Example:
        `cv2.imread` (blue first) for one of them, `PIL.Image.open` (red first) for the other.

    Fix:
        Decode both with the same function, or add `cv2.cvtColor(image, cv2.COLOR_BGR2RGB)`.
    """
    for one in _differences(observed, "colours"):
        yield validation_colours.finding(
            f"{one.name[0].upper()}{one.name[1:]} has its colours in another order in validation: red and blue seem to "
            "be swapped.",
            location=Location(feature=one.feature),
        )


@rule("T096", "validation-reshuffled", Severity.INFO)
def validation_reshuffled(observed: Observations) -> Iterator[Finding]:
    """The validation data comes in another order each time it is read.

    Why it matters:
        It makes no difference to the figures. But labels that are collected in one pass do not belong to predictions of
        another pass.

    Example:
        `labels = [y for _, y in dataset]`, then `model.predict(dataset)`, with a dataset that shuffles.

    Fix:
        Do not shuffle validation data, or collect labels and predictions in the same pass.
    """
    if observed.validation is not None and observed.validation.reorders:
        yield validation_reshuffled.finding(
            "The validation data is shuffled each time it is read: labels of one pass do not belong to predictions of "
            "another."
        )


@rule("T097", "validation-fails", Severity.ERROR)
def validation_fails(observed: Observations) -> Iterator[Finding]:
    """The validation data raised an error, or has no rows.

    Why it matters:
        Training stops at the end of the first epoch, or runs without validation.

    Example:
        A glob that matches no file; a split that took everything for training.

    Fix:
        The message says what happened.
    """
    facts = observed.validation
    if facts is None:
        return
    if facts.failure:
        yield validation_fails.finding(f"Reading the validation data failed: {facts.failure.splitlines()[0][:300]}")
    elif not facts.rows:
        yield validation_fails.finding("The validation data has no rows.")


def _differences(observed: Observations, what: str) -> list[ColumnDifference]:
    if observed.validation is None:
        return []
    return [one for one in observed.validation.differences if one.what == what]


VALIDATION_RULES = (
    validation_leak,
    validation_scale,
    validation_shape,
    validation_labels,
    validation_augmented,
    validation_colours,
    validation_reshuffled,
    validation_fails,
)
