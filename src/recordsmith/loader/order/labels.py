"""The classes of all records: one pass over one feature."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.columns import ByteColumn
from recordsmith.dataset import StoredDataset
from recordsmith.errors import PipelineError
from recordsmith.schema import Label

__all__ = ["class_codes", "class_counts"]

_ROWS_AT_ONCE = 8192


def class_codes(datasets: Sequence[StoredDataset], feature: str) -> tuple[list[Any], npt.NDArray[np.int32]]:
    """Return the classes that a feature has, and which of them each record of all datasets is: 4 bytes a record."""
    known: dict[Any, int] = {}
    parts: list[npt.NDArray[np.int32]] = []
    for dataset in datasets:
        for batch, _ in dataset.select(feature).read_batches(_ROWS_AT_ONCE):
            values, codes = _distinct(batch[feature], feature)
            of_all = np.array([known.setdefault(value, len(known)) for value in values], np.int32)
            parts.append(of_all[codes])
    return list(known), np.concatenate(parts) if parts else np.empty(0, np.int32)


def class_counts(dataset: StoredDataset, feature: str) -> dict[Any, int]:
    """Count the records of each class; every class of a Label is there, in its order."""
    classes, codes = class_codes([dataset], feature)
    counts = dict(zip(classes, np.bincount(codes, minlength=len(classes)).tolist(), strict=True))
    declared = dataset.schema[feature]
    names = range(declared.size) if isinstance(declared, Label) else sorted(counts)
    return {name: counts.get(name, 0) for name in names}


def _distinct(column: Any, feature: str) -> tuple[list[Any], Any]:
    if isinstance(column, ByteColumn) and column.present is None:
        column = np.array(column.to_list(), dtype=object)
        values, codes = np.unique(column, return_inverse=True)
        return values.tolist(), codes
    if isinstance(column, np.ndarray) and column.ndim == 1 and not np.ma.is_masked(column):
        values, codes = np.unique(np.ma.getdata(column), return_inverse=True)
        return values.tolist(), codes
    raise PipelineError(
        f"{feature!r} does not have a class for every record: a class is one number or one string.", feature=feature
    )
