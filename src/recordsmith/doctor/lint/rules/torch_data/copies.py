"""Rules on examples that get into training and test data alike."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import (
    Call,
    Group,
    Item,
    Literal,
    Many,
    Object,
    Operation,
    Slice,
    Value,
    walk,
)
from recordsmith.doctor.lint.libraries.control_flow import enclosing, function_of
from recordsmith.doctor.lint.libraries.rows import bound_key
from recordsmith.doctor.lint.libraries.tensorflow.pipelines import Pipeline
from recordsmith.doctor.lint.libraries.torch.data import split_of
from recordsmith.doctor.lint.program import Program
from recordsmith.doctor.lint.rules.torch.splits import torch_loaders, trains
from recordsmith.rules import Finding, Severity, rule

__all__ = ["COPY_RULES"]

_SPLITS = re.compile(r"sklearn\.model_selection\.train_test_split|torch\.utils\.data\.random_split|\.train_test_split")
_SHUFFLES = re.compile(r"random\.shuffle|numpy\.random\.shuffle|\.shuffle")


@rule("P159", "versions-split-apart", Severity.WARNING)
def versions_split_apart(program: Program) -> Iterator[Finding]:
    """Several versions are made of each example, and then all of them are split at random.

    Why it matters:
        Versions of one example, augmented, shifted or cut from the same recording, come into training and into test
        data. The model is tested on what it has nearly seen, and the score is too good.

    Example:
        `ConcatDataset([plain, augmented])` of the same files, then `random_split`; or a loop that appends five versions
        of each row, then `train_test_split`.

    Fix:
        Split first, and make the versions of the training part only.
    """
    for call in program.calls:
        if not _SPLITS.fullmatch(call.name) or not call.args or call.node is None:
            continue
        twice = _joined_twice(call.args[0]) or _multiplied(call.args[0])
        if twice:
            yield program.finding(
                versions_split_apart,
                call.expression,
                f"{twice}, and they are split at random: versions of the same example are in both parts.",
            )
            return
        for one in (part for argument in call.args for part in walk(argument, 120)):
            place = _appended_versions(program, one) if isinstance(one, Group) and one.grown else None
            if place is not None:
                yield program.finding(
                    versions_split_apart,
                    place,
                    "Several rows are made from each row here, and all of them are split at random afterwards: rows "
                    "that come from the same one are in both parts.",
                )
                return


def _joined_twice(value: Value) -> str:
    """Two datasets of the same files, joined: one plain and one augmented."""
    if not isinstance(value, Call) or value.name != "torch.utils.data.ConcatDataset" or not value.args:
        return ""
    members = value.args[0].members if isinstance(value.args[0], Group) else ()
    if len({id(one) for one in members}) < len(members):
        return "The same dataset is joined with itself"
    for one, other in itertools.combinations(members, 2):
        if isinstance(one, Call) and isinstance(other, Call) and _reads_same(one, other):
            return "Two datasets of the same files are joined"
        if isinstance(one, Object) and isinstance(other, Object) and one.program_class is other.program_class:
            nodes = [getattr(made.node, "args", []) for made in (one, other)]
            if nodes[0] and nodes[1] and ast.unparse(nodes[0][0]) == ast.unparse(nodes[1][0]) and len(nodes[0]) < 3:
                return "Two datasets of the same rows are joined"
    return ""


def _multiplied(value: Value) -> str:
    """A list of examples that holds some of them several times: `good + bad * 5`."""
    rows = list(value.fields.values()) if isinstance(value, Object) else []
    for one in (part for row in rows for part in walk(row, 12)):
        if isinstance(one, Operation) and one.operator == "*" and len(one.operands) == 2:
            left, right = one.operands
            if isinstance(left, Many | Group) and isinstance(right, Literal) and _is_several(right.value):
                return "Some examples are in the list several times"
    return ""


def _is_several(number: object) -> bool:
    return isinstance(number, int) and number > 1


def _reads_same(one: Call, other: Call) -> bool:
    if one.name != other.name or not one.args or not other.args or _differs(one, other):
        return False
    return bound_key(one.args[0]) == bound_key(other.args[0])


def _differs(one: Call, other: Call) -> bool:
    """They read different splits."""
    return any(
        bound_key(one.argument(place, name)) != bound_key(other.argument(place, name))
        for place, name in ((1, "train"), (None, "split"), (None, "image_set"))
        if one.name.startswith("torchvision.datasets.") and not one.name.endswith("Folder")
    )


def _appended_versions(program: Program, group: Group) -> ast.AST | None:
    """The innermost of two loops that appends: the outer one goes over the rows, the inner one over constants."""
    made = getattr(group.node, "parent", None)
    area = function_of(group.node) if group.node is not None else None
    targets = made.targets if isinstance(made, ast.Assign) else []
    names = {one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)}
    for node in ast.walk(area or program.source.tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[value]) if name in names:
                loops = [one for one, _ in enclosing(node) if isinstance(one, ast.For)]
                if len(loops) == 2 and _is_constant(program, loops[0].iter) and _uses(value, loops):
                    return node
    return None


def _uses(value: ast.expr, loops: list[ast.For]) -> bool:
    """What is appended depends on the row, through the names that the outer loop sets."""
    stored = {one.id for one in ast.walk(loops[1]) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    return bool({one.id for one in ast.walk(value) if isinstance(one, ast.Name)} & stored)


def _is_constant(program: Program, over: ast.expr) -> bool:
    """It goes over a few numbers that do not depend on the row: `range(5)`, `(0, 90, 180)`, or the name of such."""
    match over:
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return bool(parts) and all(isinstance(one, ast.Constant | ast.UnaryOp) for one in parts)
        case ast.Call(func=ast.Name(id="range"), args=[ast.Constant() | ast.Name(id=_)]):
            given = over.args[0]
            return isinstance(given, ast.Constant) or bool(
                re.search(r"aug|version|copies|repeat|crops", ast.unparse(given))
            )
        case ast.Name(id=name):
            found = [
                one.value
                for one in program.source.tree.body
                if isinstance(one, ast.Assign) and any(ast.unparse(target) == name for target in one.targets)
            ]
            return len(found) == 1 and not isinstance(found[0], ast.Name) and _is_constant(program, found[0])
    return False


@rule("P173", "cut-from-two-orders", Severity.ERROR)
def cut_from_two_orders(program: Program) -> Iterator[Finding]:
    """Training data is cut from a shuffled copy of the rows, and test data from the rows as they were.

    Why it matters:
        The first 1,000 rows of the one order and the rest of another one have most rows in common: the model is tested
        on rows that it was trained on.

    Example:
        `shuffled = rows[:]; random.shuffle(shuffled)`, then `shuffled[1000:]` for training and `rows[:1000]` for
        validation.

    Fix:
        Cut once, and shuffle the training part only.
    """
    shuffled = {id(one.args[0]) for one in program.calls if _SHUFFLES.fullmatch(one.name) and one.args}
    loaders = torch_loaders(program)
    pairs = itertools.product(
        [one for one in loaders if trains(program, one)], [one for one in loaders if program.is_for_testing(one)]
    )
    for train, test in pairs:
        for (first, cut), (second, other) in itertools.product(_cuts(train), _cuts(test)):
            orders = [_orders(one, shuffled) for one in (first, second)]
            if orders[0] is None or orders[1] is None or orders[0][0] is not orders[1][0]:
                continue
            ends = {bound_key(cut.lower), bound_key(other.upper)}, {bound_key(cut.upper), bound_key(other.lower)}
            apart = any(len(one) == 1 and None not in one for one in ends)
            if apart and orders[0][1] != orders[1][1] and test.source.call is not None:
                yield program.finding(
                    cut_from_two_orders,
                    test.source.call.expression,
                    f"{program.name_of(train)} and {program.name_of(test)} are cut from two different orders of the "
                    "same rows: they overlap, and test rows are trained on.",
                )
                return


def _cuts(pipeline: Pipeline) -> list[tuple[Value, Slice]]:
    """The slices that a loader's dataset is made of, each with what it was cut from."""
    dataset = pipeline.source.call.argument(0, "dataset") if pipeline.source.call is not None else None
    if dataset is None or split_of(dataset) is not None:
        return []
    values = list(dataset.fields.values()) if isinstance(dataset, Object) else list(getattr(dataset, "args", ()))
    values += [dataset] if isinstance(dataset, Item) else []
    items = [one for value in values for one in walk(value, 30) if isinstance(one, Item)]
    return [
        (one.base, one.index) for one in items if isinstance(one.index, Slice) and (one.index.lower or one.index.upper)
    ]


def _orders(value: Value, shuffled: set[int]) -> tuple[Value, int | None] | None:
    """The rows that a value is a copy of, and the shuffle that it went through."""
    order: int | None = None
    for _ in range(12):
        if id(value) in shuffled:
            order = id(value)
        match value:
            case Many(over=(Item(index=Slice(lower=None, upper=None)) as whole,)):
                value = whole
            case Item(base=base, index=Slice(lower=None, upper=None)):
                value = base
            case Call(name="builtins.list" | "copy.copy" | "copy.deepcopy", args=(inner, *_)):
                value = inner
            case Call(name=".copy", receiver=inner) if inner is not None:
                value = inner
            case _:
                break
    return (value, order) if isinstance(value, Call | Item | Many | Group) else None


_GROUP = re.compile(
    r"^(patient|subject|participant|speaker|person|case|study|slide|scan|recording|session|user|animal)s?_?"
    r"(id|name|nr|no|num|number|code|key)?s?$",
    re.IGNORECASE,
)


@rule("P176", "groups-split-apart", Severity.WARNING)
def groups_split_apart(program: Program) -> Iterator[Finding]:
    """Rows of the same patient, speaker or recording are split at random.

    Why it matters:
        Images of one patient resemble each other more than those of two patients with the same illness. With some of
        them in training and some in test data, the model recognises the patient, and the score is too good.

    Example:
        A table with a column `patient_id`, and `train_test_split(table, test_size=0.2)`.

    Fix:
        Split the patients: `GroupShuffleSplit(test_size=0.2).split(table, groups=table["patient_id"])`.
    """
    if program.mentions(r"Group\w*(Split|Fold)\(|groups=|LeaveOneGroup|\.isin\("):
        return
    counted = {
        str(one.args[0].value): one
        for one in program.calls
        if one.name == ".groupby" and one.args and isinstance(one.args[0], Literal) and one.receiver is not None
    }
    columns = {
        str(item.index.value): item.base
        for item in program.items
        if isinstance(item, Item) and isinstance(item.index, Literal) and isinstance(item.index.value, str)
    }
    tables = {name: one.receiver for name, one in counted.items() if one.receiver is not None} | columns
    groups = {name: table for name, table in tables.items() if _GROUP.match(name)}
    named = dict(_parts_of_names(program))
    for call in program.calls:
        if not _SPLITS.fullmatch(call.name) or not call.args or call.node is None:
            continue
        parts = [part for argument in call.args for part in walk(argument, 80)]
        name = next((one for one, table in groups.items() if any(part is table for part in parts)), None)
        if name is None:
            name = next((one for one, row in named.items() if any(part is call for part in walk(row, 200))), None)
        if name is not None and not any(
            isinstance(part, Call) and part.name in (".unique", ".groupby") for part in parts
        ):
            yield program.finding(
                groups_split_apart,
                call.expression,
                f"The rows are split at random, and several of them may have the same `{name}`: the same one is then "
                "in both parts.",
                severity=None if name in counted or name in named else Severity.INFO,
            )
            return


def _parts_of_names(program: Program) -> Iterator[tuple[str, Value]]:
    """The patient in `f"{row.patient}_{row.slice}.npy"`, and the row: there are several files of each."""
    columns: dict[int, list[Item]] = {}
    for item in (*program.items, *program.attributes):
        parent = getattr(item.node, "parent", None)
        if isinstance(item, Item) and isinstance(parent, ast.FormattedValue):
            columns.setdefault(id(parent.parent), []).append(item)  # type: ignore[attr-defined]
    for found in columns.values():
        named = {str(one.index.value): one.base for one in found if isinstance(one.index, Literal)}
        for name, row in named.items():
            if _GROUP.match(name) and len(named) > 1:
                yield name, row


COPY_RULES = [versions_split_apart, cut_from_two_orders, groups_split_apart]
