"""Rules on the parts of a split: mixed up, drawn apart, or not used where they should be."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.edits import Edit
from recordsmith.doctor.lint.interpreter.loops import pipelines_in
from recordsmith.doctor.lint.interpreter.values import Call, Literal, Value
from recordsmith.doctor.lint.libraries.fitting import ModelUse, model_uses, split_part
from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Finding, Severity, rule

__all__ = ["PART_RULES"]

_LABELS = re.compile(r"^(y|ys|labels?|targets?)([_\d]|$)|_(y|labels?|targets?)$", re.IGNORECASE)
_INPUTS = re.compile(r"^(x|xs|images?|features?|data|inputs?)([_\d]|$)|_(x|images?|features?|data)$", re.IGNORECASE)


@rule("P202", "validated-on-training-data", Severity.WARNING)
def validated_on_training_data(program: Program) -> Iterator[Finding]:
    """The validation data is the training data.

    Why it matters:
        The validation score then says how well the model has memorised, not how it does on new data: overfitting stays
        invisible, and early stopping has nothing to stop at.

    Example:
        `model.fit(train, validation_data=train)`

    Fix:
        Keep a part of the data apart before training, and validate on that.
    """
    uses = list(model_uses(program.calls))
    for use in uses:
        if use.role != "validation" or use.call.name not in (".fit", ".fit_generator"):
            continue
        trained = next(one for one in uses if one.call is use.call and one.role == "training")
        if _is_same(trained.inputs, use.inputs) and not isinstance(use.inputs, Literal):
            yield program.finding(
                validated_on_training_data,
                use.call.expression,
                "The validation data is the training data itself: the validation score cannot show overfitting.",
            )


def _is_same(first: Value, second: Value) -> bool:
    if first is second:
        return True
    one, other = pipelines_in(first), pipelines_in(second)
    return len(one) == 1 and len(other) == 1 and one[0] is other[0]


@rule("P203", "trained-on-the-whole-set", Severity.ERROR)
def trained_on_the_whole_set(program: Program) -> Iterator[Finding]:
    """A model is trained on all the data, and then tested on a part of it.

    Why it matters:
        The data is split, but `fit` is given the whole of it. The test part has been trained on, and its score is too
        good.

    Example:
        `x_train, x_test, y_train, y_test = train_test_split(x, y)`, then `model.fit(x, y)` and
        `model.score(x_test, y_test)`.

    Fix:
        Train on the training part: `model.fit(x_train, y_train)`.
    """
    uses = list(model_uses(program.calls))
    for position, use in enumerate(uses):
        if use.role != "training":
            continue
        later = _until_next_training(uses, position)
        for other in later:
            part = split_part(other.inputs)
            if part is not None and part.is_test and part.whole is use.inputs:
                yield program.finding(
                    trained_on_the_whole_set,
                    use.call.expression,
                    "The model is trained on the whole data, and then tested on a part that was split from it: the "
                    "test data has been trained on.",
                    evidence={"tested in line": other.call.expression.lineno},
                )
                break


def _until_next_training(uses: list[ModelUse], position: int) -> Iterator[ModelUse]:
    for use in uses[position + 1 :]:
        if use.model is uses[position].model:
            if use.role == "training" and use.call is not uses[position].call:
                return
            yield use


@rule("P204", "split-apart", Severity.ERROR)
def split_apart(program: Program) -> Iterator[Finding]:
    """Inputs and labels are split at random in two separate calls.

    Why it matters:
        Each call draws its own order. The labels then no longer belong to their inputs, no error is raised, and the
        model learns nothing.

    Example:
        `x_train, x_test = train_test_split(x)` and `y_train, y_test = train_test_split(y)`.

    Fix:
        Split both in one call: `x_train, x_test, y_train, y_test = train_test_split(x, y)`.
    """
    reported: set[int] = set()
    for use in model_uses(program.calls):
        first, second = split_part(use.inputs), split_part(use.targets)
        if first is None or second is None or first.split is second.split or first.whole is second.whole:
            continue
        if len(first.split.args) != 1 or len(second.split.args) != 1 or id(second.split) in reported:
            continue
        if _is_ordered(first.split) or _is_ordered(second.split) or _same_seed(first.split, second.split):
            continue
        reported.add(id(second.split))
        yield program.finding(
            split_apart,
            second.split.expression,
            "Inputs and labels are split at random in two separate calls: the labels no longer belong to their inputs.",
        )


def _is_ordered(split: Call) -> bool:
    shuffle = split.argument(None, "shuffle")
    return not split.exact or (isinstance(shuffle, Literal) and not shuffle.value)


def _same_seed(first: Call, second: Call) -> bool:
    seeds = [call.argument(None, "random_state") for call in (first, second)]
    if None in seeds:
        return False
    constants = [seed.value for seed in seeds if isinstance(seed, Literal)]
    return len(constants) < 2 or constants[0] == constants[1]


@rule("P205", "split-in-wrong-order", Severity.ERROR)
def split_in_wrong_order(program: Program) -> Iterator[Finding]:
    """The results of a split are assigned in the wrong order.

    Why it matters:
        `train_test_split(x, y)` returns both parts of `x` first, and then both parts of `y`. In another order, inputs
        are taken for labels. Where the shapes happen to fit, no error is raised.

    Example:
        `x_train, y_train, x_test, y_test = train_test_split(x, y)`

    Fix:
        `x_train, x_test, y_train, y_test = train_test_split(x, y)`
    """
    for call in program.calls:
        targets = _targets(call)
        if call.name.endswith("train_test_split") and len(targets) == 4 and len(call.args) == 2:
            names = [_word(one) for one in targets]
            wrong = _LABELS.search(names[1]) and _INPUTS.search(names[2]) and _INPUTS.search(names[0])
            if wrong and not _LABELS.search(_word(call.expression.args[0])):
                yield _misassigned(program, call, targets)


def _misassigned(program: Program, call: Call, targets: list[ast.expr]) -> Finding:
    source = getattr(call.expression, "source", program.source)
    spans = [source.span(one) for one in targets]
    texts = [source.text[begin:end] for begin, end in spans]
    return program.finding(
        split_in_wrong_order,
        call.expression,
        "The results are assigned in the wrong order: the call returns both parts of the first array, then both parts "
        "of the second one.",
        edits=[Edit(spans[1][0], spans[1][1], texts[2]), Edit(spans[2][0], spans[2][1], texts[1])],
        certain=True,
    )


def _targets(call: Call) -> list[ast.expr]:
    parent = getattr(call.node, "parent", None)
    target = parent.targets[0] if isinstance(parent, ast.Assign) and len(parent.targets) == 1 else None
    return target.elts if isinstance(target, ast.Tuple | ast.List) else []


def _word(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


PART_RULES = [split_in_wrong_order, split_apart, trained_on_the_whole_set, validated_on_training_data]
