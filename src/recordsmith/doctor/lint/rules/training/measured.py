"""Rules on how well a model seems to be: metrics of raw scores, arrays that broadcast, choices by the test data."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.loops import pipelines_in
from recordsmith.doctor.lint.interpreter.values import Call, Group, Item, Literal, Operation, Value, walk
from recordsmith.doctor.lint.libraries.fitting import model_uses
from recordsmith.doctor.lint.libraries.ranks import rank_of
from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Finding, Severity, rule

__all__ = ["MEASURED_RULES"]

_COUNTS = re.compile(r"keras\.metrics\.(BinaryAccuracy|Precision|Recall|F1Score|TruePositives|FalsePositives)")
_NAMES = ("accuracy", "acc", "binary_accuracy")
_TEST = re.compile(r"(^|_)(test|testing|tst|holdout)(_|$|\d|[A-Z])", re.IGNORECASE)
_KEEPS_SHAPE = re.compile(r"\.(astype|round|copy|numpy)|numpy\.(round|rint|where|array|asarray|int32|int64)")


@rule("P284", "accuracy-of-scores", Severity.WARNING)
def accuracy_of_scores(program: Program) -> Iterator[Finding]:
    """A model gives raw scores, and the metric counts them as probabilities, with a threshold of 0.5.

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
    units = {id(model.compile.receiver): model.units for model in program.models}
    for operation in program.operations:
        if not isinstance(operation, Operation) or len(operation.operands) != 2 or not _is_compared(operation):
            continue
        for one, other in (operation.operands, operation.operands[::-1]):
            predicted = _predicted(one)
            if predicted is None or units.get(id(predicted.receiver)) != 1 or rank_of(other) != 1:
                continue
            yield program.finding(
                compared_by_broadcast,
                operation.node or predicted.expression,
                "The predictions have the shape (n, 1) and the labels (n,): numpy compares every prediction with every "
                "label, and the result has n × n values.",
                advice="Flatten the predictions first: `model.predict(x).ravel()`.",
            )
            break


def _is_compared(operation: Operation) -> bool:
    node = operation.node
    equal = isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq | ast.NotEq)
    return equal or operation.operator == "-"


def _predicted(value: Value | None) -> Call | None:
    """The call of `predict` that gave an array, as long as it is still a column."""
    for _ in range(12):
        match value:
            case Call(name=".predict" | ".predict_on_batch"):
                return value
            case Call(name=name) if _KEEPS_SHAPE.fullmatch(name):
                value = value.receiver if name.startswith(".") else value.argument(0)
            case Operation(operands=(first, Literal())):
                value = first
            case _:
                return None
    return None


@rule("P286", "chosen-on-test-data", Severity.INFO)
def chosen_on_test_data(program: Program) -> Iterator[Finding]:
    """The best epoch is chosen by the score on the test data, and that score is then reported.

    Why it matters:
        Of many epochs, one has the luckiest score. If the test data chooses it, the test score is the best of many
        draws, and on new data the model is worse.

    Example:
        `ModelCheckpoint("best.h5", save_best_only=True)` with `validation_data=(x_test, y_test)`, then
        `model.evaluate(x_test, y_test)`.

    Fix:
        Keep a validation part of the training data for the choice, `validation_split=0.1`, and use the test data once.
    """
    uses = list(model_uses(program.calls))
    for fit in program.calls:
        given = fit.argument(None, "validation_data") if fit.name in (".fit", ".fit_generator") else None
        if given is None or not _chooses(fit.argument(None, "callbacks")) or not _is_named_test(fit):
            continue
        inputs = given.members[0] if isinstance(given, Group) and given.members else given
        after = program.calls[program.calls.index(fit) + 1 :]
        later = {id(one) for one in after}
        reported = next((use for use in uses if id(use.call) in later and _is_same(use.inputs, inputs)), None)
        if reported is not None and reported.role in ("validation", "prediction"):
            yield program.finding(
                chosen_on_test_data,
                fit.expression,
                "The best epoch is chosen by the score on the test data, on which the model is then judged: the score "
                "will promise too much.",
            )


def _chooses(callbacks: Value | None) -> bool:
    """A callback keeps the weights of the epoch with the best validation score."""
    for one in walk(callbacks, 60):
        if not isinstance(one, Call):
            continue
        monitor = one.argument(1 if one.name.endswith("Checkpoint") else 0, "monitor")
        seen = monitor is None or (isinstance(monitor, Literal) and str(monitor.value).startswith("val"))
        option = {"ModelCheckpoint": "save_best_only", "EarlyStopping": "restore_best_weights"}
        kept = one.argument(None, option.get(one.name.rpartition(".")[2], ""))
        if seen and isinstance(kept, Literal) and kept.value is True:
            return True
    return False


def _is_named_test(fit: Call) -> bool:
    node = next((one.value for one in fit.expression.keywords if one.arg == "validation_data"), None)
    names = [one.id for one in ast.walk(node) if isinstance(one, ast.Name)] if node is not None else []
    return any(_TEST.search(name) for name in names)


def _is_same(first: Value, second: Value) -> bool:
    if first is second:
        return True
    sources = [{id(one) for one in pipelines_in(value)} for value in (first, second)]
    if sources[0] & sources[1]:
        return True
    same = isinstance(first, Item) and isinstance(second, Item) and first.base is second.base
    return same and isinstance(first, Item) and isinstance(second, Item) and first.index is second.index


MEASURED_RULES = [accuracy_of_scores, compared_by_broadcast, chosen_on_test_data]
