"""How the validation data differs from the training data."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["ColumnDifference", "ValidationFacts"]


@dataclass(frozen=True, slots=True)
class ColumnDifference:
    """An input that is different in validation.

    Attributes:
        name: the input or target as a sentence calls it.
        feature: its name, for the location of a finding.
        what: "shape", "type", "scale" or "colours".
        training, validation: how it is in each, in words.
    """

    name: str
    feature: str
    what: str
    training: str
    validation: str


@dataclass(frozen=True, slots=True)
class ValidationFacts:
    """The validation data, compared with the training data.

    Attributes:
        rows: how many rows of it were looked at.
        failure: what it raised; empty if nothing.
        whole: they are a whole epoch.
        repeated: how many of its different rows are among those of the training data.
        different: how many different rows it has.
        compared_with: how many different rows of the training data were looked at.
        differences: the inputs and targets that are different.
        unknown_classes: classes that the training data does not have, although it was read to its end.
        other_names: classes whose number means another name in training, as (number, training, validation).
        changes: its rows are different in each epoch: augmentation is active.
        reorders: its rows are the same in each epoch, in another order.
    """

    rows: int
    failure: str = ""
    whole: bool = False
    repeated: int = 0
    different: int = 0
    compared_with: int = 0
    differences: tuple[ColumnDifference, ...] = ()
    unknown_classes: tuple[str, ...] = ()
    other_names: tuple[tuple[str, str, str], ...] = field(default=())
    changes: bool = False
    reorders: bool = False
