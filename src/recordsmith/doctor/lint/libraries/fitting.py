"""What models are trained, tested and used on: datasets, image generators and arrays alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from recordsmith.doctor.lint.interpreter.values import Call, Group, Item, Literal, Value

__all__ = ["ModelUse", "SplitPart", "model_of", "model_uses", "split_part"]

_TRAINS = {".fit", ".fit_generator", ".train_on_batch"}
_TESTS = {".evaluate", ".evaluate_generator", ".score", ".test_on_batch"}
_PREDICTS = {".predict", ".predict_generator", ".predict_proba", ".predict_on_batch", ".predict_classes"}


@dataclass(frozen=True, slots=True)
class ModelUse:
    """A call that gives data to a model.

    Attributes:
        role: "training", "validation" (also testing) or "prediction".
        call: the call.
        model: what it is a method of.
        inputs: the data: an array, or a dataset with its labels.
        targets: the labels, where they are given separately.
    """

    role: str
    call: Call
    model: Value
    inputs: Value
    targets: Value | None = None


def model_uses(calls: Iterable[Call]) -> Iterator[ModelUse]:
    """Yield every use of a model, in order."""
    for call in calls:
        if call.receiver is None:
            continue
        model = model_of(call.receiver)
        first = call.argument(0, "x", "generator", "X")
        second = call.argument(1, "y")
        if call.name in _TRAINS and first is not None:
            yield ModelUse("training", call, model, first, second)
            yield from _validation(call, model)
        elif call.name in _TESTS and first is not None:
            yield ModelUse("validation", call, model, first, second)
        elif call.name in _PREDICTS and first is not None:
            yield ModelUse("prediction", call, model, first)


def _validation(call: Call, model: Value) -> Iterator[ModelUse]:
    given = call.argument(None, "validation_data")
    if isinstance(given, Group) and len(given.members) >= 2:
        yield ModelUse("validation", call, model, given.members[0], given.members[1])
    elif given is not None and not isinstance(given, Group | Literal):
        yield ModelUse("validation", call, model, given)


def model_of(value: Value) -> Value:
    """Return the model that a value is: scikit-learn's `fit` returns the model itself."""
    while isinstance(value, Call) and value.name == ".fit" and value.receiver is not None:
        value = value.receiver
    return value


@dataclass(frozen=True, slots=True)
class SplitPart:
    """One of the arrays that `train_test_split` returns.

    Attributes:
        split: the call.
        whole: the array that it is a part of.
        is_test: it is the second part, for testing.
    """

    split: Call
    whole: Value
    is_test: bool


def split_part(value: Value | None) -> SplitPart | None:
    """Return which part of a split a value is, if it is one as it came from there.

    >>> split = Call("sklearn.model_selection.train_test_split", None, (Literal("x"), Literal("y")))
    >>> split_part(Item(split, Literal(3))).is_test
    True
    """
    if not isinstance(value, Item) or not isinstance(value.base, Call) or not isinstance(value.index, Literal):
        return None
    split, position = value.base, value.index.value
    if not split.name.startswith("sklearn.") or not isinstance(position, int):
        return None
    if not split.name.endswith(".train_test_split"):
        return None
    if not 0 <= position // 2 < len(split.args):
        return None
    return SplitPart(split, split.args[position // 2], bool(position % 2))
