"""A JSON file that is one array of objects, cut into pieces of lines: one object per line, as JSON lines have them.

The array is read window after window, however long it is. Where an entry ends, Python's parser says; line ends in it
are between its values, since a string cannot contain them, and become spaces.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator

from recordsmith.errors import RecordsmithError
from recordsmith.formats.files.source_files import SourceFile
from recordsmith.formats.tables import lines
from recordsmith.formats.tables.lines import Piece, windows
from recordsmith.formats.tables.loading import shortened

__all__ = ["is_array", "pieces_of_array"]

_SPACE = " \t\n\r"
_FIRST_BYTES = 4096
_ENTRY = "entry"  # what a row is called in messages


def is_array(file: SourceFile) -> bool:
    """Say whether a file begins with an array."""
    with windows(file) as source:
        return source.read(0, _FIRST_BYTES).removeprefix(codecs.BOM_UTF8).lstrip(_SPACE.encode()).startswith(b"[")


def pieces_of_array(file: SourceFile) -> Iterator[Piece]:
    """Cut the array of a file into pieces of about 8 MB, which carry their lines."""
    held: list[str] = []
    size, first, start = 0, 1, 0
    for entry in _entries(file):
        held.append(entry.replace("\n", " ").replace("\r", " "))
        size += len(entry) + 1
        if size >= lines.WINDOW or len(held) >= lines.LINES_AT_ONCE:
            yield _piece(file, held, start, first)
            held, size, first, start = [], 0, first + len(held), start + size
    if held:
        yield _piece(file, held, start, first)


def _piece(file: SourceFile, held: list[str], start: int, first: int) -> Piece:
    data = "".join(entry + "\n" for entry in held).encode(errors="surrogatepass")
    return Piece(file, start, start + len(data), first, len(held), plain=True, data=data, unit=_ENTRY)


def _entries(file: SourceFile) -> Iterator[str]:
    """Give the text of each entry of the array."""
    with windows(file) as source:
        text = _Text(file, source)
        if text.after_space() != "[":
            raise text.error("This is not a JSON array")
        text.place += 1
        if text.after_space() == "]":
            text.place += 1
        else:
            while True:
                text.number += 1
                yield text.entry()
                mark = text.after_space()
                text.place += 1
                if mark == "]":
                    break
                if mark != ",":
                    raise text.error("There is no comma between two entries" if mark else "The array is not complete")
                text.after_space()
        if text.after_space():
            raise text.error("There is something after the end of the array")


class _Text:
    """The text of a file, of which only what is not yet used is kept."""

    def __init__(self, file: SourceFile, source: lines.Windows) -> None:
        self.place = 0  # in what is kept
        self.number = 0  # of the entry
        self._file, self._source = file, source
        self._text = ""
        self._read = 0  # bytes of the file
        self._ended = False
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        # Only where a value ends matters: numbers are not computed.
        self._parser = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str)

    def after_space(self) -> str:
        """Go to the next character that is no space, and return it; "" at the end."""
        while True:
            while self.place < len(self._text) and self._text[self.place] in _SPACE:
                self.place += 1
            if self.place < len(self._text) or not self._more():
                return self._text[self.place : self.place + 1]

    def entry(self) -> str:
        """Return the text of the next value, and go behind it."""
        while True:
            try:
                _, end = self._parser.raw_decode(self._text, self.place)
            except json.JSONDecodeError as error:
                if len(self._text) - self.place <= lines.LONGEST_ROW and self._more():
                    continue
                raise self.error(f"An entry is not JSON: {error.msg}") from None
            except RecursionError:
                raise self.error("Lists and objects are nested too deep") from None
            if end < len(self._text) or not self._more():  # a number may go on
                entry, self.place = self._text[self.place : end], end
                return entry

    def error(self, problem: str) -> RecordsmithError:
        """Return an error about the text at this place."""
        return RecordsmithError(
            f"{problem}.",
            path=f"{self._file.path}, {_ENTRY} {self.number}" if self.number else self._file.path,
            found=shortened(self._text[self.place : self.place + 80]) or "the end of the file",
            expected="one array of objects, such as [{...}, {...}]",
        )

    def _more(self) -> bool:
        """Read on; False at the end of the file."""
        if self._ended:
            return False
        data = self._source.read(self._read, lines.WINDOW)
        self._read += len(data)
        self._ended = not data
        try:
            decoded = self._decoder.decode(data, final=self._ended)
        except UnicodeDecodeError:
            raise self.error("The text is not UTF-8") from None
        self._text = self._text[self.place :] + decoded
        self.place = 0
        return True
