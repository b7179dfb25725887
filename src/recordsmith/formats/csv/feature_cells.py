"""Columns as cells of an exported CSV file, and back, for every type of feature that such a file can hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from recordsmith.errors import import_extra
from recordsmith.formats.exported.form import encoding_of
from recordsmith.formats.exported.values import compact_json, plain_column, restored_value
from recordsmith.formats.json_lines.json_text import parse_json
from recordsmith.formats.tables.exact_numbers import exact_limit, exact_number, has_values_from
from recordsmith.schema import Feature, Label, Scalar

__all__ = ["cell_reader", "cells_of", "typed_cells"]


def cells_of(feature: Feature, column: Any, rows: int) -> Any:
    """Return a column as an Arrow array of numbers or of texts.

    >>> cells_of(Label(["cat", "dog"]), np.array([1, 0]), 2).to_pylist()
    ['dog', 'cat']
    """
    arrow = import_extra("pyarrow", "arrow", purpose="Exporting to CSV")
    if _is_plain_number(feature):
        return arrow.array(np.ma.getdata(column), mask=np.ma.getmaskarray(column))
    plain = plain_column(feature, column, rows)
    if _is_json(feature) or isinstance(feature, (Scalar, Label)):
        plain = [value if value is None or isinstance(value, str) else compact_json(value) for value in plain]
    return arrow.array(plain, arrow.string())


def typed_cells(feature: Feature, cells: Any) -> list[Any]:
    """Parse single numbers all at once, and exactly in their own type; other cells stay texts.

    >>> import pyarrow
    >>> typed_cells(Scalar("int64"), pyarrow.chunked_array([["1", None]]))
    [1, None]
    """
    if isinstance(feature, Scalar) and _is_plain_number(feature):
        arrow = import_extra("pyarrow", "arrow", purpose="Reading CSV")
        try:
            numbers = cells.cast(arrow.from_numpy_dtype(feature.dtype))
        except arrow.ArrowInvalid:
            return list(cells.to_pylist())  # cell by cell, to say which is wrong
        if feature.dtype.kind != "f" or not has_values_from(numbers, exact_limit(feature.dtype)):
            return list(numbers.to_pylist())
    return list(cells.to_pylist())


def cell_reader(feature: Feature) -> Callable[[Any], Any]:
    """Return the function that restores a value from one of `typed_cells`."""
    if isinstance(feature, Label):
        names = frozenset(feature.names)
        return lambda cell: cell if cell in names else int(cell)
    if isinstance(feature, Scalar):
        return lambda cell: restored_value(feature, _number(cell, feature)) if isinstance(cell, str) else cell
    if _is_json(feature):
        return lambda cell: restored_value(feature, parse_json(cell))
    return lambda cell: restored_value(feature, cell)


def _number(cell: str, feature: Scalar) -> Any:
    if feature.dtype.kind == "c":
        return parse_json(cell)
    if feature.dtype.kind == "b":
        return {"true": True, "false": False}[cell]
    return exact_number(cell) if feature.dtype.kind == "f" else int(cell)


def _is_plain_number(feature: Feature) -> bool:
    return isinstance(feature, Scalar) and feature.dtype.kind in "biuf" and feature.dtype != np.float16


def _is_json(feature: Feature) -> bool:
    return encoding_of(feature, "csv") in ("json", "base64 in json")
