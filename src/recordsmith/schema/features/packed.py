"""Packed: several arrays of fixed dtype and shape in one byte string, as older pipelines store them."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from recordsmith.columns import PackedColumn
from recordsmith.errors import SchemaError, SchemaMismatchError
from recordsmith.schema.features.feature import Feature, checked_shape
from recordsmith.schema.features.numeric import DType, DTypeName, checked_dtype
from recordsmith.schema.input.conversion import check_presence, check_rows
from recordsmith.schema.input.packed_input import packed_rows
from recordsmith.schema.plan import PlanColumn

if TYPE_CHECKING:
    from recordsmith.schema.plan import ColumnParts, Parts

__all__ = ["Packed"]

Part = tuple[DTypeName, tuple[int, ...]]


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Packed(Feature):
    r"""Several arrays with their own dtypes and shapes, stored one after the other in one byte string (little-endian).

    A row is a mapping with a value for every part, or bytes of the exact size. A column can also be a mapping with a
    column for every part. It is read as a PackedColumn: `column[name]` is a part of all rows, `column[i]` a row.

    Args:
        parts: the dtype and shape of every part by its name, in the order in which they are stored.
        optional: records may lack it; absent rows are read as None.
        default: the value for records without it: a mapping, or bytes.
        description: a sentence for readers of the schema.

    >>> blob = Packed({"pixels": ("uint8", (32, 16, 1)), "label": ("int64", ())})
    >>> blob.size
    520
    >>> blob.value_to_canonical({"pixels": np.zeros((32, 16, 1)), "label": 7})[512:]
    b'\x07\x00\x00\x00\x00\x00\x00\x00'
    """

    type_name: ClassVar[str] = "packed"

    parts: dict[str, Part]

    def __init__(
        self,
        parts: Mapping[str, tuple[DType, Sequence[int]]],
        *,
        optional: bool = False,
        default: Any = None,
        description: str = "",
    ) -> None:
        self._set(parts=_checked_parts(parts))
        self._set_common(optional=optional, default=default, description=description)

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """The structured dtype of one row, as it is stored."""
        fields = [(name, np.dtype(dtype).newbyteorder("<"), shape) for name, (dtype, shape) in self.parts.items()]
        return np.dtype(fields)

    @property
    def size(self) -> int:
        """The number of bytes of one row."""
        return self.dtype.itemsize

    def plan(self, name: str) -> tuple[PlanColumn, ...]:
        """Return the one stored feature, a byte string of known size."""
        return (PlanColumn(name, "bytes", 1, self.size, self.presence, self.default, raw_dtype=self.dtype),)

    def assemble(self, parts: Sequence[Parts]) -> PackedColumn:
        """Return a PackedColumn."""
        values, _, present, _ = parts[0]
        rows = np.ascontiguousarray(values).reshape(-1).view(self.dtype)
        for name, (dtype, _) in self.parts.items():
            if dtype == "bool":
                self._check_bools(rows[name].view(np.uint8), name)
        return PackedColumn(rows, present=present)

    def row(self, column: Any, index: int) -> dict[str, Any] | None:
        """Return the parts of one row by name; None if it is absent."""
        row: dict[str, Any] | None = column[index]
        return row

    def column_to_parts(self, values: Any, rows: int | None = None, *, cast: bool = False) -> tuple[ColumnParts, ...]:
        """Return what the core writes for a column: one byte string for each row."""
        packed, present = packed_rows(values, self.dtype, cast=cast)
        check_rows(len(packed), rows)
        present = check_presence(present, optional=self.optional)
        return ((packed.view(np.uint8).reshape(len(packed), self.size), None, present),)

    def rows_in(self, values: Any) -> int:
        """Count the rows of a column, which may be a mapping of columns."""
        if isinstance(values, Mapping) and values:
            return super().rows_in(next(iter(values.values())))
        return super().rows_in(values)

    def _canonical(self, value: Any, *, cast: bool) -> bytes:
        stored: bytes = self.column_to_parts([value], 1, cast=cast)[0][0].tobytes()
        return stored

    def _check_bools(self, flat: Any, name: str) -> None:
        wrong = flat.max(axis=tuple(range(1, flat.ndim)), initial=0) > 1
        if wrong.any():
            row = int(wrong.argmax())
            raise SchemaMismatchError(
                f"Row {row} of the batch contains a value outside the type of its part {name!r}.",
                row=row,
                found=int(flat[row].max()),
                expected="bool, or 0 or 1",
            )

    def _checked_default(self, default: Any) -> Any:
        return self.value_to_canonical(default)

    def _setting_to_json(self, name: str) -> Any:
        if name == "parts":  # a list, for their order matters
            return [[part, dtype, list(shape)] for part, (dtype, shape) in self.parts.items()]
        return base64.b64encode(self.default).decode() if name == "default" else super()._setting_to_json(name)

    @classmethod
    def _setting_from_json(cls, name: str, value: Any, settings: Mapping[str, Any]) -> Any:
        try:
            if name == "parts":
                return {part: (dtype, shape) for part, dtype, shape in value}
            if name == "default":
                return base64.b64decode(value, validate=True)
        except (binascii.Error, TypeError, ValueError):
            raise SchemaError(f"The setting {name!r} of a packed feature cannot be read.", found=value) from None
        return super()._setting_from_json(name, value, settings)


def _checked_parts(parts: Any) -> dict[str, Part]:
    if not isinstance(parts, Mapping) or not parts:
        raise SchemaError(
            "A packed feature needs a mapping of names to (dtype, shape).",
            found=parts,
            advice='Write Packed({"pixels": ("uint8", (28, 28)), "label": ("int64", ())}).',
        )
    checked: dict[str, Part] = {}
    for name, part in parts.items():
        if not isinstance(name, str) or not name:
            raise SchemaError("The name of a part must be a string.", found=name)
        if not isinstance(part, (tuple, list)) or len(part) != 2:
            raise SchemaError(f"The part {name!r} must be a pair of dtype and shape.", found=part)
        shape = checked_shape(part[1])
        sizes = tuple(size for size in shape if size is not None)
        if len(sizes) != len(shape):
            raise SchemaError(
                f"The part {name!r} must have a fixed shape: the bytes do not say where it ends.",
                found=f"shape {shape}",
                advice="Store data of variable length as a separate feature.",
            )
        checked[name] = (cast("DTypeName", checked_dtype(part[0]).name), sizes)
    return checked
