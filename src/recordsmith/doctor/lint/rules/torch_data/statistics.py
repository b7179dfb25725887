"""Rules on the statistics that the data of a PyTorch program is scaled by."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from recordsmith.doctor.lint.interpreter.values import Call, Element, Item, Object, Operation, Value, walk
from recordsmith.doctor.lint.libraries.control_flow import loops_around
from recordsmith.doctor.lint.libraries.rows import is_alike, own_statistics
from recordsmith.doctor.lint.libraries.tensorflow.pipelines import Pipeline
from recordsmith.doctor.lint.libraries.torch.data import base_dataset, split_of
from recordsmith.doctor.lint.libraries.torch.modules import is_module, losses
from recordsmith.doctor.lint.libraries.torch.transforms import applied_transforms, step_name
from recordsmith.doctor.lint.program import Program
from recordsmith.doctor.lint.rules.torch.splits import torch_loaders, trains
from recordsmith.rules import Finding, Rule, Severity, rule

__all__ = ["STATISTIC_RULES", "fitted_before_torch_split"]

_SCALER = re.compile(r"sklearn\.preprocessing\.(Standard|MinMax|Robust|MaxAbs)Scaler|sklearn\.decomposition\.PCA")
_SCORES = re.compile(
    r"sklearn\.metrics\.(mean_squared_error|mean_absolute_error|r2_score|root_mean_squared_error"
    r"|mean_absolute_percentage_error|explained_variance_score|median_absolute_error)"
)
_ENCODER = re.compile(r"sklearn\.preprocessing\.(Label|Ordinal|OneHot)Encoder")
_NUMBERS = re.compile(
    r"vocab|stoi|(word|char|token|label|class|tag)_?(2|to)_?(id|idx|index|ix)?|classes", re.IGNORECASE
)
_MOST_PARTS = 400


def _scaled_steps(pipeline: Pipeline) -> list[Value]:
    """What scales the examples of a loader by statistics of many rows: own means, and scalers that are fitted there."""
    found: list[Value] = []
    for one in walk(pipeline.element, _MOST_PARTS):
        scaled = own_statistics(one)
        if scaled is not None and not any(_is_index(part) for part in walk(scaled.operands[1], 60)):
            found.append(scaled)
        elif _is_fit(one) and isinstance(one, Call) and not loops_around(one):
            found.append(one)
    return found


def _is_index(value: Value) -> bool:
    return isinstance(value, Element) and value.kind == "index"


def _is_fit(value: Value) -> bool:
    fits = isinstance(value, Call) and value.name == ".fit_transform" and isinstance(value.receiver, Call)
    return fits and isinstance(value, Call) and bool(_SCALER.fullmatch(getattr(value.receiver, "name", "")))


def _sides(program: Program) -> Iterator[tuple[Pipeline, Pipeline]]:
    """Each loader that is trained on, with each that is tested on."""
    loaders = torch_loaders(program)
    trained = [one for one in loaders if trains(program, one)]
    tested = [one for one in loaders if program.is_for_testing(one)]
    for train in trained:
        beside = [one for one in tested if _made_in(one) == _made_in(train)]
        yield from ((train, test) for test in beside or tested)


def _made_in(pipeline: Pipeline) -> tuple[int, ...]:
    """The calls that led to a loader: those of the same ones belong together."""
    call = pipeline.source.call
    return () if call is None else tuple(map(id, call.via))


def _dataset(pipeline: Pipeline) -> Value | None:
    call = pipeline.source.call
    return None if call is None else base_dataset(call.argument(0, "dataset"))


@rule("P161", "statistics-of-each-split", Severity.WARNING)
def statistics_of_each_split(program: Program) -> Iterator[Finding]:
    """Training and test data are each scaled by their own mean, range or scaler.

    Why it matters:
        The same measurement becomes another number in training and in testing. The model is tested on inputs that mean
        something else; and one new example alone has no mean and no deviation at all.

    Example:
        `self.x = (x - x.mean(0)) / x.std(0)` in the `__init__` of a dataset that is made for each split.

    Fix:
        Compute the statistics on the training data once, and give them to all splits.
    """
    yield from _constants_of_each(program)
    yield from _numbered_apart(program)
    for train, test in _sides(program):
        mine, others = _scaled_steps(train), _scaled_steps(test)
        if not mine and not others:
            mine, others = _encoded(train), _encoded(test)
        apart = [one for one in others if not any(one is other for other in mine)]
        if not mine or not apart or _dataset(train) is _dataset(test) or len(apart) != len(others):
            continue
        if type(mine[0]) is not type(apart[0]) or test.source.call is None:
            continue
        if isinstance(mine[0], Call) and isinstance(apart[0], Call) and mine[0].receiver is apart[0].receiver:
            continue  # one scaler that is fitted twice has a rule of its own
        yield program.finding(
            statistics_of_each_split,
            apart[0].node or test.source.call.expression,
            f"{program.name_of(test)} is prepared by what was fitted on itself, and the training data by what was "
            "fitted on the training data: the statistics differ, so the same value means something else in each.",
        )
        return


def _encoded(pipeline: Pipeline) -> list[Value]:
    """The encoders of labels and categories that are fitted on the rows of a loader."""
    return [
        one
        for one in walk(pipeline.element, _MOST_PARTS)
        if isinstance(one, Call)
        and one.name == ".fit_transform"
        and isinstance(one.receiver, Call)
        and _ENCODER.fullmatch(one.receiver.name)
    ]


def _constants_of_each(program: Program) -> Iterator[Finding]:
    """`Normalize` has a computed mean for training, and one that was computed on other data for testing."""
    for train, test in _sides(program):
        means = [
            step.argument(0, "mean")
            for one in (train, test)
            for _, steps, _ in applied_transforms(one.element)
            for step in steps
            if step_name(step) == "Normalize"
        ]
        if len(means) != 2 or means[0] is means[1] or test.source.call is None:
            continue
        computed = [
            any(isinstance(part, Call) and part.name.endswith("mean") for part in walk(one, 60)) for one in means
        ]
        if all(computed) and not is_alike(means[0], means[1]):
            yield program.finding(
                statistics_of_each_split,
                test.source.call.expression,
                f"`Normalize` of {program.name_of(test)} has other statistics than that of the training "
                "data: the same pixel means something else in each.",
            )
            return


def _numbered_apart(program: Program) -> Iterator[Finding]:
    """Each dataset numbers the words or classes that it meets itself."""
    for train, test in _sides(program):
        first, second = _dataset(train), _dataset(test)
        if not isinstance(first, Object) or not isinstance(second, Object) or first is second:
            continue
        if first.program_class is not second.program_class:
            continue
        methods = {one.name: one for one in first.program_class.definition.body if isinstance(one, ast.FunctionDef)}
        init, getter = methods.get("__init__"), methods.get("__getitem__")
        for name in first.fields if init is not None and getter is not None else ():
            made = _own_numbers(init, name) if init is not None and _NUMBERS.search(name) else None
            used = getter is not None and f"self.{name}" in ast.unparse(getter)
            if made is None or not used or first.fields[name] is second.fields.get(name):
                continue
            classes = "class" in name or "label" in name
            yield program.finding(
                statistics_of_each_split,
                made,
                f"Each dataset numbers what it meets itself, in `self.{name}`: the same "
                f"{'class may get' if classes else 'word gets'} another number in training and in testing.",
                advice="Make the numbers from the training data once, and give them to the other datasets.",
                severity=Severity.INFO if classes else None,
            )
            return


def _own_numbers(init: ast.FunctionDef, name: str) -> ast.AST | None:
    """The assignment that numbers words or classes by the rows of the dataset itself."""
    local = {
        ast.unparse(one.targets[0]): ast.unparse(one.value)
        for one in ast.walk(init)
        if isinstance(one, ast.Assign) and len(one.targets) == 1 and isinstance(one.targets[0], ast.Name)
    }
    for one in init.body:
        match one:
            case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"), attr=attribute)], value=value):
                text = ast.unparse(value)
                text += " ".join(local.get(part.id, "") for part in ast.walk(value) if isinstance(part, ast.Name))
                numbers = isinstance(value, ast.DictComp) and "enumerate" in text
                numbers |= isinstance(value, ast.Call) and "set(" in text
                if attribute == name and numbers and re.search(r"self\.\w+", text):
                    return one
    return None


def fitted_before_torch_split(program: Program, found_by: Rule[Any]) -> Iterator[Finding]:
    """Find statistics of all rows in a dataset that is split into training and test data afterwards."""
    for train, test in _sides(program):
        whole = _dataset(train)
        shared = [one for one in _scaled_steps(train) if any(one is other for other in _scaled_steps(test))]
        if whole is None or not shared or shared[0].node is None or not isinstance(whole, Object | Call):
            continue
        if whole is _dataset(test) and _is_part(test):
            yield program.finding(
                found_by,
                shared[0].node,
                "This takes the statistics of all rows, and the dataset is split into training and test data "
                "afterwards: the score will be too optimistic.",
            )
            return
    yield from _set_in_place(program, found_by)


def _is_part(pipeline: Pipeline) -> bool:
    """It reads a split of a dataset: a `Subset`, a part of `random_split`, or what a sampler draws."""
    call = pipeline.source.call
    if call is None:
        return False
    sampler = call.argument(3, "sampler")
    return split_of(call.argument(0, "dataset")) is not None or isinstance(sampler, Call)


def _set_in_place(program: Program, found_by: Rule[Any]) -> Iterator[Finding]:
    """`df[columns] = scaler.fit_transform(df[columns])`, and the table is cut into two parts afterwards."""
    for place, call in enumerate(program.calls):
        if call.name != ".__setitem__" or len(call.args) < 2 or call.receiver is None or call.node is None:
            continue
        table, value = call.receiver, call.args[1]
        fitted = next((one for one in walk(value, 60) if _is_fit(one)), None) or own_statistics(value)
        if fitted is None or not any(one is table for one in walk(value, 60)):
            continue
        if any(_splits(one, table) for one in program.calls[place:]) or _is_cut(program, table, call):
            yield program.finding(
                found_by,
                call.node,
                "This takes the statistics of all rows, and the table is cut into training and test data afterwards: "
                "the score will be too optimistic.",
            )
            return


def _splits(call: Call, table: Value) -> bool:
    return call.name.endswith("train_test_split") and any(part is table for one in call.args for part in walk(one, 40))


def _is_cut(program: Program, table: Value, after: Call) -> bool:
    """Both a beginning and an end of the table are taken after that place: `df[:n]` and `df[n:]`."""
    line = getattr(after.node, "lineno", 0)
    ends: set[str] = set()
    for item in program.items:
        if not isinstance(item, Item) or item.node is None or getattr(item.node, "lineno", 0) <= line:
            continue
        base: Value = item.base
        while isinstance(base, Item) and (base.attribute or not _bounds(base.index)):
            base = base.base
        if base is table:
            ends |= _bounds(item.index)
    return ends >= {"beginning", "end"}


def _bounds(index: Value) -> set[str]:
    lower, upper = getattr(index, "lower", None), getattr(index, "upper", None)
    return (
        {"beginning"}
        if lower is None and upper is not None
        else {"end"}
        if lower is not None and upper is None
        else set()
    )


@rule("P170", "scaled-predictions-scored", Severity.WARNING)
def scaled_predictions_scored(program: Program) -> Iterator[Finding]:
    """Predictions of a model that learnt scaled targets are compared with targets that are not scaled.

    Why it matters:
        The model gives numbers in the scale that it was trained on, such as 0 to 1. Compared with prices or degrees,
        every error is as large as the target itself, and the score says nothing about the model.

    Example:
        `y_train = scaler.fit_transform(y_train)` for training, and `mean_squared_error(y_test, model(x_test))`.

    Fix:
        Scale the predictions back first: `scaler.inverse_transform(predictions)`.
    """
    scaled = [call for call, _, _, target, _ in losses(program.calls) if any(map(_is_fit, walk(target, 60)))]
    for call in program.calls if scaled else ():
        if not _SCORES.fullmatch(call.name) or len(call.args) < 2 or call.node is None:
            continue
        sides = [list(walk(one, 200)) for one in call.args[:2]]
        predicted = [any(_is_prediction(one) for one in side) for side in sides]
        changed = [any(isinstance(one, Call) and one.name.endswith("transform") for one in side) for side in sides]
        inverted = any(isinstance(one, Call) and one.name == ".inverse_transform" for side in sides for one in side)
        unknown = any(_rescales(one) for side in sides for one in side)
        if sorted(predicted) != [False, True] or inverted or unknown or changed[predicted.index(False)]:
            continue
        yield program.finding(
            scaled_predictions_scored,
            call.expression,
            "The model learned scaled targets, and its predictions are compared here with targets that are not scaled: "
            "the score means nothing.",
        )
        return


def _is_prediction(value: Value) -> bool:
    return isinstance(value, Call) and value.name == "()" and is_module(value.receiver)


def _rescales(value: Value) -> bool:
    return isinstance(value, Operation) and value.operator in ("*", "+", "/")


STATISTIC_RULES = [statistics_of_each_split, scaled_predictions_scored]
