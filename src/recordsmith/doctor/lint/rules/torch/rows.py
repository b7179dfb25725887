"""Rules on the rows of a PyTorch dataset: files beside their labels, class numbers, columns."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import (
    Call,
    Function,
    Group,
    Item,
    Literal,
    Many,
    Object,
    Slice,
    Table,
    Value,
    walk,
)
from recordsmith.doctor.lint.libraries.control_flow import enclosing, function_of, statement_of
from recordsmith.doctor.lint.libraries.rows import is_alike
from recordsmith.doctor.lint.program import Program
from recordsmith.doctor.lint.rules.torch.splits import torch_loaders
from recordsmith.rules import Finding, Severity, rule

__all__ = ["ROW_RULES", "fields_shuffled_apart", "pairs_in_datasets"]

_BELONGS = re.compile(
    r"label|target|mask|annot|truth|class|caption|segment|depth|(^|_| )(y|gt|seg|hr|lr)", re.IGNORECASE
)
_CLASS = re.compile(r"class|label|target|categor|\bcls\b|species", re.IGNORECASE)
_SAVES = r"torch\.save|save_pretrained|load_state_dict|save_checkpoint"
_LISTINGS = {"os.listdir", "os.scandir", ".iterdir", "glob.glob", "glob.iglob", ".glob", ".rglob"}


@rule("P126", "classes-numbered-unsorted", Severity.WARNING)
def classes_numbered_unsorted(program: Program) -> Iterator[Finding]:
    """Classes are numbered in the order of a folder listing or a set, which is not certain.

    Why it matters:
        `os.listdir` and `iterdir` list in any order, and a set of texts has another order in every run. The numbers of
        the classes then differ between training and test data, between machines, and between training and prediction.

    Example:
        `class_to_index = {name: i for i, name in enumerate(os.listdir(folder))}`

    Fix:
        Sort first: `enumerate(sorted(os.listdir(folder)))`.
    """
    sorted_in_place = {id(one.receiver) for one in program.calls if one.name == ".sort"}
    for call in program.calls:
        yield from _numbered_by_place(program, call, sorted_in_place)
        if (
            call.name != "builtins.enumerate"
            or not call.args
            or id(call.args[0]) in sorted_in_place
            or call.node is None
            or not program.mentions(r"\btorch\b")
        ):
            continue
        kind = _unsorted(call.args[0])
        parent = getattr(call.node, "parent", None)
        if kind is None or not _numbers_classes(parent):
            continue
        saved = program.mentions(_SAVES)
        yield program.finding(
            classes_numbered_unsorted,
            call.expression,
            f"Classes are numbered in the order of {kind}, which is not certain: the same class may get another number "
            "in the next run or on another machine.",
            severity=Severity.INFO
            if (kind == "a set" and not saved)
            or not _gives_labels(program)
            or _WORDS.search(ast.unparse(parent or call.node))
            else None,
        )


_WORDS = re.compile(r"word|vocab|token|char", re.IGNORECASE)  # they are numbered once, and kept with the model


def _numbered_by_place(program: Program, call: Call, sorted_in_place: set[int]) -> Iterator[Finding]:
    """`classes.index(name)`, where `classes` is a folder listing or a list of a set."""
    if call.name != ".index" or len(call.args) != 1 or id(call.receiver) in sorted_in_place or call.receiver is None:
        return
    kind = _unsorted(call.receiver)
    statement = statement_of(call.expression)
    if (
        kind is None
        or not program.mentions(r"\btorch\b")
        or not _CLASS.search(ast.unparse(statement or call.expression))
    ):
        return
    yield program.finding(
        classes_numbered_unsorted,
        call.expression,
        f"The class number is a place in {kind}, whose order is not certain: the same class may get another number in "
        "the next run or on another machine.",
        severity=Severity.INFO if kind == "a set" and not program.mentions(_SAVES) else None,
    )


@rule("P179", "class-number-as-folder-name", Severity.WARNING)
def class_number_as_folder_name(program: Program) -> Iterator[Finding]:
    """The class number that a model predicts is used as the name of a folder of `ImageFolder`.

    Why it matters:
        `ImageFolder` numbers the folders in the order of their names as text: "0", "1", "10", "100", "2". Class 2 is
        then the folder "10". Names that are looked up with the predicted number belong to other classes.

    Example:
        `names[str(model(x).argmax().item())]`, where the folders are called "1" to "102".

    Fix:
        Look up the folder first: `names[dataset.classes[index]]`, with the `classes` of the training dataset.
    """
    folders = [one for one in program.calls if one.name == "torchvision.datasets.ImageFolder"]
    if not folders or program.mentions(r"class_to_idx|\.classes\b|idx_to_class"):
        return
    for item in program.items:
        node = item.node
        match node:
            case ast.Subscript(slice=ast.Call(func=ast.Name(id="str"), args=[_])):
                pass
            case _:
                continue
        index = item.index if isinstance(item, Item) else None
        predicted = any(
            isinstance(one, Call) and one.name.rpartition(".")[2] in ("argmax", "max", "topk")
            for one in walk(index, 60)
        )
        if predicted and node is not None:
            yield program.finding(
                class_number_as_folder_name,
                node,
                f"`{program.text(node)}` takes the predicted number for the name of a folder, but `ImageFolder` "
                "numbers the folders by their names as text: 0, 1, 10, 100, 2.",
            )
            return


def _gives_labels(program: Program) -> bool:
    """The class numbers are used: a dataset returns them, or a loss for classes takes them."""
    if program.mentions(r"[Cc]ross_?[Ee]ntropy|nll_loss|NLLLoss|num_classes"):
        return True
    getters = [one for one in program.source.nodes if isinstance(one, ast.FunctionDef)]
    returns = [node for one in getters if one.name == "__getitem__" for node in ast.walk(one)]
    texts = [ast.unparse(node) for node in returns if isinstance(node, ast.Return)]
    return any(re.search(r"label|target|class|\bcls\b|\by\b", text) for text in texts)


def _unsorted(value: Value) -> str | None:
    while isinstance(value, Call) and value.name == "builtins.list" and value.args:
        value = value.args[0]
    if isinstance(value, Call) and value.name in ("os.listdir", "os.scandir", ".iterdir"):
        return "a folder listing"
    match value:
        case Item(base=Call(name="builtins.next", args=(Call(name="os.walk"), *_)), index=Literal(value=1 | 2)):
            return "a folder listing"
    if isinstance(value, Many) and len(value.over) == 1 and not isinstance(value.node, ast.SetComp):
        return _unsorted(value.over[0])
    if isinstance(value, Call) and value.name == "builtins.set":
        return "a set"
    return "a set" if isinstance(value, Many) and isinstance(value.node, ast.SetComp) else None


def _numbers_classes(parent: ast.AST | None) -> bool:
    """It makes a table from names to numbers, or labels the files of one folder after the other."""
    if isinstance(parent, ast.comprehension):
        owner = getattr(parent, "parent", None)
        target = parent.target
        if isinstance(owner, ast.DictComp) and isinstance(target, ast.Tuple) and len(target.elts) == 2:
            return ast.unparse(owner.value) == ast.unparse(target.elts[0])
    if isinstance(parent, ast.For) and isinstance(parent.target, ast.Tuple):
        number = ast.unparse(parent.target.elts[0])
        counted = rf"\n *if {re.escape(number)} [<>=!]+ \d+:"  # a turn is counted, and no class numbered
        body = re.sub(counted, "", "\n".join(ast.unparse(one) for one in (parent, *parent.body)).partition("\n")[2])
        return bool(re.search(r"listdir|iterdir|glob", body)) and bool(re.search(rf"\b{re.escape(number)}\b", body))
    return False


@rule("P127", "same-column-twice", Severity.WARNING)
def same_column_twice(program: Program) -> Iterator[Finding]:
    """Two lists of a batch are filled from the same column.

    Why it matters:
        One of the inputs is a copy of another: what it should have been never reaches the model. No shape is wrong, so
        nothing is reported.

    Example:
        `ids.append(row[0]); types.append(row[0])`, where `row[1]` was meant.

    Fix:
        Take the column that belongs to each list.
    """
    for pipeline in torch_loaders(program):
        element = pipeline.element
        entries = list(element.entries.items()) if isinstance(element, Table) else []
        parts = [(str(key), value) for key, value in entries if not re.search(r"label|target|^y", str(key))]
        for (name, first), (other, second) in itertools.combinations(parts, 2):
            if first is second or not isinstance(second, Call) or second.node is None:
                continue
            if is_alike(first, second) and _is_of_row(second):
                yield program.finding(
                    same_column_twice,
                    second.via[-1] if second.via else second.expression,
                    f"{other!r} is made from the same column as {name!r}, in the same way: one is a copy of the other.",
                )
                return
    for node in program.source.nodes:
        block = getattr(node, "body", None)
        if not isinstance(node, ast.For) or not isinstance(block, list):
            continue
        filled: dict[str, str] = {}
        for statement in block:
            match statement:
                case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[value])):
                    text = ast.unparse(value)
                    column = any(
                        isinstance(one, ast.Subscript) and isinstance(one.slice, ast.Constant)
                        for one in ast.walk(value)
                    )
                    rows = {one.id for one in ast.walk(node.target) if isinstance(one, ast.Name)}
                    read = {one.id for one in ast.walk(value) if isinstance(one, ast.Name)}
                    if column and rows & read and text in filled and filled[text] != name and _is_batch_maker(node):
                        yield program.finding(
                            same_column_twice,
                            statement,
                            f"`{name}` is filled from the same column as `{filled[text]}`, with `{text}`: one is a "
                            "copy of the other.",
                        )
                    filled.setdefault(text, name)


def _is_of_row(value: Value) -> bool:
    """It is made from a column of the rows."""
    return any(
        isinstance(one, Item) and isinstance(one.index, Literal) and not one.attribute for one in walk(value, 60)
    )


def _is_batch_maker(node: ast.AST) -> bool:
    owner = function_of(node)
    return isinstance(owner, ast.FunctionDef) and bool(re.search(r"collat|pad|__call__|__getitem__|batch", owner.name))


def pairs_in_datasets(program: Program) -> Iterator[tuple[Call, str, str, bool]]:
    """Yield unsorted listings that a dataset pairs by index with something else.

    Each comes with its field, the other one, and whether a name or a table says that they belong together.
    """
    in_place = {id(one.receiver) for one in program.calls if one.name == ".sort"}
    seen: set[int] = set()
    for made in program.instances:
        getter = made.program_class.members.get("__getitem__")
        if not isinstance(getter, Function):
            continue
        indexed = _indexed_fields(getter)
        for name in indexed:
            listing = _field_listing(made, name)
            if (
                listing is None
                or id(listing.node) in seen
                or id(listing) in in_place
                or any(id(one) in in_place for one in walk(made.fields[name], 20))
            ):
                continue
            for other in indexed:
                if other == name or other not in made.fields:
                    continue
                value = made.fields[other]
                own = _field_listing(made, other)
                halves = own is listing and _is_other_half(made.fields[name], value)
                apart = (own is not None and own is not listing) or (own is None and _is_read(value)) or halves
                if (
                    apart
                    and (halves or not any(part is listing for part in walk(value)))
                    and _are_together(getter, name, other)
                ):
                    seen.add(id(listing.node))
                    belongs = own is None or halves or bool(_BELONGS.search(f"{name} {other}"))
                    yield listing, name, other, belongs
                    break


def fields_shuffled_apart(program: Program) -> Iterator[Call]:
    """Yield the second of two shuffles in place, of two lists that a dataset pairs by index."""
    shuffles = [one for one in program.calls if one.name in ("random.shuffle", "numpy.random.shuffle") and one.args]
    if sum(one.name.endswith(".seed") for one in program.calls) > 1:
        return  # the same seed before each gives the same order
    for made in program.instances if len(shuffles) > 1 else ():
        getter = made.program_class.members.get("__getitem__")
        names = _indexed_fields(getter) if isinstance(getter, Function) else []
        values = [made.fields[name] for name in names if name in made.fields]
        moved = {id(one.args[0]): one for one in shuffles if any(one.args[0] is value for value in values)}
        if len(moved) > 1:
            yield list(moved.values())[-1]
            return


def _is_other_half(one: Value, other: Value) -> bool:
    """Two lists are picked from one listing by different conditions: what is n-th in each has nothing in common."""
    picked = [value.node for value in (one, other) if isinstance(value, Many)]
    conditions = [
        [ast.unparse(test) for test in node.generators[0].ifs] for node in picked if isinstance(node, ast.ListComp)
    ]
    return len(conditions) == 2 and all(conditions) and conditions[0] != conditions[1]


def _are_together(getter: Function, one: str, other: str) -> bool:
    """They are not taken in the two branches of one condition."""
    places = [
        [
            (parent, child in parent.body)
            for parent, child in enclosing(node)
            if isinstance(parent, ast.If) and child is not parent.test
        ]
        for name in (one, other)
        for node in ast.walk(getter.definition)
        if isinstance(node, ast.Attribute) and node.attr == name
    ]
    return not any(a is b and x != y for first in places for second in places for a, x in first for b, y in second)


def _indexed_fields(getter: Function) -> list[str]:
    """The fields that `__getitem__` takes at its index, or at the batch that its index stands for."""
    arguments = getter.definition.args.args
    index = {arguments[1].arg} if len(arguments) > 1 else set()
    for node in ast.walk(getter.definition):
        match node:
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.BinOp() | ast.Call(func=ast.Name(id="slice")) as value
            ) if _names(value) & index:
                index.add(name)
    found: list[str] = []
    for node in ast.walk(getter.definition):
        match node:
            case ast.Subscript(value=ast.Attribute(value=ast.Name(id="self"), attr=name), slice=used) if _names(
                used
            ) & index and not any(isinstance(one, ast.Mod) for one in ast.walk(used)):
                found.append(name)
            case ast.Subscript(
                value=ast.Attribute(value=ast.Attribute(value=ast.Name(id="self"), attr=name), attr="iloc" | "loc"),
                slice=used,
            ) if _names(used) & index:
                found.append(name)
    return list(dict.fromkeys(found))


def _names(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def _field_listing(made: Object, name: str) -> Call | None:
    value = made.fields.get(name)
    for _ in range(8):
        if isinstance(value, Call) and value.name in _LISTINGS:
            return value
        if isinstance(value, Call) and value.name in ("builtins.list", "numpy.array", "builtins.tuple") and value.args:
            value = value.args[0]
        elif isinstance(value, Many) and len(value.over) == 1:
            value = value.over[0]
        elif isinstance(value, Item) and isinstance(value.index, Slice):
            value = value.base
        elif isinstance(value, Group) and value.grown and len(value.members) == 1:  # filled in a loop over the listing
            parts = list(walk(value.members[0], 30))
            looped = [one.base for one in parts if isinstance(one, Item) and not one.attribute]
            value = next((one for one in looped if isinstance(one, Call) and one.name in _LISTINGS), None)
            if any(isinstance(one, Call) and one.name.endswith("sorted") for one in parts):
                return None
        else:
            return None
    return None


def _is_read(value: Value) -> bool:
    names = [part.name for part in walk(value) if isinstance(part, Call)]
    return any(name in _LISTINGS for name in names) or any(
        name.startswith(("pandas.read_", "csv.", "numpy.load", "json.load", "numpy.genfromtxt", "scipy.io.loadmat"))
        or name in (".splitlines", ".readlines", ".read_text", "builtins.open")
        for name in names
    )


ROW_RULES = [classes_numbered_unsorted, class_number_as_folder_name, same_column_twice]
