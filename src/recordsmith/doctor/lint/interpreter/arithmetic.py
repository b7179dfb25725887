"""Operators on what is known."""

from __future__ import annotations

import ast
import operator as operators
from collections.abc import Callable
from typing import Any

from recordsmith.doctor.lint.interpreter.values import Choice, Group, Literal, Operation, Table, Unknown, Value

__all__ = ["combine"]

_LARGEST = 10**15
_LONGEST = 4096  # members of a list that is written as [0] * n

_NUMBERS: dict[type[ast.operator], tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Add: ("+", operators.add),
    ast.Sub: ("-", operators.sub),
    ast.Mult: ("*", operators.mul),
    ast.Div: ("/", operators.truediv),
    ast.FloorDiv: ("//", operators.floordiv),
    ast.Mod: ("%", operators.mod),
    ast.Pow: ("**", operators.pow),
    ast.MatMult: ("@", operators.matmul),
}


def combine(operator: ast.operator, left: Value, right: Value, node: ast.expr) -> Value:
    """Return what an operator makes of two values: a constant where both are.

    >>> combine(ast.Mult(), Literal(8), Literal(16), None).value
    128
    """
    sign, compute = _NUMBERS.get(type(operator), ("?", operators.add))
    if isinstance(left, Choice) or isinstance(right, Choice):
        return Operation(sign, (left, right), node=node)
    if isinstance(left, Literal) and isinstance(right, Literal) and sign != "?":
        return _constant(sign, compute, left.value, right.value, node)
    if isinstance(left, Table) and isinstance(right, Table) and isinstance(operator, ast.BitOr):
        return Table({**left.entries, **right.entries}, left.complete and right.complete, left.made_by, node=node)
    if isinstance(left, Group) and isinstance(right, Group) and sign == "+":
        return Group((*left.members, *right.members), is_list=left.is_list, node=node)
    times = right.value if isinstance(right, Literal) and isinstance(right.value, int) and sign == "*" else None
    if isinstance(left, Group) and times is not None and len(left.members) * times <= _LONGEST:
        return Group(left.members * times, is_list=left.is_list, node=node)
    return Operation(sign, (left, right), node=node)


def _constant(sign: str, compute: Callable[[Any, Any], Any], left: Any, right: Any, node: ast.expr) -> Value:
    if isinstance(left, str) and isinstance(right, str) and sign == "+":
        return Literal(left + right, node=node)
    numbers = all(isinstance(one, int | float) and abs(one) < _LARGEST for one in (left, right))
    if not numbers or (sign == "**" and abs(right) > 64):
        return Unknown(node=node)
    try:
        return Literal(compute(left, right), node=node)
    except (ArithmeticError, TypeError, ValueError):
        return Unknown(node=node)
