"""How columns are handed over to TensorFlow: as a few flat arrays, and made into tensors on the other side.

A form knows both sides. `take` turns a column into arrays, outside TensorFlow; `give` makes tensors of them, in
TensorFlow's graph. Arrays of numbers are not copied on the way. What they become is what `Schema.parse_tf` makes of
the same records.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from recordsmith.columns import ByteColumn, PackedColumn, Ragged, ShapedColumn, SparseColumn
from recordsmith.columns.offset_column import offsets_of
from recordsmith.errors import PipelineError

__all__ = ["FlatStrings", "Form", "Part", "ShapedRows", "Taken", "form_of"]

Array: TypeAlias = npt.NDArray[Any]

_LONG_STRING = 4096  # average bytes above which each string is copied by itself
_NUMBERS = "biufcV"  # V: bfloat16 and the like, which numpy knows no letter for


@dataclass(frozen=True)
class Part:
    """A flat array on its way.

    Attributes:
        dtype: its dtype; object for strings.
        shape: its shape, with None for what varies.
        one_a_row: it has one number, or one string, for each row of the batch.
    """

    dtype: np.dtype[Any]
    shape: tuple[int | None, ...]
    one_a_row: bool = False

    def empty(self) -> Array:
        """Return an array that fits, without values.

        >>> Part(np.dtype("int64"), (None, 2)).empty().shape
        (0, 2)
        """
        nothing = b"" if self.dtype == object else 0
        return np.full([size or 0 for size in self.shape], nothing, self.dtype)


@dataclass(frozen=True)
class FlatStrings:
    """Strings on their way that are still in one buffer.

    Attributes:
        column: the strings, none of them absent.
        shape: the shape of the tensor that they become.
    """

    column: ByteColumn
    shape: tuple[int, ...]

    def objects(self) -> Array:
        """Return them as an array of bytes objects.

        >>> FlatStrings(ByteColumn(b"abcd", [0, 1, 4]), (2, 1)).objects().tolist()
        [[b'a'], [b'bcd']]
        """
        return _objects(_bytes_of(self.column)).reshape(self.shape)


# What is handed over: an array for each part. Strings may still be in their buffer.
Taken: TypeAlias = "list[Array | FlatStrings]"


class Form(ABC):
    """What a column is handed over as."""

    @abstractmethod
    def parts(self, rows: int | None) -> list[Part]:
        """Return the arrays that it takes, for a number of rows that is known or not."""

    @abstractmethod
    def take(self, column: Any) -> Taken:
        """Return the arrays."""

    @abstractmethod
    def give(self, tf: Any, parts: Iterator[Any]) -> Any:
        """Take the tensors of the arrays, and make of them what the consumer gets."""


@dataclass(frozen=True)
class Numbers(Form):
    """An array of numbers: one tensor."""

    dtype: np.dtype[Any]
    shape: tuple[int | None, ...]  # of a row
    whole: bool = False  # there are no rows: the shape is that of all

    def parts(self, rows: int | None) -> list[Part]:
        """Return one array."""
        if self.whole:
            return [Part(self.dtype, self.shape)]
        return [Part(self.dtype, (rows, *self.shape), one_a_row=not self.shape)]

    def take(self, column: Any) -> Taken:
        """Return the array as it is."""
        array = np.asarray(column)
        shape = array.shape if self.whole else array.shape[1:]
        same = len(shape) == len(self.shape) and all(
            known in (None, size) for known, size in zip(self.shape, shape, strict=True)
        )
        if array.dtype != self.dtype or not same or isinstance(column, np.ma.MaskedArray):
            raise _other_form(column, f"{self.dtype} of shape {self.shape} a row")
        return [array]

    def give(self, tf: Any, parts: Iterator[Any]) -> Any:  # noqa: ARG002 - nothing is to be made of it
        """Return the tensor."""
        return next(parts)


@dataclass(frozen=True)
class Strings(Form):
    """Byte strings, or text as UTF-8: a tensor of strings."""

    shape: tuple[int | None, ...] = ()

    def parts(self, rows: int | None) -> list[Part]:
        """Return one array of bytes objects."""
        return [Part(np.dtype(object), (rows, *self.shape), one_a_row=not self.shape)]

    def take(self, column: Any) -> Taken:
        """Return the strings in their buffer, or as objects if they are that already."""
        if isinstance(column, Ragged) and isinstance(column.values, ByteColumn):  # the same number in each row
            strings = column.values[int(column.offsets[0]) : int(column.offsets[-1])]
            return [FlatStrings(strings, (len(column), *(size or 0 for size in self.shape)))]
        if isinstance(column, ByteColumn):
            if column.present is not None and not column.present.all():
                raise _other_form(column, "strings without missing rows")
            return [FlatStrings(column, (len(column),))]
        array = np.asarray(column)
        if array.dtype.kind not in "OSU":
            raise _other_form(column, "strings")
        encoded = [value.encode() if isinstance(value, str) else value for value in array.reshape(-1).tolist()]
        if not all(isinstance(value, bytes) for value in encoded):
            raise _other_form(column, "strings")
        return [_objects(encoded).reshape(array.shape)]

    def give(self, tf: Any, parts: Iterator[Any]) -> Any:  # noqa: ARG002 - nothing is to be made of it
        """Return the tensor."""
        return next(parts)


@dataclass(frozen=True)
class RaggedRows(Form):
    """Rows of different length: a RaggedTensor."""

    inner: Form
    row_shape: tuple[int | None, ...]

    @property
    def _first_varies(self) -> bool:
        return self.row_shape[0] is None

    def parts(self, rows: int | None) -> list[Part]:
        """Return where rows end, and the arrays of all rows' values."""
        return [_offsets(rows), *_inside(self.inner)]

    def take(self, column: Any) -> Taken:
        """Return the offsets from 0, and the values that they cut."""
        if not isinstance(column, Ragged):
            raise _other_form(column, "a Ragged")
        start, stop = int(column.offsets[0]), int(column.offsets[-1])
        values = column.values[start:stop]
        offsets = column.offsets - start if start else column.offsets
        if isinstance(values, np.ndarray) and self._first_varies and isinstance(self.inner, Numbers):
            values = values.reshape(-1, *self.inner.shape)
            if column.values.ndim != values.ndim:  # type: ignore[union-attr] # an array
                offsets = offsets_of(column.lengths)
        return [np.ascontiguousarray(offsets, np.int64), *self.inner.take(values)]

    def give(self, tf: Any, parts: Iterator[Any]) -> Any:
        """Return the RaggedTensor; the offsets need no further check."""
        offsets = next(parts)
        values = self.inner.give(tf, parts)
        if self._first_varies:
            return tf.RaggedTensor.from_row_splits(values, offsets, validate=False)
        from recordsmith.schema.export.tensorflow_functions import with_free_size

        counts = offsets[1:] - offsets[:-1]
        return with_free_size(values, counts, name="", shape=self.row_shape, one=False)


@dataclass(frozen=True)
class ShapedRows(Form):
    """Rows of different shapes: a RaggedTensor with several ragged dimensions."""

    dtype: np.dtype[Any]
    row_shape: tuple[int | None, ...]

    def parts(self, rows: int | None) -> list[Part]:
        """Return the values of all rows, and the rows' shapes."""
        return [Part(self.dtype, (None,)), Part(np.dtype(np.int64), (rows, len(self.row_shape)))]

    def take(self, column: Any) -> Taken:
        """Return the values and the shapes."""
        if isinstance(column, (list, np.ndarray, Ragged)):  # such as images of different sizes
            shapes = np.array([row.shape for row in column], np.int64).reshape(len(column), len(self.row_shape))
            flat = [row.reshape(-1) for row in column]
            return [np.concatenate(flat) if flat else np.empty(0, self.dtype), shapes]
        if not isinstance(column, ShapedColumn):
            raise _other_form(column, "a ShapedColumn")
        return [column.values[int(column.offsets[0]) : int(column.offsets[-1])], np.ascontiguousarray(column.shapes)]

    def give(self, tf: Any, parts: Iterator[Any]) -> Any:  # noqa: ARG002 - the functions know it
        """Return the RaggedTensor."""
        from recordsmith.schema.export.tensorflow_functions import shaped_rows

        return shaped_rows(next(parts), next(parts), shape=self.row_shape, one=False)


@dataclass(frozen=True)
class SparseRows(Form):
    """Sparse vectors: a SparseTensor."""

    dtype: np.dtype[Any]
    size: int

    def parts(self, rows: int | None) -> list[Part]:  # noqa: ARG002 - entries are not rows
        """Return the places of entries as (row, index), their values, and the number of rows."""
        return [
            Part(np.dtype(np.int64), (None, 2)),
            Part(self.dtype, (None,)),
            Part(np.dtype(np.int64), ()),
        ]

    def take(self, column: Any) -> Taken:
        """Return places and values."""
        if not isinstance(column, SparseColumn):
            raise _other_form(column, "a SparseColumn")
        cut = slice(int(column.offsets[0]), int(column.offsets[-1]))
        rows = np.repeat(np.arange(len(column)), column.lengths)
        places = np.stack([rows, np.asarray(column.indices.values[cut])], axis=1)
        return [places, np.asarray(column.values.values[cut]), np.asarray(len(column), np.int64)]

    def give(self, tf: Any, parts: Iterator[Any]) -> Any:
        """Return the SparseTensor."""
        places, values, rows = next(parts), next(parts), next(parts)
        return tf.SparseTensor(places, values, tf.stack([rows, self.size]))


@dataclass(frozen=True)
class Absent(Form):
    """Rows that may be absent: a RaggedTensor with one entry where a row is there, and none where it is not."""

    inner: Form

    def parts(self, rows: int | None) -> list[Part]:
        """Return where rows end, and the arrays of those that are there."""
        return [_offsets(rows), *_inside(self.inner)]

    def take(self, column: Any) -> Taken:
        """Return the offsets, and the rows that are there."""
        if isinstance(column, np.ma.MaskedArray):
            mask = np.ma.getmaskarray(column)
            present = ~mask.reshape(len(column), -1).any(axis=1)
            there = column.data[present]
        elif column.present is None:
            present, there = np.ones(len(column), np.bool_), column
        else:
            present, there = column.present, column[np.flatnonzero(column.present)]
        return [offsets_of(present.astype(np.int64)), *self.inner.take(there)]

    def give(self, tf: Any, parts: Iterator[Any]) -> Any:
        """Return the RaggedTensor, or a dict of them."""
        offsets = next(parts)
        rows = self.inner.give(tf, parts)
        if isinstance(rows, dict):
            return {
                name: tf.RaggedTensor.from_row_splits(values, offsets, validate=False) for name, values in rows.items()
            }
        return tf.RaggedTensor.from_row_splits(rows, offsets, validate=False)


@dataclass(frozen=True)
class Named(Form):
    """Columns by name, or the parts of a PackedColumn: a dict of tensors."""

    forms: Mapping[str, Form]

    def parts(self, rows: int | None) -> list[Part]:
        """Return the arrays of all."""
        return [part for form in self.forms.values() for part in form.parts(rows)]

    def take(self, column: Any) -> Taken:
        """Return the arrays of all."""
        names = column.names if isinstance(column, PackedColumn) else tuple(column)
        if set(names) != set(self.forms):
            raise _other_form(column, f"the features {list(self.forms)}")
        arrays: Taken = []
        for name, form in self.forms.items():
            try:
                arrays += form.take(column[name])
            except PipelineError as error:
                raise error if error.feature else error.at(feature=name) from None
        return arrays

    def give(self, tf: Any, parts: Iterator[Any]) -> Any:
        """Return the dict."""
        return {name: form.give(tf, parts) for name, form in self.forms.items()}


@dataclass(frozen=True)
class Several(Form):
    """A tuple of columns, such as (inputs, target): a tuple of tensors."""

    forms: tuple[Form, ...]

    def parts(self, rows: int | None) -> list[Part]:
        """Return the arrays of all."""
        return [part for form in self.forms for part in form.parts(rows)]

    def take(self, column: Any) -> Taken:
        """Return the arrays of all."""
        if not isinstance(column, tuple) or len(column) != len(self.forms):
            raise _other_form(column, f"a tuple of {len(self.forms)}")
        return [array for form, entry in zip(self.forms, column, strict=True) for array in form.take(entry)]

    def give(self, tf: Any, parts: Iterator[Any]) -> Any:
        """Return the tuple."""
        return tuple(form.give(tf, parts) for form in self.forms)


def form_of(value: Any, other: Any = None) -> Form:
    """Return what a column, or a whole batch, is handed over as.

    Args:
        value: a batch or a column, which may have no rows; or the form itself, where that is known already. A size of 0
            stands for one that varies.
        other: the same in a batch with other sizes, to see which vary; None if there is no other.

    >>> form_of({"n": np.zeros((0, 3), np.float32)}).parts(None)
    [Part(dtype=dtype('float32'), shape=(None, 3), one_a_row=False)]
    >>> form_of(np.zeros((2, 3, 4)), np.zeros((2, 5, 4))).parts(None)[0].shape
    (None, None, 4)
    """
    if isinstance(value, Form):
        return value
    if isinstance(value, Mapping):
        return Named({name: form_of(column, other and other.get(name)) for name, column in value.items()})
    if isinstance(value, tuple):
        others = (None,) * len(value) if other is None else other
        return Several(tuple(form_of(entry, its_other) for entry, its_other in zip(value, others, strict=True)))
    if isinstance(value, np.ma.MaskedArray):
        return Absent(form_of(value.data))
    if isinstance(value, (ByteColumn, PackedColumn, Ragged, ShapedColumn, SparseColumn)):
        return _column(value)
    if isinstance(value, list) and value and isinstance(value[0], (str, bytes)):
        return Strings()
    if not isinstance(value, list) and (isinstance(value, (int, float)) or hasattr(value, "__array__")):
        return _dense(np.asarray(value), other)
    inside = f" of {type(value[0]).__name__}" if isinstance(value, list) and value else ""
    raise PipelineError(
        "TensorFlow cannot be given this column.",
        found=f"{type(value).__name__}{inside}",
        advice="Let the function of .map() return arrays of one shape, or use .padded_batch().",
    )


def _column(column: ByteColumn | PackedColumn | Ragged | ShapedColumn | SparseColumn) -> Form:
    if isinstance(column, Ragged):
        return _ragged(column)
    if isinstance(column, ShapedColumn):
        return ShapedRows(column.dtype, (None,) * column.shapes.shape[1])
    if isinstance(column, SparseColumn):
        return SparseRows(column.dtype, column.size)
    if isinstance(column, PackedColumn):
        form: Form = Named({name: form_of(column[name]) for name in column.names})
    else:
        form = Strings()
    return form if column.present is None else Absent(form)


def _offsets(rows: int | None) -> Part:
    return Part(np.dtype(np.int64), (None if rows is None else rows + 1,))


def _inside(form: Form) -> list[Part]:
    """Return the parts of a form whose rows are not those of the batch."""
    return [replace(part, one_a_row=False) for part in form.parts(None)]


def _ragged(column: Ragged) -> Form:
    row_shape = column.row_shape
    if not isinstance(column.values, np.ndarray):
        return RaggedRows(form_of(column.values), (None,))
    if row_shape[0] is None:
        return RaggedRows(Numbers(column.dtype, row_shape[1:]), row_shape)
    return RaggedRows(Numbers(column.dtype, ()), row_shape)


def _dense(array: Array, other: Any) -> Form:
    others = array.shape if other is None else np.shape(other)
    shape = tuple(size if size and size == same else None for size, same in zip(array.shape, others, strict=True))
    if array.dtype.kind in "OSU":
        return Strings(shape[1:])
    if array.dtype.kind not in _NUMBERS or array.dtype.names is not None:
        raise PipelineError("TensorFlow has no such dtype.", found=str(array.dtype))
    return Numbers(array.dtype, shape[1:], whole=array.ndim == 0)


def _bytes_of(column: ByteColumn) -> list[bytes]:
    offsets = column.offsets
    start, stop = int(offsets[0]), int(offsets[-1])
    if stop - start > _LONG_STRING * len(column):
        view = column.data.data
        return [view[first:last].tobytes() for first, last in pairwise(offsets.tolist())]
    joined = column.data[start:stop].tobytes()  # one copy, and slices of bytes: the fastest way for short ones
    return [joined[first:last] for first, last in pairwise((offsets - start).tolist())]


def _objects(values: list[bytes]) -> Array:
    array = np.empty(len(values), object)
    array[:] = values
    return array


def _other_form(column: Any, expected: str) -> PipelineError:
    shape = getattr(column, "shape", None)
    found = type(column).__name__ if shape is None else f"{getattr(column, 'dtype', '')} of shape {shape}".strip()
    return PipelineError(
        "The batches do not all have the same form, and TensorFlow expects the form of the first.",
        found=found,
        expected=expected,
        advice="Let the function of .map() return the same dtypes and shapes for all rows, or pad them to one length.",
    )
