"""Converts columns of numbers of any kind to arrays of one dtype and shape.

Two questions are answered together because their errors belong together: has every row the wanted shape, and does
every value fit the wanted dtype. An array is looked at as a whole; only a list has its rows looked at one by one, and
only where numpy does not make one rectangle of it.
"""

from __future__ import annotations

from itertools import chain
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from recordsmith.columns import ByteColumn, Ragged, ShapedColumn
from recordsmith.columns.offset_column import offsets_of
from recordsmith.errors import EncodeError
from recordsmith.schema.input.casting import (
    Cast,
    RowOf,
    advice_about,
    cast_exactly,
    describe_value,
    is_number,
    not_a_number,
    numbers_of,
)
from recordsmith.schema.input.conversion import understand_column, without_missing
from recordsmith.schema.input.foreign import is_sparse
from recordsmith.schema.input.foreign_values import plain_inside

if TYPE_CHECKING:
    from recordsmith.schema.plan import Bools, Int64s

__all__ = ["dense_numbers", "fits", "free_numbers", "plain_rows", "shape_of", "wrong_shape"]

Array = npt.NDArray[Any]
Shape = tuple[int | None, ...]


def dense_numbers(
    values: Any, dtype: np.dtype[Any], shape: Shape, cast: Cast = cast_exactly
) -> tuple[Array, Bools | None]:
    """Return a column of rows of one fixed shape as an array (rows, *shape), and which rows are present."""
    given, present = understand_column(values)
    if isinstance(given, ByteColumn):
        raise _strings(given, dtype)
    if isinstance(given, Ragged):
        given = _even_rows(given, shape, present)
    if isinstance(given, list):
        rows, present = without_missing(given, present)
        array = _stack_rows(rows, dtype, shape, _numbers_of_present(present), cast)
        return (array, None) if present is None else (_spread(array, present), present)
    if len(given) == 0:
        return np.zeros((0, *_sizes(shape)), dtype), present
    if given.shape[1:] != shape:
        raise EncodeError(
            "The rows have the wrong shape.",
            found=f"shape {given.shape[1:]} in an array of shape {given.shape}",
            expected=f"shape {shape} in each row",
            advice=f"Reshape it to (rows, {', '.join(map(str, shape))}) first." if shape else "Reshape it to (rows,).",
        )
    if present is not None and not present.all():
        given = given[present]  # a masked row has no value
        return _spread(_cast_rows(given, dtype, np.flatnonzero(present), cast), present), present
    return _cast_rows(given, dtype, None, cast), None


def free_numbers(
    values: Any, dtype: np.dtype[Any], shape: Shape, cast: Cast = cast_exactly
) -> tuple[Array, Int64s, Bools | None]:
    """Return a column of rows with one free dimension as flat values, offsets, and which rows are present.

    >>> values, offsets, _ = free_numbers([[1, 2], [], [3]], np.dtype("int64"), (None,))
    >>> values.tolist(), offsets.tolist()
    ([1, 2, 3], [0, 2, 2, 3])
    """
    given, present = understand_column(values)
    if isinstance(given, ByteColumn):
        raise _strings(given, dtype)
    if isinstance(given, np.ndarray) and present is not None and not present.all():
        given = [row if there else None for row, there in zip(given, present.tolist(), strict=True)]
    if isinstance(given, np.ndarray):
        rows = len(given)
        if rows > 0 and not fits(given.shape[1:], shape):
            raise wrong_shape(None, given, given.shape[1:], shape)
        count = given.size // rows if rows > 0 else 0
        flat = cast(given, dtype, lambda position: position // count).reshape(given.size)
        return flat, np.arange(rows + 1, dtype=np.int64) * count, present
    if isinstance(given, Ragged) and isinstance(given.values, np.ndarray) and given.row_shape == shape:
        start = int(given.offsets[0])
        used = given.values[start : int(given.offsets[-1])]
        offsets = (given.offsets - start) * prod(used.shape[1:])
        flat = cast(used, dtype, lambda position: _row_at(offsets, position)).reshape(used.size)
        return flat, offsets, present
    found, present = without_missing(_rows_of(given), present)
    numbers = _numbers_of_present(present)
    flat, lengths = _join_rows(found, dtype, shape, numbers, cast)
    if present is None:
        return flat, offsets_of(lengths), None
    spread = np.zeros(len(present), np.int64)
    spread[present] = lengths
    return flat, offsets_of(spread), present


def _cast_rows(array: Array, dtype: np.dtype[Any], numbers: Array | None, cast: Cast) -> Array:
    count = max(1, array.size // len(array)) if len(array) else 1
    return cast(array, dtype, lambda position: _number(numbers, position // count))


def _stack_rows(rows: list[Any], dtype: np.dtype[Any], shape: Shape, numbers: Array | None, cast: Cast) -> Array:
    if not rows:
        return np.zeros((0, *_sizes(shape)), dtype)
    rows = plain_rows(rows, numbers)
    try:
        array = numbers_of(rows, dtype)
    except ValueError:
        array = np.empty(0)  # uneven nesting; the shapes below say where
    if array.shape == (len(rows), *shape):
        return _cast_rows(array, dtype, numbers, cast)
    for position, row in enumerate(rows):
        found = shape_of(row)
        if found != shape:
            raise wrong_shape(_number(numbers, position), row, found, shape)
    raise EncodeError("The rows have different shapes.", expected=_wanted(shape), advice=_shape_advice(None, shape))


def _join_rows(
    rows: list[Any], dtype: np.dtype[Any], shape: Shape, numbers: Array | None, cast: Cast
) -> tuple[Array, npt.NDArray[np.int64]]:
    """Put rows of different length one after the other, and count the values of each."""
    if not rows:
        return np.zeros(0, dtype), np.zeros(0, np.int64)
    rows = plain_rows(rows, numbers)
    if shape == (None,) and set(map(type, rows)) <= {list, tuple}:
        lengths = np.fromiter(map(len, rows), np.int64, len(rows))
        offsets = offsets_of(lengths)

        def row_of(position: int) -> int:
            return _number(numbers, _row_at(offsets, position))

        try:
            flat = numbers_of(list(chain.from_iterable(rows)), dtype)
        except ValueError:
            flat = np.empty((0, 0))  # uneven nesting; the shapes below say where
        if flat.ndim == 1:
            return cast(flat, dtype, row_of), lengths
    arrays = []
    for position, row in enumerate(rows):
        number = _number(numbers, position)
        found = shape_of(row)
        if found is None or not fits(found, shape):
            raise wrong_shape(number, row, found, shape)
        array = row if isinstance(row, np.ndarray) else numbers_of(row, dtype)
        arrays.append(array.reshape(array.size))
    lengths = np.fromiter(map(len, arrays), np.int64, len(arrays))
    if len({array.dtype for array in arrays}) == 1:
        offsets = offsets_of(lengths)
        joined = np.concatenate(arrays)
        return cast(joined, dtype, lambda n: _number(numbers, _row_at(offsets, n))), lengths
    pieces = [cast(array, dtype, _always(_number(numbers, n))) for n, array in enumerate(arrays)]
    return np.concatenate(pieces), lengths


def _even_rows(column: Ragged, shape: Shape, present: Bools | None) -> Array | list[Any]:
    """Return a Ragged whose rows all have the wanted fixed shape as one array; else its rows, to say which has not."""
    lengths = column.lengths
    if present is None and len(lengths) and bool((lengths == lengths[0]).all()):
        sizes = [int(lengths[0]) if size is None else size for size in column.row_shape]
        if isinstance(column.values, np.ndarray) and tuple(sizes) == shape:
            return column.values[int(column.offsets[0]) : int(column.offsets[-1])].reshape(len(column), *sizes)
    return _rows_of(column)


def _rows_of(given: Array | Ragged | list[Any]) -> list[Any]:
    if isinstance(given, Ragged) and not isinstance(given.values, np.ndarray):
        return given.to_list()
    return list(given)


def _spread(array: Array, present: Bools) -> Array:
    """Put the present rows in their places, with zeros for the absent ones."""
    spread = np.zeros((len(present), *array.shape[1:]), array.dtype)
    spread[present] = array
    return spread


def _numbers_of_present(present: Bools | None) -> Array | None:
    return None if present is None else np.flatnonzero(present)


def _number(numbers: Array | None, position: int) -> int:
    return position if numbers is None else int(numbers[position])


def _always(number: int) -> RowOf:
    return lambda _: number


def _row_at(offsets: Int64s, position: int) -> int:
    return int(np.searchsorted(offsets, position, side="right")) - 1


def _sizes(shape: Shape) -> list[int]:
    return [size for size in shape if size is not None]


def fits(found: tuple[int, ...], shape: Shape) -> bool:
    """Say whether a row of one shape can be stored where another is declared.

    >>> fits((2, 4), (None, 4)), fits((2, 3), (None, 4)), fits((0,), (None, 4))
    (True, False, True)
    """
    if found == (0,):  # [] is an empty row of every shape that can be empty
        return None in shape
    if found[-1:] == (0,):  # nested lists without values do not show the dimensions after the empty one
        shape = shape[: len(found)]
    return len(found) == len(shape) and all(b in (None, a) for a, b in zip(found, shape, strict=True))


def shape_of(row: Any) -> tuple[int, ...] | None:
    """Return the shape of an array or of nested lists; None if they are of uneven length.

    >>> shape_of([[1, 2], [3, 4]]), shape_of([[1], [2, 3]])
    ((2, 2), None)
    """
    try:
        return tuple(np.shape(row))
    except ValueError:  # nested lists of uneven length
        return None
    except (TypeError, RuntimeError):  # tensors that numpy does not read, inside lists
        return shape_of(plain_inside(row))


def _described(row: Any, found: tuple[int, ...] | None) -> str:
    if found is None:
        return "nested lists of uneven length"
    return describe_value(row) if found == () else f"shape {found}"


def plain_rows(rows: list[Any], numbers: Array | None) -> list[Any]:
    """Make plain rows of our own columns and of images, and refuse what numpy would wrongly take for numbers."""
    kinds = set(map(type, rows))
    if kinds & {Ragged, ShapedColumn, ByteColumn}:
        rows = [row.to_list() if isinstance(row, (Ragged, ShapedColumn, ByteColumn)) else row for row in rows]
    if kinds & {bytearray, memoryview}:
        position = next(n for n, row in enumerate(rows) if isinstance(row, (bytearray, memoryview)))
        raise not_a_number(bytes(rows[position]), np.dtype(np.uint8), _number(numbers, position))
    if any(kind.__module__.startswith(("scipy.", "tensorflow.")) for kind in kinds):
        _refuse_sparse(rows, numbers)
    if any(kind.__module__.startswith("PIL.") for kind in kinds):
        rows = [_pixels(row, _number(numbers, position)) for position, row in enumerate(rows)]
    if any(issubclass(kind, np.ma.MaskedArray) for kind in kinds):
        for position, row in enumerate(rows):
            if isinstance(row, np.ma.MaskedArray) and np.ma.getmaskarray(row).any():
                raise EncodeError(
                    "A row has masked values.",
                    row=_number(numbers, position),
                    found=f"{int(np.ma.getmaskarray(row).sum())} of {row.size} values masked",
                    expected="a row without masked values, or a fully masked row",
                    advice="Give all values, or None if the whole row has no value.",
                )
    return rows


def _refuse_sparse(rows: list[Any], numbers: Array | None) -> None:
    for position, row in enumerate(rows):
        if is_sparse(row):
            raise EncodeError(
                "A sparse array cannot be used as a dense one.",
                row=_number(numbers, position),
                found=f"{type(row).__name__} of shape {tuple(row.shape)}",
                expected="a dense array of numbers",
                advice="Declare the feature as Sparse, or give row.toarray().",
            )


def _pixels(row: Any, number: int) -> Any:
    if not hasattr(row, "getpixel"):
        return row
    if row.mode in ("P", "PA"):
        raise EncodeError(
            "The pixels of this PIL image are palette indices, not colours.",
            row=number,
            found=f"a PIL image of mode {row.mode!r}",
            expected="an image whose pixels are numbers, such as mode 'RGB' or 'L'",
            advice="Convert it first, for example with image.convert('RGB').",
        )
    return np.asarray(row)


def _strings(column: ByteColumn, dtype: np.dtype[Any]) -> EncodeError:
    return EncodeError(
        "Strings cannot be stored as numbers.",
        found=column,
        expected=str(dtype),
        advice="Convert them to numbers first, or declare the feature as Text or Bytes.",
    )


def wrong_shape(row: int | None, value: Any, found: tuple[int, ...] | None, shape: Shape) -> EncodeError:
    """Return the error for a row of another shape, or for a column (row None) whose rows all have one."""
    if found == () and row is not None and not is_number(value[()] if isinstance(value, np.ndarray) else value):
        return EncodeError(
            "A value is not a number.",
            row=row,
            found=describe_value(value),
            expected=_wanted(shape),
            advice=advice_about(value),
        )
    if row is None and found is not None:
        words = f"shape {found} in an array of shape {np.shape(value)}"
    else:
        words = _described(value, found)
    return EncodeError(
        "A row has the wrong shape.",
        row=row,
        found=words,
        expected=_wanted(shape),
        advice=_shape_advice(found, shape),
    )


def _shape_advice(found: tuple[int, ...] | None, shape: Shape) -> str:
    if found is None:
        return "Pad the inner lists to the same length, or store each as a separate feature."
    if found == ():
        return "Put a single value in a list, or declare the feature as Scalar."
    if shape == ():
        return f"Give one number, or declare the feature as a Tensor of shape {found} (None: any size)."
    return "Reshape the value, or declare its shape, with None for a dimension that varies."


def _wanted(shape: Shape) -> str:
    return "one number" if shape == () else f"shape {shape}"
