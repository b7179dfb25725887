"""Windows of a series beside the value that is to be forecast from each, as a loop or comprehensions take them."""

from __future__ import annotations

import ast
import collections
import itertools
from collections.abc import Iterator, Mapping

__all__ = ["windows_with_last_value"]

_ARRAYS = {"array", "asarray", "stack", "float32", "list"}


def windows_with_last_value(node: ast.AST) -> Iterator[tuple[ast.Subscript, ast.Subscript]]:
    """Yield the windows that a loop or a block takes, each with a target that is its last value.

    >>> loop = ast.parse("for i in r: x.append(s[i:i + n]); y.append(s[i + n - 1])").body[0]
    >>> [ast.unparse(target) for _, target in windows_with_last_value(loop)]
    ['s[i + n - 1]']
    """
    body = getattr(node, "body", None)
    if not isinstance(body, list):
        return
    names: dict[str, ast.expr] = {}
    taken = list(_taken(body, names)) if isinstance(node, ast.For) else []
    pairs = list(itertools.permutations(taken, 2))
    listed = [one for statement in body if (one := _comprehension(statement)) is not None]
    for one, other in itertools.permutations(listed, 2):
        if ast.unparse(one.generators[0]) == ast.unparse(other.generators[0]):
            pairs.append((one.elt, other.elt))
    for first, second in pairs:
        window, target = _resolved(first, names), _resolved(second, names)
        if isinstance(window, ast.Subscript) and isinstance(target, ast.Subscript) and _ends(window, target, names):
            yield window, target


def _taken(body: list[ast.stmt], names: dict[str, ast.expr]) -> Iterator[ast.expr]:
    """What a loop appends, stores or yields; `names` gets what the names of its body stand for."""
    for statement in body:
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr="append"), args=[given])):
                yield given
            case ast.Expr(value=ast.Yield(value=ast.Tuple(elts=given))):
                yield from given
            case ast.Assign(targets=[ast.Subscript()], value=given):
                yield given
            case ast.Assign(targets=[ast.Name(id=name)], value=given):
                names[name] = given
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=given)):
                pairs = zip(targets, given, strict=False)
                names.update((one.id, value) for one, value in pairs if isinstance(one, ast.Name))


def _comprehension(statement: ast.stmt) -> ast.ListComp | None:
    """`x = [... for ... in ...]`, also as an array."""
    match statement:
        case ast.Assign(value=ast.ListComp(generators=[_]) as made):
            return made
        case ast.Assign(value=ast.Call(func=ast.Attribute(attr=name), args=[ast.ListComp(generators=[_]) as made, *_])):
            return made if name in _ARRAYS else None
    return None


def _resolved(node: ast.expr, names: Mapping[str, ast.expr]) -> ast.expr:
    for _ in range(len(names)):
        if not isinstance(node, ast.Name) or node.id not in names:
            break
        node = names[node.id]
    return node


def _ends(window: ast.Subscript, target: ast.Subscript, names: Mapping[str, ast.expr]) -> bool:
    """The target is the last value of the window: of the same series, and of a column that the window has."""
    rows, columns = _place(window)
    row, column = _place(target)
    if not isinstance(rows, ast.Slice) or rows.upper is None or rows.step is not None or isinstance(row, ast.Slice):
        return False
    whole = columns is None or (isinstance(columns, ast.Slice) and columns.lower is None and columns.upper is None)
    same_column = column is not None and columns is not None and ast.unparse(column) == ast.unparse(columns)
    same_series = ast.unparse(window.value) == ast.unparse(target.value)
    distance = _sum(rows.upper, names)
    distance.subtract(_sum(row, names))
    return same_series and (whole or same_column) and {key: n for key, n in distance.items() if n} == {"": 1}


def _place(taken: ast.Subscript) -> tuple[ast.expr, ast.expr | None]:
    """The rows and the columns that are taken."""
    index = taken.slice
    if isinstance(index, ast.Tuple) and len(index.elts) == 2:
        return index.elts[0], index.elts[1]
    return index, None


def _sum(node: ast.expr, names: Mapping[str, ast.expr], sign: int = 1, depth: int = 8) -> collections.Counter[str]:
    """How often each term is in a sum; the constant is the term "".

    >>> dict(_sum(ast.parse("i + n - 1", mode="eval").body, {}))
    {'i': 1, 'n': 1, '': -1}
    """
    match node:
        case ast.Constant(value=int() as number):
            return collections.Counter({"": sign * number})
        case ast.Name(id=name) if name in names and depth:
            return _sum(names[name], {key: one for key, one in names.items() if key != name}, sign, depth - 1)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as operator, right=right) if depth:
            found = _sum(left, names, sign, depth - 1)
            found.update(_sum(right, names, sign if isinstance(operator, ast.Add) else -sign, depth - 1))
            return found
    return collections.Counter({ast.unparse(node): sign})
