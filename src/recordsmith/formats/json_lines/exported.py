"""Exported JSON lines as a source: read by the description next to them, to exactly what they were made from."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, ClassVar

from recordsmith.formats.exported.text import ExportedTextChunk, ExportedTextSource, Rows
from recordsmith.formats.exported.values import restored_value
from recordsmith.formats.files.source_files import SourceFile
from recordsmith.formats.json_lines.json_text import parse_json
from recordsmith.formats.source import Chunk, Reject
from recordsmith.formats.tables.lines import LineRules, pieces_of, windows
from recordsmith.formats.tables.loading import shortened
from recordsmith.schema import Feature

__all__ = ["ExportedJsonlSource"]

_LINES = LineRules(quote=None, newlines=b"\n")
_SHOWN = 1000  # bytes of a line that a reject looks at


class ExportedJsonlSource(ExportedTextSource):
    """The rows of exported JSON lines; `rs.sources.jsonl` returns it for such."""

    kind: ClassVar[str] = "jsonl"

    def _chunks_of(self, file: SourceFile) -> Iterator[Chunk]:
        with windows(file) as source:
            head = source.read(0, len(codecs.BOM_UTF8))
        start = len(codecs.BOM_UTF8) if head == codecs.BOM_UTF8 else 0
        for piece in pieces_of(file, _LINES, start=start, line=1):
            yield _JsonLinesChunk(piece, self._schema)


class _JsonLinesChunk(ExportedTextChunk):
    def place(self, number: int) -> str:
        return self.piece.place(number)

    def reader(self, feature: Feature) -> Callable[[Any], Any]:
        return partial(restored_value, feature)

    def rows(self, rejects: list[Reject]) -> Rows:
        rows: dict[str, list[Any]] = {name: [] for name in self.schema}
        lines: list[int] = []
        for number, line in enumerate(self.piece.read().split(b"\n")):
            if not line.strip():
                continue
            try:
                row = parse_json(line)
                if not isinstance(row, dict):
                    raise ValueError("it is not an object")  # noqa: TRY004, TRY301 - about the data
            except ValueError as error:
                shown = shortened(line[:_SHOWN].decode(errors="backslashreplace"))
                reason = f"The line does not match the description of the export: {error}."
                rejects.append(Reject(self.place(number), None, None, reason, shown))
                continue
            lines.append(number)
            for name, values in rows.items():
                values.append(row.get(name))
        return rows, lines
