"""What exported CSV files and JSON lines have in common as sources: rows of text, and a description of the file."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from recordsmith.errors import reason_of
from recordsmith.formats.exported.form import ExportedForm
from recordsmith.formats.files.source_files import SourceFile, describe_files
from recordsmith.formats.source import Chunk, Loaded, Reject
from recordsmith.formats.tables.lines import Piece
from recordsmith.formats.tables.loading import shortened
from recordsmith.formats.tables.text_source import TextSource
from recordsmith.schema import Feature, Label, Schema

__all__ = ["ExportedTextChunk", "ExportedTextSource", "Rows"]

Rows = tuple[dict[str, list[Any]], list[int]]  # the plain values of each feature, and the number of each row


class ExportedTextSource(TextSource):
    """The rows of exported files of text."""

    def __init__(self, files: Sequence[SourceFile], form: ExportedForm, label: str | None) -> None:
        super().__init__(files)
        self._schema = form.schema
        self._splits = form.splits
        self.declared = True
        labels = [name for name, feature in form.schema.items() if isinstance(feature, Label)]
        self.label = label if label is not None else labels[0] if len(labels) == 1 else None

    def schema(self) -> Schema:
        """Return the schema of the records that were exported."""
        return self._schema

    def describe(self) -> dict[str, Any]:
        """Return what the source is: its files with size and time."""
        return {"kind": self.kind, "exported": True, "files": describe_files(self._files)}

    def chunks(self) -> Iterator[Chunk]:
        """Give the chunks: about 8 MB of whole rows each, and at most 65,536 lines."""
        for file in self._files:
            yield from self._chunks_of(file)

    @abstractmethod
    def _chunks_of(self, file: SourceFile) -> Iterator[Chunk]:
        """Give the chunks of one file."""

    def _declared_splits(self) -> tuple[str, ...]:
        return self._splits


@dataclass(frozen=True)
class ExportedTextChunk(Chunk):
    """Some whole rows of an exported file."""

    piece: Piece
    schema: Schema

    @property
    def source_bytes(self) -> int:  # type: ignore[override]  # a chunk is never asked to change it
        """The size of the rows in the file."""
        return self.piece.size

    @abstractmethod
    def rows(self, rejects: list[Reject]) -> Rows:
        """Parse the rows; add those that cannot be parsed to the rejects."""

    @abstractmethod
    def reader(self, feature: Feature) -> Callable[[Any], Any]:
        """Return the function that restores a value of a feature from its plain form."""

    @abstractmethod
    def place(self, number: int) -> str:
        """Say where a row is, by its number in the piece."""

    def origin(self) -> str:
        """Return the file."""
        return self.piece.file.path

    def load(self) -> Loaded:
        """Parse the rows; those that are not what was exported are refused."""
        rejects: list[Reject] = []
        rows, lines = self.rows(rejects)
        columns: dict[str, list[Any]] = {}
        bad: set[int] = set()
        for name, feature in self.schema.items():
            read = self.reader(feature)
            columns[name] = values = []
            for row, plain in enumerate(rows[name]):
                try:
                    values.append(None if plain is None else read(plain))
                except (ValueError, TypeError, KeyError) as error:
                    reason = f"The value does not match the description of the export: {reason_of(error)}"
                    rejects.append(Reject(self.place(lines[row]), None, name, reason, shortened(str(plain))))
                    values.append(None)
                    bad.add(row)
        kept = [row for row in range(len(lines)) if row not in bad]
        if bad:
            columns = {name: [values[row] for row in kept] for name, values in columns.items()}
        return Loaded(dict(columns), len(kept), _Places(self, tuple(lines[row] for row in kept)), rejects)


@dataclass(frozen=True, slots=True)
class _Places:
    """The rows that were loaded."""

    chunk: ExportedTextChunk
    lines: tuple[int, ...]

    def of(self, row: int) -> str:
        return self.chunk.place(self.lines[row])
