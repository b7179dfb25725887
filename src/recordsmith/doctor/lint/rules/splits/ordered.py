"""Rules on ordered data: sorted by class, or cut from a time series."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import Call, Group, Item, Literal, Many, Operation, Slice, Value, walk
from recordsmith.doctor.lint.libraries.fitting import model_uses
from recordsmith.doctor.lint.libraries.lists import name_of_list
from recordsmith.doctor.lint.libraries.randomness import shuffles_values
from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Finding, Severity, rule

__all__ = ["ORDERED_RULES"]

_CONSTANT = {"numpy.zeros": 0, "numpy.ones": 1, "numpy.full": None, "numpy.zeros_like": 0, "numpy.ones_like": 1}
_JOINS = {"numpy.concatenate", "numpy.append", "numpy.hstack", "numpy.vstack", "numpy.r_"}
_KEEPS = {".astype", ".reshape", "numpy.array", "numpy.asarray", "keras.utils.to_categorical", "numpy.expand_dims"}


@rule("P207", "validation-split-of-sorted-data", Severity.ERROR)
def validation_split_of_sorted_data(program: Program) -> Iterator[Finding]:
    """`validation_split` is used on data that is sorted by class.

    Why it matters:
        `fit(validation_split=0.2)` takes the last fifth of the arrays, before any shuffle. If the arrays hold one class
        after the other, the validation data is only the last class, and the model is never trained on a part of it.

    Example:
        `y = np.concatenate([np.zeros(n), np.ones(m)])`, then `model.fit(x, y, validation_split=0.2)`.

    Fix:
        Shuffle inputs and labels together first: `order = np.random.permutation(len(x))`,
        `model.fit(x[order], y[order], validation_split=0.2)`.
    """
    for use in model_uses(program.calls):
        share = use.call.argument(None, "validation_split")
        if use.role != "training" or not isinstance(share, Literal) or not share.value:
            continue
        if use.targets is not None and _is_sorted(use.targets) and not shuffles_values(use.targets, program.calls):
            yield program.finding(
                validation_split_of_sorted_data,
                use.call.expression,
                "The labels are sorted by class, and `validation_split` takes the last part of the data: validation "
                "sees only the last class, and training little or nothing of it.",
            )


def _is_sorted(value: Value) -> bool:
    """It was put together from one block for each class."""
    while isinstance(value, Call) and value.name in _KEEPS:
        inner = value.receiver if value.name.startswith(".") else value.argument(0)
        if inner is None:
            return False
        value = inner
    if isinstance(value, Call) and value.name in _JOINS:
        members = value.argument(0)
        blocks = members.members if isinstance(members, Group) else value.args[:2]
        return len(blocks) > 1 and all(_is_block(one) for one in blocks)
    if isinstance(value, Operation) and value.operator == "+":
        return all(_is_block(one) for one in value.operands)
    return isinstance(value, Group) and value.grown and _by_outer_loop(value)


def _is_block(value: Value) -> bool:
    if isinstance(value, Call) and value.name in _CONSTANT:
        return True
    if isinstance(value, Operation) and value.operator == "*":
        return any(isinstance(one, Group) and len(one.members) == 1 for one in value.operands)
    if isinstance(value, Operation) and value.operator == "+":
        return all(_is_block(one) for one in value.operands)
    return isinstance(value, Many) and isinstance(value.member, Literal)


def _by_outer_loop(group: Group) -> bool:
    """A list to which an inner loop appends what only the loop around it changes: one class after the other."""
    name = name_of_list(group)
    for append in _appends(group, name):
        argument = append.args[0] if append.args else None
        loops = [one for one in _parents(append) if isinstance(one, ast.For)]
        if not isinstance(argument, ast.Name) or len(loops) < 2:
            return False
        inner, outer = loops[0], loops[1]
        assigned = {one.id for one in ast.walk(inner) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
        outside = {one.id for one in ast.walk(outer) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
        if argument.id not in assigned and argument.id in outside:
            return True
    return False


def _parents(node: ast.AST) -> Iterator[ast.AST]:
    one = getattr(node, "parent", None)
    while one is not None and not isinstance(one, ast.FunctionDef | ast.Module):
        yield one
        one = getattr(one, "parent", None)


def _appends(group: Group, name: str | None) -> Iterator[ast.Call]:
    """The calls of `name.append` in the block where a list is made."""
    block: ast.AST | None = group.node
    while block is not None and not isinstance(block, ast.FunctionDef | ast.Module):
        block = getattr(block, "parent", None)
    for node in ast.walk(block) if block is not None and name is not None else ():
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=found), attr="append")) if found == name:
                yield node


@rule("P208", "windows-split-at-random", Severity.WARNING)
def windows_split_at_random(program: Program) -> Iterator[Finding]:
    """Overlapping windows of a time series are split at random.

    Why it matters:
        Neighbouring windows share nearly all their values. After a random split, nearly every test window has
        neighbours in the training data, and the model is tested on what it has seen. The score is far better than any
        forecast of the future will be.

    Example:
        `train_test_split(windows, targets)` with windows made by `series[i:i + 24]` for every `i`.

    Fix:
        Split by time: `train_test_split(windows, targets, shuffle=False)`, or train on the first part of the series and
        test on the rest.
    """
    for call in program.calls:
        shuffle = call.argument(None, "shuffle")
        if not call.name.endswith("train_test_split") or not call.args or not call.exact:
            continue
        if isinstance(shuffle, Literal) and not shuffle.value:
            continue
        if any(_is_windows(one) for one in walk(call.args[0], 60)):
            yield program.finding(
                windows_split_at_random,
                call.expression,
                "Overlapping windows of one series are split at random: nearly every test window has neighbours in "
                "the training data, and the score is too good.",
                advice="Give `shuffle=False`, so that the test data comes after the training data.",
            )


def _is_windows(value: Value) -> bool:
    """A list of slices of one series, each begun one position later."""
    members = value.members if isinstance(value, Group) and value.grown else ()
    members = (value.member,) if isinstance(value, Many) else members
    return len(members) == 1 and _window(members[0]) is not None


def _window(value: Value) -> Slice | None:
    if not isinstance(value, Item):
        return None
    index = value.index.members[0] if isinstance(value.index, Group) and value.index.members else value.index
    if not isinstance(index, Slice) or not isinstance(index.lower, Item | Operation):
        return None
    upper = index.upper
    begins_there = isinstance(upper, Operation) and upper.operator == "+" and index.lower in upper.operands
    ends_there = isinstance(index.lower, Operation) and index.lower.operator == "-" and upper in index.lower.operands
    looped = next((one for one in (index.lower, upper) if isinstance(one, Item)), None)
    over = looped.base if looped is not None else None
    by_one = isinstance(over, Call) and over.name == "builtins.range" and len(over.args) < 3
    return index if (begins_there or ends_there) and by_one else None


@rule("P209", "target-inside-window", Severity.ERROR)
def target_inside_window(program: Program) -> Iterator[Finding]:
    """The value to forecast is part of the window that it is forecast from.

    Why it matters:
        `series[i:i + n]` ends with `series[i + n - 1]`. If that is also the target, the model only has to copy its last
        input: the error is close to zero in every test, and the forecasts are worthless.

    Example:
        `x.append(series[i:i + n])` and `y.append(series[i + n - 1])`.

    Fix:
        Take the value after the window: `y.append(series[i + n])`.
    """
    for node in program.source.nodes:
        if not isinstance(node, ast.For):
            continue
        appended = [found for one in node.body if (found := _appended(one)) is not None]
        for _, window in appended:
            upper = window.slice.upper if isinstance(window.slice, ast.Slice) else None
            for target_list, target in appended:
                if upper is None or isinstance(target.slice, ast.Slice) or not _same(target.value, window.value):
                    continue
                if ast.unparse(target.slice) == f"{ast.unparse(upper)} - 1":
                    yield program.finding(
                        target_inside_window,
                        target,
                        f"`{program.text(target)}`, which is to be forecast, is the last value of the window "
                        f"`{program.text(window)}` that it is forecast from.",
                        advice=f"Append `{ast.unparse(target.value)}[{ast.unparse(upper)}]` to `{target_list}`.",
                    )


def _appended(statement: ast.stmt) -> tuple[str, ast.Subscript] | None:
    match statement:
        case ast.Expr(
            value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[ast.Subscript() as given])
        ):
            return name, given
    return None


def _same(first: ast.expr, second: ast.expr) -> bool:
    return ast.unparse(first) == ast.unparse(second)


ORDERED_RULES = [validation_split_of_sorted_data, windows_split_at_random, target_inside_window]
