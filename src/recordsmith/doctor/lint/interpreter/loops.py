"""Loops: what they go over, and whether they train on it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.scope import Scope
from recordsmith.doctor.lint.interpreter.values import (
    Call,
    Function,
    Group,
    Item,
    Literal,
    Many,
    Object,
    Parameter,
    Symbol,
    Table,
    Unknown,
    Value,
    options_of,
)
from recordsmith.doctor.lint.libraries.tensorflow.pipelines import Pipeline

__all__ = [
    "builds_a_list",
    "known_members",
    "loop_values",
    "numbered",
    "only_tests",
    "pipelines_in",
    "range_members",
    "role_of_loop",
]

_LONGEST = 8  # members of a list that are followed one by one

_TRAINS = {
    "GradientTape",
    "apply_gradients",
    "backward",
    "grad",
    "minimize",
    "train_on_batch",
    "train_step",
    "trainstep",
    "train_batch",
    "value_and_grad",
}
_CHANGES_WEIGHTS = {"apply_gradients", "backward"}
_TESTS = {
    "eval_step",
    "evaluate",
    "predict",
    "predict_on_batch",
    "test_on_batch",
    "test_step",
    "val_step",
    "valid_step",
}


def loop_values(over: Value) -> Iterator[tuple[Value, Pipeline | None]]:
    """Yield what a loop's variable is, turn by turn where that matters, and the dataset that it comes from.

    >>> [value.value for value, _ in loop_values(Group((Literal(1), Literal(2))))]
    [1, 2]
    """
    match over:
        case Group(members=members) if 0 < len(members) <= _LONGEST:
            for member in members:
                yield member, None
        case Many(member=member):
            yield member, None
        case Parameter(name=name, annotation=str() as kind) if kind.startswith("list["):
            yield Parameter(name, annotation=kind[5:-1]), None
        case Table(entries=entries) | Call(name=".keys", receiver=Table(entries=entries)) if entries:
            for key in list(entries)[:_LONGEST]:
                yield Literal(key), None
        case Call(name=".items", receiver=Table(entries=entries)) if entries:
            for key, value in list(entries.items())[:_LONGEST]:
                yield Group((Literal(key), value)), None
        case Call(name=".values", receiver=Table(entries=entries)) if entries:
            for value in list(entries.values())[:_LONGEST]:
                yield value, None
        case Call(name="builtins.enumerate", args=(inner, *_)):
            pairs = numbered(over, _LONGEST)
            if pairs:
                yield from ((pair, None) for pair in pairs)
            else:
                number = Item(Item(over, Unknown()), Literal(0))
                yield from ((Group((number, value)), pipeline) for value, pipeline in loop_values(inner))
        case _:
            yield from _pipeline_values(over)


def known_members(over: Value) -> list[Value]:
    """Return the members of a short collection, where all of them are known: of a list, a dict, `enumerate`.

    >>> [one.value for one in known_members(Table({"train": Unknown(), "val": Unknown()}))]
    ['train', 'val']
    """
    match over:
        case Call(name="builtins.enumerate", args=(_, *_)):
            return list(numbered(over, _LONGEST))
        case Group(members=members, grown=False) if len(members) <= _LONGEST:
            return list(members)
        case (
            Table(entries=entries, complete=True)
            | Call(name=".items" | ".keys" | ".values", receiver=Table(entries=entries, complete=True))
        ) if len(entries) <= _LONGEST:
            return [value for value, _ in loop_values(over)] if entries else []
    return []


def range_members(over: Value) -> Group | None:
    """Return the numbers of a short `range` whose ends are known.

    >>> [one.value for one in range_members(Call("builtins.range", None, (Literal(1), Literal(3)))).members]
    [1, 2]
    """
    ends = over.args if isinstance(over, Call) and over.name == "builtins.range" and over.exact else ()
    numbers = [one.value for one in ends if isinstance(one, Literal) and not one.default and type(one.value) is int]
    if not 1 <= len(numbers) == len(ends) <= 3 or numbers[2:] == [0] or len(range(*numbers)) > _LONGEST:
        return None
    return Group(tuple(Literal(one) for one in range(*numbers)))


def builds_a_list(statement: ast.For | ast.AsyncFor) -> bool:
    """Tell whether a loop does nothing but put members into lists, as one does that makes the layers of a network."""
    added = [
        node
        for one in statement.body
        for node in ast.walk(one)
        if (isinstance(node, ast.Attribute) and node.attr in ("append", "extend", "add_module"))
        or (isinstance(node, ast.AugAssign) and isinstance(node.value, ast.List))
    ]
    plain = all(isinstance(one, ast.Assign | ast.AugAssign | ast.Expr | ast.If) for one in statement.body)
    words = {word for _, word in _words(statement.body, Scope(), depth=0)}
    return bool(added) and plain and not words & (_TRAINS | _TESTS | {"fit", "item", "step"})


def numbered(call: Call, longest: int) -> list[Group]:
    """Return the pairs that `enumerate` gives for a short list that is known; nothing for any other.

    >>> [pair.members[0].value for pair in numbered(Call("builtins.enumerate", None, (Group((Literal("a"),)),)), 8)]
    [0]
    """
    inner, start = call.args[0], call.argument(1, "start") or Literal(0)
    known = isinstance(inner, Group) and not inner.grown and 0 < len(inner.members) <= longest
    if not known or not isinstance(inner, Group) or not isinstance(start, Literal) or not isinstance(start.value, int):
        return []
    return [Group((Literal(start.value + position), one)) for position, one in enumerate(inner.members)]


def _pipeline_values(over: Value) -> Iterator[tuple[Value, Pipeline | None]]:
    found = pipelines_in(over)
    if not found:
        yield Item(over, Unknown()), None
    for pipeline in found:
        yield pipeline.element, pipeline


def pipelines_in(value: Value | None) -> list[Pipeline]:
    """Return the datasets that a value may be, through `iter`, `tqdm` and whatever else hands on what it is given.

    >>> pipelines_in(Unknown())
    []
    """
    found: list[Pipeline] = []
    for one in options_of(value):
        if isinstance(one, Pipeline):
            found.append(one)
        elif isinstance(one, Call) and _hands_on(one):
            inner = [*one.args[:1], *one.keywords.values()]
            if one.name.startswith(".") and one.name[1:] in ("as_numpy_iterator", "__iter__") and one.receiver:
                inner = [one.receiver]
            found += [pipeline for argument in inner for pipeline in pipelines_in(argument)]
    return found


def _hands_on(call: Call) -> bool:
    last = call.name.rpartition(".")[2]
    return last in {
        "as_numpy",
        "as_numpy_iterator",
        "experimental_distribute_dataset",
        "iter",
        "list",
        "tqdm",
        "track",
        "trange",
        "islice",
        "prefetch_to_device",
        "Progbar",
        "progress_bar",
    }


def role_of_loop(statement: ast.For | ast.AsyncFor, scope: Scope) -> str:
    """Tell whether a loop trains ("training"), tests ("validation"), or neither visibly ("loop")."""
    words = {word for _, word in _words(statement.body, scope, depth=3)}
    if words & _TRAINS:
        return "training"
    return "validation" if words & _TESTS else "loop"


def only_tests(statement: ast.For | ast.AsyncFor, scope: Scope, calls: list[Call]) -> bool:
    """Tell whether a loop does not reach the `backward` that it contains, itself or in functions that were followed.

    Such are the validation phase of a common loop, and a step whose argument says not to train.
    """
    changing = {within for within, word in _words(statement.body, scope, depth=3) if word in _CHANGES_WEIGHTS}
    followed = {"", *(name for call in calls for name in call.within)}
    reached = any(call.name.removeprefix(".") in _CHANGES_WEIGHTS for call in calls)
    return bool(calls) and bool(changing) and changing <= followed and not reached


def _words(body: list[ast.stmt], scope: Scope, *, depth: int, within: str = "") -> set[tuple[str, str]]:
    """The names that statements use, and those that the functions of the program use which they call.

    Each comes with the name of the function that it is in; "" for the statements themselves.
    """
    found: set[tuple[str, str]] = set()
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name):
                found.add((within, node.id))
                if depth:
                    found |= _words_of(scope.lookup(node.id), scope, depth=depth)
            elif isinstance(node, ast.Attribute):
                found.add((within, node.attr))
                if depth and isinstance(node.value, ast.Name):
                    owner = scope.lookup(node.value.id)
                    if isinstance(owner, Object):
                        found |= _words_of(owner.program_class.members.get(node.attr), scope, depth=depth)
    return found


def _words_of(value: Value | None, scope: Scope, *, depth: int) -> set[tuple[str, str]]:
    if isinstance(value, Function) and not isinstance(value.definition, ast.Lambda):
        definition = value.definition
        return _words(definition.body, value.scope or scope, depth=depth - 1, within=definition.name)
    if isinstance(value, Call) and value.name in ("jax.jit", "tensorflow.function", "jax.value_and_grad", "jax.grad"):
        words = {("", value.name.rpartition(".")[2])}
        return words.union(*(_words_of(argument, scope, depth=depth) for argument in value.args))
    return {("", value.path.rpartition(".")[2])} if isinstance(value, Symbol) else set()
