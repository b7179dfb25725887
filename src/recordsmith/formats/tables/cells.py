"""Converts text cells to numbers one column at a time, and finds those that cannot be converted.

The quick way, Arrow's own, stops at the first cell that does not fit. This is the way after that: it finds all of them,
by halving what does not convert as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from recordsmith.errors import import_extra
from recordsmith.formats.tables.exact_numbers import decimal_number
from recordsmith.formats.tables.loading import string_array

__all__ = ["converted_cells"]

_FRACTION = re.compile(
    r"[+-]?([0-9]+\.[0-9]*([eE][+-]?[0-9]+)?|\.[0-9]+([eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|nan|inf|infinity)",
    re.IGNORECASE,
)

_WORDS = {
    "int64": "a 64-bit integer",
    "uint64": "an integer from 0 to 2**64 - 1",
    "double": "a number",
    "bool": "true or false",
    "string": "UTF-8 text",
}


def converted_cells(
    cells: Any, kind: str, *, missing: tuple[str, ...], decimal: str, refuse: Callable[[int, str, Any], None]
) -> Any:
    """Return cells of raw bytes as an array of a type; those that cannot be are refused, and null in the array.

    >>> import pyarrow
    >>> refused = []
    >>> cells = pyarrow.array([b"1", b"x", b""])
    >>> def refuse(row, reason, value): refused.append((row, reason, value))
    >>> converted_cells(cells, "int64", missing=("",), decimal=".", refuse=refuse).to_pylist(), refused
    ([1, None, None], [(1, 'This is not a 64-bit integer.', 'x')])
    """
    arrow = import_extra("pyarrow", "arrow", purpose="Reading tables")
    if kind == "binary":
        return cells
    text = _tolerant(cells, lambda some: some.cast(arrow.string()), arrow.string(), _refuser(cells, "string", refuse))
    if kind == "string":
        return text
    compute = import_extra("pyarrow.compute", "arrow", purpose="Reading tables")
    wanted = arrow.type_for_alias(kind)
    text = compute.utf8_trim_whitespace(text)
    gone = compute.is_in(text, value_set=string_array(missing))
    text = compute.if_else(gone, arrow.nulls(1, arrow.string())[0], text)
    if decimal != ".":
        text = compute.replace_substring(text, decimal, ".")
    refuse_row = _refuser(cells, kind, refuse)
    if kind not in ("int64", "uint64"):
        return _tolerant(text, lambda some: some.cast(wanted), wanted, refuse_row)
    misfits: list[int] = []
    whole = _tolerant(text, lambda some: some.cast(wanted), wanted, misfits.append)
    return _with_fractions(text, whole, misfits, refuse_row) if misfits else whole


def _with_fractions(text: Any, whole: Any, misfits: list[int], refuse: Callable[[int], None]) -> Any:
    """Put cells such as 50.0, 50.25 or nan beside whole numbers: what becomes of those, the schema decides."""
    fractions: dict[int, Decimal] = {}
    for row in misfits:
        cell = text[row].as_py()
        if _FRACTION.fullmatch(cell):
            fractions[row] = decimal_number(cell)
        else:  # no number, or a whole one that is too large
            refuse(row)
    if not fractions:
        return whole
    numbers = whole.to_pylist()
    for row, number in fractions.items():
        numbers[row] = number
    return numbers


def _tolerant(array: Any, convert: Callable[[Any], Any], kind: Any, refuse: Callable[[int], None]) -> Any:
    arrow = import_extra("pyarrow", "arrow", purpose="Reading tables")

    def parts(start: int, stop: int) -> list[Any]:
        try:
            return [convert(array.slice(start, stop - start))]
        except arrow.ArrowInvalid:
            if stop - start == 1:
                refuse(start)
                return [arrow.nulls(1, kind)]
            middle = (start + stop) // 2
            return [*parts(start, middle), *parts(middle, stop)]

    return arrow.concat_arrays(parts(0, len(array))) if len(array) else arrow.nulls(0, kind)


def _refuser(cells: Any, kind: str, refuse: Callable[[int, str, Any], None]) -> Callable[[int], None]:
    def refuse_row(row: int) -> None:
        raw = cells[row].as_py()
        refuse(row, f"This is not {_WORDS[kind]}.", raw.decode(errors="backslashreplace"))

    return refuse_row
