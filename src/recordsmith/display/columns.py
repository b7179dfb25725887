"""Columns of a batch as HTML: what they are, and their first rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from recordsmith.columns import ByteColumn, PackedColumn, Ragged, ShapedColumn, SparseColumn
from recordsmith.columns.any_column import row_of
from recordsmith.display.images import image_element, pixels_uri
from recordsmith.display.tables import table
from recordsmith.display.values import value_markup
from recordsmith.wording.markup import Markup, element
from recordsmith.wording.numbers import count_text

__all__ = ["column_table", "first_values", "kind_text"]

_ROWS = 4


def column_table(column: Any) -> Markup:
    """Return the first rows of a column, with its kind.

    >>> column_table(ByteColumn(b"<i>", [0, 3], text=True)).count("&lt;i&gt;")
    1
    """
    rows = [[str(row), _row(column, row)] for row in range(min(_ROWS, len(column)))]
    return element("div", element("code", kind_text(column)), table(["row", "value"], rows))


def first_values(column: Any) -> list[Markup]:
    """Return the first values of a column."""
    if not hasattr(column, "__len__") or getattr(column, "ndim", 1) == 0:
        return [value_markup(column)]
    return [_row(column, row) for row in range(min(_ROWS, len(column)))]


def kind_text(column: Any) -> str:
    """Say what a column is.

    >>> kind_text(np.zeros((8, 3), np.float32))
    'float32, 8 × 3'
    """
    if isinstance(column, np.ndarray):
        absent = int(np.ma.getmaskarray(column).sum())
        masked = f", {count_text(absent, 'masked value')}" if absent else ""
        return f"{column.dtype}, {' × '.join(map(str, column.shape))}{masked}"
    if isinstance(column, (ByteColumn, PackedColumn, Ragged, ShapedColumn, SparseColumn)):
        return f"{type(column).__name__}, {count_text(len(column), 'row')}"
    return type(column).__name__


def _row(column: Any, row: int) -> Markup:
    value = row_of(column, row)
    if isinstance(value, np.ndarray) and value.ndim == 3 and min(value.shape[:2]) > 4:
        uri = pixels_uri(value)
        if uri is not None:
            shape = "×".join(map(str, value.shape))
            return element("span", image_element(uri, f"image {shape}"), " ", element("small", shape))
    return value_markup(value)
