"""Converts columns of pyarrow and pandas, without copying where possible.

Neither package is imported here: a column can only come from one that the caller has imported already.
"""

from __future__ import annotations

import sys
from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.columns import ByteColumn, Ragged
from recordsmith.columns.arrow_extensions import without_extension
from recordsmith.columns.offset_column import offsets_of
from recordsmith.errors import EncodeError, list_names

__all__ = ["arrow_column", "comes_from", "is_sparse", "named_columns", "pandas_column", "struct_fields"]

Array = npt.NDArray[Any]
Given = Array | ByteColumn | Ragged | list[Any]
"""A column converted from any container; a list may hold None for missing rows."""

Bools = npt.NDArray[np.bool_]


def comes_from(value: object, package: str) -> bool:
    """Say whether a value's type is defined by a package, without importing it.

    >>> comes_from(np.zeros(3), "numpy"), comes_from([], "pandas")
    (True, False)
    """
    return type(value).__module__.partition(".")[0] == package


def is_sparse(value: Any) -> bool:
    """Say whether a value is a sparse matrix or array of scipy, or a SparseTensor of TensorFlow."""
    if comes_from(value, "scipy"):
        return hasattr(value, "tocoo")
    return comes_from(value, "tensorflow") and hasattr(value, "dense_shape")


def named_columns(table: Any) -> dict[str, Any] | None:
    """Return the columns of an Arrow table or a pandas DataFrame by name; None for anything else."""
    if comes_from(table, "pyarrow") and hasattr(table, "column_names"):
        names, columns = list(table.column_names), list(table.columns)
    elif comes_from(table, "pandas") and hasattr(table, "columns"):
        names, columns = list(table.columns), [table.iloc[:, number] for number in range(len(table.columns))]
    else:
        return None
    twice = sorted(str(name) for name, count in Counter(names).items() if count > 1)
    if twice:
        raise EncodeError(
            "Two columns have the same name.", found=list_names(twice), advice="Rename or drop one of them."
        )
    return dict(zip(names, columns, strict=True))


def pandas_column(series: Any) -> tuple[Given, Bools | None]:
    """Take a pandas Series apart: its values, and which rows are present (None: all).

    NaN in a column of numpy floats is a value; in every other column it is pandas' mark for a missing one.

    >>> import pandas
    >>> pandas_column(pandas.Series(["a", None], dtype=object))
    (['a', None], None)
    """
    if isinstance(series.dtype, np.dtype) and series.dtype.kind != "O":
        return series.to_numpy(), None
    array = getattr(series, "array", series)  # an extension array may also come by itself
    if hasattr(array, "__arrow_array__") and "pyarrow" in sys.modules:
        return arrow_column(array.__arrow_array__())
    missing = np.asarray(series.isna())
    return [None if gone else value for value, gone in zip(series.tolist(), missing.tolist(), strict=True)], None


def arrow_column(array: Any) -> tuple[Given, Bools | None]:
    """Take a pyarrow Array or ChunkedArray apart: its values, and which rows are present (None: all).

    >>> import pyarrow
    >>> arrow_column(pyarrow.array([[1, 2], [3]]))
    (Ragged(2 rows of int64 (None,): [1, 2], [3]), None)
    """
    pyarrow = sys.modules["pyarrow"]
    types = pyarrow.types
    array = _simplified(_in_one_piece(array, pyarrow), pyarrow)
    kind = array.type
    if types.is_null(kind):
        return [None] * len(array), None
    present = array.is_valid().to_numpy(zero_copy_only=False) if array.null_count else None
    if types.is_boolean(kind):
        return array.fill_null(False).to_numpy(zero_copy_only=False), present
    if types.is_integer(kind) or types.is_floating(kind):
        return _buffer(array.buffers()[1], np.dtype(kind.to_pandas_dtype()), array.offset, len(array)), present
    if types.is_string(kind) or types.is_binary(kind) or types.is_large_string(kind) or types.is_large_binary(kind):
        return _byte_column(array, kind, types, present), present
    if types.is_fixed_size_binary(kind):
        return _byte_column(array.cast(pyarrow.large_binary()), pyarrow.large_binary(), types, present), present
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return _list_column(array, kind, types, present), present
    if types.is_decimal(kind):
        return array.to_pylist(), None
    raise EncodeError(
        "This Arrow type cannot be stored in a TFRecord.",
        found=f"Arrow type {kind}",
        expected="numbers, bools, strings, binary, or lists of them",
        advice="Cast it first: for example a timestamp to int64 or string, or a struct to separate columns.",
    )


def struct_fields(array: Any) -> tuple[dict[str, Any], Bools | None] | None:
    """Return the columns inside an Arrow struct column by name, and which rows are present; None for anything else.

    >>> import pyarrow
    >>> fields, _ = struct_fields(pyarrow.array([{"a": 1}, {"a": 2}]))
    >>> fields["a"].to_pylist()
    [1, 2]
    """
    if not (comes_from(array, "pyarrow") and hasattr(array, "null_count")):
        return None
    pyarrow = sys.modules["pyarrow"]
    if not pyarrow.types.is_struct(array.type):
        return None
    array = _in_one_piece(array, pyarrow)
    present = array.is_valid().to_numpy(zero_copy_only=False) if array.null_count else None
    # Not flatten(), which makes nulls of the values of a null row: absent rows are left out by `present`.
    return {field.name: array.field(field.name) for field in array.type}, present


def _in_one_piece(array: Any, pyarrow: Any) -> Any:
    if not isinstance(array, pyarrow.ChunkedArray):
        return array
    if array.num_chunks == 0:
        return pyarrow.array([], array.type)
    if array.num_chunks == 1:
        return array.chunk(0)
    # The 32-bit offsets of string and binary reach 2 GiB; several chunks together may need more.
    text, binary = pyarrow.types.is_string(array.type), pyarrow.types.is_binary(array.type)
    if (text or binary) and array.nbytes > 2**31 - 1:
        array = array.cast(pyarrow.large_string() if text else pyarrow.large_binary())
    return pyarrow.concat_arrays(array.chunks)


def _simplified(array: Any, pyarrow: Any) -> Any:
    """Turn the layouts that only differ in how they are kept into the plain ones."""
    types = pyarrow.types
    array = without_extension(array)
    if types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if str(array.type) in ("string_view", "binary_view"):
        plain = pyarrow.large_string() if str(array.type) == "string_view" else pyarrow.large_binary()
        try:
            array = array.cast(plain)
        except pyarrow.ArrowNotImplementedError:  # before pyarrow 18
            array = pyarrow.array(array.to_pylist(), plain)
    return array


def _buffer(buffer: Any, dtype: np.dtype[Any], start: int, count: int) -> Array:
    if buffer is None or count == 0:
        return np.empty(0, dtype)
    return np.frombuffer(buffer, dtype, count=count, offset=start * dtype.itemsize)


def _byte_column(array: Any, kind: Any, types: Any, present: Bools | None) -> ByteColumn:
    large = types.is_large_string(kind) or types.is_large_binary(kind)
    text = types.is_string(kind) or types.is_large_string(kind)
    _, offset_buffer, data_buffer = array.buffers()
    if len(array) == 0:
        return ByteColumn(b"", [0], text=text)
    offsets = _buffer(offset_buffer, np.dtype(np.int64 if large else np.int32), array.offset, len(array) + 1)
    offsets = offsets.astype(np.int64, copy=False)
    data = np.empty(0, np.uint8) if data_buffer is None else np.frombuffer(data_buffer, np.uint8)
    if present is not None and bool((np.diff(offsets)[~present] > 0).any()):
        # Arrow lets a null have bytes, which nobody may look at: keep those of the present rows only.
        lengths = np.where(present, np.diff(offsets), 0)
        data = ByteColumn(data, offsets)[present].data
        offsets = offsets_of(lengths)
    return ByteColumn(data, offsets, text=text, present=present)


def _list_column(array: Any, kind: Any, types: Any, present: Bools | None) -> Given:
    if types.is_fixed_size_list(kind):
        lengths = np.full(len(array), kind.list_size)
        if present is not None:
            lengths[~present] = 0
    else:
        lengths = array.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    offsets = offsets_of(lengths)
    values, value_present = arrow_column(array.flatten())  # flatten leaves out the values of a null list
    if isinstance(values, list):  # a list of nulls
        if values:
            value_present = np.zeros(len(values), np.bool_)
        values = np.empty(0)
    if value_present is not None and not value_present.all():
        gap = int(np.flatnonzero(~value_present)[0])
        raise EncodeError(
            "A row has None among its values.",
            row=int(np.searchsorted(offsets, gap, side="right")) - 1,
            found="None",
            expected="a value",
            advice="Give a value: a list cannot contain None.",
        )
    if types.is_fixed_size_list(kind) and present is None and isinstance(values, np.ndarray):
        return values.reshape(len(array), kind.list_size, *values.shape[1:])
    return Ragged(values, offsets, present=present)
