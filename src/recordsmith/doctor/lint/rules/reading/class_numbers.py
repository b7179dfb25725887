"""The rule on class numbers that depend on the order of a listing or of a set."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.edits import Edit
from recordsmith.doctor.lint.interpreter.values import Call, Item, Literal, Many, Symbol, Value, walk
from recordsmith.doctor.lint.program import Program
from recordsmith.doctor.lint.rules.reading.listings import LISTINGS
from recordsmith.rules import Finding, Severity, rule

__all__ = ["CLASS_NUMBER_RULES"]

_LABEL_WORDS = ("class", "label", "categ", "species", "speaker", "person", "intent", "tag", "breed", "genre", "emotion")
_TORCH = re.compile(r"^\s*(import|from) torch\b", re.MULTILINE)
_KEEPS_MODEL = re.compile(
    r"\.save(_weights|_model)?\(|ModelCheckpoint|load_model|load_weights|pickle\.dump|joblib\.dump"
)
_KEEPS_NUMBERS = re.compile(r"json\.dumps?\(|\.to_json\(")  # the numbers are saved beside the model
_KEEPS_ORDER = {"builtins.list", "builtins.tuple", "numpy.array"}


@rule("P250", "class-numbers-by-chance", Severity.WARNING)
def class_numbers_by_chance(program: Program) -> Iterator[Finding]:
    """Classes are numbered in the order of an unsorted listing or of a set.

    Why it matters:
        `os.listdir` gives folders in whatever order the file system keeps, and a set of strings has another order in
        every run. The same class then has another number on another machine, in the next run, or in the test folder:
        predictions of a saved model are read as other classes.

    Example:
        `for number, name in enumerate(os.listdir("train")): ...`, or `classes = list(set(labels))`.

    Fix:
        Sort: `enumerate(sorted(os.listdir("train")))`, `classes = sorted(set(labels))`; and save the list of classes
        with the model.
    """
    if _TORCH.search(program.source.text):
        return  # P126 is about PyTorch
    saved = bool(_KEEPS_NUMBERS.search(program.source.text))
    kept = bool(_KEEPS_MODEL.search(program.source.text))
    sorted_later = {id(one.receiver) for one in program.calls if one.name == ".sort"}
    seen: set[int] = set()
    for call in program.calls:
        source = _numbered(call)
        origin = None if source is None else _unsorted(source, sorted_later)
        if origin is None or origin.node is None or id(origin.node) in seen:
            continue
        if source is None or not (_is_about_classes(call, origin) or _is_learnt(program, call, source)):
            continue
        if _is_a_factor(call) or _is_left_unused(call) or _has_whole_numbers(program, origin):
            continue
        seen.add(id(origin.node))
        what = "a set" if origin.name == "builtins.set" else f"`{origin.name.rpartition('.')[2]}`"
        yield program.finding(
            class_numbers_by_chance,
            origin.expression,
            f"Classes are numbered in the order of {what}, which is not the same on every machine or in every run: the "
            "same class gets another number.",
            edits=_sorted(program, origin),
            certain=True,
            severity=None
            if (kept or (origin.args and _numbered_twice(program, call))) and not saved
            else Severity.INFO,
        )


def _is_left_unused(call: Call) -> bool:
    """A loop never uses the number."""
    loop = getattr(call.expression, "parent", None)
    number = _number_name(loop) if isinstance(loop, ast.For) else None
    if number is None or not isinstance(loop, ast.For):
        return False
    return not any(isinstance(one, ast.Name) and one.id == number for part in loop.body for one in ast.walk(part))


def _has_whole_numbers(program: Program, origin: Call) -> bool:
    """Integers are added to the set: their order does not change from run to run."""
    added = [one.args[0] for one in program.calls if one.name == ".add" and one.receiver is origin and one.args]
    return bool(added) and all(map(_is_whole_number, added))


def _is_whole_number(value: Value) -> bool:
    match value:
        case Call(name="builtins.int"):
            return True
        case Item(base=Call(name="builtins.map", args=(Symbol(path="builtins.int"), *_))):
            return True
    return False


def _is_learnt(program: Program, call: Call, numbered: Value) -> bool:
    """The numbers are the labels of a model, or its last layer has one unit for each of them."""
    for model in program.models:
        targets = [fit.argument(1, "y") for fit in model.fits]
        if any(part is call for target in targets for part in walk(target, 200)):
            return True
        units = model.last.argument(0, "units") if model.last is not None else None
        if isinstance(units, Call) and units.name == "builtins.len" and units.args and units.args[0] is numbered:
            return True
    return False


def _numbered_twice(program: Program, call: Call) -> bool:
    """The same place numbers the classes of two folders, as of training and test data."""
    return len({id(one) for one in program.calls if one.node is call.node and one.name == call.name}) > 1


def _numbered(call: Call) -> Value | None:
    """What is numbered by its order: by `enumerate`, or by `classes.index(name)`."""
    if call.name == "builtins.enumerate" and call.args:
        start = call.argument(1, "start")
        return None if isinstance(start, Literal) and start.value == 1 else call.args[0]
    if call.name == ".index" and len(call.args) == 1:
        return call.receiver
    return None


def _unsorted(value: Value, sorted_later: set[int]) -> Call | None:
    while True:
        if id(value) in sorted_later:
            return None
        if isinstance(value, Call) and (value.name == "builtins.set" or value.name in LISTINGS):
            return value
        if isinstance(value, Call) and value.name in _KEEPS_ORDER and value.args:
            value = value.args[0]
        elif isinstance(value, Many) and len(value.over) == 1:
            value = value.over[0]
        else:
            return None


def _is_about_classes(call: Call, origin: Call) -> bool:
    """A word of the statements says that classes are meant, or the number is used as a label."""
    words: list[str] = []
    for node in (call.expression, origin.expression):
        one: ast.AST = node
        while not isinstance(one, ast.stmt) and getattr(one, "parent", None) is not None:
            one = getattr(one, "parent", one)
        head = [one.target, one.iter] if isinstance(one, ast.For) else [one]
        for part in head:
            words += [item.id for item in ast.walk(part) if isinstance(item, ast.Name)]
            words += [item.attr for item in ast.walk(part) if isinstance(item, ast.Attribute)]
        number = _number_name(one)
        if number is not None and isinstance(one, ast.For) and _appends_to_labels(one, number):
            return True
    return any(word in name.lower() for name in words for word in _LABEL_WORDS)


def _is_a_factor(call: Call) -> bool:
    """A comprehension multiplies by the number, as for a falling share of each class: it numbers nothing."""
    match getattr(call.expression, "parent", None):
        case ast.comprehension(target=ast.Tuple(elts=[ast.Name(id=number), *_])) as clause:
            whole = getattr(clause, "parent", clause)
            products = [one for one in ast.walk(whole) if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Mult)]
            used = [one for one in ast.walk(whole) if isinstance(one, ast.Name) and one.id == number]
            inside = {id(part) for one in products for part in ast.walk(one)}
            return all(id(one) in inside or isinstance(one.ctx, ast.Store) for one in used)
    return False


def _number_name(statement: ast.AST) -> str | None:
    if isinstance(statement, ast.For) and isinstance(statement.target, ast.Tuple) and statement.target.elts:
        first = statement.target.elts[0]
        return first.id if isinstance(first, ast.Name) else None
    return None


def _appends_to_labels(loop: ast.For, number: str) -> bool:
    for node in ast.walk(loop):
        match node:
            case ast.Call(func=ast.Attribute(attr="append"), args=[ast.Tuple(elts=[_, ast.Name(id=given)])]) if (
                given == number  # a file and its number
            ):
                return True
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[ast.Name(id=given)]) if (
                given == number
                and (name.lower().startswith("y") or "label" in name.lower() or "target" in name.lower())
            ):
                return True
    return False


def _sorted(program: Program, origin: Call) -> list[Edit]:
    node: ast.AST = origin.expression
    source = getattr(node, "source", program.source)
    begin, end = source.span(origin.expression)
    return [Edit(begin, begin, "sorted("), Edit(end, end, ")")]


CLASS_NUMBER_RULES = [class_numbers_by_chance]
