"""Converts numbers from one dtype to another without silent loss.

Allowed is what keeps the value: integers within range, whole floats to integers, integers that a float holds exactly,
and floats to a narrower float where nothing finite becomes infinite (ordinary rounding is not loss). Everything else
is an EncodeError that names the row and the value. Checks are made on whole arrays; Python objects are looked at one
by one only where numpy could not make numbers of them. What `cast=True` makes of the rest is in lossy_casting.
"""

from __future__ import annotations

import datetime as dt
import decimal
from collections.abc import Callable, Sequence
from pathlib import PurePath
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.errors import EncodeError, advise
from recordsmith.schema.input.foreign_values import plain_inside, plain_value

__all__ = [
    "advice_about",
    "cast_exactly",
    "describe_dtype",
    "describe_value",
    "each_number",
    "is_number",
    "not_a_number",
    "numbers_of",
    "scalar_of",
]

Array = npt.NDArray[Any]
RowOf = Callable[[int], int]
"""The row that the n-th value of an array (in C order) belongs to."""

Cast = Callable[[Array, "np.dtype[Any]", RowOf], Array]
"""Converts an array to another dtype: without loss, or to the nearest value."""

_LONGEST_VALUE = 60  # characters of a value that a message shows
LARGEST_EXPONENT = 400  # of ten, beyond every dtype


def cast_exactly(array: Array, dtype: np.dtype[Any], row_of: RowOf) -> Array:
    """Return the array as C-contiguous values of a dtype, or raise an EncodeError for the first that does not fit.

    >>> cast_exactly(np.array([1.0, 2.0]), np.dtype("int8"), row_of=int)
    array([1, 2], dtype=int8)
    >>> cast_exactly(np.array([1, 300]), np.dtype("uint8"), row_of=int)
    Traceback (most recent call last):
    recordsmith.errors.EncodeError: A value does not fit the feature's type.
      where:    row 1
      found:    300 (int64)
      expected: uint8, an integer from 0 to 255
      to do:    Declare a type that can hold it, change the value, or allow the loss with cast=True.
    """
    source = array.dtype
    if source == dtype:
        return np.ascontiguousarray(array)
    if source.kind == "O":
        return each_number(array, dtype, row_of, _one_number)
    if source.kind == "V" and source.type.__module__ == "ml_dtypes":  # bfloat16 and smaller
        return cast_exactly(array.astype(np.float32), dtype, row_of)
    if source.kind not in "biufc":
        raise not_a_number(array.reshape(-1)[0] if array.size else None, dtype, row_of(0) if array.size else None)
    if source.kind == "c" and dtype.kind != "c":
        wrong = np.ones(array.size, np.bool_)
    elif dtype.kind in "biu":
        wrong = _outside_integers(array, dtype)
    elif source.kind in "iu":
        wrong = _integers_lost(array, dtype)
    else:
        wrong = _made_infinite(array, dtype)
    if wrong.any():
        first = int(wrong.argmax())
        raise _does_not_fit(array.reshape(-1)[first], dtype, row_of(first))
    with np.errstate(under="ignore"):
        return array.astype(dtype, order="C")


def numbers_of(values: Sequence[Any], dtype: np.dtype[Any]) -> Array:
    """Return nested Python values as an array that `cast_exactly` can take to `dtype`, with nothing lost on the way.

    numpy makes one dtype of all values; where that changes some of them, they are kept as objects. Raises ValueError,
    as numpy does, where the nesting is uneven: only the caller knows which shape was wanted.

    >>> numbers_of([[1, 2], [3, 4]], np.dtype("int64")).dtype
    dtype('int64')
    >>> numbers_of([1, "2"], np.dtype("int64")).dtype
    dtype('O')
    """
    try:
        array = np.asarray(values)
    except (OverflowError, UnicodeDecodeError):  # an int beyond float64 beside a float; bytes beside a str
        return np.asarray(values, dtype=object)
    except (TypeError, RuntimeError):  # tensors that numpy does not read, deep inside
        values = plain_inside(values)
        array = np.asarray(values)
    if array.dtype.kind not in ("biufc" if dtype.kind == "c" else "biuf"):
        return np.asarray(values, dtype=object)  # a number beside a string has become a string
    if array.dtype == np.float64:
        # A large integer beside a float has become a float, and may have lost digits.
        exact = 2.0 ** (_digits(dtype) if dtype.kind in "fc" else _digits(array.dtype))
        if bool((np.abs(array) >= exact).any()):
            objects = np.asarray(values, dtype=object)
            kinds = set(map(type, objects.reshape(-1).tolist()))
            if any(issubclass(kind, (int, np.integer)) for kind in kinds):
                return objects
    return array


def describe_dtype(dtype: np.dtype[Any]) -> str:
    """Say in words what a dtype holds.

    >>> describe_dtype(np.dtype("int8"))
    'int8, an integer from -128 to 127'
    """
    if dtype.kind == "b":
        return "bool, or 0 or 1"
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return f"{dtype}, an integer from {limits.min} to {limits.max}"
    if dtype.kind == "f":
        return f"{dtype}, up to {float(np.finfo(dtype).max):.4g}, integers exactly up to {2 ** (_digits(dtype))}"
    return str(dtype)


def describe_value(value: Any) -> str:
    """Show a value and its type in the length of a message.

    >>> describe_value(1.5), describe_value("abc"), describe_value(np.zeros((2, 3)))
    ('1.5 (float)', "'abc' (str)", 'array of float64, shape (2, 3)')
    """
    if value is None:
        return "None"
    if isinstance(value, np.ndarray) and value.ndim:
        return f"array of {value.dtype}, shape {value.shape}"
    if isinstance(value, (np.generic, np.ndarray)):
        return f"{_shortened(repr(value.item()))} ({value.dtype})"
    if isinstance(value, (str, bytes, bytearray, list, tuple)) and len(value) > _LONGEST_VALUE:
        # Its repr could be a hundred megabytes of image.
        return f"{_shortened(repr(value[:_LONGEST_VALUE]))} ({type(value).__name__} of length {len(value)})"
    if isinstance(value, (int, decimal.Decimal)) and not isinstance(value, bool):
        return f"{_shortened(_digits_of(value))} ({type(value).__name__})"
    return f"{_shortened(repr(value))} ({type(value).__name__})"


def _digits_of(value: int | decimal.Decimal) -> str:
    """Write a number out. Python refuses that for an int of thousands of digits."""
    try:
        return str(value)
    except ValueError:
        return f"{'-' if value < 0 else ''}2**{int(value).bit_length() - 1} or more"


_NONE = np.zeros(1, np.bool_)


def _outside_integers(array: Array, dtype: np.dtype[Any]) -> npt.NDArray[np.bool_]:
    """Mark, flat, the values that an integer dtype (or bool, as 0 and 1) does not hold."""
    low, high = (0, 1) if dtype.kind == "b" else (int(np.iinfo(dtype).min), int(np.iinfo(dtype).max))
    flat = array.reshape(-1)
    if array.dtype.kind == "b" or flat.size == 0:
        return _NONE
    if array.dtype.kind in "iu":
        # Python's integers compare the extremes whatever the two dtypes are; only a misfit costs a second look.
        if low <= int(flat.min()) and int(flat.max()) <= high:
            return _NONE
        limits = np.iinfo(array.dtype)
        return (flat < max(low, int(limits.min))) | (flat > min(high, int(limits.max)))
    flat = flat.astype(np.float64, copy=False) if array.dtype.itemsize < 8 else flat
    wrong: npt.NDArray[np.bool_]
    # high + 1 is a power of two and so exact as a float, which high itself may not be; NaN fails every comparison.
    wrong = ~((flat >= float(low)) & (flat < float(high + 1)) & (flat == np.trunc(flat)))
    return wrong


def _integers_lost(array: Array, dtype: np.dtype[Any]) -> npt.NDArray[np.bool_]:
    """Mark, flat, the integers that a float or complex dtype would round."""
    if array.dtype.itemsize * 8 <= _digits(dtype) or array.size == 0:
        return _NONE
    limit = 2 ** _digits(dtype)
    flat = array.reshape(-1)
    if -limit <= int(flat.min()) and int(flat.max()) <= limit:
        return _NONE
    wrong = np.zeros(flat.size, np.bool_)
    wide = np.flatnonzero((flat > limit) | ((flat < -limit) if array.dtype.kind == "i" else False))
    with np.errstate(over="ignore"):
        floats = flat[wide].astype(dtype)
    # Python compares an int with a float exactly, which no numpy dtype can do for both.
    wrong[wide] = [a != b for a, b in zip(floats.real.tolist(), flat[wide].tolist(), strict=True)]
    return wrong


def _made_infinite(array: Array, dtype: np.dtype[Any]) -> npt.NDArray[np.bool_]:
    """Mark, flat, the finite values that a narrower float or complex dtype would make infinite."""
    if np.can_cast(array.dtype, dtype, "safe"):
        return _NONE
    with np.errstate(over="ignore", under="ignore"):
        finite = np.isfinite(array.astype(dtype))
    return _NONE if finite.all() else (np.isfinite(array) & ~finite).reshape(-1)


def _digits(dtype: np.dtype[Any]) -> int:
    """Count the bits of an integer that a float or complex dtype keeps."""
    return int(np.finfo(dtype).nmant) + 1


def each_number(
    array: Array, dtype: np.dtype[Any], row_of: RowOf, cast: Callable[[Any, np.dtype[Any], int], Any]
) -> Array:
    """Cast Python objects one by one, with `cast(number, dtype, row)`; what is no number is refused."""
    flat = array.reshape(-1).tolist()
    result = np.empty(len(flat), dtype)
    for position, given in enumerate(flat):
        value = scalar_of(given)
        if not is_number(value):
            raise not_a_number(value, dtype, row_of(position))
        result[position] = cast(value, dtype, row_of(position))
    return result.reshape(array.shape)


def _one_number(value: Any, dtype: np.dtype[Any], row: int) -> Any:
    if isinstance(value, decimal.Decimal):
        return _from_decimal(value, dtype, row)
    try:
        given = np.asarray(value)
        if given.dtype.kind == "O":  # an int beyond every dtype: it may still be a float, if exactly
            given = np.asarray(float(value))
            if int(given) != value:
                raise _does_not_fit(value, dtype, row)
    except OverflowError:
        raise _does_not_fit(value, dtype, row) from None
    return cast_exactly(given.reshape(1), dtype, lambda _: row)[0]


def _from_decimal(value: decimal.Decimal, dtype: np.dtype[Any], row: int) -> Any:
    """Take a Decimal where it is exactly one of the dtype's values: its digits were meant, unlike a float's."""
    if value.is_finite() and value.adjusted() > LARGEST_EXPONENT:
        raise _does_not_fit(value, dtype, row)  # int() would write out all of its digits
    if value.is_finite() and value == value.to_integral_value():
        try:
            return _one_number(int(value), dtype, row)
        except EncodeError:
            raise _does_not_fit(value, dtype, row) from None  # as it was written
    if dtype.kind in "fc" and value.is_finite():
        with np.errstate(over="ignore", under="ignore"):
            number = np.asarray(float(value)).astype(dtype)
        if decimal.Decimal(float(number.real)) == value:
            return number
    elif dtype.kind in "fc":  # an infinity, or NaN
        return dtype.type(float("nan") if value.is_nan() else float(value))
    raise _does_not_fit(value, dtype, row)


def _does_not_fit(value: Any, dtype: np.dtype[Any], row: int) -> EncodeError:
    return EncodeError(
        "A value does not fit the feature's type.",
        row=row,
        found=describe_value(value),
        expected=describe_dtype(dtype),
        advice=(
            "Fill the gap first, or declare a float dtype."
            if value != value  # noqa: PLR0124 - NaN, which no cast makes whole
            else advise("Declare a type that can hold it, change the value, or allow the loss with {cast}.", cast=True)
        ),
    )


def scalar_of(value: Any) -> Any:
    """Return an entry of an array of objects as a plain scalar, if it is an array or a tensor without axes.

    >>> scalar_of(np.array(3)), scalar_of("a")
    (np.int64(3), 'a')
    """
    plain = value if is_number(value) else plain_value(value)
    return plain[()] if isinstance(plain, np.ndarray) and plain.ndim == 0 else plain


def is_number(value: Any) -> bool:
    """Say whether a Python or numpy scalar is a number that the casts know.

    >>> is_number(1), is_number(decimal.Decimal("0.5")), is_number("1"), is_number(None)
    (True, True, False, False)
    """
    if isinstance(value, (bool, int, float, complex, np.bool_, np.number, decimal.Decimal)):
        return not isinstance(value, np.timedelta64)
    return type(value).__module__ == "ml_dtypes"  # bfloat16 and smaller


_ADVICE_BY_TYPE: tuple[tuple[tuple[type, ...], str], ...] = (
    ((str, bytes), "Convert it with int() or float(), or declare the feature as Text or Bytes."),
    (
        (np.datetime64, np.timedelta64),
        "Store it as a number in a unit of your choice, such as value.astype('M8[s]').astype(int), or give str(value).",
    ),
    (
        (dt.timedelta,),
        "Store it as a number in a unit of your choice, such as value.total_seconds().",
    ),
    (
        (dt.date, dt.time),
        "Store it as a number in a unit of your choice, such as value.timestamp(), or as Text: value.isoformat().",
    ),
    ((PurePath,), "Read the file and give its numbers, or declare the feature as Text to store the path."),
    (
        (type(None),),
        "A list cannot contain None: give a value, or give None for the whole row if the feature is optional.",
    ),
)


def not_a_number(value: Any, dtype: np.dtype[Any], row: int | None) -> EncodeError:
    """Return the error for a value that is no number, with what to do about its type.

    >>> not_a_number("1", np.dtype("int64"), 3).advice
    'Convert it with int() or float(), or declare the feature as Text or Bytes.'
    """
    return EncodeError(
        "A value is not a number.",
        row=row,
        found=describe_value(value),
        expected=describe_dtype(dtype),
        advice=advice_about(value),
    )


def advice_about(value: Any) -> str:
    """Say what to do with a value that is no number.

    >>> advice_about(dt.timedelta(1))
    'Store it as a number in a unit of your choice, such as value.total_seconds().'
    """
    for types, words in _ADVICE_BY_TYPE:
        if isinstance(value, types):
            return words
    return "Give numbers, or arrays of them."


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 3] + "..."
