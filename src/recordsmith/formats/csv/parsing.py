"""Parses rows of a CSV file with Arrow, and finds their line numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.errors import RecordsmithError, import_extra
from recordsmith.formats.csv.dialect import CsvHead, Dialect
from recordsmith.formats.tables.lines import LineRules, Piece, row_ends

__all__ = ["CsvPlaces", "CsvReading"]


@dataclass(frozen=True, slots=True)
class CsvReading:
    """How the rows of one file are read; small, and pickled with each chunk."""

    head: CsvHead
    dialect: Dialect
    types: Mapping[str, str]  # of the columns to take, Arrow's names of them; "" to infer it from the cells

    def parse(self, piece: Piece, data: bytes, types: Mapping[str, str]) -> tuple[Any, list[tuple[int, int, str]]]:
        """Return an Arrow table, and the rows with another number of cells: their number, that count, their text."""
        arrow = import_extra("pyarrow", "arrow", purpose="Reading CSV")
        reader = import_extra("pyarrow.csv", "arrow", purpose="Reading CSV")
        uneven: list[tuple[int, int, str]] = []
        data, unreadable = self._without_unreadable(data)

        def skip(row: Any) -> str:
            uneven.append((row.number - 1, row.actual_columns, row.text))
            return "skip"

        known = {name: arrow.type_for_alias(kind) for name, kind in types.items() if kind}
        declared = all(types.values())  # where types are inferred, 0 and 1 are numbers
        try:
            table = reader.read_csv(
                arrow.BufferReader(data),
                read_options=reader.ReadOptions(
                    use_threads=False, column_names=list(self.head.names), block_size=len(data) + 1
                ),
                parse_options=reader.ParseOptions(
                    delimiter=self.head.rules.delimiter.decode(),
                    quote_char=self.dialect.quote or False,
                    newlines_in_values=not piece.plain,
                    invalid_row_handler=skip,
                ),
                convert_options=reader.ConvertOptions(
                    include_columns=list(types),
                    column_types=known,
                    null_values=list(self.dialect.missing),
                    decimal_point=self.dialect.decimal,
                    true_values=["true", "True", "TRUE", *(["1"] if declared else [])],
                    false_values=["false", "False", "FALSE", *(["0"] if declared else [])],
                ),
            )
        except arrow.ArrowInvalid as error:
            if str(error).startswith("In CSV column"):
                raise  # a cell that is not of its type: the caller looks for all of them
            raise RecordsmithError(
                f"The rows starting at line {piece.line} cannot be read: {error}",
                path=piece.file.path,
                advice="Check the quotes and delimiters there.",
            ) from None
        if unreadable:
            left = _numbers_left(unreadable, table.num_rows + len(uneven))
            uneven = sorted([*unreadable, *((left[number], count, text) for number, count, text in uneven)])
        return table, uneven

    def _without_unreadable(self, data: bytes) -> tuple[bytes, list[tuple[int, int, str]]]:
        """Take out rows with another number of cells that are no UTF-8 either: Arrow cannot report those."""
        if is_utf8(data):
            return data, []
        ends = row_ends(data, self.head.rules).ends.tolist()
        rows = [data[start:end] for start, end in pairwise([0, *ends, len(data)]) if data[start:end].strip(b"\r\n")]
        width = len(self.head.names)
        kept, unreadable = [], []
        for number, row in enumerate(rows):
            count = width if is_utf8(row) else self._count_cells(row)
            if count == width:
                kept.append(row)
            else:
                unreadable.append((number, count, row.decode(errors="backslashreplace").strip("\r\n")))
        # Arrow refuses a file without any byte, and takes one with an empty line.
        return (b"".join(kept) or b"\n", unreadable) if unreadable else (data, [])

    def _count_cells(self, row: bytes) -> int:
        """Count the cells of a row. A delimiter counts where a row could also end."""
        rules = LineRules(self.head.rules.delimiter, self.head.rules.quote, self.head.rules.delimiter)
        return len(row_ends(row.strip(b"\r\n"), rules).ends) + 1

    def decoded(self, data: bytes) -> bytes:
        """Return the text of a piece in UTF-8."""
        if self.dialect.encoding == "utf-8":
            return data
        # What cannot be decoded is left as it is: no UTF-8 either, so that its row is refused.
        return data.decode(self.dialect.encoding, "surrogateescape").encode("utf-8", "surrogateescape")


def is_utf8(data: bytes) -> bool:
    r"""Say whether bytes are UTF-8, without making a str of them.

    >>> is_utf8("né".encode()), is_utf8(b"\xff")
    (True, False)
    """
    arrow = import_extra("pyarrow", "arrow", purpose="Reading CSV")
    offsets = np.array([0, len(data)], np.int64)
    whole = arrow.LargeStringArray.from_buffers(1, arrow.py_buffer(offsets), arrow.py_buffer(data))
    try:
        whole.validate(full=True)
    except arrow.ArrowInvalid:
        return False
    return True


def _numbers_left(unreadable: list[tuple[int, int, str]], rows: int) -> list[int]:
    """Return the numbers that rows had before some were taken out."""
    gone = {number for number, _, _ in unreadable}
    return [number for number in range(rows + len(gone)) if number not in gone]


@dataclass(frozen=True)
class CsvPlaces:
    """Which line each row of a piece stands in."""

    piece: Piece
    rules: LineRules
    rows: int
    uneven: tuple[int, ...]  # rows of the file that are not among the rows, because they have no even number of cells

    def of(self, row: int) -> str:
        """Say where a row came from, such as "data.csv, line 17"."""
        return self.of_row_in_file(row + int(np.searchsorted(self._rows_before_uneven, row, side="right")))

    def of_row_in_file(self, number: int) -> str:
        """Say where a row came from, counted among all rows of the piece."""
        path, first = self.piece.file.path, self.piece.line
        if self.piece.plain and self.rows + len(self.uneven) == self.piece.lines:
            return f"{path}, line {first + number}"
        if number >= len(self._lines):  # line ends of several kinds
            return f"{path}, after line {first}"
        return f"{path}, line {first + self._lines[number]}"

    @cached_property
    def _rows_before_uneven(self) -> npt.NDArray[np.int64]:
        """How many even rows stand before each uneven one."""
        return np.array(self.uneven, np.int64) - np.arange(len(self.uneven))

    @cached_property
    def _lines(self) -> list[int]:
        """How many lines stand before each row. Counted once: a piece may have a hundred thousand rejects."""
        data = self.piece.read()
        found = row_ends(data, self.rules)
        starts = np.concatenate([[0], found.ends]).tolist()
        before = np.concatenate([[0], found.lines]).tolist()
        ends = [*starts[1:], len(data)]
        return [lines for start, end, lines in zip(starts, ends, before, strict=True) if data[start:end].strip(b"\r\n")]
