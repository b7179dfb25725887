"""Infers the types of CSV columns, piece by piece, with the types that Arrow finds in each."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np

from recordsmith import _core
from recordsmith.errors import import_extra
from recordsmith.formats.csv.parsing import CsvReading
from recordsmith.formats.tables.columns import ColumnFacts, facts_of, merged
from recordsmith.formats.tables.exact_numbers import exact_limit, exact_number, has_values_from, held_by_float
from recordsmith.formats.tables.kept_tables import KeptTables, compact_table
from recordsmith.formats.tables.lines import LineRules, Piece
from recordsmith.formats.tables.loading import string_array

__all__ = ["are_fractions", "facts_of_piece", "merged_cells", "settled_type"]

_SAMPLED = 64  # cells of a piece of a column; if half of them are neither numbers nor missing, it is text
_NUMBER = r"^\s*[+-]?([0-9]+(POINT[0-9]*)?([eE][+-]?[0-9]+)?|POINT[0-9]+([eE][+-]?[0-9]+)?|(?i:nan|inf|infinity))\s*$"
_LEADING_ZERO = r"^\s*[+-]?(0[0-9]+|0[xX][0-9a-fA-F]+)\s*$"  # as a number it would lose digits


def facts_of_piece(
    piece: Piece, reading: CsvReading, labels: frozenset[str], kept: KeptTables
) -> tuple[int, dict[str, ColumnFacts]]:
    """Look at the cells of a piece: how many rows, and what each column holds. The table itself may be kept.

    Text counts as `others` and has no type of its own here: whether a few cells of it make a column text is decided
    when all are known, in `settled_type`.
    """
    arrow = import_extra("pyarrow", "arrow", purpose="Reading CSV")
    data = reading.decoded(piece.read())
    table, uneven = reading.parse(piece, data, reading.types)
    facts: dict[str, ColumnFacts] = {}
    doubtful = []  # columns of numbers whose cells may say more than the numbers do
    zeros = any(map(_is_number, table.schema.types)) and has_leading_zeros(data, reading.head.rules)
    for name, column in zip(table.column_names, table.columns, strict=True):
        kind = column.type
        if reading.types[name]:
            facts[name] = facts_of(column, label=True) if name in labels else ColumnFacts(arrow.string())
        elif _is_number(kind):
            facts[name] = _facts_of_numbers(column)
            if zeros or (arrow.types.is_floating(kind) and has_values_from(column, exact_limit(np.dtype("float64")))):
                doubtful.append(name)
        elif arrow.types.is_null(kind) or arrow.types.is_boolean(kind):
            facts[name] = replace(facts_of(column), numbers=len(column) - column.null_count)
        elif arrow.types.is_string(kind):
            facts[name] = _facts_of_text(column, reading)
        else:  # dates and times, and bytes that are no UTF-8
            facts[name] = ColumnFacts(arrow.null(), column.null_count > 0, others=len(column))
    if doubtful:
        cells, _ = reading.parse(piece, data, dict.fromkeys(doubtful, "string"))
        facts |= {name: _facts_of_cells(cells[name], reading) for name in doubtful}
    if piece.data is None:
        kept.keep((piece.file.path, piece.start), compact_table(table, facts), uneven)
    return table.num_rows, facts


def settled_type(facts: ColumnFacts) -> Any:
    """Return the type of a column of which all cells are known.

    One cell in a hundred, or a single one among at least ten, may be no number in a column of numbers, or one that
    float64 does not hold beside fractions: it is taken for a mistake, and its row is refused when it is loaded. With
    more of them the column is text, and so is one of whole numbers beyond 64 bits.

    >>> import pyarrow
    >>> settled_type(ColumnFacts(pyarrow.int64(), others=1, numbers=100))
    DataType(int64)
    >>> settled_type(ColumnFacts(pyarrow.int64(), others=3, numbers=100))
    DataType(string)
    """
    arrow = import_extra("pyarrow", "arrow", purpose="Reading CSV")
    if arrow.types.is_null(facts.type) or (facts.others and not _is_number(facts.type)):
        return arrow.string()
    if arrow.types.is_integer(facts.type) and facts.beyond:
        return arrow.string()  # an id, of which each digit counts
    if arrow.types.is_integer(facts.type):
        others, numbers = facts.others, facts.numbers
    else:
        others, numbers = facts.others + facts.rounded, facts.numbers - facts.rounded
    few = others * 100 <= numbers or (others == 1 and numbers >= 10)
    return facts.type if few else arrow.string()


def _facts_of_numbers(column: Any) -> ColumnFacts:
    """Look at numbers as Arrow has parsed them."""
    facts = replace(facts_of(column), numbers=len(column) - column.null_count)
    if not facts.large or column.type.bit_width != 64 or _is_float(column.type):
        return facts
    numbers = column.drop_null().to_numpy()
    floats = numbers.astype(np.float64)
    inside = floats < 2.0**63
    rounded = int((numbers[inside] != floats[inside].astype(np.int64)).sum()) + int((~inside).sum())
    return replace(facts, rounded=rounded)


def _facts_of_text(column: Any, reading: CsvReading) -> ColumnFacts:
    """Look at cells of which some are no numbers; if most of the first are none, it is text."""
    arrow = import_extra("pyarrow", "arrow", purpose="Reading CSV")
    compute = import_extra("pyarrow.compute", "arrow", purpose="Reading CSV")
    first = column.slice(0, _SAMPLED)
    words = string_array(reading.dialect.missing)
    known = compute.or_(_look_like_numbers(first, reading), compute.is_in(first, value_set=words))
    if 2 * (compute.sum(known).as_py() or 0) < len(first):
        # There may be gaps, if it matters in the end.
        return ColumnFacts(arrow.null(), missing=True, others=len(column))
    return _facts_of_cells(column, reading)


def _facts_of_cells(cells: Any, reading: CsvReading) -> ColumnFacts:
    """Look at the text of cells: how many are numbers, of what type these are, and which of them no type holds."""
    arrow = import_extra("pyarrow", "arrow", purpose="Reading CSV")
    compute = import_extra("pyarrow.compute", "arrow", purpose="Reading CSV")
    missing = compute.sum(compute.is_in(cells, value_set=string_array(reading.dialect.missing))).as_py() or 0
    if compute.any(compute.match_substring_regex(cells, _LEADING_ZERO), min_count=0).as_py():
        return ColumnFacts(arrow.string())
    found = compute.utf8_trim_whitespace(compute.filter(cells, _look_like_numbers(cells, reading)))
    found = compute.replace_substring(found, reading.dialect.decimal, ".")
    whole = not compute.any(compute.match_substring_regex(found, "[^0-9-]"), min_count=0).as_py()
    floats = compute.cast(found, arrow.float64())
    large = compute.filter(found, compute.greater_equal(compute.abs(floats), exact_limit(np.dtype("float64"))))
    written = [exact_number(text) for text in large.to_pylist()]
    integers = [number for number in written if isinstance(number, int)]
    overflowing = sum(isinstance(number, Decimal) for number in written)
    return ColumnFacts(
        arrow.int64() if whole else arrow.float64(),
        missing > 0,
        large=facts_of(floats).large,
        numbers=len(found) - overflowing,
        others=len(cells) - missing - len(found) + overflowing,
        beyond=sum(not -(2**63) <= number < 2**63 for number in integers),
        rounded=sum(not held_by_float(number) for number in integers),
    )


def _look_like_numbers(cells: Any, reading: CsvReading) -> Any:
    compute = import_extra("pyarrow.compute", "arrow", purpose="Reading CSV")
    return compute.match_substring_regex(cells, _NUMBER.replace("POINT", re.escape(reading.dialect.decimal)))


def has_leading_zeros(window: bytes, rules: LineRules) -> bool:
    r"""Say whether some cell begins with a zero that another digit follows, as in a postcode, or an x.

    >>> has_leading_zeros(b"1,02134\n", LineRules())
    True
    >>> has_leading_zeros(b"10,0,0.5\n", LineRules())
    False
    """
    separators = [rules.delimiter, b"\n", b"\r", rules.quote or b"\n"]
    return _core.has_leading_zeros(window, b"".join(separators))


def merged_cells(first: ColumnFacts, second: ColumnFacts) -> ColumnFacts:
    """Put together what the cells of two pieces show.

    >>> import pyarrow
    >>> merged_cells(ColumnFacts(pyarrow.int64()), ColumnFacts(pyarrow.float64())).type
    DataType(double)
    >>> merged_cells(ColumnFacts(pyarrow.int64(), numbers=9), ColumnFacts(pyarrow.bool_(), numbers=1)).others
    1
    """
    arrow = import_extra("pyarrow", "arrow", purpose="Reading CSV")
    types = arrow.types
    if types.is_boolean(first.type) and _is_number(second.type):
        first, second = second, first
    if _is_number(first.type) and types.is_boolean(second.type):
        second = ColumnFacts(arrow.null(), second.missing, others=second.others + second.numbers)
    if first.type == second.type or types.is_null(second.type):
        common = first.type
    elif types.is_null(first.type):
        common = second.type
    else:
        common = arrow.float64() if _is_number(first.type) and _is_number(second.type) else arrow.string()
    return merged(first, second, common)


def _is_number(kind: Any) -> bool:
    types = import_extra("pyarrow", "arrow", purpose="Reading CSV").types
    return bool(types.is_integer(kind) or types.is_floating(kind))


def _is_float(kind: Any) -> bool:
    return bool(import_extra("pyarrow", "arrow", purpose="Reading CSV").types.is_floating(kind))


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
