"""Cuts text files into pieces of whole rows, even if quotes contain line ends.

A row of a CSV may hold line ends inside quotes, so a line end alone does not end a row. The file is looked at one
window after the other, each beginning where a row begins; within it, a line end counts if the number of quotes before
it is even. That is only true if every quote opens or closes a cell, as it should be; where one stands elsewhere (as in
`5" pipe`), the quotes of that window are followed one by one.

Where the pieces begin depends on the file alone: it is cut after so many bytes or so many lines.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from recordsmith import _core
from recordsmith.errors import CompressionError, RecordsmithError, import_extra
from recordsmith.formats.files.source_files import SourceFile, opened

__all__ = ["LineRules", "Piece", "RowEnds", "pieces_of", "row_ends"]

WINDOW = 8 << 20  # bytes of text in a piece; as numbers and strings it takes about as much
LONGEST_ROW = 64 << 20
LINES_AT_ONCE = 65_536

Int64s = npt.NDArray[np.int64]
Codes = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class LineRules:
    """What ends a row.

    Attributes:
        delimiter: what separates cells, one byte.
        quote: what encloses a cell that holds line ends; None: a line end always ends the row.
        newlines: the bytes that end a line; a carriage return and the line feed after it are one line end.
    """

    delimiter: bytes = b","
    quote: bytes | None = b'"'
    newlines: bytes = b"\r\n"


@dataclass(frozen=True, slots=True)
class RowEnds:
    """Where rows end in a window that begins with a row.

    Attributes:
        ends: one past the line end of each row.
        lines: how many lines there are up to each of them.
        open_quote: where the quote stands that is still open at the end of the window; None if none is.
    """

    ends: Int64s
    lines: Int64s
    open_quote: int | None = None


@dataclass(frozen=True, slots=True)
class Piece:
    """Some whole rows of a text file.

    Attributes:
        file: the file.
        start, stop: the bytes of the (decompressed) file that they take.
        line: the number of their first line, counted from 1.
        lines: how many lines they are.
        plain: every line is a row.
        data: the bytes themselves, where the file cannot be read from the middle.
        unit: what a row is called in messages.
    """

    file: SourceFile
    start: int
    stop: int
    line: int
    lines: int
    plain: bool
    data: bytes | None = None
    unit: str = "line"

    @property
    def size(self) -> int:
        """How many bytes of text it has."""
        return self.stop - self.start

    def place(self, line: int) -> str:
        """Say where a line of the piece is, such as "talk.jsonl, line 17"."""
        return f"{self.file.path}, {self.unit} {self.line + line}"

    def read(self) -> bytes:
        """Return the text."""
        if self.data is not None:
            return self.data
        with opened(self.file) as stream:
            stream.seek(self.start)
            return stream.read(self.size)


def row_ends(window: bytes, rules: LineRules) -> RowEnds:
    r"""Find where rows end in a window that begins with a row.

    >>> row_ends(b'a,"x\ny"\nb,z\n', LineRules()).ends.tolist()
    [8, 12]
    """
    newlines = _line_ends(window, rules)
    if rules.quote is None or rules.quote not in window:
        return RowEnds(newlines + 1, np.arange(1, len(newlines) + 1))
    codes = np.frombuffer(window, np.uint8)
    quotes = _core.find_byte(window, rules.quote[0])
    edges = quotes if _all_open_or_close(codes, quotes, rules) else _followed(codes, quotes, rules)
    outside = np.flatnonzero(np.searchsorted(edges, newlines) % 2 == 0)
    return RowEnds(newlines[outside] + 1, outside + 1, int(edges[-1]) if len(edges) % 2 else None)


def pieces_of(file: SourceFile, rules: LineRules, *, start: int, line: int) -> Iterator[Piece]:
    r"""Cut a file into pieces, from a byte where a row begins; `line` is the number of its line.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.csv"
    >>> _ = path.write_text("x\n1\n2\n")
    >>> piece, = pieces_of(SourceFile.at(path), LineRules(), start=2, line=2)
    >>> piece.read(), piece.lines
    (b'1\n2\n', 2)
    """
    with windows(file) as source:
        while True:
            window, found, last = _window(source, file, rules, start, line)
            if not len(window):
                return
            cut, counted = 0, 0
            for end, count in _cuts(found, last=last):
                data = None if source.seekable else window[cut:end]
                rows = int(np.searchsorted(found.ends, end, "right") - np.searchsorted(found.ends, cut, "right"))
                plain = rows == count - counted
                yield Piece(file, start + cut, start + end, line + counted, count - counted, plain, data)
                cut, counted = end, count
            start, line = start + cut, line + counted
            if last:
                return


class Windows:
    """Reads parts of a file, each starting at or after the one before, and decompresses them."""

    def __init__(self, stream: BinaryIO, compression: str | None, path: str) -> None:
        self.seekable = compression is None
        self._stream: Any = stream
        self._path = path
        self._compression = compression
        self._kept = b""  # of a compressed file: what was read from _kept_from on
        self._kept_from = 0
        if compression is not None:
            arrow = import_extra("pyarrow", "arrow", purpose="Reading compressed tables")
            self._stream = arrow.CompressedInputStream(arrow.PythonFile(stream, mode="r"), compression)

    def read(self, start: int, size: int) -> bytes:
        """Return `size` bytes from `start` on, or as many as there are."""
        if self.seekable:
            self._stream.seek(start)
            return bytes(self._stream.read(size))
        parts = [self._kept[start - self._kept_from :]]
        missing = size - len(parts[0])
        skipped = max(0, start - self._kept_from - len(self._kept))
        while missing > 0 and (more := self._next(missing + skipped)):
            parts.append(more[skipped:])
            skipped = max(0, skipped - len(more))
            missing -= len(parts[-1])
        self._kept, self._kept_from = b"".join(parts), start
        return self._kept[:size]

    def _next(self, size: int) -> bytes:
        try:
            return bytes(self._stream.read(size))
        except OSError as error:
            raise CompressionError(
                f"The {self._compression} data cannot be decompressed: {error}",
                path=self._path,
                advice="Copy the file again from its source.",
            ) from None


@contextlib.contextmanager
def windows(file: SourceFile) -> Iterator[Windows]:
    """Open a file to be read part after part."""
    with opened(file) as stream:
        yield Windows(stream, file.compression(), file.path)


def _line_ends(window: bytes, rules: LineRules) -> Int64s:
    """Return where lines end: at the last byte of the line end. One that may continue later does not count."""
    if rules.newlines != b"\r\n":
        return _core.find_byte(window, rules.newlines[0])
    feeds = _core.find_byte(window, 0x0A)
    if b"\r" not in window:
        return feeds
    codes = np.frombuffer(window, np.uint8)
    returns = np.flatnonzero(codes[:-1] == 0x0D)
    alone = returns[codes[returns + 1] != 0x0A]
    return np.sort(np.concatenate([feeds, alone])) if len(alone) else feeds


def _window(source: Windows, file: SourceFile, rules: LineRules, start: int, line: int) -> tuple[bytes, RowEnds, bool]:
    """Read a window that holds at least one row; the last one ends with the file, with or without a line end."""
    size = WINDOW
    while True:
        window = source.read(start, size)
        last = len(window) < size
        found = row_ends(window, rules)
        if last and found.open_quote is not None:
            raise _never_closed(file, line + len(_line_ends(window[: found.open_quote], rules)))
        if last and len(window) and (not len(found.ends) or found.ends[-1] != len(window)):
            lines = len(_line_ends(window, rules)) + 1
            found = RowEnds(np.append(found.ends, len(window)), np.append(found.lines, lines))
        if last or len(found.ends):
            return window, found, last
        if size >= LONGEST_ROW:
            if found.open_quote is None:
                raise RecordsmithError(
                    f"Line {line} is longer than {LONGEST_ROW >> 20} MB.",
                    path=file.path,
                    advice="Check that the file is a table of text lines.",
                )
            raise _never_closed(file, line + len(_line_ends(window[: found.open_quote], rules)))
        size *= 2


def _cuts(found: RowEnds, *, last: bool) -> Iterator[tuple[int, int]]:
    """Give the ends of the pieces in a window, and how many lines there are up to each."""
    taken = 0
    while taken < len(found.ends):
        lines_before = int(found.lines[taken - 1]) if taken else 0
        fitting = int(np.searchsorted(found.lines, lines_before + LINES_AT_ONCE, "right"))
        if fitting == len(found.ends) and taken and not last:
            return  # the rest begins the next window, rather than being a small piece of its own
        taken = max(fitting, taken + 1)
        yield int(found.ends[taken - 1]), int(found.lines[taken - 1])


def _all_open_or_close(window: Codes, quotes: Int64s, rules: LineRules) -> bool:
    """Say whether every second quote, from the first on, begins a cell or is the second half of a doubled quote."""
    opening = quotes[::2]
    before = window[np.maximum(opening - 1, 0)]
    begins = (opening == 0) | (before == rules.delimiter[0]) | (before == 0x0A) | (before == 0x0D)
    begins[1:] |= opening[1:] - 1 == quotes[1::2][: len(opening) - 1]
    return bool(begins.all())


def _followed(window: Codes, quotes: Int64s, rules: LineRules) -> Int64s:
    """Return the quotes that open and close a cell, in turn. A quote inside a cell that is not quoted means nothing."""
    starters = {rules.delimiter[0], 0x0A, 0x0D}
    before = window[np.maximum(quotes - 1, 0)].tolist()
    places = quotes.tolist()
    edges: list[int] = []
    number = 0
    while number < len(places):
        place = places[number]
        if len(edges) % 2 == 0:
            if place == 0 or before[number] in starters:
                edges.append(place)
        elif number + 1 < len(places) and places[number + 1] == place + 1:
            number += 1  # doubled: a quote in the text
        else:
            edges.append(place)
        number += 1
    return np.array(edges, np.int64)


def _never_closed(file: SourceFile, line: int) -> RecordsmithError:
    return RecordsmithError(
        f"The quote that opens in line {line} is never closed.",
        path=file.path,
        advice="Close the quote. If this file does not use quotes, pass quote=None.",
    )
