"""Rules on the windows of a time series: how they are split, and what is forecast from them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import (
    Call,
    Group,
    Item,
    Literal,
    Many,
    Operation,
    Slice,
    Symbol,
    Value,
    walk,
)
from recordsmith.doctor.lint.libraries.rows import bound_key, rows_of
from recordsmith.doctor.lint.program import Program
from recordsmith.doctor.lint.rules.splits.window_pairs import windows_with_last_value
from recordsmith.rules import Finding, Severity, rule

__all__ = ["WINDOW_RULES"]


@rule("P208", "windows-split-at-random", Severity.WARNING)
def windows_split_at_random(program: Program) -> Iterator[Finding]:
    """Overlapping windows of a time series are split at random.

    Why it matters:
        Neighbouring windows share nearly all their values. After a random split, nearly every test window has
        neighbours in the training data, and the model is tested on what it has seen. The score is far better than any
        forecast of the future will be.

    Example:
        `train_test_split(windows, targets)` with windows made by `series[i:i + 24]` for every `i`; or patches of 64
        pixels that begin every 16 pixels.

    Fix:
        Split by time: `train_test_split(windows, targets, shuffle=False)`, or train on the first part of the series and
        test on the rest.
    """
    for call in program.calls:
        if not call.args or not call.exact or not _splits_at_random(call):
            continue
        if any(_is_windows(one) for one in walk(call.args[0], 60)):
            yield program.finding(
                windows_split_at_random,
                call.expression,
                "Overlapping windows are split at random: nearly every test window has neighbours in the training "
                "data, and the score is too good.",
                advice="Give `shuffle=False`, so that the test data comes after the training data; split patches of "
                "images by the image that they come from.",
            )


def _splits_at_random(call: Call) -> bool:
    """`train_test_split(x)` shuffles unless told otherwise, `KFold(5).split(x)` only if it is told."""
    maker = call.receiver if call.name == ".split" else call
    name = maker.name if isinstance(maker, Call) else ""
    shuffle = maker.argument(None, "shuffle") if isinstance(maker, Call) else None
    if name.startswith("sklearn.model_selection.") and name.endswith(("train_test_split", "ShuffleSplit")):
        return not isinstance(shuffle, Literal) or bool(shuffle.value)
    folds = name.startswith("sklearn.model_selection.") and name.endswith("KFold")
    return folds and isinstance(shuffle, Literal) and bool(shuffle.value)


def _is_windows(value: Value) -> bool:
    """A list of slices of one series or image, each begun a little later than the one before, or made by numpy."""
    if isinstance(value, Call) and value.name == "numpy.lib.stride_tricks.sliding_window_view":
        return True
    if isinstance(value, Item) and isinstance(value.index, Operation) and value.index.operator == "+":
        axes = [_new_axis(one) for one in value.index.operands]
        return None not in axes and len(set(axes)) == 2
    members = value.members if isinstance(value, Group) and value.grown else ()
    members = (value.member,) if isinstance(value, Many) else members
    members = tuple(value.filled) if isinstance(value, Call) and value.filled else members
    return len(members) == 1 and _window(members[0]) is not None


def _new_axis(value: Value) -> int | None:
    """Where `np.arange(n)[:, None]` or `[None, :]` puts its new axis; None for anything else."""
    match value:
        case Item(base=Call(name="numpy.arange"), index=Group(members=(Slice(), Literal(value=None)))):
            return 1
        case Item(base=Call(name="numpy.arange"), index=Group(members=(Literal(value=None), Slice()))):
            return 0
        case Item(base=Call(name="numpy.arange"), index=Group(members=(Symbol(path="numpy.newaxis"), Slice()))):
            return 0
        case Item(base=Call(name="numpy.arange"), index=Group(members=(Slice(), Symbol(path="numpy.newaxis")))):
            return 1
        case Call(name="numpy.arange"):
            return 0
    return None


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
    if not isinstance(over, Call) or over.name != "builtins.range" or not (begins_there or ends_there):
        return None
    step = bound_key(over.args[2]) if len(over.args) == 3 else 1
    sizes = [bound_key(one) for one in upper.operands] if begins_there and isinstance(upper, Operation) else []
    overlap = step == 1 or any(isinstance(one, int) and isinstance(step, int) and step < one for one in sizes)
    return index if overlap else None


@rule("P209", "target-inside-window", Severity.ERROR)
def target_inside_window(program: Program) -> Iterator[Finding]:
    """The value to forecast is part of the window that it is forecast from.

    Why it matters:
        `series[i:i + n]` ends with `series[i + n - 1]`. If that is also the target, the model only has to copy its last
        input: the error is close to zero in every test, and the forecasts are worthless.

    Example:
        `x.append(series[i:i + n])` and `y.append(series[i + n - 1])`;
        `timeseries_dataset_from_array(data, data[:, 1], sequence_length=120)`, which pairs the window that begins at a
        row with the target of the same row; `df["target"] = df["close"].shift(1)`, which is the price of yesterday.

    Fix:
        Take the value after the window: `y.append(series[i + n])`, `timeseries_dataset_from_array(data[:-120],
        data[120:, 1], sequence_length=120)`, `df["close"].shift(-1)`.
    """
    yield from _windows_beside_targets(program)
    yield from _shifted_to_the_past(program)
    for node in program.source.nodes:
        for window, target in windows_with_last_value(node):
            yield program.finding(
                target_inside_window,
                target,
                f"`{program.text(target)}`, which is to be forecast, is the last value of the window "
                f"`{program.text(window)}` that it is forecast from.",
                advice="Take the value after the window: its index is where the window ends.",
            )


def _windows_beside_targets(program: Program) -> Iterator[Finding]:
    """Keras' windows of a series, each with a target that one of its own rows holds."""
    for call in program.calls:
        data, targets = call.argument(0, "data"), call.argument(1, "targets")
        length = call.argument(2, "sequence_length")
        if not call.name.endswith(".timeseries_dataset_from_array") or data is None or targets is None:
            continue
        series, answers = rows_of(data), rows_of(targets)
        rest = answers.cuts[len(series.cuts) :]
        begins = bound_key(rest[0].lower) or 0 if rest else 0
        inside = isinstance(begins, int) and (begins == 0 or _less(begins, length))
        whole = series.origin is answers.origin and answers.cuts[: len(series.cuts)] == series.cuts
        if whole and len(rest) < 2 and inside and any(one is data for one in walk(targets)):
            yield program.finding(
                target_inside_window,
                call.expression,
                f"The window that begins at row i is paired with the target of row i + {begins}, which is in the "
                "window: the model only has to copy it.",
                advice="Give the rows after each window as targets: `data[:-sequence_length]` as data, and "
                "`data[sequence_length:, column]` as targets.",
            )


def _less(begins: int, length: Value | None) -> bool:
    return isinstance(length, Literal) and isinstance(length.value, int) and begins < length.value


def _shifted_to_the_past(program: Program) -> Iterator[Finding]:
    """A column called target that is an earlier value: `shift(1)` moves values to later rows."""
    for call in program.calls:
        if call.name != ".shift" or len(call.args) > 1:
            continue
        periods = call.argument(0, "periods")
        earlier = periods is None or (isinstance(periods, Literal) and _less(0, periods))
        statement = getattr(call.expression, "parent", None)
        if not earlier or not isinstance(statement, ast.Assign):
            continue
        name = ""
        match statement.targets[0]:
            case ast.Subscript(slice=ast.Constant(value=str() as name)) | ast.Name(id=name):
                pass
        if re.fullmatch(
            r"(y|target|label|next|future|tomorrow)(_?(y|price|close|value|return|target)s?)?", name.lower()
        ):
            yield program.finding(
                target_inside_window,
                call.expression,
                f"`shift({1 if periods is None else bound_key(periods)})` puts an earlier value into {name!r}: the "
                "model is trained to predict what it already knows.",
                severity=Severity.WARNING,
                advice="Use a negative number, which takes a later value: `shift(-1)`.",
            )


WINDOW_RULES = [windows_split_at_random, target_inside_window]
