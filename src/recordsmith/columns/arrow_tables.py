"""Batches of columns as an Arrow table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["to_arrow_table"]


def to_arrow_table(names: Iterable[str], batches: Iterable[Mapping[str, Any]]) -> pa.Table:
    """Join batches into one table; a tensor becomes nested lists, an absent value a null."""
    import pyarrow as pa

    pieces: dict[str, list[pa.Array]] = {name: [] for name in names}
    for batch in batches:
        for name, column in batch.items():
            pieces[name].append(_array(column))
    columns = {name: pa.chunked_array(arrays) if arrays else pa.array([], pa.null()) for name, arrays in pieces.items()}
    return pa.table(columns)


def _array(column: Any) -> pa.Array:
    import pyarrow as pa

    if not isinstance(column, np.ndarray):
        return column.to_arrow()
    masked = isinstance(column, np.ma.MaskedArray)
    values: Any = column.data if masked else column
    absent = np.ma.getmaskarray(column).any(axis=tuple(range(1, values.ndim))) if masked else None
    if values.ndim == 1:
        return pa.array(values, mask=absent)
    array = pa.array(np.ascontiguousarray(values).reshape(-1))
    for size in reversed(values.shape[1:]):
        array = pa.FixedSizeListArray.from_arrays(array, size)
    if absent is not None and absent.any():
        array = array.take(pa.array(np.where(absent, 0, np.arange(len(column))), mask=absent))
    return array
