"""Features of numbers: Scalar and Tensor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from recordsmith.columns import ShapedColumn
from recordsmith.errors import SchemaMismatchError
from recordsmith.schema.features.constraints import LengthBounds, Violation, length_violations, raise_first
from recordsmith.schema.features.feature import checked_shape
from recordsmith.schema.features.numeric import Array, DType, NumericFeature, Storage
from recordsmith.schema.input.casting import cast_exactly
from recordsmith.schema.input.conversion import check_presence, check_rows
from recordsmith.schema.input.lossy_casting import cast_with_loss
from recordsmith.schema.input.shaped_input import shaped_numbers
from recordsmith.schema.plan import PlanColumn

if TYPE_CHECKING:
    from recordsmith.schema.plan import Bools, ColumnParts, Int64s, Parts

__all__ = ["Scalar", "Tensor"]

_MOST_VALUES = 2.0**62  # that a stored shape can speak of


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Scalar(NumericFeature):
    """One number.

    Args:
        dtype: a numpy dtype of numbers or bool, such as "float32".
        min: the minimum.
        max: the maximum.
        one_of: the allowed values.
        finite: NaN and infinity are an error.
        optional: records may lack it; the column is then a masked array.
        default: the value for records without it.
        storage: "list" or "bytes"; None means a list for float32 and int64, and bytes for other dtypes. "zlib" (bytes,
            compressed) and "bfloat16" (half of the bytes of each float32) are how TensorFlow Datasets stores some.
        description: a sentence for readers of the schema.

    >>> Scalar("float32", min=0, max=1, default=0.5)
    Scalar('float32', default=0.5, min=0, max=1)
    """

    type_name: ClassVar[str] = "scalar"

    def __init__(  # noqa: PLR0913 - each is a setting of its own, and all but the dtype are named
        self,
        dtype: DType,
        *,
        min: float | None = None,  # noqa: A002 - what people call it
        max: float | None = None,  # noqa: A002 - what people call it
        one_of: Sequence[Any] | None = None,
        finite: bool = False,
        optional: bool = False,
        default: Any = None,
        storage: Storage | None = None,
        description: str = "",
    ) -> None:
        self._set_numbers(dtype, storage, low=min, high=max, one_of=one_of, finite=finite)
        self._set_common(optional=optional, default=default, description=description)

    @property
    def row_shape(self) -> tuple[()]:
        """The shape of one row."""
        return ()


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Tensor(NumericFeature):
    """An array of numbers. Its dimensions are fixed, or vary from record to record.

    If one dimension varies, it is computed from the number of values. If several vary, the shape is stored too, as
    `name/shape` and `name/value`, as in TensorFlow Datasets.

    Args:
        dtype: a numpy dtype of numbers or bool, such as "float32".
        shape: sizes, with None for those that vary.
        min: the minimum of all numbers.
        max: the maximum of all numbers.
        one_of: the allowed values.
        finite: NaN and infinity are an error.
        min_length: the minimum size of the dimension that varies (the first, if several do).
        max_length: its maximum size.
        optional: records may lack it; the column is then a masked array, or a Ragged with absent rows.
        default: the value for records without it.
        storage: "list" or "bytes"; None means a list for float32 and int64 unless several dimensions vary, and bytes
            otherwise. "zlib" and "bfloat16" are as for a Scalar.
        description: a sentence for readers of the schema.

    >>> Tensor("float32", (None, 4), max_length=100)
    Tensor('float32', (None, 4), max_length=100)
    >>> [column.key for column in Tensor("uint8", (None, None, 3)).plan("pixels")]
    ['pixels/shape', 'pixels/value']
    """

    type_name: ClassVar[str] = "tensor"

    shape: tuple[int | None, ...]
    min_length: int | None = field(default=None, kw_only=True)
    max_length: int | None = field(default=None, kw_only=True)

    def __init__(  # noqa: PLR0913 - each is a setting of its own, and all but the first two are named
        self,
        dtype: DType,
        shape: Sequence[int | None],
        *,
        min: float | None = None,  # noqa: A002 - what people call it
        max: float | None = None,  # noqa: A002 - what people call it
        one_of: Sequence[Any] | None = None,
        finite: bool = False,
        min_length: int | None = None,
        max_length: int | None = None,
        optional: bool = False,
        default: Any = None,
        storage: Storage | None = None,
        description: str = "",
    ) -> None:
        self._set_numbers(dtype, storage, low=min, high=max, one_of=one_of, finite=finite)
        self._set(shape=checked_shape(shape))
        lengths = LengthBounds.checked(min_length, max_length, varies="size" if None in self.shape else None)
        self._set(min_length=lengths.least, max_length=lengths.most)
        self._set_common(optional=optional, default=default, description=description)

    @property
    def row_shape(self) -> tuple[int | None, ...]:
        """The shape of one row."""
        return self.shape

    @cached_property
    def lengths(self) -> LengthBounds:
        """What the length of every row must keep to."""
        return LengthBounds(self.min_length, self.max_length)

    @cached_property
    def constrained(self) -> bool:
        """Whether values must keep to more than the type."""
        return self.bounds.any or self.lengths.any

    @cached_property
    def several_free(self) -> bool:
        """Whether more than one dimension varies, so that shapes are stored."""
        return self.shape.count(None) > 1

    @property
    def _usual_storage(self) -> Storage:
        return "bytes" if self.several_free else super()._usual_storage

    def plan(self, name: str) -> tuple[PlanColumn, ...]:
        """Return the stored feature that holds the numbers, after one for the shape where several dimensions vary."""
        if not self.several_free:
            return super().plan(name)
        shape, value = (None, None) if self.default is None else self.value_to_canonical(self.default)
        shape_column = PlanColumn(f"{name}/shape", "int64", len(self.shape), None, self.presence, shape)
        return shape_column, self._value_plan(f"{name}/value", value)

    def assemble(self, parts: Sequence[Parts]) -> Any:
        """Return an array of shape (rows, *shape), a masked one if rows may be absent, a Ragged or a ShapedColumn."""
        if not self.several_free:
            return super().assemble(parts)
        shapes, _, present, _ = parts[0]
        values, stored_offsets, values_present, _ = self._unpacked(parts[1])
        flat, offsets = self._restored_free(values, cast("Int64s", stored_offsets))
        fixed = np.array([-1 if size is None else size for size in self.shape])
        fits = ((shapes >= 0) & ((shapes == fixed) | (fixed < 0))).all(axis=1)
        fits &= np.maximum(shapes, 1).prod(axis=1, dtype=np.float64) < _MOST_VALUES  # or the next product overflows
        fits &= shapes.prod(axis=1) == np.diff(offsets)
        if present is not None:
            fits = np.where(present, fits, True) & (present == values_present)
        if not fits.all():
            row = int(fits.argmin())
            raise SchemaMismatchError(
                f"Row {row} of the batch has a stored shape that does not match its number of values.",
                row=row,
                found=f"{int(np.diff(offsets)[row])} values for shape {tuple(shapes[row].tolist())}",
                expected=f"{self.dtype} of shape {self.shape}",
            )
        return ShapedColumn.unchecked(flat, offsets, shapes, present=present)

    def column_to_parts(self, values: Any, rows: int | None = None, *, cast: bool = False) -> tuple[ColumnParts, ...]:
        """Return what the core writes for a column of arrays. An array of the exact dtype and shape is not copied."""
        if not self.several_free:
            return super().column_to_parts(values, rows, cast=cast)
        how = cast_with_loss if cast else cast_exactly
        flat, offsets, shapes, present = shaped_numbers(values, self.dtype, self.shape, how)
        check_rows(len(shapes), rows)
        present = check_presence(present, optional=self.optional)
        if self.constrained:
            raise_first(self._shaped_violations(flat, offsets, shapes, present))
        return (np.ascontiguousarray(shapes), None, present), self._stored_free(flat, offsets, present, how)

    def violations(self, column: Any) -> list[Violation]:
        """List the rows of an assembled column that break a constraint."""
        if not isinstance(column, ShapedColumn):
            return super().violations(column)
        if not self.constrained:
            return []
        start = int(column.offsets[0])
        flat = column.values[start : int(column.offsets[-1])]
        return self._shaped_violations(flat, column.offsets - start, column.shapes, column.present)

    def _canonical(self, value: Any, *, cast: bool) -> Any:
        if not self.several_free:
            return super()._canonical(value, cast=cast)
        shapes, values = self.column_to_parts([value], 1, cast=cast)
        stored = values[0]
        if isinstance(stored, list):
            return shapes[0][0], stored[0]
        return shapes[0][0], stored.tobytes() if self.stored_as == "bytes" else stored

    def _free_violations(self, flat: Array, offsets: Int64s, present: Bools | None) -> list[Violation]:
        found = super()._free_violations(flat, offsets, present)
        sizes = np.diff(offsets) // self._unit
        return self._with_lengths(found, sizes, present)

    def _shaped_violations(
        self, flat: Array, offsets: Int64s, shapes: Int64s, present: Bools | None
    ) -> list[Violation]:
        found = super()._free_violations(flat, offsets, present)
        return self._with_lengths(found, shapes[:, self.shape.index(None)], present)

    def _with_lengths(self, found: list[Violation], sizes: Array, present: Bools | None) -> list[Violation]:
        wrong = length_violations(sizes, self.lengths, present, "element")
        return sorted([*found, *wrong], key=lambda violation: violation.row)
