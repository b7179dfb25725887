"""Whether a condition holds, where the source decides it."""

from __future__ import annotations

import operator as operators
from collections.abc import Callable
from typing import Any

from recordsmith.doctor.lint.interpreter.values import (
    Call,
    Choice,
    Function,
    Group,
    Literal,
    Object,
    Operation,
    ProgramClass,
    Symbol,
    Table,
    Value,
)
from recordsmith.doctor.lint.libraries.tensorflow.pipelines import Pipeline

__all__ = ["compare", "truth_of"]

_FLAGS = {
    "builtins.True": True,
    "builtins.False": False,
    "typing.TYPE_CHECKING": False,
    "six.PY3": True,
    "six.PY2": False,
}
_SHARES = {"random.random", "numpy.random.rand", "numpy.random.random", "torch.rand"}  # draws between 0 and 1


def truth_of(value: Value) -> bool | None:
    """Tell whether a value counts as true; None if the source does not say.

    >>> truth_of(Literal(0)), truth_of(Operation("+", ())), truth_of(Operation("main", ()))
    (False, None, True)
    """
    if isinstance(value, Literal):
        return None if value.default else bool(value.value)
    if isinstance(value, Symbol):
        return _FLAGS.get(value.path)
    if isinstance(value, Group):
        return bool(value.members) or None
    if isinstance(value, Table):
        return bool(value.entries) or (False if value.complete else None)
    if isinstance(value, Function | ProgramClass | Object):
        return True
    if isinstance(value, Operation) and value.operator == "main":
        return True
    if isinstance(value, Call) and value.name.startswith(("torchvision.transforms.", "albumentations.", "torch.nn.")):
        return True if value.name.rpartition(".")[2][:1].isupper() else None
    return None


def compare(operator: str, left: Value, right: Value) -> bool | None:
    """Decide a comparison by its operator's name in `ast`; None if the source does not say.

    >>> compare("Eq", Literal(3), Literal(3)), compare("Is", Pipeline(None), Literal(None))
    (True, False)
    """
    if isinstance(left, Choice) or isinstance(right, Choice):
        return None
    if isinstance(left, Literal) and isinstance(right, Literal):
        if left.default or right.default:
            return None
        return _compare_constants(operator, left.value, right.value)
    if isinstance(left, Symbol) and isinstance(right, Symbol) and operator in ("Eq", "Is", "NotEq", "IsNot"):
        return _compare_symbols(left.path, right.path, positive=operator in ("Eq", "Is"))
    if isinstance(right, Literal) and right.value is None and operator in ("Is", "Eq", "IsNot", "NotEq"):
        something = isinstance(left, Function | ProgramClass | Object | Group | Table | Pipeline | Symbol)
        something |= isinstance(left, Call) and left.name.rpartition(".")[2][:1].isupper()  # an instance of its class
        return (operator in ("IsNot", "NotEq")) if something else None
    if isinstance(left, Call) and left.name in _SHARES and isinstance(right, Literal) and not right.default:
        return _compare_share(operator, right.value)
    if isinstance(left, Literal) and isinstance(right, Table) and operator in ("In", "NotIn"):
        return (left.value in right.entries) == (operator == "In") if right.complete else None
    if isinstance(left, Literal) and isinstance(right, Group) and operator in ("In", "NotIn"):
        known = [one.value for one in right.members if isinstance(one, Literal)]
        return (left.value in known) == (operator == "In") if len(known) == len(right.members) else None
    return None


def _compare_share(operator: str, bound: object) -> bool | None:
    """Decide `random.random() < bound` for a bound that no draw between 0 and 1 passes, or that every draw does."""
    if not isinstance(bound, int | float) or operator not in ("Lt", "LtE", "Gt", "GtE") or 0 < bound < 1:
        return None
    if bound == 0 and operator in ("LtE", "Gt"):
        return operator == "Gt"
    return (bound >= 1) == (operator in ("Lt", "LtE"))


def _compare_symbols(left: str, right: str, *, positive: bool) -> bool | None:
    if left == right:
        return positive
    # Two types, or two members of one enumeration, as ModeKeys.TRAIN and ModeKeys.EVAL, differ; others may be aliases.
    family = left.rpartition(".")[0]
    same_family = family == right.rpartition(".")[0] and (family in ("builtins", "tensorflow") or "ModeKeys" in left)
    return (not positive) if same_family else None


def _compare_constants(operator: str, left: Any, right: Any) -> bool | None:
    try:
        return bool(_CONSTANTS[operator](left, right))
    except (TypeError, KeyError):
        return None


_CONSTANTS: dict[str, Callable[[Any, Any], Any]] = {
    "Eq": operators.eq,
    "NotEq": operators.ne,
    "Is": operators.eq,
    "IsNot": operators.ne,
    "Lt": operators.lt,
    "LtE": operators.le,
    "Gt": operators.gt,
    "GtE": operators.ge,
    "In": lambda left, right: left in right,
    "NotIn": lambda left, right: left not in right,
}
