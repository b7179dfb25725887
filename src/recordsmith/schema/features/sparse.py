"""Sparse: a long vector that is mostly zero, stored as the indices and values of the other entries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

import numpy as np
import numpy.typing as npt

from recordsmith.columns import SparseColumn, SparseRow
from recordsmith.errors import SchemaError, SchemaMismatchError
from recordsmith.schema.features.constraints import Violation
from recordsmith.schema.features.feature import Feature
from recordsmith.schema.features.numeric import DType, checked_dtype, plain_from_json, plain_to_json
from recordsmith.schema.input.casting import cast_exactly
from recordsmith.schema.input.conversion import check_presence, check_rows
from recordsmith.schema.input.foreign import is_sparse
from recordsmith.schema.input.lossy_casting import cast_with_loss
from recordsmith.schema.input.sparse_input import sparse_numbers
from recordsmith.schema.plan import PlanColumn

if TYPE_CHECKING:
    from recordsmith.schema.plan import ColumnParts, Int64s, Parts

__all__ = ["Sparse"]


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Sparse(Feature):
    """A vector of fixed size that is mostly 0, such as word counts. Only the other entries are stored.

    It is stored as two features, `name/indices` (sorted, each once) and `name/values`, for `tf.io.SparseFeature`. A row
    is (indices, values), a mapping of index to value, a scipy.sparse row, or the whole vector. A column can also be a
    scipy.sparse matrix. It is read as a SparseColumn, not as one large array.

    Args:
        dtype: "float32" or "int64".
        size: the length of the vector.
        optional: records may lack it; absent rows are read as None.
        default: the value for records without it.
        description: a sentence for readers of the schema.

    >>> words = Sparse("float32", size=20_000)
    >>> [column.key for column in words.plan("tfidf")]
    ['tfidf/indices', 'tfidf/values']
    >>> words.value_to_canonical({17: 0.5, 3: 0.25})
    (array([ 3, 17]), array([0.25, 0.5 ], dtype=float32))
    """

    type_name: ClassVar[str] = "sparse"

    dtype: np.dtype[Any]
    size: int

    def __init__(
        self,
        dtype: DType,
        size: int,
        *,
        optional: bool = False,
        default: Any = None,
        description: str = "",
    ) -> None:
        found = checked_dtype(dtype)
        if found.name not in ("float32", "int64"):
            raise SchemaError(
                "The values of a sparse vector must be float32 or int64, the number types of an Example.",
                found=found.name,
            )
        if isinstance(size, bool) or not hasattr(size, "__index__") or size.__index__() < 1:
            raise SchemaError("The size of a sparse vector must be an integer of at least 1.", found=size)
        self._set(dtype=found, size=size.__index__())
        self._set_common(optional=optional, default=default, description=description)

    @property
    def shape(self) -> tuple[int]:
        """The shape of one row, if it were an array."""
        return (self.size,)

    def plan(self, name: str) -> tuple[PlanColumn, ...]:
        """Return the two stored features: the places of the entries, and their values."""
        indices, values = (None, None) if self.default is None else self.value_to_canonical(self.default)
        kind: Literal["float", "int64"] = "float" if self.dtype.kind == "f" else "int64"
        return (
            PlanColumn(f"{name}/indices", "int64", None, None, self.presence, indices),
            PlanColumn(f"{name}/values", kind, None, None, self.presence, values),
        )

    def assemble(self, parts: Sequence[Parts]) -> SparseColumn:
        """Return a SparseColumn."""
        (indices, _, present, _), (values, _, values_present, _) = parts
        offsets, value_offsets = (cast("Int64s", part[1]) for part in parts)
        uneven = np.diff(offsets) != np.diff(value_offsets)
        if present is not None:
            uneven |= present != values_present
        if uneven.any():
            row = int(uneven.argmax())
            raise SchemaMismatchError(
                f"Row {row} of the batch has different numbers of indices and values.",
                row=row,
                found=f"{int(np.diff(offsets)[row])} indices and {int(np.diff(value_offsets)[row])} values",
            )
        start, stop = int(offsets[0]), int(offsets[-1])
        value_start = int(value_offsets[0])
        indices, offsets = indices[start:stop], offsets - start if start else offsets
        values = values[value_start : value_start + stop - start]
        if indices.size and not (indices.min() >= 0 and indices.max() < self.size):
            first = int(((indices < 0) | (indices >= self.size)).argmax())
            row = int(np.searchsorted(offsets, first, side="right")) - 1
            raise SchemaMismatchError(
                f"Row {row} of the batch has an entry outside the vector.",
                row=row,
                found=f"index {indices[first]}",
                expected=f"an index from 0 to {self.size - 1}",
                advice="Declare the size that was written.",
            )
        return SparseColumn.unchecked(indices, values, offsets, size=self.size, present=present)

    def row(self, column: Any, index: int) -> SparseRow | None:
        """Return the (indices, values) of one row; None if it is absent."""
        row: SparseRow | None = column[index]
        return row

    def column_to_parts(self, values: Any, rows: int | None = None, *, cast: bool = False) -> tuple[ColumnParts, ...]:
        """Return what the core writes for a column of vectors: the places, and the values."""
        how = cast_with_loss if cast else cast_exactly
        indices, numbers, offsets, present = sparse_numbers(values, self.dtype, self.size, how)
        check_rows(len(offsets) - 1, rows)
        present = check_presence(present, optional=self.optional)
        return (indices, offsets, present), (numbers, offsets, present)

    def rows_in(self, values: Any) -> int:
        """Count the rows of a column: scipy's matrices have no len()."""
        return int(values.shape[0]) if is_sparse(values) else super().rows_in(values)

    def violations(self, column: Any) -> list[Violation]:
        """List the rows whose places are not sorted, or name one twice."""
        places = np.asarray(column.indices.values)[int(column.offsets[0]) : int(column.offsets[-1])]
        offsets = column.offsets - int(column.offsets[0])
        wrong = np.flatnonzero(np.diff(places) <= 0)
        wrong = wrong[~np.isin(wrong + 1, offsets)]
        rows, first = np.unique(np.searchsorted(offsets, wrong, side="right") - 1, return_index=True)
        return [
            Violation(int(row), "indices", f"index {places[at + 1]} after {places[at]}", "sorted indices, each once")
            for row, at in zip(rows, wrong[first], strict=True)
        ]

    def _canonical(self, value: Any, *, cast: bool) -> tuple[npt.NDArray[np.int64], npt.NDArray[Any]]:
        places, values = self.column_to_parts([value], 1, cast=cast)
        return places[0], values[0]

    def _checked_default(self, default: Any) -> Any:
        indices, values = self.value_to_canonical(default)
        return tuple(indices.tolist()), tuple(values.tolist())

    def _shown_setting(self, name: str) -> str:
        return repr(self.dtype.name) if name == "dtype" else super()._shown_setting(name)

    def _setting_to_json(self, name: str) -> Any:
        if name == "dtype":
            return self.dtype.name
        return plain_to_json(self.default) if name == "default" else super()._setting_to_json(name)

    @classmethod
    def _setting_from_json(cls, name: str, value: Any, settings: Mapping[str, Any]) -> Any:
        return plain_from_json(value, float) if name == "default" else super()._setting_from_json(name, value, settings)
