"""Rules on ordered data: sorted by class, or by time."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import Call, Group, Item, Literal, Many, Operation, Slice, Value, walk
from recordsmith.doctor.lint.libraries.fitting import model_uses
from recordsmith.doctor.lint.libraries.lists import name_of_list
from recordsmith.doctor.lint.libraries.randomness import shuffles_values
from recordsmith.doctor.lint.libraries.rows import rows_of
from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Finding, Severity, rule

__all__ = ["ORDERED_RULES"]

_CONSTANT = {"numpy.zeros": 0, "numpy.ones": 1, "numpy.full": None, "numpy.zeros_like": 0, "numpy.ones_like": 1}
_JOINS = {"numpy.concatenate", "numpy.append", "numpy.hstack", "numpy.vstack", "numpy.r_"}
_LATER = re.compile(
    r"(y|target|label|next|future|tomorrow)(_?(y|price|close|value|return|target)s?)?", re.IGNORECASE
)  # names of what is to be forecast
# Sets of scikit-learn that come one class after the other.
_TIME = r"""parse_dates|to_datetime|DatetimeIndex|date_range|timeseries_dataset|["'](date|time|timestamp)["']"""
_SORTED_SETS = ("sklearn.datasets.load_iris", "sklearn.datasets.load_wine")
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
    for call in program.calls:
        shuffle = call.argument(None, "shuffle") if call.name.endswith("train_test_split") else None
        others = [one for one in program.calls if one is not call]
        in_order = isinstance(shuffle, Literal) and shuffle.value is False and len(call.args) == 2
        if in_order and _is_sorted(call.args[1]) and not shuffles_values(call.args[1], others):
            yield program.finding(
                validation_split_of_sorted_data,
                call.expression,
                "The labels are sorted by class, and without a shuffle the test data is the last part: it has only the "
                "last class, of which training sees little or nothing.",
                advice="Leave out `shuffle=False`, and use `stratify=y`.",
            )
    yield from _unshuffled_folders(program)


def _unshuffled_folders(program: Program) -> Iterator[Finding]:
    """A folder of classes, listed in order, of which the last part is kept for validation."""
    for call in program.calls:
        share, shuffle = call.argument(None, "validation_split"), call.argument(None, "shuffle")
        cut = isinstance(share, Literal) and bool(share.value)
        if call.name.endswith("_dataset_from_directory") and cut and isinstance(shuffle, Literal) and not shuffle.value:
            yield program.finding(
                validation_split_of_sorted_data,
                call.expression,
                "Without a shuffle the files are listed class by class, and `validation_split` takes the last of them: "
                "the validation data is only the last classes, which are missing from the training data.",
                advice="Leave out `shuffle=False`, and give both subsets the same `seed`.",
            )


def _is_sorted(value: Value) -> bool:
    """It was put together from one block for each class, or is a set that is stored so."""
    rows = rows_of(value)
    whole = rows.origin.base if isinstance(rows.origin, Item) else rows.origin
    if isinstance(whole, Call) and whole.name in _SORTED_SETS and not rows.orders:
        return True
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


@rule("P290", "filled-from-the-future", Severity.WARNING)
def filled_from_the_future(program: Program) -> Iterator[Finding]:
    """Gaps in a time series are filled with later values before the rows are cut by time.

    Why it matters:
        `bfill` puts the next known value into a gap. A row of the training data then holds what was measured later,
        and the last rows before the cut hold values of the test data: the score is too good.

    Example:
        `df = df.bfill()`, then `train, test = df[:cut], df[cut:]`.

    Fix:
        Fill with earlier values, `df.ffill()`, or fill after the cut.
    """
    if not program.mentions(_TIME):
        return
    for call in program.calls:
        method = call.argument(1, "method") if call.name == ".fillna" else None
        backwards = isinstance(method, Literal) and method.value in ("bfill", "backfill")
        if not backwards and call.name not in (".bfill", ".backfill"):
            continue
        cuts = [item for item in program.items if isinstance(item, Item) and isinstance(item.index, Slice)]
        bases = [(item.index, walk(item.base, 60)) for item in cuts]
        taken = [index for index, parts in bases if any(one is call for one in parts)]
        ends = any(isinstance(one, Slice) and one.lower is None and one.upper is not None for one in taken)
        begins = any(isinstance(one, Slice) and one.lower is not None for one in taken)
        if ends and begins:
            yield program.finding(
                filled_from_the_future,
                call.expression,
                "Gaps are filled with later values before the rows are cut by time: training rows hold what was "
                "measured later.",
                advice="Fill with earlier values: `ffill()`.",
            )


ORDERED_RULES = [
    filled_from_the_future,
    validation_split_of_sorted_data,
]
