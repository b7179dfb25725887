"""What can be done with a column of any kind: one of its rows, some of them, several columns one after the other.

A column is a numpy array, a masked one where rows may be absent, or one of the classes of this package. `column[rows]`
with a slice or an array of row numbers gives some rows of any of them, as a column of the same kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["concatenate", "concatenated_presence", "row_of"]


def row_of(column: Any, number: int) -> Any:
    """Return one row as a plain value; None where it is absent.

    >>> row_of(np.ma.MaskedArray([1, 2], mask=[False, True]), 1) is None
    True
    """
    if isinstance(column, np.ma.MaskedArray):
        return None if np.ma.getmaskarray(column)[number].all() else column.data[number]
    return column[number]


def concatenate(parts: Sequence[Any]) -> Any:
    """Return columns of one kind one after the other, as a column of the same kind."""
    first = parts[0]
    if len(parts) == 1:
        return first
    if isinstance(first, np.ma.MaskedArray):
        masks = np.concatenate([np.ma.getmaskarray(part) for part in parts])
        return np.ma.MaskedArray(np.concatenate([part.data for part in parts]), mask=masks)
    return np.concatenate(parts) if isinstance(first, np.ndarray) else first.concatenated(parts)


def concatenated_presence(parts: Sequence[Any]) -> npt.NDArray[np.bool_] | None:
    """Return which rows hold a value, of several columns one after the other; None if all of them do."""
    if all(part.present is None for part in parts):
        return None
    return np.concatenate([np.ones(len(part), np.bool_) if part.present is None else part.present for part in parts])
