"""Reads numbers exactly as they are written, so that none is rounded or made infinite too early.

Parsers of tables make a float64 of 12345678901234567 beside a fraction, and an infinity of 1e400. Where a column has
values so large, its cells are read again here: a whole number stays an int, and what no float holds becomes a Decimal.
Whether such a value is refused, or rounded with `cast=True`, is then decided by the feature, as for every other source.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np

from recordsmith.errors import import_extra

__all__ = [
    "decimal_number",
    "exact_array",
    "exact_decimals",
    "exact_limit",
    "exact_number",
    "has_values_from",
    "held_by_float",
    "whole_number",
]

_MOST_DIGITS = 4000  # of which Python makes an int without complaint
_WHOLE = re.compile(r"[+-]?[0-9]+")
_INFINITE = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)


def exact_number(text: str) -> int | float | Decimal:
    """Return a number as it is written: whole numbers as int, others as float unless only a Decimal holds them.

    >>> exact_number("12345678901234567"), exact_number("0.5"), exact_number("1e400"), exact_number("-inf")
    (12345678901234567, 0.5, Decimal('1E+400'), -inf)
    """
    text = text.strip()
    if _WHOLE.fullmatch(text) and text.strip("-0"):
        return whole_number(text)
    number = float(text)  # of -0 too, which has no int
    if not np.isinf(number) or _INFINITE.fullmatch(text):
        return number
    return decimal_number(text)


def decimal_number(text: str) -> Decimal:
    """Return a number as a Decimal; of one that is too large even for that, only its sign is kept.

    >>> decimal_number("0.1"), decimal_number("-1e9999999999999999999")
    (Decimal('0.1'), Decimal('-1E+999999'))
    """
    try:
        return Decimal(text)
    except InvalidOperation:  # an exponent of more than 18 digits
        if Decimal(re.split("[eE]", text)[0]) == 0 or re.search("[eE]-", text):
            return Decimal(0)
        return Decimal("-1e999999" if text.startswith("-") else "1e999999")


def whole_number(digits: str) -> int | Decimal:
    """Return a whole number; one of thousands of digits as a Decimal, for which Python sets no limit.

    >>> whole_number("-7"), type(whole_number("9" * 5000)).__name__
    (-7, 'Decimal')
    """
    return int(digits) if len(digits) <= _MOST_DIGITS else Decimal(digits)


def exact_limit(dtype: np.dtype[Any]) -> float:
    """Return the magnitude above which a float dtype cannot hold every integer."""
    return 2.0 ** (int(np.finfo(dtype).nmant) + 1)


def held_by_float(number: int) -> bool:
    """Say whether a float64 holds a whole number exactly.

    >>> held_by_float(2**60), held_by_float(2**60 + 1), held_by_float(10**400)
    (True, False, False)
    """
    try:
        return int(float(number)) == number
    except OverflowError:
        return False


def has_values_from(values: Any, limit: float) -> bool:
    """Say whether an Arrow array of floats has values of at least this magnitude, infinities among them.

    >>> import pyarrow
    >>> has_values_from(pyarrow.array([1.0, -9.0]), 5), has_values_from(pyarrow.array([1.0, None]), 5)
    (True, False)
    """
    compute = import_extra("pyarrow.compute", "arrow", purpose="Reading tables")
    extremes = compute.min_max(values)
    return any(abs(extremes[side].as_py() or 0.0) >= limit for side in ("min", "max"))


def exact_array(values: Any, dtype: np.dtype[Any], texts_of: Callable[[Any], list[Any]]) -> Any:
    """Return an Arrow array of floats for a feature of a dtype; as a list where some were written as other numbers.

    Args:
        values: the floats that a parser made.
        dtype: that of the feature.
        texts_of: gives what was written in some rows, chosen by their numbers.

    >>> import pyarrow
    >>> exact_array(pyarrow.array([0.5, 1e17]), np.dtype("float64"), lambda rows: ["100000000000000001"])
    [0.5, 100000000000000001]
    """
    floats = values.to_numpy(zero_copy_only=False)
    with np.errstate(invalid="ignore"):
        large = np.flatnonzero(np.abs(floats) >= exact_limit(dtype))
    if not len(large):
        return values
    written = [exact_number(text) for text in texts_of(large)]
    with np.errstate(over="ignore"):
        stored = floats[large].astype(dtype).tolist()
    if all(isinstance(number, float) or number == kept for number, kept in zip(written, stored, strict=True)):
        return values
    exact = values.to_pylist()
    for row, number in zip(large.tolist(), written, strict=True):
        exact[row] = number
    return exact


def exact_decimals(array: Any, dtype: np.dtype[Any]) -> Any:
    """Return decimals, or lists of them, as floats; as Python values where a float would round a whole number.

    >>> import pyarrow, decimal
    >>> exact_decimals(pyarrow.array([decimal.Decimal("12345678901234567")]), np.dtype("float64"))
    [12345678901234567]
    """
    arrow = import_extra("pyarrow", "arrow", purpose="Reading tables")
    compute = import_extra("pyarrow.compute", "arrow", purpose="Reading tables")
    kind, inner = arrow.float64(), array
    while not arrow.types.is_decimal(inner.type):
        kind, inner = arrow.list_(kind), compute.list_flatten(inner)
    extremes = compute.min_max(inner.cast(arrow.float64()))
    largest = max(abs(extremes[side].as_py() or 0.0) for side in ("min", "max"))
    if dtype.kind == "f" and largest < exact_limit(dtype):
        return array.cast(kind)
    return [_plain(value) for value in array.to_pylist()]


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(entry) for entry in value]
    if value is None:
        return None
    return int(value) if value == value.to_integral_value() else float(value)
