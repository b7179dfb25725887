"""A stand-in for the native core: what it would return on reading what it was given to write."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from recordsmith.columns.offset_column import offsets_of
from recordsmith.schema import ColumnParts, Feature, Parts, PlanColumn

ThroughCore = Callable[[Feature, Sequence[ColumnParts]], list[Parts]]


def check_layout(column: PlanColumn, part: ColumnParts, steps: int | None) -> int:
    """Check that the schema gives the core what it expects, and return the number of rows (or steps)."""
    values, offsets, present = part[:3]
    there = slice(None) if present is None or steps is not None else present
    rows = check_values(column, values, offsets, there)
    if offsets is not None:
        assert offsets.dtype == np.int64
        assert offsets[0] == 0
        assert (np.diff(offsets) >= 0).all()
        assert len(offsets) == rows + 1
    if present is not None:
        assert present.dtype == np.bool_
        assert not present.all()
        assert column.presence != "required"
        assert len(present) == (rows if steps is None else steps)
        if steps is None and offsets is not None:
            assert (np.diff(offsets)[~present] == 0).all()
    arrays = [*(values if isinstance(values, tuple) else [values]), offsets, present]
    for array in arrays:
        assert not isinstance(array, np.ndarray) or (array.flags.c_contiguous and array.dtype.isnative)
    return rows


def check_values(column: PlanColumn, values: Any, offsets: Any, there: Any) -> int:
    if column.kind != "bytes":
        assert values.dtype == {"float": np.float32, "int64": np.int64}[column.kind]
        if column.count is None:
            assert values.ndim == 1
            return len(offsets) - 1
        assert offsets is None
        assert values.shape == ((len(values),) if column.count == 1 else (len(values), column.count))
        return len(values)
    if column.row_bytes is not None:
        assert offsets is None
        assert values.dtype == np.uint8
        assert values.shape == (len(values), column.row_bytes)
        return len(values)
    if isinstance(values, list):
        assert column.count == 1
        assert offsets is None
        assert all(type(value) is bytes for value in values)
        return len(values)
    data, value_offsets = (values, offsets) if column.count == 1 else values
    assert data.dtype == np.uint8
    assert data.ndim == 1
    assert value_offsets.dtype == np.int64
    assert value_offsets[0] == 0
    assert value_offsets[-1] == len(data)
    if column.count != 1:
        assert offsets[-1] == len(value_offsets) - 1
        if column.count is not None:
            assert set(np.diff(offsets)[there].tolist()) <= {column.count}
    return len(offsets) - 1


def with_default(column: PlanColumn, values: Any, offsets: Any, present: Any) -> tuple[Any, Any]:
    """Put the default where a record lacks the feature, as the core does when reading."""
    default: Any = column.default
    if column.row_bytes is not None:
        values = values.copy()
        values[~present] = np.frombuffer(default, np.uint8)
        return values, None
    if offsets is None:
        values = values.copy()
        values[~present] = default if column.count != 1 else default[0]
        return values, None
    several = column.kind == "bytes" and column.count != 1
    if several:
        data, value_offsets = values
        strings = [data[a:b].tobytes() for a, b in pairwise(value_offsets)]
        rows = [strings[a:b] for a, b in pairwise(offsets)]
        rows = [row if there else default for row, there in zip(rows, present, strict=True)]
        flat = [value for row in rows for value in row]
        joined = (np.frombuffer(b"".join(flat), np.uint8), offsets_of([len(value) for value in flat]))
        return joined, offsets_of([len(row) for row in rows])
    filler = np.frombuffer(default, np.uint8) if column.kind == "bytes" else default
    arrays = [values[a:b] if there else filler for a, b, there in zip(offsets, offsets[1:], present, strict=False)]
    return np.concatenate([values[:0], *arrays]), offsets_of([len(array) for array in arrays])


def decoded(feature: Feature, parts: Sequence[ColumnParts]) -> list[Parts]:
    result: list[Parts] = []
    for column, part in zip(feature.plan("name"), parts, strict=True):
        values, offsets, present = part[:3]
        step_offsets = part[3] if len(part) == 4 else None
        assert (step_offsets is not None) == column.steps
        rows = check_layout(column, part, None if step_offsets is None else len(step_offsets) - 1)
        if isinstance(values, list):
            offsets = offsets_of([len(value) for value in values])
            values = np.frombuffer(b"".join(values), np.uint8)
        if step_offsets is not None:
            assert step_offsets.dtype == np.int64
            assert step_offsets[-1] == rows
            rows = len(step_offsets) - 1
        if present is not None and column.presence == "default":
            values, offsets = with_default(column, values, offsets, present)
        flags = np.ones(rows, np.bool_) if present is None else present
        result.append((values, offsets, flags if column.presence == "optional" else None, step_offsets))
    return result


@pytest.fixture(scope="session")
def through_core() -> ThroughCore:
    return decoded
