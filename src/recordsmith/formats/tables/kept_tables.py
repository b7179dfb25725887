"""Keeps the tables of the first pass for the second, so that most files are parsed only once.

They are kept up to a budget and given away when they are asked for. What is not there is parsed again: the result is
the same.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from recordsmith.errors import import_extra
from recordsmith.formats.tables.columns import ColumnFacts
from recordsmith.schema import Schema

__all__ = ["KeptTables", "compact_table", "fitting_columns"]

BUDGET = 128 << 20

Uneven = list[tuple[int, int, str]]


class KeptTables:
    """Tables by piece. A copy in another process is empty.

    >>> import pyarrow, pickle
    >>> kept = KeptTables()
    >>> kept.keep("first", pyarrow.table({"a": [1]}), [])
    >>> pickle.loads(pickle.dumps(kept)).take("first") is None
    True
    >>> kept.take("first")[0].num_rows, kept.take("first")
    (1, None)
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tables: dict[Any, tuple[Any, Uneven]] = {}
        self._bytes = 0

    def keep(self, key: Any, table: Any, uneven: Uneven) -> None:
        """Keep a table, if there is room."""
        with self._lock:
            if self._bytes + table.nbytes <= BUDGET:
                self._tables[key] = table, uneven
                self._bytes += table.nbytes

    def take(self, key: Any) -> tuple[Any, Uneven] | None:
        """Return a table and forget it; None if it is not here."""
        with self._lock:
            found = self._tables.pop(key, None)
            if found is not None:
                self._bytes -= found[0].nbytes
            return found

    def __reduce__(self) -> tuple[Any, ...]:
        return KeptTables, ()


def compact_table(table: Any, facts: Mapping[str, ColumnFacts]) -> Any:
    """Return a table in the form in which it is kept: floats of 32 bits where they will do, text instead of bytes."""
    arrow = import_extra("pyarrow", "arrow", purpose="Reading tables")
    columns = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        kept = column
        if arrow.types.is_float64(column.type) and not facts[name].large:
            kept = column.cast(arrow.float32(), safe=False)  # rounds; what would overflow is large
        elif arrow.types.is_binary(column.type):
            try:
                kept = column.cast(arrow.string())
            except arrow.ArrowInvalid:  # no UTF-8: to be parsed again, and refused
                kept = column
        columns[name] = kept
    return arrow.table(columns)


def fitting_columns(table: Any, types: Mapping[str, str], schema: Schema) -> dict[str, Any] | None:
    """Return the columns of a kept table as if they had been parsed with these types; None if that cannot be."""
    arrow = import_extra("pyarrow", "arrow", purpose="Reading tables")
    columns = {}
    for name, kind in types.items():
        column = table[name]
        found = column.type
        wanted = arrow.type_for_alias(kind)
        rounded = arrow.types.is_float32(found) and kind == "double"
        if rounded and getattr(schema[name], "dtype", None) != "float32":
            return None
        if not rounded and found != wanted:
            number = kind in ("int64", "double") and (
                arrow.types.is_null(found) or (kind == "double" and arrow.types.is_integer(found))
            )
            if not number and not (kind == "bool" and arrow.types.is_null(found)):
                return None
            try:
                column = column.cast(wanted)
            except arrow.ArrowInvalid:
                return None
        columns[name] = column
    return columns
