"""Describes one stored feature for the native core, and the arrays that go to it and come from it.

A feature of the schema says with plan columns which stored features it uses; the core compiles them and then neither
it nor the schema has to know the other. For one plan column the core returns, for a batch of `rows` records,

    (values, offsets, present, step_offsets)

    kind float, int64   count=k        values (rows, k), or (rows,) for k = 1; offsets None
                        count=None     values flat; offsets (rows + 1)
    kind bytes          row_bytes=w    values uint8 (rows, w); offsets None
                        count=1        values uint8 flat; offsets (rows + 1)
                        other counts   values (uint8 flat, value offsets); offsets (rows + 1), of values
    present             bool (rows,) when presence is "optional", else None; absent rows are zeros, or have length 0
    steps=True          `rows` is then the number of steps, step_offsets (records + 1) cuts them into records, and
                        present speaks of records

and it takes the same for writing, without the last entry unless there are steps; for kind bytes and count=1, `values`
may also be a list of bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["ColumnParts", "Parts", "PlanColumn"]

Array: TypeAlias = npt.NDArray[Any]
Int64s: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]

Parts: TypeAlias = tuple[Any, Int64s | None, Bools | None, Int64s | None]
"""The form in which the core returns one decoded plan column of a batch."""

ColumnParts: TypeAlias = tuple[Any, Int64s | None, Bools | None] | tuple[Any, Int64s | None, Bools | None, Int64s]
"""The form in which the core takes one plan column to encode; the longer form is for steps."""


@dataclass(frozen=True, slots=True)
class PlanColumn:
    """One stored feature, as the native core sees it.

    Attributes:
        key: the feature's name inside the Example.
        kind: which of the three lists it is stored in.
        count: values per record; None where it varies.
        row_bytes: for kind bytes and count 1: the exact length of every value, which then becomes a dense uint8 row.
        presence: what a record without the feature means: an error, an absent row, or the default.
        default: for presence "default": a float32 or int64 array, bytes, or a list of bytes where count is not 1.
        steps: it lives in the feature lists of a SequenceExample, one Feature a step.
        raw_dtype: for kind bytes: the dtype of the numbers that each value holds, with fields where it has several
            parts; None where values are no numbers. The core that reads and writes does not need it.
    """

    key: str
    kind: Literal["bytes", "float", "int64"]
    count: int | None
    row_bytes: int | None = None
    presence: Literal["required", "optional", "default"] = "required"
    default: object = field(default=None, compare=False)  # an array: it has no single answer to ==
    steps: bool = False
    raw_dtype: np.dtype[Any] | None = None
