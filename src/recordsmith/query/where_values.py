"""Evaluates comparisons, arithmetic and functions of a condition on the values of one row."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from recordsmith.columns.offset_column import OffsetColumn
from recordsmith.errors import PipelineError

__all__ = ["added", "applied", "compared", "plain"]

_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_SUMS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
}
_OF_LISTS: dict[str, Callable[[Any], Any]] = {"min": min, "max": max, "sum": sum, "any": any, "all": all}


def plain(value: Any) -> Any:
    """Return a value of a row as Python's own, or a list of values as an array.

    Integers become Python's, which have no largest; a float32 stays one, so that it equals the 0.1 that it was.

    >>> plain(np.uint8(200)) + 100, plain([1, 2]).tolist(), plain(None)
    (300, [1, 2], None)
    """
    if value is None or value is np.ma.masked or isinstance(value, (bool, int, float, str, bytes)):
        return None if value is np.ma.masked else value
    if isinstance(value, (np.bool_, np.integer)):
        return value.item()
    if isinstance(value, np.floating):
        return value
    if isinstance(value, np.ndarray):
        return _plain_array(value)
    if isinstance(value, (bytearray, memoryview)):
        return bytes(value)
    if isinstance(value, (list, tuple, OffsetColumn)):
        return _plain_array(_as_array(list(value)))
    return value


def compared(sign: str, left: Any, right: Any, column: int) -> Any:
    """Compare two values, or a list with a value one by one; None where one is missing.

    >>> compared("<", 1, 2, 1), compared("==", None, 2, 1), compared("in", 7, np.array([5, 7]), 1)
    (True, None, True)
    >>> compared(">", np.array([5, 7]), 6, 1)
    array([False,  True])
    """
    if left is None or right is None:
        return None
    if sign in ("in", "not in"):
        return _contained(left, right, column) == (sign == "in")
    if isinstance(left, tuple) or isinstance(right, tuple):
        raise _unfit(
            f"The list at column {column} cannot be compared with {sign}", left, right, advice="Use 'in' with a list."
        )
    left, right = _alike(left, right)
    kinds = {_kind(left), _kind(right)}
    if len(kinds) > 1 or "other" in kinds:
        raise _unfit(f"The two sides of {sign!r} at column {column} cannot be compared", left, right)
    if isinstance(left, np.ndarray) and isinstance(right, np.ndarray) and left.shape != right.shape:
        raise _unfit(f"The two lists at column {column} have different lengths", left, right)
    with np.errstate(all="ignore"):  # NaN is less than nothing, and no error
        found = _COMPARISONS[sign](left, right)
    return found.astype(np.bool_) if isinstance(found, np.ndarray) else bool(found)


def added(sign: str, left: Any, right: Any, column: int) -> Any:
    """Do arithmetic with two numbers, or with lists of them; None where one is missing, or a number is divided by 0.

    >>> added("*", 3, 4, 1), added("/", 1, 0, 1), added("+", np.array([1, 2]), 10, 1).tolist()
    (12, None, [11, 12])
    """
    if left is None or right is None:
        return None
    left, right = _exact(left), _exact(right)
    if _kind(left) != "number" or _kind(right) != "number" or isinstance(left, tuple) or isinstance(right, tuple):
        raise _unfit(f"The two sides of {sign!r} at column {column} are not both numbers", left, right)
    if isinstance(left, np.ndarray) and isinstance(right, np.ndarray) and left.shape != right.shape:
        raise _unfit(f"The two lists at column {column} have different lengths", left, right)
    try:
        with np.errstate(all="ignore"):
            return _SUMS[sign](left, right)
    except (ZeroDivisionError, OverflowError):
        return None


def applied(function: str, value: Any, column: int) -> Any:
    """Apply a function; None where the value is missing, or where an empty list has no such thing.

    >>> applied("len", "cats", 1), applied("max", np.array([3, 5]), 1), applied("mean", np.array([]), 1)
    (4, 5, None)
    """
    if value is None:
        return None
    if function == "len":
        if isinstance(value, np.ndarray):
            return len(value) if value.ndim else None
        if hasattr(value, "__len__"):
            return len(value)
        raise _unfit(f"len() at column {column} needs a list or a string, not a single value", value)
    if function == "abs":
        if _kind(value) != "number":
            raise _unfit(f"abs() at column {column} needs numbers", value)
        return abs(_exact(value))
    if isinstance(value, (bool, np.bool_)) and function in ("any", "all"):
        return bool(value)
    if not isinstance(value, (np.ndarray, tuple)):
        raise _unfit(f"{function}() at column {column} needs a list", value)
    values = [plain(one) for one in np.asarray(value).reshape(-1)]
    if function in ("any", "all"):
        if any(_kind(one) != "number" for one in values):
            raise _unfit(f"{function}() at column {column} needs a comparison of a list", value)
        return bool(_OF_LISTS[function](values))
    if function in ("sum", "mean") and any(_kind(one) != "number" for one in values):
        raise _unfit(f"{function}() at column {column} needs numbers", value)
    if function == "sum":
        return sum(map(_double, values))
    if not values:
        return None
    return sum(map(_double, values)) / len(values) if function == "mean" else _OF_LISTS[function](values)


def _plain_array(array: np.ndarray[Any, Any]) -> Any:
    if isinstance(array, np.ma.MaskedArray):
        if array.size and bool(np.ma.getmaskarray(array).all()):
            return None
        array = np.ma.getdata(array)
    if array.ndim == 0:
        return plain(array[()])
    return array


def _as_array(values: list[Any]) -> np.ndarray[Any, Any]:
    try:
        array = np.asarray(values)
    except ValueError:  # rows of different lengths
        array = np.empty(0, object)
    if array.dtype.kind in "biuf" and len(array) == len(values):
        return array
    array = np.empty(len(values), object)
    for place, value in enumerate(values):
        array[place] = value
    return array


def _kind(value: Any) -> str:
    if isinstance(value, np.ndarray):
        if value.dtype.kind in "biuf":
            return "number"
        kinds = {_kind(one) for one in value.reshape(-1)} or {"number"}
        return kinds.pop() if len(kinds) == 1 else "other"
    if isinstance(value, (bool, int, float, np.number, np.bool_)):
        return "number"
    return "str" if isinstance(value, str) else "bytes" if isinstance(value, bytes) else "other"


def _alike(left: Any, right: Any) -> tuple[Any, Any]:
    """Let a string be compared with bytes, which is what text is before a schema says so; and floats with integers."""
    kinds = (_kind(left), _kind(right))
    if kinds == ("str", "bytes"):
        return _encoded(left), right
    if kinds == ("bytes", "str"):
        return left, _encoded(right)
    if kinds == ("number", "number"):
        if isinstance(left, int) and isinstance(right, np.floating):
            return left, float(right)
        if isinstance(left, np.floating) and isinstance(right, int):
            return float(left), right
        if left is not right and any(isinstance(one, np.ndarray) and one.dtype.kind in "iu" for one in (left, right)):
            return _exact(left), _exact(right)
    return left, right


def _encoded(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode(errors="surrogateescape")
    encoded = np.empty(value.shape, object)
    encoded.reshape(-1)[:] = [one.encode(errors="surrogateescape") for one in value.reshape(-1)]
    return encoded


def _exact(value: Any) -> Any:
    """Return integers without a largest one."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "iub":
        return value.astype(object)
    return value


def _double(value: Any) -> Any:
    return float(value) if isinstance(value, np.floating) else value


def _contained(left: Any, right: Any, column: int) -> bool:
    if isinstance(right, (str, bytes)):
        left, right = _alike(left, right)
        if _kind(left) != _kind(right) or isinstance(left, np.ndarray):
            raise _unfit(f"'in' at column {column} can only find a string in a string", left, right)
        return left in right
    if not isinstance(right, (tuple, np.ndarray)):
        raise _unfit(f"'in' at column {column} needs a list or a string on its right", right)
    if isinstance(left, (tuple, np.ndarray)):
        raise _unfit(
            f"'in' at column {column} cannot search for a list", left, right, advice="Use any() with a comparison."
        )
    for one in right if isinstance(right, tuple) else (plain(value) for value in right.reshape(-1)):
        mine, other = _alike(left, one)
        if _kind(mine) == _kind(other) and mine == other:
            return True
    return False


def _unfit(problem: str, *values: Any, advice: str | None = None) -> PipelineError:
    return PipelineError(f"{problem}.", found=" and ".join(map(_shown, values)), advice=advice)


def _shown(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"a list of {value.size} values"
    text = repr(value.item() if isinstance(value, np.generic) else value)
    return text if len(text) <= 40 else text[:37] + "..."
