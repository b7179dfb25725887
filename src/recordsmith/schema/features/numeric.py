"""The common part of the numeric features: how a dtype is stored and restored. The features are in tensor.py.

float32               a float list                              (storage "list", the default for it)
int64                 an int64 list                             (storage "list", the default for it)
every other dtype     one bytes value, compact little-endian    (storage "bytes", the default for them)
bool, integers        an int64 list if asked for                (storage "list")
float16               a float list if asked for                 (storage "list")
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from math import prod
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from recordsmith.columns import Ragged
from recordsmith.columns.any_column import row_of
from recordsmith.errors import EncodeError, SchemaError, SchemaMismatchError, did_you_mean
from recordsmith.schema.features.constraints import NumberBounds, Violation, number_violations, raise_first
from recordsmith.schema.features.feature import Feature
from recordsmith.schema.features.packing import packed, unpacked
from recordsmith.schema.input.casting import Cast, cast_exactly, describe_dtype
from recordsmith.schema.input.conversion import check_presence, check_rows
from recordsmith.schema.input.foreign_values import plain_value
from recordsmith.schema.input.lossy_casting import cast_with_loss
from recordsmith.schema.input.numeric_input import dense_numbers, fits, free_numbers, wrong_shape
from recordsmith.schema.plan import Bools, ColumnParts, Int64s, Parts, PlanColumn

__all__ = ["DType", "DTypeName", "NumericFeature", "checked_dtype", "plain_from_json", "plain_to_json"]

Array = npt.NDArray[Any]
Packing = Literal["zlib", "bfloat16"]
Storage = Literal["bytes", "list", "zlib", "bfloat16"]
# Literals, so that an editor completes them and marks a misspelt one. At run time whatever numpy takes is taken.
DTypeName: TypeAlias = Literal[
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "complex64", "complex128",
]  # fmt: skip
DType: TypeAlias = DTypeName | np.dtype[Any] | type[np.generic | bool | int | float | complex]

_DTYPES = get_args(DTypeName)
_INT64 = np.dtype("int64")


@dataclass(frozen=True, init=False, eq=False, repr=False)
class NumericFeature(Feature):
    """What Scalar and Tensor share: numbers of one dtype and shape, in a list or as raw bytes.

    >>> from recordsmith.schema import Scalar
    >>> Scalar("uint8").stored_as, Scalar("uint8", storage="list").stored_as
    ('bytes', 'list')
    """

    dtype: np.dtype[Any]
    min: float | None = field(default=None, kw_only=True)
    max: float | None = field(default=None, kw_only=True)
    one_of: tuple[Any, ...] | None = field(default=None, kw_only=True)
    finite: bool = field(default=False, kw_only=True)
    storage: Storage | None = field(default=None, kw_only=True)

    @property
    @abstractmethod
    def row_shape(self) -> tuple[int | None, ...]:
        """The shape of one row: () for a Scalar."""

    def _set_numbers(self, dtype: Any, storage: Any, *, low: Any, high: Any, one_of: Any, finite: Any) -> None:
        self._set(dtype=checked_dtype(dtype), storage=storage)
        bounds = NumberBounds.checked(self.dtype, low=low, high=high, one_of=one_of, finite=finite)
        self._set(min=bounds.low, max=bounds.high, one_of=bounds.one_of, finite=bounds.finite)
        if storage not in (None, *get_args(Storage)):
            raise SchemaError("Unknown storage.", found=storage, expected="'bytes', 'list', 'zlib', 'bfloat16' or None")
        if storage == "list" and self.dtype.kind == "c":
            raise SchemaError(
                f"{self.dtype} values cannot be stored in a list without loss: a float list stores float32.",
                advice="Omit storage to store the values as bytes, or declare dtype 'float32'.",
            )
        if storage == "bfloat16" and self.dtype.name != "float32":
            raise SchemaError("bfloat16 is read as float32.", found=self.dtype, advice="Declare dtype 'float32'.")

    @cached_property
    def stored_as(self) -> Storage:
        """How the numbers are stored: as a list of the Example's own types, or as one bytes value."""
        return "bytes" if self.packing else self.storage or self._usual_storage

    @property
    def packing(self) -> Packing | None:
        """What else is done to the bytes of a row: "zlib" compresses them, "bfloat16" keeps half of each float32."""
        return self.storage if self.storage in ("zlib", "bfloat16") else None

    @property
    def _usual_storage(self) -> Storage:
        return "list" if self.dtype.name in ("float32", "int64") else "bytes"

    def plan(self, name: str) -> tuple[PlanColumn, ...]:
        """Return the one stored feature that holds the numbers."""
        return (self._value_plan(name, None if self.default is None else self.value_to_canonical(self.default)),)

    def _value_plan(self, key: str, default: Any) -> PlanColumn:
        count = self._fixed_count
        if self.stored_as == "bytes":
            if self.packing:
                return PlanColumn(key, "bytes", 1, None, self.presence, default)
            row_bytes = None if count is None else count * self.dtype.itemsize
            return PlanColumn(key, "bytes", 1, row_bytes, self.presence, default, raw_dtype=self.dtype)
        kind: Literal["float", "int64"] = "float" if self.dtype.kind == "f" else "int64"
        return PlanColumn(key, kind, count, None, self.presence, default)

    def assemble(self, parts: Sequence[Parts]) -> Any:
        """Return an array of shape (rows, *shape), a masked one if rows may be absent, or a Ragged."""
        values, offsets, present, _ = self._unpacked(parts[0])
        if self._as_decoded and present is None:
            return values
        if offsets is not None:
            return self._assemble_free(values, offsets, present)
        rows = len(values)
        array = self._restored(values).reshape(rows, *self.row_shape)
        if present is None:
            return array
        absent = np.broadcast_to(~present.reshape(rows, *(1 for _ in self.row_shape)), array.shape).copy()
        return np.ma.MaskedArray(array, mask=absent)

    def row(self, column: Any, index: int) -> Any:
        """Return one row: a numpy scalar, or an array; None if it is absent."""
        return row_of(column, index)

    def column_to_parts(self, values: Any, rows: int | None = None, *, cast: bool = False) -> tuple[ColumnParts, ...]:
        """Return what the core writes for a column of numbers; an array of the exact dtype is passed on as it is."""
        shape = self.row_shape
        how = cast_with_loss if cast else cast_exactly
        if self._fixed_count is None:
            flat, offsets, present = free_numbers(values, self.dtype, shape, how)
            check_rows(len(offsets) - 1, rows)
            present = check_presence(present, optional=self.optional)
            if self.constrained:
                raise_first(self._free_violations(flat, offsets, present))
            return (self._stored_free(flat, offsets, present, how),)
        if (
            type(values) is np.ndarray
            and values.dtype == self.dtype
            and values.shape[1:] == shape
            and values.ndim == len(shape) + 1
            and values.flags.c_contiguous
        ):
            array, present = values, None
        else:
            array, present = dense_numbers(values, self.dtype, shape, how)
        check_rows(len(array), rows)
        present = check_presence(present, optional=self.optional)
        if self.constrained:
            raise_first(self._dense_violations(array, present))
        return ((self._stored_rows(array, how), None, present),)

    def violations(self, column: Any) -> list[Violation]:
        """List the rows of an assembled column that break a constraint."""
        if not self.constrained:
            return []
        if isinstance(column, Ragged):
            start = int(column.offsets[0])
            used = np.asarray(column.values[start : int(column.offsets[-1])])
            entry = used.size // len(used) if len(used) else 1
            return self._free_violations(used.reshape(used.size), (column.offsets - start) * entry, column.present)
        if isinstance(column, np.ma.MaskedArray):
            absent = np.ma.getmaskarray(column).reshape(len(column), self._unit)
            return self._dense_violations(np.asarray(column.data), np.asarray(~absent.all(axis=1)))
        return self._dense_violations(np.asarray(column), None)

    def _canonical(self, value: Any, *, cast: bool) -> Array | bytes:
        if isinstance(value, np.generic):
            value = np.asanyarray(value)
        elif not isinstance(value, np.ndarray):
            value = plain_value(value)
        # An array becomes a column of one row without a copy.
        alone = isinstance(value, np.ndarray) and value.dtype.kind != "O"
        try:
            values = self.column_to_parts(value[np.newaxis] if alone else [value], 1, cast=cast)[0][0]
        except EncodeError:
            if alone and not fits(value.shape, self.row_shape):  # the column's own error speaks of a column
                raise wrong_shape(0, value, value.shape, self.row_shape) from None
            raise
        if isinstance(values, list):
            return bytes(values[0])
        return bytes(values.tobytes()) if self.stored_as == "bytes" else values.reshape(values.size)

    @cached_property
    def bounds(self) -> NumberBounds:
        """What every number must keep to."""
        return NumberBounds(self.min, self.max, self.one_of, self.finite)

    @cached_property
    def constrained(self) -> bool:
        """Whether values must keep to more than the type."""
        return self.bounds.any

    def _dense_violations(self, array: Array, present: Bools | None) -> list[Violation]:
        there = None if present is None else np.repeat(present, self._unit)
        flat = array.reshape(array.size)
        return number_violations(flat, self.bounds, lambda positions: positions // self._unit, there)

    def _free_violations(self, flat: Array, offsets: Int64s, present: Bools | None) -> list[Violation]:  # noqa: ARG002 - lengths need it
        return number_violations(
            flat, self.bounds, lambda positions: np.searchsorted(offsets, positions, side="right") - 1, None
        )

    @cached_property
    def _fixed_count(self) -> int | None:
        """The number of values in every row; None if it varies."""
        return None if None in self.row_shape else self._unit

    @cached_property
    def _as_decoded(self) -> bool:
        """Whether the core's dense values are the column already: the common case, and it should cost nothing."""
        return self.row_shape == () and self.stored_as == "list" and self.dtype.name in ("float32", "int64")

    @cached_property
    def _unit(self) -> int:
        """The number of values in a row, or for one step of its free dimension."""
        return prod(size for size in self.row_shape if size is not None)

    def _unpacked(self, part: Parts) -> Parts:
        """Return the bytes of rows as they were before they were packed."""
        values, offsets, present, steps = part
        if self.packing is None or offsets is None:
            return part
        size = None if self._fixed_count is None else self._fixed_count * self.dtype.itemsize
        flat, bounds = unpacked(values, offsets, self.packing, size, present)
        return (flat, bounds, present, steps) if size is None else (flat.reshape(-1, size), None, present, steps)

    def _stored_rows(self, array: Array, cast: Cast) -> Any:
        """Lay out dense rows as they are stored: a matrix of list values or of bytes."""
        rows, count = len(array), self._unit
        if self.packing:
            return [packed(array[row], self.packing, row, cast) for row in range(rows)]
        if self.stored_as == "bytes":
            return array.reshape(rows * count).view(np.uint8).reshape(rows, count * self.dtype.itemsize)
        flat = self._as_list(array.reshape(rows * count), None, cast)
        return flat if count == 1 else flat.reshape(rows, count)

    def _stored_free(self, flat: Array, offsets: Int64s, present: Bools | None, cast: Cast) -> ColumnParts:
        """Lay out rows of different length as they are stored."""
        if self.packing:
            bounds = enumerate(pairwise(offsets.tolist()))
            return [packed(flat[begin:end], self.packing, row, cast) for row, (begin, end) in bounds], None, present
        if self.stored_as == "bytes":
            return flat.view(np.uint8), offsets * self.dtype.itemsize, present
        return self._as_list(flat, offsets, cast), offsets, present

    def _as_list(self, flat: Array, offsets: Int64s | None, cast: Cast) -> Array:
        if self.dtype.kind == "f":
            with np.errstate(over="ignore"):
                narrow = flat.astype(np.float32, copy=False)
            if self.dtype.name != "float64" or cast is not cast_exactly:
                return narrow
            lost = (narrow != flat) & ~np.isnan(flat)
            if lost.any():
                first = int(np.argmax(lost))
                raise EncodeError(
                    "A float64 does not fit into a list, which stores float32, without loss.",
                    row=self._row_of(first, offsets),
                    found=flat[first],
                    advice="Declare the feature without storage='list'; its bytes are then stored.",
                )
            return narrow
        if self.dtype.name == "uint64":
            return cast(flat, _INT64, lambda n: self._row_of(n, offsets))
        return flat.astype(np.int64, copy=False)

    def _assemble_free(self, values: Array, offsets: Int64s, present: Bools | None) -> Ragged:
        shape = self.row_shape
        unit = self._unit
        used, offsets = self._restored_free(values, offsets)
        # Offsets count entries of the free dimension if it is the first, and values if not.
        if shape[0] is None:
            entries = used.reshape(used.size // unit, *shape[1:])
            return Ragged.unchecked(entries, offsets // unit if unit > 1 else offsets, present=present)
        return Ragged.unchecked(used, offsets, row_shape=shape, present=present)

    def _restored_free(self, values: Array, offsets: Int64s) -> tuple[Array, Int64s]:
        """Return stored rows of different length as flat values from offset 0, and offsets that count values."""
        raw = self.stored_as == "bytes"
        start = int(offsets[0])
        step = self._unit * self.dtype.itemsize if raw else self._unit
        if step > 1:
            lengths = np.diff(offsets)
            uneven = np.flatnonzero(lengths % step)
            if uneven.size:
                row = int(uneven[0])
                raise SchemaMismatchError(
                    f"Row {row} of the batch does not match the feature's shape.",
                    row=row,
                    found=f"{lengths[row]} {'bytes' if raw else 'values'}",
                    expected=f"a multiple of {step}, for {self.dtype} of shape {self.row_shape}",
                )
        if start > 0:
            values, offsets = values[start : int(offsets[-1])], offsets - start
        else:
            values = values[: int(offsets[-1])]
        used = self._restored(values, offsets)
        return used, offsets // self.dtype.itemsize if raw and self.dtype.itemsize > 1 else offsets

    def _restored(self, values: Array, offsets: Int64s | None = None) -> Array:
        """Return stored values, or raw bytes, in the feature's dtype, without a copy where the storage allows it."""
        dtype = self.dtype
        if self.stored_as == "bytes":
            if dtype.kind == "b" and values.size and int(values.max()) > 1:
                first = int(np.argmax(values.reshape(-1) > 1))
                raise self._outside(values.reshape(-1)[first], self._row_of(first, offsets))
            return values.view(dtype)
        if values.dtype == dtype:
            return values
        if dtype.kind == "f":
            with np.errstate(over="ignore"):
                narrow = values.astype(dtype)
            wrong = np.isfinite(values) & ~np.isfinite(narrow)
        else:
            low, high = (0, 1) if dtype.kind == "b" else (int(np.iinfo(dtype).min), int(np.iinfo(dtype).max))
            wrong = (values < low) | (values > min(high, 2**63 - 1))
            narrow = values.astype(dtype)
        if wrong.any():
            first = int(np.argmax(wrong.reshape(-1)))
            raise self._outside(values.reshape(-1)[first], self._row_of(first, offsets))
        return narrow

    def _row_of(self, position: int, offsets: Int64s | None) -> int:
        if offsets is None:
            return position // self._unit
        return int(np.searchsorted(offsets, position, side="right")) - 1

    def _outside(self, value: Any, row: int) -> SchemaMismatchError:
        return SchemaMismatchError(
            f"Row {row} of the batch contains a value outside the feature's type.",
            row=row,
            found=value.item(),
            expected=describe_dtype(self.dtype),
            advice="Declare a type that can hold the stored values.",
        )

    def _shown_setting(self, name: str) -> str:
        return repr(self.dtype.name) if name == "dtype" else super()._shown_setting(name)

    def _setting_to_json(self, name: str) -> Any:
        if name == "dtype":
            return self.dtype.name
        return plain_to_json(getattr(self, name)) if name in ("default", "one_of") else super()._setting_to_json(name)

    @classmethod
    def _setting_from_json(cls, name: str, value: Any, settings: Mapping[str, Any]) -> Any:
        if name in ("default", "one_of"):
            return plain_from_json(value, complex if str(settings.get("dtype")).startswith("complex") else float)
        return super()._setting_from_json(name, value, settings)

    def _checked_default(self, default: Any) -> Any:
        super()._checked_default(default)
        return _frozen(np.asarray(default).tolist() if isinstance(default, (np.ndarray, np.generic)) else default)


def checked_dtype(dtype: Any) -> np.dtype[Any]:
    """Return a dtype in the machine's byte order if recordsmith can store it, or raise a SchemaError.

    >>> checked_dtype(">i2")
    dtype('int16')
    """
    if isinstance(dtype, str) and dtype in _DTYPES:  # the usual case, and a schema may have 10,000 of them
        return np.dtype(dtype)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of names that numpy gives up, and nobody stores
            found = None if dtype is None else np.dtype(dtype)
    except (TypeError, ValueError, SyntaxError):  # numpy has a small language for dtypes
        raise SchemaError(
            f"There is no dtype {dtype!r}.{did_you_mean(str(dtype), _DTYPES)}", expected=", ".join(_DTYPES)
        ) from None
    if found is None or found.name not in _DTYPES:
        advice = None
        if found is not None and found.kind in "OSUT":
            advice = "Declare strings as Text() or Bytes()."
        elif found is not None and found.kind in "mM":
            advice = "Store times as int64, and name the unit in the description."
        raise SchemaError("This dtype cannot be stored.", found=dtype, expected=", ".join(_DTYPES), advice=advice)
    native: np.dtype[Any] = np.dtype(found.name)  # in this machine's byte order, whichever order it was written in
    return native


def _frozen(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    return tuple(_frozen(entry) for entry in value) if isinstance(value, (list, tuple, np.ndarray)) else value


def plain_to_json(value: Any) -> Any:
    """Turn a frozen default into JSON, which has no complex numbers, infinities or NaN: those become strings.

    >>> plain_to_json((1.5, float("nan")))
    [1.5, 'nan']
    """
    if isinstance(value, tuple):
        return [plain_to_json(entry) for entry in value]
    if isinstance(value, complex) or (isinstance(value, float) and not np.isfinite(value)):
        return str(value)
    return value


def plain_from_json(value: Any, number: type[complex | float]) -> Any:
    """Turn what `plain_to_json` made back into numbers.

    >>> plain_from_json([1.5, "inf"], float)
    (1.5, inf)
    """
    if isinstance(value, list):
        return tuple(plain_from_json(entry, number) for entry in value)
    if not isinstance(value, str):
        return value
    try:
        return number(value)
    except ValueError:
        raise SchemaError("The default is not a number.", found=value) from None
