"""Rows of different length as one array, in memory that the batches before have used already.

Fresh memory has to be brought in page by page, which takes longer than the copying.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from recordsmith import _core
from recordsmith.columns import Ragged

__all__ = ["padded"]


def padded(column: Ragged, length: int | None, pad_value: Any, *, truncate: bool) -> Any:
    """Return what `Ragged.to_padded` does.

    >>> padded(Ragged(np.array([1, 2, 3]), [0, 1, 3]), None, -1, truncate=False).tolist()
    [[1, -1], [2, 3]]
    """
    values = column.values
    longest = int(column.lengths.max(initial=0))
    wanted = longest if length is None else length
    if (
        not isinstance(values, np.ndarray)
        or column.row_shape != (None,)
        or values.dtype.kind not in "biuf"
        or (longest > wanted and not truncate)
    ):
        return column.to_padded(length, pad_value, truncate=truncate)
    # A row without values is nothing but what it is filled up with, which this checks too.
    filling = Ragged.unchecked(values[:0], np.zeros(2, np.int64)).to_padded(1, pad_value)[0]
    shape = (len(column), wanted * values.dtype.itemsize)
    target = _core.pooled_bytes(shape[0] * shape[1])[: shape[0] * shape[1]]
    flat = np.ascontiguousarray(values).view(np.uint8)
    _core.pad_rows(flat, np.ascontiguousarray(column.offsets), filling.view(np.uint8), target.reshape(shape))
    return target.view(values.dtype).reshape(len(column), wanted)
