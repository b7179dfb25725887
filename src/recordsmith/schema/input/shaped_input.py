"""Converts columns of arrays with several variable dimensions to flat values and a shape for each row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from recordsmith.columns import ShapedColumn
from recordsmith.columns.offset_column import offsets_of
from recordsmith.columns.shaped_column import filled_shape
from recordsmith.errors import EncodeError
from recordsmith.schema.input.casting import Cast, cast_exactly, numbers_of
from recordsmith.schema.input.conversion import understand_column, without_missing
from recordsmith.schema.input.numeric_input import Shape, fits, plain_rows, shape_of, wrong_shape

if TYPE_CHECKING:
    from recordsmith.schema.plan import Bools, Int64s

__all__ = ["shaped_numbers"]

Array = npt.NDArray[Any]


def shaped_numbers(
    values: Any, dtype: np.dtype[Any], shape: Shape, cast: Cast = cast_exactly
) -> tuple[Array, Int64s, Int64s, Bools | None]:
    """Return a column of arrays as flat values, offsets, the shape of every row, and which rows are present.

    >>> flat, offsets, shapes, _ = shaped_numbers([[[1, 2]], [[3], [4]]], np.dtype("int64"), (None, None))
    >>> flat.tolist(), offsets.tolist(), shapes.tolist()
    ([1, 2, 3, 4], [0, 2, 4], [[1, 2], [2, 1]])
    """
    if isinstance(values, ShapedColumn):
        return _from_column(values, dtype, shape, cast)
    given, present = understand_column(values)
    if isinstance(given, np.ndarray) and present is None:
        return _from_rectangle(given, dtype, shape, cast)
    rows = given.to_list() if not isinstance(given, (np.ndarray, list)) else list(given)
    rows, present = without_missing(rows, present)
    numbers = np.arange(len(rows)) if present is None else np.flatnonzero(present)
    rows = plain_rows(rows, None if present is None else numbers)
    total = len(rows) if present is None else len(present)
    shapes = np.zeros((total, len(shape)), np.int64)
    pieces = [np.zeros(0, dtype)]
    for number, row in zip(numbers.tolist(), rows, strict=True):
        array, shapes[number] = _one_row(row, number, dtype, shape, cast)
        pieces.append(array)
    counts = shapes.prod(axis=1)
    return np.concatenate(pieces), offsets_of(counts), shapes, present


def _one_row(row: Any, number: int, dtype: np.dtype[Any], shape: Shape, cast: Cast) -> tuple[Array, tuple[int, ...]]:
    found = shape_of(row)
    if found is None or not fits(found, shape):
        raise wrong_shape(number, row, found, shape)
    array = row if isinstance(row, np.ndarray) else numbers_of(row, dtype)
    return cast(array, dtype, lambda _: number).reshape(array.size), filled_shape(found, shape)


def _from_rectangle(
    given: Array, dtype: np.dtype[Any], shape: Shape, cast: Cast
) -> tuple[Array, Int64s, Int64s, Bools | None]:
    rows = len(given)
    found = given.shape[1:]
    if rows and not (len(found) == len(shape) and fits(found, shape)):
        raise wrong_shape(None, given, found, shape)
    count = given.size // rows if rows else 0
    flat = cast(given, dtype, lambda position: position // count).reshape(given.size)
    shapes = np.zeros((rows, len(shape)), np.int64)
    if rows:
        shapes[:] = found
    return flat, np.arange(rows + 1, dtype=np.int64) * count, shapes, None


def _from_column(
    column: ShapedColumn, dtype: np.dtype[Any], shape: Shape, cast: Cast
) -> tuple[Array, Int64s, Int64s, Bools | None]:
    start = int(column.offsets[0])
    offsets = column.offsets - start
    there = slice(None) if column.present is None else column.present
    shapes = column.shapes
    if shapes.shape[1] != len(shape):
        raise EncodeError(
            "The rows have the wrong number of dimensions.", found=shapes.shape[1], expected=f"shape {shape}"
        )
    for axis, size in enumerate(shape):
        if size is not None and bool((shapes[there, axis] != size).any()):
            row = int(np.flatnonzero(shapes[:, axis] != size)[0])
            raise wrong_shape(row, None, tuple(shapes[row].tolist()), shape)
    flat = cast(
        column.values[start : int(column.offsets[-1])],
        dtype,
        lambda position: int(np.searchsorted(offsets, position, side="right")) - 1,
    )
    return flat, offsets, shapes, column.present
