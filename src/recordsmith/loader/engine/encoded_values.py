"""Encoded images and sounds of a column: the bytes of a row, and the error about one that cannot be decoded."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.columns import ByteColumn
from recordsmith.errors import PipelineError

__all__ = ["encoded_bytes", "undecodable"]


def encoded_bytes(column: Any, row: int, what: str, error: type[Exception]) -> npt.NDArray[np.uint8]:
    """Return the bytes of a row, or raise an error of this type about a row that has none."""
    if isinstance(column, ByteColumn):
        if column.present is not None and not column.present[row]:
            raise error(f"The record has no {what}.")
        return column.data[int(column.offsets[row]) : int(column.offsets[row + 1])]
    value = column[row]
    if value is None:
        raise error(f"The record has no {what}.")
    if not isinstance(value, (bytes, bytearray, memoryview)):
        raise error(f"The value is not an encoded {what}, but of type {type(value).__name__}.")
    return np.frombuffer(value, np.uint8)


def undecodable(error: Exception, feature: str, record: int) -> PipelineError:
    """Return the error about a record with something that cannot be decoded."""
    made = PipelineError(
        str(error),
        feature=feature,
        advice="Find these records with `recordsmith check`, or leave them out with .batch(..., on_error='skip').",
    )
    made.record_number = record  # type: ignore[attr-defined] # for those who know the files
    return made
