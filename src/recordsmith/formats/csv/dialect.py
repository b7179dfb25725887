"""The dialect of a CSV file: delimiter, quotes, encoding and column names."""

from __future__ import annotations

import codecs
import csv as csv_module
import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from recordsmith.errors import RecordsmithError, list_names
from recordsmith.formats.files.source_files import SourceFile
from recordsmith.formats.tables.lines import WINDOW, LineRules, row_ends, windows
from recordsmith.records.file_signatures import describe_content

__all__ = ["MISSING", "CsvHead", "Dialect", "checked_encoding", "one_byte", "read_head"]

MISSING = ("", "NA", "N/A", "n/a", "#N/A", "NULL", "null", "None")
_HEAD = 1 << 18  # bytes, in which the first line usually ends
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?")
_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")
_DELIMITERS = (",", "\t", ";", "|")


@dataclass(frozen=True, slots=True)
class Dialect:
    """How the files are written, as far as the caller said."""

    delimiter: str | None = None
    quote: str | None = '"'
    decimal: str = "."
    header: bool = True
    names: tuple[str, ...] = ()
    missing: tuple[str, ...] = MISSING
    encoding: str = "utf-8"
    exported: bool = False  # by recordsmith: names are what they are, and texts may hold anything

    def describe(self) -> dict[str, Any]:
        """Return what differs from the defaults, JSON-ready."""
        usual = Dialect()
        said = {name: getattr(self, name) for name in self.__slots__ if getattr(self, name) != getattr(usual, name)}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in said.items()}


@dataclass(frozen=True, slots=True)
class CsvHead:
    """What the beginning of a file says: its columns, what separates them, and where the rows begin."""

    names: tuple[str, ...]
    rules: LineRules
    start: int
    line: int
    number_as_name: str | None = None  # which shows that the first line may be a row
    decimal_commas: tuple[tuple[str, str], ...] = ()  # cells of the first row that look like it, with their columns


def read_head(file: SourceFile, dialect: Dialect) -> CsvHead:
    """Read the first line of a file that is not empty.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.csv"
    >>> _ = path.write_text("a;b;c")
    >>> read_head(SourceFile.at(path), Dialect()).names
    ('a', 'b', 'c')
    """
    with windows(file) as source:
        data = source.read(0, _HEAD)
        quote = None if dialect.quote is None else dialect.quote.encode()
        if not len(row_ends(data.lstrip(b"\r\n"), LineRules(b",", quote)).ends):  # a line that is longer than usual
            data = source.read(0, WINDOW)
    if not dialect.exported:
        _check_is_text(file, data)
    start = len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0
    line = 1
    while data[start : start + 1] in (b"\n", b"\r"):
        start += 2 if data.startswith(b"\r\n", start) else 1
        line += 1
    if start == len(data):
        raise RecordsmithError("The file is empty.", path=file.path, expected="a line with the column names")
    delimiter = dialect.delimiter or _detected_delimiter(data[start:], dialect, file.path)
    rules = LineRules(delimiter.encode(), quote)
    found = row_ends(data[start:], rules)
    end = start + int(found.ends[0]) if len(found.ends) else len(data)
    lines = int(found.lines[0]) if len(found.lines) else 1
    first = data[start:end].decode(dialect.encoding, "replace").strip("\r\n")
    try:
        cells = next(csv_module.reader([first], delimiter=delimiter, **_quoting(dialect.quote)), [])
    except csv_module.Error as error:
        raise RecordsmithError(f"The column names cannot be read: {error}.", path=file.path) from None
    named = cells if dialect.exported else _named(cells) if dialect.header else ()
    names = dialect.names or tuple(named)
    _check_names(file, names, cells, dialect)
    begin = end if dialect.header else start
    row = next(iter(data[begin:].lstrip(b"\r\n").splitlines()), b"").decode(dialect.encoding, "replace")
    commas = () if delimiter == "," or dialect.decimal != "." else _decimal_commas(row.split(delimiter), names)
    number = None if dialect.exported or not dialect.header else _number_as_name(cells)
    return CsvHead(names, rules, begin, line + lines if dialect.header else line, number, commas)


def _number_as_name(cells: Sequence[str]) -> str | None:
    """Return a number among the names; whole numbers that increase may be names, such as years."""
    numbers = [cell.strip() for cell in cells if _NUMBER.fullmatch(cell.strip())]
    increasing = all(map(str.isdecimal, numbers)) and all(int(a) < int(b) for a, b in pairwise(numbers))
    return numbers[0] if numbers and not increasing else None


def _decimal_commas(cells: Sequence[str], names: Sequence[str]) -> tuple[tuple[str, str], ...]:
    return tuple(
        (name, cell.strip()) for name, cell in zip(names, cells, strict=False) if _COMMA.fullmatch(cell.strip())
    )


def _detected_delimiter(data: bytes, dialect: Dialect, path: str) -> str:
    """Tell the delimiter from the first line: the one of the usual ones that stands there most often."""
    if path.lower().split(".")[-1] == "tsv" or ".tsv." in path.lower():
        return "\t"
    line = "".join(found.decode(errors="replace") for found in re.findall(rb"\A[^\r\n]+", data))
    if dialect.quote is not None:
        line = "".join(line.split(dialect.quote)[::2])
    return max((one for one in _DELIMITERS if one != dialect.decimal), key=line.count)


def _named(cells: Sequence[str]) -> list[str]:
    """Give a column without a name, such as the index that pandas writes, one by its number."""
    return [cell.strip() or f"column_{number}" for number, cell in enumerate(cells, start=1)]


def _check_names(file: SourceFile, names: Sequence[str], cells: Sequence[str], dialect: Dialect) -> None:
    if not names:
        raise RecordsmithError(
            "A file without a header needs column names.",
            path=file.path,
            found=f"{len(cells)} cells in the first line",
            advice="Pass names=[...] with one name for each column.",
        )
    if dialect.names and len(names) != len(cells):
        raise RecordsmithError(
            "The number of names differs from the number of columns.",
            path=file.path,
            found=f"{len(cells)} cells in the first line",
            expected=f"{len(names)}, the number of names",
        )
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        raise RecordsmithError(
            "Two columns have the same name.",
            path=file.path,
            found=list_names(twice),
            advice="Rename one of them in the header, or pass names=[...] to replace the header. If the first line is "
            "a row, pass header=False too.",
        )


def _check_is_text(file: SourceFile, data: bytes) -> None:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise RecordsmithError(
            "The file is UTF-16.",
            path=file.path,
            expected="UTF-8, or another encoding that extends ASCII",
            advice=f"Convert it first: iconv -f UTF-16 -t UTF-8 {os.path.basename(file.path)} > converted.csv",
        )
    if b"\0" in data[:4096]:
        content = describe_content(file.path)
        known = "" if content.format == "unknown" else f": it {content.looks_like}"
        raise RecordsmithError(f"This is not a CSV file{known}.", path=file.path, found=content.found)


def one_byte(name: str, value: str) -> str:
    """Return a delimiter or quote if Arrow's parser can take it."""
    if len(value.encode()) != 1 or value in "\r\n":
        raise RecordsmithError(f"The {name} must be one ASCII character.", found=repr(value))
    return value


def checked_encoding(name: str) -> str:
    """Return the usual name of an encoding in which line ends and quotes can be found without decoding.

    >>> checked_encoding("UTF8"), checked_encoding("latin-1")
    ('utf-8', 'iso8859-1')
    """
    try:
        known = codecs.lookup(name).name
        continues_ascii = '",;|\t\n09'.encode(known) == b'",;|\t\n09'
    except LookupError:
        raise RecordsmithError(f"Unknown encoding {name!r}.", expected="'utf-8', 'latin-1', 'cp1252', ...") from None
    if not continues_ascii:
        raise RecordsmithError(
            f"A file encoded in {name} cannot be read in parts.", advice="Convert it first, with iconv -t UTF-8."
        )
    return known


def _quoting(quote: str | None) -> dict[str, Any]:
    return {"quoting": csv_module.QUOTE_NONE} if quote is None else {"quotechar": quote}
