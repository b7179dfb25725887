"""Source code: Python files, notebooks, and folders of both."""

from __future__ import annotations

import ast
import bisect
import functools
import io
import json
import os
import re
import tokenize
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from recordsmith.errors import RecordsmithError
from recordsmith.rules import Location
from recordsmith.wording.numbers import bytes_text

__all__ = ["SourceFile", "is_python", "parsed_quietly", "read_source", "source_files"]

_SKIPPED_FOLDERS = {"__pycache__", "node_modules", "site-packages", "build", "dist", "venv", "env"}
_MAGIC = re.compile(r"^(\s*)(?:[!%].*|\S*\?{1,2}\s*$|[\w, ]+=\s*[!%].*)")
_CELL_MAGIC = re.compile(r"^\s*%%(\w+)")
_LARGEST_PROGRAM = 8_000_000  # bytes
_LARGEST_NOTEBOOK = 256_000_000  # mostly images in its outputs
_MOST_PATTERNS = 64  # whose answers a file keeps
_PYTHON_CELLS = {"time", "timeit", "capture", "prun", "writefile_no"}


@dataclass
class SourceFile:
    r"""One module: its text, the tree of it, and for a notebook which line of it is which line of which cell.

    Attributes:
        path: what it is called in findings.
        text: the source; of a notebook all code cells, one after the other.
        tree: the tree; each node has its file as `source` and its enclosing node as `parent`.
        cells: for each line the cell and the line there, counted from 1; empty for a plain file.

    >>> source = SourceFile.parse("train.py", "x = 1\ny = 2\n")
    >>> source.location(*source.span(source.tree.body[1])).line
    2
    """

    path: str
    text: str
    tree: ast.Module
    cells: list[tuple[int, int]] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    _mentioned: dict[str, bool] = field(default_factory=dict, init=False, repr=False, compare=False)

    @classmethod
    def parse(cls, path: str, text: str, cells: list[tuple[int, int]] | None = None) -> SourceFile:
        """Make one of a text; a text that is not Python is refused with the place."""
        try:
            tree = parsed_quietly(text)
        except (RecursionError, MemoryError):
            raise RecordsmithError(
                "This program is nested too deeply to be followed.",
                path=path,
                advice="Compute long lists and sums in a loop, or leave the file out.",
            ) from None
        except (SyntaxError, ValueError) as error:
            line = getattr(error, "lineno", None)
            place = "" if line is None else f" in line {line}"
            raise RecordsmithError(
                f"This is not valid Python 3{place}: {getattr(error, 'msg', error)}.",
                path=path,
                found=(getattr(error, "text", None) or "").strip() or None,
                advice="Correct it, or leave the file out.",
            ) from None
        made = cls(path, text, tree, cells or [], text.splitlines())
        for node in made.nodes:
            node.source = made  # type: ignore[attr-defined]
            for child in ast.iter_child_nodes(node):
                child.parent = node  # type: ignore[attr-defined]
        return made

    def location(self, begin: int, end: int) -> Location:
        """Return the place of a stretch of the text; lines and columns count from 1, columns in characters."""
        starts = self._starts()
        line = bisect.bisect_right(starts, begin) - 1
        end_line = bisect.bisect_right(starts, max(end - 1, begin)) - 1
        column, end_column = begin - starts[line] + 1, end - starts[end_line] + 1
        cell, shift = (None, 1)
        if self.cells:
            cell, line_in_cell = self.cells[line]
            shift = line_in_cell - line
        return Location(
            path=self.path,
            line=line + shift,
            column=column,
            end_line=end_line + shift,
            end_column=end_column,
            cell=cell,
        )

    def whole_lines(self, begin: int, end: int) -> tuple[int, int]:
        """Return where the lines of a stretch begin and end, without the last line's end."""
        first = self.text.rfind("\n", 0, begin) + 1
        last = self.text.find("\n", max(end - 1, begin))
        return first, len(self.text) if last < 0 else last

    def _column(self, line: int, offset: int) -> int:
        return len(self.lines[line - 1].encode()[:offset].decode(errors="ignore"))

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Return where a node begins and ends in the text, in characters."""
        starts = self._starts()
        begin = starts[node.lineno - 1] + self._column(node.lineno, node.col_offset)  # type: ignore[attr-defined]
        end = starts[node.end_lineno - 1] + self._column(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]
        return begin, end

    def _starts(self) -> list[int]:
        starts = [0]
        for line in self.text.splitlines(keepends=True):
            starts.append(starts[-1] + len(line))
        return starts

    def segment(self, node: ast.AST) -> str:
        """Return the source of a node as it is."""
        begin, end = self.span(node)
        return self.text[begin:end]

    @functools.cached_property
    def nodes(self) -> list[ast.AST]:
        """All nodes of the tree, in the order of `ast.walk`, which is slow."""
        return list(ast.walk(self.tree))

    def mentions(self, pattern: str) -> bool:
        r"""Tell whether its code matches a pattern; the answer is kept, as many programs import the same module.

        >>> source = SourceFile.parse("a.py", "x = 1  # y\n")
        >>> source.mentions(r"\bx\b"), source.mentions(r"\by\b")
        (True, False)
        """
        if pattern not in self._mentioned:
            if len(self._mentioned) >= _MOST_PATTERNS:
                self._mentioned.clear()
            self._mentioned[pattern] = bool(re.search(pattern, self.text) and re.search(pattern, self.code))
        return self._mentioned[pattern]

    @functools.cached_property
    def code(self) -> str:
        """The program without comments, texts and spaces that mean nothing."""
        pieces: list[str] = []
        try:
            for token in tokenize.generate_tokens(io.StringIO(self.text).readline):
                if token.type == tokenize.NAME and pieces and pieces[-1][-1:].isalnum():
                    pieces.append(" ")
                if token.type in (tokenize.NAME, tokenize.OP, tokenize.NUMBER, tokenize.NEWLINE):
                    pieces.append(token.string)
        except (tokenize.TokenError, SyntaxError):
            return self.text
        return "".join(pieces)

    def comments(self) -> dict[int, str]:
        """Return the comments by their lines."""
        found: dict[int, str] = {}
        try:
            for token in tokenize.generate_tokens(io.StringIO(self.text).readline):
                if token.type == tokenize.COMMENT:
                    found[token.start[0]] = token.string
        except (tokenize.TokenError, SyntaxError):
            pass
        return found


def parsed_quietly(text: str) -> ast.Module:
    """Parse a program without warnings about it, such as those of invalid escapes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def is_python(text: str) -> bool:
    r"""Say whether a text is Python that can be parsed.

    >>> is_python("x = 1"), is_python("x = "), is_python("x = \0")
    (True, False, False)
    """
    try:
        parsed_quietly(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def read_source(path: str) -> SourceFile:
    """Read a Python file or a notebook."""
    largest = _LARGEST_NOTEBOOK if path.endswith(".ipynb") else _LARGEST_PROGRAM
    if os.path.getsize(path) > largest:
        raise RecordsmithError(
            "This file is too large to be followed.",
            path=path,
            found=bytes_text(os.path.getsize(path)),
            expected=f"at most {bytes_text(largest)}",
        )
    try:
        if path.endswith(".ipynb"):
            return _notebook(path)
        with tokenize.open(path) as file:
            text = file.read()
    except (UnicodeDecodeError, SyntaxError, LookupError) as error:
        raise RecordsmithError(
            "This is not Python source.", path=path, found=str(error), advice="To check data, use `recordsmith check`."
        ) from None
    try:
        return SourceFile.parse(path, text)
    except RecordsmithError:
        return SourceFile.parse(path, _without_magic(text))


def source_files(path: str) -> Iterator[str]:
    """Yield the Python files and notebooks at a path: itself, or those below a folder, in order."""
    if not os.path.isdir(path):
        yield path
        return
    for folder, folders, files in os.walk(path):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED_FOLDERS and not name.startswith("."))
        for name in sorted(files):
            if name.endswith((".py", ".ipynb")) and os.path.isfile(os.path.join(folder, name)):
                yield os.path.join(folder, name)


def _notebook(path: str) -> SourceFile:
    with open(path, encoding="utf-8") as file:
        try:
            document: Any = json.load(file)
            found = list(document.get("cells") or document["worksheets"][0]["cells"])
        except (ValueError, LookupError, AttributeError, TypeError, RecursionError) as error:
            raise RecordsmithError("This is not a notebook.", path=path, found=str(error)) from None
    lines: list[str] = []
    places: list[tuple[int, int]] = []
    for number, cell in enumerate(found, 1):
        if not isinstance(cell, dict) or cell.get("cell_type") != "code":
            continue
        source = cell.get("source", cell.get("input", ""))
        text = _plain_cell("".join(map(str, source)) if isinstance(source, list) else str(source))
        rows = text.splitlines()
        lines += rows
        places += [(number, row) for row in range(1, len(rows) + 1)]
    return SourceFile.parse(path, "\n".join(lines) + "\n" if lines else "", places)


def _plain_cell(text: str) -> str:
    """A cell without what only IPython understands; a cell that is not Python at all becomes empty lines."""
    magic = _CELL_MAGIC.match(text)
    rows = text.splitlines()
    if magic:
        rest = rows[1:] if magic[1] in _PYTHON_CELLS else [""] * (len(rows) - 1)
        rows = ["", *rest]
    text = _without_magic("\n".join(rows))
    if not is_python(text):
        return "\n" * (len(rows) - 1)  # one broken cell must not hide the others
    return text


def _without_magic(text: str) -> str:
    """The same lines, with `pass` for each line that starts with % or !, where the text is not Python otherwise."""
    if not is_python(text):
        return "\n".join(_MAGIC.sub(r"\1pass", line) for line in text.split("\n"))
    return text
