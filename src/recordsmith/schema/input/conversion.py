"""Converts a column of any kind to the arrays of a feature: the part that all features share.

    anything a caller has  ──understand_column──►  array | ByteColumn | Ragged | list, and which rows are present
                                                       │
                             numeric.py, strings.py ◄──┘  lossless casts, shapes, storage

Everything wrong with the values is an EncodeError that names the row; the schema adds the feature's name.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.columns import ByteColumn, Ragged
from recordsmith.columns.offset_column import OffsetColumn
from recordsmith.errors import EncodeError
from recordsmith.schema.input.casting import describe_value
from recordsmith.schema.input.foreign import Bools, Given, arrow_column, comes_from, pandas_column
from recordsmith.schema.input.foreign_values import plain_value, plain_values
from recordsmith.wording.numbers import count_text

__all__ = ["check_presence", "check_rows", "is_missing", "understand_column", "without_missing"]

Array = npt.NDArray[Any]

_PLAIN = {bool, int, float, str, bytes, list, tuple, np.ndarray}  # types whose values are present and need no look


def understand_column(values: Any) -> tuple[Given, Bools | None]:
    """Reduce a column of any kind to one of four, with the presence of its rows if the container says it.

    >>> understand_column((1, 2))
    ([1, 2], None)
    >>> understand_column(np.ma.array([1, 2], mask=[False, True]))[1].tolist()
    [True, False]
    """
    if isinstance(values, list):
        return values, None
    if isinstance(values, np.ndarray):
        return _numpy_column(values)
    if isinstance(values, (ByteColumn, Ragged)):
        return values, values.present
    if comes_from(values, "pyarrow") and hasattr(values, "null_count"):
        return arrow_column(values)
    if comes_from(values, "pandas") and hasattr(values, "dtype"):
        return pandas_column(values)
    return _generic_column(values)


def without_missing(values: list[Any], present: Bools | None) -> tuple[list[Any], Bools | None]:
    """Split a list into its present values, in plain form, and the presence of its rows (None: all are there).

    >>> without_missing([1, None, 3], None)[0]
    [1, 3]
    """
    kinds = set(map(type, values))
    if present is None and kinds <= _PLAIN:
        return values, None
    values = plain_values(values, kinds)
    marking = {*map(type, _missing_markers()), np.ma.MaskedArray}
    if present is None and set(map(type, values)).isdisjoint(marking):
        return values, None
    found = [not is_missing(value) for value in values]
    if present is not None:
        found = [a and b for a, b in zip(found, present.tolist(), strict=True)]
    if all(found):
        return values, None
    return [value for value, there in zip(values, found, strict=True) if there], np.array(found, np.bool_)


def is_missing(value: Any) -> bool:
    """Say whether a value stands for none: None, pandas' NA and NaT, a null of Arrow, what numpy has masked throughout.

    >>> is_missing(None), is_missing(0), is_missing(float("nan"))
    (True, False, False)
    """
    if value is None:
        return True
    if type(value) in _PLAIN or isinstance(value, np.generic):
        return False
    if comes_from(value, "pyarrow"):
        return getattr(value, "is_valid", True) is False
    if isinstance(value, np.ma.MaskedArray):
        return value.size > 0 and bool(np.ma.getmaskarray(value).all())
    return any(value is marker for marker in _missing_markers())


def check_rows(found: int, rows: int | None) -> None:
    """Refuse a column of the wrong length."""
    if rows is not None and found != rows:
        raise EncodeError(
            "The column has the wrong length.",
            found=f"{found} rows",
            expected=count_text(rows, "row"),
            advice="Give one entry for each row.",
        )


def check_presence(present: Bools | None, *, optional: bool) -> Bools | None:
    """Return presence as the core wants it (None if all rows are there), or refuse a gap in a required feature."""
    if present is None or present.all():
        return None
    if not optional:
        raise missing_value(int(present.argmin()))
    return present


def missing_value(row: int | None) -> EncodeError:
    """Return the error for a row without a value in a feature that needs one."""
    return EncodeError(
        "A required feature has no value.",
        row=row,
        found="None",
        expected="a value",
        advice="Give a value, or declare the feature with optional=True or a default.",
    )


def _generic_column(values: Any) -> tuple[Given, Bools | None]:
    if isinstance(values, (str, bytes, bytearray, memoryview, Mapping, AbstractSet, np.generic)):
        raise _no_column(values)
    if isinstance(values, (Sequence, OffsetColumn)):
        return list(values), None
    if hasattr(values, "__array__"):  # the tensors of other frameworks
        return _numpy_column(plain_value(values))
    if hasattr(values, "row_splits"):
        return understand_column(plain_value(values))
    raise _no_column(values)


def _numpy_column(values: Array) -> tuple[Given, Bools | None]:
    if values.ndim == 0:
        raise _no_column(values)
    if isinstance(values, np.ma.MaskedArray):
        return _masked_column(values)
    return (list(values) if values.dtype.kind == "O" else np.asarray(values)), None


def _masked_column(values: Any) -> tuple[Given, Bools]:
    masked = np.ma.getmaskarray(values).reshape(len(values), -1) if values.size else np.zeros((len(values), 1), bool)
    partly = np.flatnonzero(masked.any(axis=1) & ~masked.all(axis=1))
    if partly.size:
        raise EncodeError(
            "A row is partly masked.",
            row=int(partly[0]),
            found=f"{int(masked[partly[0]].sum())} of {masked.shape[1]} values masked",
            expected="a row without masked values, or a fully masked row",
            advice="Give all values, or mask the whole row if it has no value.",
        )
    given, _ = _numpy_column(np.asarray(values.data))
    return given, np.asarray(~masked.all(axis=1))


def _missing_markers() -> tuple[object, ...]:
    pandas = sys.modules.get("pandas")
    return (None, np.ma.masked, getattr(pandas, "NA", None), getattr(pandas, "NaT", None))


def _no_column(values: Any) -> EncodeError:
    return EncodeError(
        "This cannot be used as a column of values.",
        found=describe_value(values),
        expected="a list, a numpy array with one entry per row, Ragged, ByteColumn, an Arrow array or a pandas Series",
        advice="Put a single value in a list.",
    )
