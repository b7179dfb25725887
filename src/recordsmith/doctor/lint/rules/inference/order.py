"""The rule on predictions and labels that come in two different orders."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.loops import pipelines_in
from recordsmith.doctor.lint.interpreter.values import Call, Group, Item, Literal, Many, Operation, Table, Value, walk
from recordsmith.doctor.lint.libraries.fitting import ModelUse, model_uses
from recordsmith.doctor.lint.libraries.image_generators import flow_of
from recordsmith.doctor.lint.libraries.lists import name_of_list
from recordsmith.doctor.lint.libraries.rows import rows_of
from recordsmith.doctor.lint.libraries.tensorflow.pipelines import Pipeline
from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Finding, Severity, rule

__all__ = ["PREDICTION_ORDER_RULES"]

_IN_FILE_ORDER = {"classes", "labels", "filenames", "filepaths"}


@rule("P201", "predictions-in-another-order", Severity.ERROR)
def predictions_in_another_order(program: Program) -> Iterator[Finding]:
    """Predictions on a shuffling dataset are compared with labels in another order.

    Why it matters:
        A dataset that shuffles gives another order in every pass. Predictions come in the order of one pass, and the
        labels in that of another one, or in that of the files (`generator.classes`). The confusion matrix and every
        score made from them look like guessing, although the model may be good.

    Example:
        `confusion_matrix(generator.classes, model.predict(generator).argmax(1))`, where `flow_from_directory` shuffles
        by default.

    Fix:
        Make the dataset with `shuffle=False`, or take labels and predictions in one pass:
        `for x, y in dataset: predictions.append(model(x)); labels.append(y)`.
    """
    yield from _gathered_in_two_passes(program)
    for use in model_uses(program.calls):
        if use.role != "prediction":
            continue
        other = _file_order(program, use) or _other_pass(program, use)
        if other is not None:
            yield program.finding(
                predictions_in_another_order,
                use.call.expression,
                f"The data is shuffled, so the predictions come in a random order, and {other} come in another one: "
                "labels and predictions do not belong together.",
                advice="Give `shuffle=False` where this data is loaded, or collect labels and predictions in one loop.",
            )


def _gathered_in_two_passes(program: Program) -> Iterator[Finding]:
    """`[net(x) for x, _ in loader]` and `[y for _, y in loader]`: a DataLoader shuffles anew in each pass."""
    for value in _comparisons(program):
        passes: dict[int, dict[int, Many]] = {}
        for part in value.parts():
            for one in walk(part, 60):
                loaders = [over for over in one.over if isinstance(over, Pipeline)] if isinstance(one, Many) else []
                for loader in loaders:
                    if isinstance(one, Many) and loader.source.kind == "torch" and loader.source.shuffles is True:
                        passes.setdefault(id(loader), {})[id(one.node)] = one
        found = next((one for one in passes.values() if len(one) > 1), None)
        if found is not None and isinstance(value, Call) and value.node is not None:
            yield program.finding(
                predictions_in_another_order,
                value.expression,
                "These were gathered in two passes over a loader that shuffles, each in another order: labels and "
                "predictions do not belong together.",
                advice="Collect both in one loop, or make the loader with `shuffle=False`.",
            )
            return


def _file_order(program: Program, use: ModelUse) -> str | None:
    flow = flow_of(use.inputs)
    if flow is None or flow.shuffles is not True:
        return None
    table = flow.call.argument(0, "dataframe") if flow.call.name == ".flow_from_dataframe" else None
    for call in program.calls:
        stored = call.args[-1] if call.name == ".__setitem__" and table is not None and call.receiver is table else None
        if stored is not None and any(one is use.call for one in walk(stored)):
            return "the rows of the table"
    for item in program.attributes:
        if item.base is not flow.call or not isinstance(item.index, Literal) or _is_counted(item.node):
            continue
        if item.index.value in _IN_FILE_ORDER:
            return f"its `{item.index.value}`"
    return None


def _is_counted(node: ast.AST | None) -> bool:
    """`len(generator.filenames)`, which is the same in any order."""
    parent = getattr(node, "parent", None)
    return isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id in ("len", "set")


def _other_pass(program: Program, use: ModelUse) -> str | None:
    shuffled = [point for one in pipelines_in(use.inputs) if (point := _shuffles_at(one)) is not None]
    if not shuffled:
        return None
    gathered = _gathered(program, shuffled)
    for value in _comparisons(program):
        parts = list(value.parts())
        predicted = [one for one in parts if any(inner is use.call for inner in walk(one))]
        rest = [one for one in parts if not any(inner is use.call for inner in walk(one))]
        if predicted and any(_comes_from(one, shuffled) or _is_filled(one, gathered) for one in rest):
            return "the labels, read in a separate pass,"
        scored = isinstance(value, Call) and value.name.startswith("sklearn.metrics.")
        if predicted and scored and any(_is_table_of(one, shuffled) for one in rest):
            return "the labels, taken from the table itself,"
    return None


def _is_table_of(value: Value, shuffled: list[Pipeline]) -> bool:
    """Labels in the order of the table or array that the shuffled data was made from."""
    origin = rows_of(value).origin
    calls = [one.source.call for point in shuffled for one in point.origins() if one.source.kind == "slices"]
    known = isinstance(origin, Call | Item)
    return known and any(one is origin for call in calls if call is not None for one in walk(call))


def _gathered(program: Program, shuffled: list[Pipeline]) -> set[str]:
    """The lists that a loop over the same data fills, where the loop itself predicts nothing."""
    found: set[str] = set()
    for use in program.uses:
        if use.role != "loop" or not isinstance(use.node, ast.For):
            continue
        if not any(point in list(use.pipeline.ancestors()) for point in shuffled):
            continue
        for node in ast.walk(use.node):
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append" | "extend")):
                    found.add(name)
                case ast.AugAssign(target=ast.Name(id=name)):
                    found.add(name)
    return found


def _is_filled(value: Value, gathered: set[str]) -> bool:
    return any(isinstance(one, Group) and one.grown and name_of_list(one) in gathered for one in walk(value, 60))


def _comparisons(program: Program) -> Iterator[Value]:
    """What is made from predictions and something else: scores, tables, comparisons."""
    for call in program.calls:
        if len(call.args) + len(call.keywords) > 1:
            yield call
        for argument in call.args:
            compared = isinstance(argument, Operation) and argument.operator == "compare"
            if compared or isinstance(argument, Group | Table):
                yield argument


def _shuffles_at(pipeline: Pipeline) -> Pipeline | None:
    """The stage from which on every pass has an order of its own."""
    for one in pipeline.ancestors():
        if one.stage is not None and one.stage.name == "cache":
            return None
        if one.stage is not None and one.stage.name == "shuffle":
            return one if one.stage.constant(2, "reshuffle_each_iteration") is not False else None
    first = list(pipeline.ancestors())[-1]
    return first if first.source.shuffles and first.source.kind in ("directory", "files") else None


def _comes_from(value: Value, shuffled: list[Pipeline]) -> bool:
    for one in walk(value):
        if isinstance(one, Call) and one.name.startswith(".predict"):
            return False
        if isinstance(one, Pipeline) and any(point in list(one.ancestors()) for point in shuffled):
            return True
    return False


PREDICTION_ORDER_RULES = [predictions_in_another_order]
