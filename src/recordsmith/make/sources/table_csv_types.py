"""What the cells of a CSV file are: looked at piece by piece, with the types that Arrow finds in each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from recordsmith.errors import import_extra
from recordsmith.make.sources.table_columns import ColumnFacts, facts_of
from recordsmith.make.sources.table_csv_parsing import CsvReading
from recordsmith.make.sources.table_lines import LineRules, Piece

__all__ = ["are_fractions", "common_type", "facts_of_piece"]


def facts_of_piece(piece: Piece, reading: CsvReading, labels: frozenset[str]) -> tuple[int, dict[str, ColumnFacts]]:
    """Look at the cells of a piece: how many rows, and what each column holds."""
    arrow = import_extra("pyarrow", "arrow", purpose="Reading CSV")
    data = reading.decoded(piece.read())
    table, _ = reading.parse(piece, data, reading.types)
    facts = {}
    doubtful = []
    whole = any(arrow.types.is_integer(kind) for kind in table.schema.types)
    zeros = whole and has_leading_zeros(np.frombuffer(data, np.uint8), reading.head.rules)
    for name, column in zip(table.column_names, table.columns, strict=True):
        if reading.types[name]:
            facts[name] = facts_of(column, label=True) if name in labels else ColumnFacts(arrow.string())
            continue
        facts[name] = facts_of(column)
        kind = column.type
        if not (_is_number(kind) or arrow.types.is_null(kind) or arrow.types.is_boolean(kind)):
            facts[name] = ColumnFacts(arrow.string())
        elif (zeros and arrow.types.is_integer(kind)) or (facts[name].large and arrow.types.is_floating(kind)):
            doubtful.append(name)
    if doubtful:
        cells, _ = reading.parse(piece, data, dict.fromkeys(doubtful, "string"))
        for name in doubtful:
            if _is_no_number(cells[name]):
                facts[name] = ColumnFacts(arrow.string())
    return table.num_rows, facts


def has_leading_zeros(window: Any, rules: LineRules) -> bool:
    r"""Say whether some cell begins with a zero that another digit follows, as in a postcode.

    >>> has_leading_zeros(np.frombuffer(b"1,02134\n", np.uint8), LineRules())
    True
    >>> has_leading_zeros(np.frombuffer(b"10,0,0.5\n", np.uint8), LineRules())
    False
    """
    if len(window) > 1 and window[0] == 0x30 and 0x30 <= window[1] <= 0x39:
        return True
    before = [rules.delimiter[0], rules.newline[0], *(rules.quote or b"")]
    for shift in (0, 1):  # two bytes at a time, at even and at odd places
        pairs = window[shift : len(window) - (len(window) - shift) % 2].view("<u2")
        for byte in before:
            places = np.flatnonzero(pairs == (0x30 << 8 | byte)) * 2 + shift + 2
            after = window[places[places < len(window)]]
            if bool(((after >= 0x30) & (after <= 0x39)).any()):
                return True
    return False


def common_type(first: Any, second: Any) -> Any:
    """Return the type that holds the cells of two.

    >>> import pyarrow
    >>> common_type(pyarrow.int64(), pyarrow.float64()), common_type(pyarrow.int64(), pyarrow.bool_())
    (DataType(double), DataType(string))
    """
    arrow = import_extra("pyarrow", "arrow", purpose="Reading CSV")
    if first == second or arrow.types.is_null(second):
        return first
    if arrow.types.is_null(first):
        return second
    return arrow.float64() if _is_number(first) and _is_number(second) else arrow.string()


def _is_number(kind: Any) -> bool:
    types = import_extra("pyarrow", "arrow", purpose="Reading CSV").types
    return bool(types.is_integer(kind) or types.is_floating(kind))


def _is_no_number(cells: Any) -> bool:
    compute = import_extra("pyarrow.compute", "arrow", purpose="Reading CSV")
    found = compute.match_substring_regex(cells, r"^\s*[+-]?(0[0-9]+|[0-9]{19,})\s*$")
    return bool(compute.any(found, min_count=0).as_py())


def are_fractions(values: Iterable[str]) -> bool:
    """Say whether all values are numbers, and not all of them whole."""
    whole = True
    for value in values:
        try:
            number = float(value)
        except ValueError:
            return False
        whole = whole and number.is_integer() and "." not in value
    return not whole
