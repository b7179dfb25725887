"""Rules on how well a model seems to be: metrics of raw scores, and arrays that broadcast."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import Call, Group, Item, Literal, Operation, Slice, Value
from recordsmith.doctor.lint.libraries.models import output_units
from recordsmith.doctor.lint.libraries.ranks import rank_of
from recordsmith.doctor.lint.program import Program
from recordsmith.doctor.lint.rules.torch_training.predictions import (
    compared_by_broadcast_in_torch,
    scores_taken_for_probabilities,
)
from recordsmith.rules import Finding, Severity, rule

__all__ = ["MEASURED_RULES"]

_COUNTS = re.compile(r"keras\.metrics\.(BinaryAccuracy|Precision|Recall|F1Score|TruePositives|FalsePositives)")
_NAMES = ("accuracy", "acc", "binary_accuracy")
_KEEPS_SHAPE = re.compile(
    r"\.(astype|round|copy|numpy)|numpy\.(round|rint|where|array|asarray|int32|int64)|tensorflow\.(cast|identity|round)"
)
_DIFFERENCE = re.compile(r"(tensorflow|keras\.(ops|backend))\.(math\.)?(subtract|squared_difference|equal)")


@rule("P284", "accuracy-of-scores", Severity.WARNING)
def accuracy_of_scores(program: Program) -> Iterator[Finding]:
    """A model gives raw scores, and they are counted as probabilities, with a threshold of 0.5.

    Why it matters:
        Raw scores (logits) go from minus to plus infinity, and 0 is the middle. Scores between 0 and 0.5 mean class 1
        and are counted as class 0: the accuracy that is shown is too low, and the best epoch is chosen wrongly.

    Example:
        `compile(loss=BinaryCrossentropy(from_logits=True), metrics=["accuracy"])` with `Dense(1)`

    Fix:
        `metrics=[keras.metrics.BinaryAccuracy(threshold=0.0)]`; or a sigmoid in the last layer and
        `from_logits=False`.
    """
    for model in program.models:
        if model.loss != "binary" or model.from_logits is not True or model.activation != "" or model.units != 1:
            continue
        metrics = model.compile.argument(2, "metrics") if model.compile.name == ".compile" else None
        for metric in metrics.members if isinstance(metrics, Group) else ():
            named = isinstance(metric, Literal) and metric.value in _NAMES
            counted = isinstance(metric, Call) and _COUNTS.fullmatch(metric.name) and not metric.keywords
            if named or (counted and isinstance(metric, Call) and not metric.args):
                name = metric.value if isinstance(metric, Literal) else getattr(metric, "name", "").rpartition(".")[2]
                yield program.finding(
                    accuracy_of_scores,
                    metric.node or model.compile.expression,
                    f"The model gives raw scores, for which 0 is the middle, and the metric {name!r} counts those "
                    "above 0.5 as class 1: what it shows is wrong.",
                    advice="Use `keras.metrics.BinaryAccuracy(threshold=0.0)`.",
                )
                break
    yield from scores_taken_for_probabilities(program, accuracy_of_scores)


_OF_ROWS = {"categorical_accuracy", "CategoricalAccuracy", "CategoricalCrossentropy"}
_OF_NUMBERS = {"sparse_categorical_accuracy", "SparseCategoricalAccuracy", "SparseCategoricalCrossentropy"}


@rule("P297", "metric-of-other-labels", Severity.WARNING)
def metric_of_other_labels(program: Program) -> Iterator[Finding]:
    """A metric expects one-hot rows where the loss expects class numbers, or the other way round.

    Why it matters:
        Loss and metric get the same labels. One of the two reads them wrongly: the accuracy that is shown is
        meaningless, while the loss is right, and the best epoch is chosen by it.

    Example:
        `compile(loss="sparse_categorical_crossentropy", metrics=["categorical_accuracy"])`

    Fix:
        `metrics=["accuracy"]`: Keras then takes the accuracy that fits the loss.
    """
    for model in program.models:
        wrong = {"sparse": _OF_ROWS, "categorical": _OF_NUMBERS}.get(model.loss or "", set())
        metrics = model.compile.argument(2, "metrics") if model.compile.name == ".compile" else None
        for metric in metrics.members if isinstance(metrics, Group) else ():
            name = metric.value if isinstance(metric, Literal) else getattr(metric, "name", "").rpartition(".")[2]
            if name in wrong:
                expected, given = (
                    ("one-hot rows", "class numbers") if model.loss == "sparse" else ("class numbers", "one-hot rows")
                )
                yield program.finding(
                    metric_of_other_labels,
                    metric.node or model.compile.expression,
                    f"The metric {name!r} expects {expected}, and the loss takes {given}: what it shows is wrong.",
                    advice='Use metrics=["accuracy"], which fits the loss.',
                )
                break


@rule("P285", "compared-by-broadcast", Severity.ERROR)
def compared_by_broadcast(program: Program) -> Iterator[Finding]:
    """Predictions in a column are compared with labels in a row: every prediction with every label.

    Why it matters:
        `predict` of a model with one output gives the shape (n, 1). Compared with labels of the shape (n,), numpy makes
        a table of n times n: its mean is the share of equal pairs among all, and not the accuracy. No error is raised.

    Example:
        `np.mean((model.predict(x_test) > 0.5) == y_test)`

    Fix:
        Make them one shape first: `model.predict(x_test)[:, 0]`, or `.ravel()`.
    """
    for value in (*program.operations, *program.calls):
        for one, other in _combined(value):
            inner = _flattened(one)
            predicted = _predicted(one if inner is None else inner)
            shapes = ("(n, 1)", "(n,)") if inner is None else ("(n,)", "(n, 1)")
            if predicted is None or output_units(predicted.receiver, program.calls) != 1:
                continue
            if rank_of(other) != (1 if inner is None else 2):
                continue
            yield program.finding(
                compared_by_broadcast,
                value.node or predicted.expression,
                f"The predictions have the shape {shapes[0]} and the labels {shapes[1]}: every prediction is combined "
                "with every label, and the result has n × n values.",
                advice="Make them one shape first: `model.predict(x).ravel()`, or `tf.squeeze(model(x), axis=-1)`."
                if inner is None
                else "Make them one shape first: leave out the squeeze, or squeeze the labels too.",
            )
            break
    yield from compared_by_broadcast_in_torch(program, compared_by_broadcast)


def _flattened(value: Value) -> Value | None:
    """What an array was before its only column was taken: of `tf.squeeze(x, 1)`, `x[:, 0]` and `x.ravel()`."""
    match value:
        case Call(name="tensorflow.squeeze" | "numpy.squeeze" | "keras.ops.squeeze"):
            return value.argument(0)
        case Call(name=".ravel" | ".flatten" | ".squeeze", receiver=inner):
            return inner
        case Item(base=inner, index=Group(members=(Slice(lower=None, upper=None), Literal(value=0 | -1)))):
            return inner
    return None


def _combined(value: Value) -> tuple[tuple[Value, Value], ...]:
    """The two sides of a difference or a comparison, in both orders."""
    sides: tuple[Value, ...] = ()
    if isinstance(value, Operation):
        node = value.node
        equal = isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq | ast.NotEq)
        sides = value.operands if equal or value.operator == "-" else ()
    elif isinstance(value, Call) and _DIFFERENCE.fullmatch(value.name):
        sides = value.args
    return ((sides[0], sides[1]), (sides[1], sides[0])) if len(sides) == 2 else ()


def _predicted(value: Value | None) -> Call | None:
    """The call of `predict`, or of a model, that gave an array, as long as it is still a column."""
    for _ in range(12):
        match value:
            case Call(name=".predict" | ".predict_on_batch"):
                return value
            case Call(name="()", receiver=Call(name=name)) if name.startswith("keras."):
                return value
            case Call(name=name) if _KEEPS_SHAPE.fullmatch(name):
                value = value.receiver if name.startswith(".") else value.argument(0)
            case Operation(operands=(first, Literal())):
                value = first
            case _:
                return None
    return None


MEASURED_RULES = [accuracy_of_scores, metric_of_other_labels, compared_by_broadcast]
