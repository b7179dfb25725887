"""Converts columns of sparse vectors of any kind to indices, values and offsets."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from recordsmith.columns import ByteColumn, SparseColumn
from recordsmith.columns.offset_column import offsets_of
from recordsmith.errors import EncodeError
from recordsmith.schema.input.casting import Cast, cast_exactly, describe_value, numbers_of
from recordsmith.schema.input.conversion import understand_column, without_missing
from recordsmith.schema.input.foreign import comes_from, is_sparse, struct_fields
from recordsmith.schema.input.foreign_values import plain_inside, plain_value
from recordsmith.schema.input.numeric_input import plain_rows
from recordsmith.wording.numbers import count_text

if TYPE_CHECKING:
    from recordsmith.schema.plan import Bools, Int64s

__all__ = ["sparse_numbers"]

Array = npt.NDArray[Any]
Entries = tuple[Array, Array, "Int64s", "Bools | None"]

_INT64 = np.dtype("int64")


def sparse_numbers(values: Any, dtype: np.dtype[Any], size: int, cast: Cast = cast_exactly) -> Entries:
    """Return a column of vectors as the places of their entries, the values, offsets, and which rows are present.

    Places are sorted within a row, and no two are equal.

    >>> indices, values, offsets, _ = sparse_numbers([{3: 0.5}, [0, 1, 0, 2]], np.dtype("float32"), 4)
    >>> indices.tolist(), values.tolist(), offsets.tolist()
    ([3, 1, 3], [0.5, 1.0, 2.0], [0, 1, 3])
    """
    if isinstance(values, SparseColumn):
        entries = _from_column(values, size)
    elif is_sparse(values):
        entries = _from_matrix(values, size)
    else:
        given, present = understand_column(_pairs(values))
        if isinstance(given, np.ndarray) and given.ndim == 2 and given.dtype.kind in "biuf" and present is None:
            entries = _from_rectangle(given, size)
        else:
            entries = _from_rows(given, present, dtype, size, cast)
    indices, numbers, offsets, present = entries

    def row_of(position: int) -> int:
        return int(np.searchsorted(offsets, position, side="right")) - 1

    numbers = cast(numbers, dtype, row_of)
    indices, numbers = _sorted(indices, numbers, offsets)
    _check_places(indices, offsets, size, row_of)
    return indices, numbers, offsets, present


def _pairs(values: Any) -> Any:
    """Make pairs of indices and values from the struct column that SparseColumn.to_arrow returns."""
    found = struct_fields(values)
    if found is None or set(found[0]) != {"indices", "values"}:
        return values
    fields, present = found
    indices, entries = (fields[name].to_pylist() for name in ("indices", "values"))
    there = [True] * len(indices) if present is None else present.tolist()
    return [pair if is_there else None for *pair, is_there in zip(indices, entries, there, strict=True)]


def _from_column(column: SparseColumn, size: int) -> Entries:
    if column.size != size:
        raise _wrong_size(None, column.size, size)
    start, stop = int(column.offsets[0]), int(column.offsets[-1])
    indices, values = (np.asarray(part.values[start:stop]) for part in (column.indices, column.values))
    return indices, values, column.offsets - start, column.present


def _from_matrix(matrix: Any, size: int) -> Entries:
    """Take a matrix with a row for each record."""
    rows, columns, values, shape = _coordinates(matrix)
    if len(shape) != 2 or shape[1] != size:
        raise _wrong_size(None, shape[1] if len(shape) == 2 else f"a sparse array of shape {shape}", size)
    order = np.lexsort((columns, rows))
    rows, columns, values = rows[order], columns[order], values[order]
    return columns, values, offsets_of(np.bincount(rows, minlength=shape[0])[: shape[0]]), None


def _coordinates(matrix: Any) -> tuple[Array, Array, Array, tuple[int, ...]]:
    """Return the rows, columns and values of a sparse matrix, whose duplicates mean their sum, and its shape."""
    if comes_from(matrix, "tensorflow"):
        places = np.asarray(plain_value(matrix.indices))
        values = np.asarray(plain_value(matrix.values))
        shape = tuple(np.asarray(plain_value(matrix.dense_shape)).tolist())
        rows = places[:, 0] if places.shape[1] > 1 else np.zeros(len(places), np.int64)
        return rows, places[:, -1], values, shape
    matrix = matrix.tocoo(copy=True)
    matrix.sum_duplicates()
    shape = tuple(matrix.shape)
    columns = np.asarray(matrix.coords[-1] if hasattr(matrix, "coords") else matrix.col).astype(np.int64)
    rows = np.zeros(len(columns), np.int64)
    if len(shape) > 1:
        rows = np.asarray(matrix.coords[0] if hasattr(matrix, "coords") else matrix.row).astype(np.int64)
    return rows, columns, np.asarray(matrix.data), shape


def _from_rectangle(given: Array, size: int) -> Entries:
    if given.shape[1] != size:
        raise _wrong_size(None, given.shape[1], size)
    rows, columns = np.nonzero(given)
    return columns, given[rows, columns], offsets_of(np.bincount(rows, minlength=len(given))), None


def _from_rows(given: Any, present: Bools | None, dtype: np.dtype[Any], size: int, cast: Cast) -> Entries:
    if isinstance(given, ByteColumn):
        raise _no_vector(given[0] if len(given) else given, 0, size)
    rows, present = without_missing(list(given), present)
    numbers = np.arange(len(rows)) if present is None else np.flatnonzero(present)
    counts = np.zeros(len(rows) if present is None else len(present), np.int64)
    places, values = [np.zeros(0, np.int64)], [np.zeros(0, dtype)]
    for number, row in zip(numbers.tolist(), rows, strict=True):
        indices, entries = _one_row(row, number, dtype, size)
        places.append(cast_exactly(indices, _INT64, lambda _, number=number: number))  # type: ignore[misc]
        values.append(cast(entries, dtype, lambda _, number=number: number))  # type: ignore[misc]
        counts[number] = len(indices)
    return np.concatenate(places), np.concatenate(values), offsets_of(counts), present


def _one_row(row: Any, number: int, dtype: np.dtype[Any], size: int) -> tuple[Array, Array]:
    """Return the places and values of one vector, as they were given."""
    if is_sparse(row):
        rows, columns, values, shape = _coordinates(row)
        if shape[-1] != size or len(shape) > 2 or (len(shape) == 2 and shape[0] != 1):
            raise _wrong_size(number, f"a sparse array of shape {shape}", size)
        del rows
        return columns, values
    (row,) = plain_rows([row], np.array([number]))
    if isinstance(row, Mapping):
        return _flat(list(row), number, _INT64, size), _flat(list(row.values()), number, dtype, size)
    if isinstance(row, (list, tuple)):
        row = plain_inside(row)
    if isinstance(row, list) and len(row) == 2 and all(isinstance(part, list) or np.ndim(part) for part in row):
        indices, values = (_flat(part, number, kind, size) for part, kind in zip(row, (_INT64, dtype), strict=True))
        if len(indices) != len(values):
            raise EncodeError(
                "A vector has different numbers of indices and values.",
                row=number,
                found=f"{count_text(len(indices), 'place')} and {count_text(len(values), 'value')}",
                expected="lists of the same length",
                advice="Give one value for each index.",
            )
        return indices, values
    dense = _flat(row, number, dtype, size)
    if len(dense) != size:
        raise _wrong_size(number, len(dense), size)
    filled = np.array([value != 0 for value in dense], np.bool_) if dense.dtype == object else dense != 0
    where = np.flatnonzero(filled)
    return where, dense[where]


def _flat(values: Any, number: int, dtype: np.dtype[Any], size: int) -> Array:
    if (
        isinstance(values, (str, bytes, Mapping, AbstractSet))
        or not hasattr(values, "__len__")
        or getattr(values, "ndim", 1) != 1
    ):
        raise _no_vector(values, number, size)
    if not len(values):
        return np.zeros(0, dtype)
    try:
        array = values if isinstance(values, np.ndarray) else numbers_of(list(values), dtype)
    except ValueError:
        raise _no_vector(values, number, size) from None
    if array.ndim != 1:
        raise _no_vector(values, number, size)
    return array


def _sorted(indices: Array, values: Array, offsets: Int64s) -> tuple[Array, Array]:
    """Sort the entries of every row by their places, if they are not."""
    indices = indices.astype(np.int64, copy=False)
    if len(indices) < 2:
        return indices, values
    falls = np.diff(indices) < 0
    edges = offsets[1:-1]
    falls[edges[(edges > 0) & (edges < len(indices))] - 1] = False  # the next row may begin anywhere
    if not falls.any():
        return indices, values
    order = np.lexsort((indices, np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))))
    return indices[order], values[order]


def _check_places(indices: Array, offsets: Int64s, size: int, row_of: Any) -> None:
    outside = np.flatnonzero((indices < 0) | (indices >= size))
    if outside.size:
        raise EncodeError(
            "An index is outside the vector.",
            row=row_of(int(outside[0])),
            found=f"index {indices[outside[0]]}",
            expected=f"an index from 0 to {size - 1}",
            advice="Declare a larger size, or leave the entry out.",
        )
    same = np.flatnonzero(indices[1:] == indices[:-1])
    same = same[~np.isin(same + 1, offsets)]
    if same.size:
        raise EncodeError(
            "A vector has two entries with the same index.",
            row=row_of(int(same[0])),
            found=f"index {indices[same[0]]} twice",
            expected="each index once",
            advice="Add them up, or remove one of them.",
        )


def _wrong_size(row: int | None, found: object, size: int) -> EncodeError:
    words = f"{found} entries" if isinstance(found, int) else found
    return EncodeError(
        "A vector has the wrong size.",
        row=row,
        found=words,
        expected=f"{size} entries",
        advice="Declare the common size of all vectors, or give only the non-zero entries, as (indices, values).",
    )


def _no_vector(value: Any, row: int, size: int) -> EncodeError:
    return EncodeError(
        "A value is not a sparse vector.",
        row=row,
        found=describe_value(value),
        expected=f"(indices, values), a mapping of index to value, a scipy.sparse row, or {size} numbers",
        advice="Give one of these for each row, or a scipy.sparse matrix for all of them.",
    )
