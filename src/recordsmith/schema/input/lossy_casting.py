"""Converts numbers from one dtype to another where loss is allowed, with a defined result for each case.

    to an integer   a fraction is cut towards zero; values outside become the nearest limit, infinities too
    to a float      rounded to the nearest; what is too large becomes infinite
    to bool         everything but 0 is True
    from complex    to anything else: the imaginary part is dropped

NaN has no integer and no truth, and what is no number does not become one: these stay EncodeErrors.
"""

from __future__ import annotations

import decimal
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.errors import EncodeError
from recordsmith.schema.input.casting import (
    LARGEST_EXPONENT,
    RowOf,
    cast_exactly,
    describe_dtype,
    describe_value,
    each_number,
)

__all__ = ["cast_with_loss"]

Array = npt.NDArray[Any]


def cast_with_loss(array: Array, dtype: np.dtype[Any], row_of: RowOf) -> Array:
    """Return the array as C-contiguous values of a dtype, each as near to what it was as the dtype allows.

    >>> cast_with_loss(np.array([1.9, -1.9, 1e300]), np.dtype("int8"), row_of=int).tolist()
    [1, -1, 127]
    >>> cast_with_loss(np.array([300, -5]), np.dtype("uint8"), row_of=int).tolist()
    [255, 0]
    >>> cast_with_loss(np.array([1e300]), np.dtype("float32"), row_of=int).tolist()
    [inf]
    """
    source = array.dtype
    if source.kind == "O":
        return each_number(array, dtype, row_of, _one_number)
    if source.kind == "V" and source.type.__module__ == "ml_dtypes":  # bfloat16 and smaller
        return cast_with_loss(array.astype(np.float32), dtype, row_of)
    if source == dtype or source.kind not in "biufc":
        return cast_exactly(array, dtype, row_of)
    if source.kind == "c" and dtype.kind != "c":
        array = array.real
    if array.dtype.kind == "f" and dtype.kind in "biu":
        missing = np.isnan(array).reshape(-1)
        if missing.any():
            raise _nan_has_no_integer(dtype, row_of(int(missing.argmax())))
        array = _limited_floats(array, dtype) if dtype.kind != "b" else array
    elif array.dtype.kind in "iu" and dtype.kind in "iu":
        array = _limited_integers(array, dtype)
    with np.errstate(over="ignore", under="ignore"):
        return array.astype(dtype, order="C")


def _limited_floats(array: Array, dtype: np.dtype[Any]) -> Array:
    """Cut towards zero and to the dtype's limits, in integers at the end: the largest int64 is no float."""
    limits = np.iinfo(dtype)
    wide = np.trunc(array.astype(np.float64, copy=False))
    low, high = wide < float(limits.min), wide >= float(int(limits.max) + 1)
    integers = np.where(low | high, 0.0, wide).astype(dtype)
    integers[low], integers[high] = limits.min, limits.max
    return integers


def _limited_integers(array: Array, dtype: np.dtype[Any]) -> Array:
    limits, own = np.iinfo(dtype), np.iinfo(array.dtype)
    return np.clip(array, max(limits.min, own.min), min(limits.max, own.max))


def _one_number(value: Any, dtype: np.dtype[Any], row: int) -> Any:
    if isinstance(value, decimal.Decimal):
        # As an integer where that is wanted, for its digits; int() of a huge one would write them all out.
        whole = dtype.kind in "iu" and value.is_finite() and value.adjusted() <= LARGEST_EXPONENT
        value = int(value) if whole else float("nan") if value.is_nan() else float(value)
    given = np.asarray(value)
    if given.dtype.kind == "O":  # an int beyond every dtype
        if dtype.kind in "iu":
            limits = np.iinfo(dtype)
            return limits.max if value > 0 else limits.min
        given = np.asarray(_nearest_float(value))
    return cast_with_loss(given.reshape(1), dtype, lambda _: row)[0]


def _nearest_float(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _nan_has_no_integer(dtype: np.dtype[Any], row: int) -> EncodeError:
    return EncodeError(
        "NaN cannot be converted to an integer.",
        row=row,
        found=describe_value(float("nan")),
        expected=describe_dtype(dtype),
        advice="Replace NaN first, or declare a float dtype.",
    )
