"""Features of numbers: Scalar and Tensor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from recordsmith.schema.constraints import LengthBounds, Violation, length_violations
from recordsmith.schema.feature import checked_shape
from recordsmith.schema.numeric import Array, NumericFeature, Storage

if TYPE_CHECKING:
    from recordsmith.schema.plan import Bools, Int64s

__all__ = ["Scalar", "Tensor"]


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Scalar(NumericFeature):
    """One number.

    Args:
        dtype: any numpy dtype of numbers or bool.
        min: the least that it may be.
        max: the most that it may be.
        one_of: the only values that it may have.
        finite: it may not be NaN or infinite.
        optional: a record may lack it; the column is a masked array then.
        default: what a record without it reads as.
        storage: "list" or "bytes"; None takes a list for float32 and int64, and bytes for all others.
        description: a sentence for whoever reads the schema.

    >>> Scalar("float32", min=0, max=1, default=0.5)
    Scalar('float32', default=0.5, min=0, max=1)
    """

    type_name: ClassVar[str] = "scalar"

    def __init__(  # noqa: PLR0913 - each is a setting of its own, and all but the dtype are named
        self,
        dtype: npt.DTypeLike,
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
    """An array of numbers of a known shape, in which one dimension may vary from record to record.

    Args:
        dtype: any numpy dtype of numbers or bool.
        shape: sizes, with at most one None; that one is restored from the number of values.
        min: the least that any number may be.
        max: the most that any number may be.
        one_of: the only values that the numbers may have.
        finite: none may be NaN or infinite.
        min_length: the least size of the dimension that varies.
        max_length: the most that it may be.
        optional: a record may lack it; the column is a masked array, or a Ragged with absent rows.
        default: what a record without it reads as.
        storage: "list" or "bytes"; None takes a list for float32 and int64, and bytes for all others.
        description: a sentence for whoever reads the schema.

    >>> Tensor("float32", (None, 4), max_length=100)
    Tensor('float32', (None, 4), max_length=100)
    """

    type_name: ClassVar[str] = "tensor"

    shape: tuple[int | None, ...]
    min_length: int | None = field(default=None, kw_only=True)
    max_length: int | None = field(default=None, kw_only=True)

    def __init__(  # noqa: PLR0913 - each is a setting of its own, and all but the first two are named
        self,
        dtype: npt.DTypeLike,
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

    @property
    def constrained(self) -> bool:
        """Whether values must keep to more than the type."""
        return self.bounds.any or self.lengths.any

    def _free_violations(self, flat: Array, offsets: Int64s, present: Bools | None) -> list[Violation]:
        found = super()._free_violations(flat, offsets, present)
        if self.lengths.any:
            sizes = np.diff(offsets) // self._unit
            found.extend(length_violations(sizes, self.lengths, present, "entries"))
        return sorted(found, key=lambda violation: violation.row)
