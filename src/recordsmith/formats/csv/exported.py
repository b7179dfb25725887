"""Exported CSV files as a source: read by the description next to them, to exactly what they were made from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from recordsmith.errors import RecordsmithError, import_extra, list_names
from recordsmith.formats.csv.dialect import Dialect, read_head
from recordsmith.formats.csv.feature_cells import cell_reader, typed_cells
from recordsmith.formats.csv.parsing import CsvPlaces
from recordsmith.formats.exported.form import SIDECAR
from recordsmith.formats.exported.text import ExportedTextChunk, ExportedTextSource, Rows
from recordsmith.formats.files.source_files import SourceFile
from recordsmith.formats.source import Chunk, Reject
from recordsmith.formats.tables.lines import LineRules, pieces_of
from recordsmith.schema import Feature

__all__ = ["ExportedCsvSource"]

_DIALECT = Dialect(delimiter=",", missing=("",), exported=True)


class ExportedCsvSource(ExportedTextSource):
    """The rows of exported CSV files; `rs.sources.csv` returns it for such."""

    kind: ClassVar[str] = "csv"

    def _chunks_of(self, file: SourceFile) -> Iterator[Chunk]:
        head = read_head(file, _DIALECT)
        missing = [name for name in self._schema if name not in head.names]
        if missing:
            raise RecordsmithError(f"The file lacks columns of its description: {list_names(missing)}.", path=file.path)
        for piece in pieces_of(file, head.rules, start=head.start, line=head.line):
            yield _CsvChunk(piece, self._schema, head.names, head.rules)


@dataclass(frozen=True)
class _CsvChunk(ExportedTextChunk):
    names: tuple[str, ...]
    rules: LineRules

    def place(self, number: int) -> str:
        return self._places.of(number)

    def reader(self, feature: Feature) -> Callable[[Any], Any]:
        return cell_reader(feature)

    @cached_property
    def _places(self) -> CsvPlaces:
        return CsvPlaces(self.piece, self.rules, self.piece.lines, ())

    def rows(self, rejects: list[Reject]) -> Rows:  # noqa: ARG002 - a row of another length is an error of the file
        arrow = import_extra("pyarrow", "arrow", purpose="Reading CSV")
        reader = import_extra("pyarrow.csv", "arrow", purpose="Reading CSV")
        data = self.piece.read()
        places = [f"{number}" for number in range(len(self.names))]  # whatever the names are
        try:
            table = reader.read_csv(
                arrow.BufferReader(data),
                read_options=reader.ReadOptions(use_threads=False, column_names=places, block_size=len(data) + 1),
                parse_options=reader.ParseOptions(newlines_in_values=True),
                convert_options=reader.ConvertOptions(
                    column_types=dict.fromkeys(places, arrow.string()),
                    null_values=[""],
                    strings_can_be_null=True,
                    quoted_strings_can_be_null=False,
                ),
            )
        except arrow.ArrowInvalid as error:
            raise RecordsmithError(
                f"The file does not match the description of the export: {error}",
                path=self.piece.file.path,
                advice=f"If it was changed on purpose, remove {self.piece.file.path}{SIDECAR}: types are then inferred "
                "from the cells.",
            ) from None
        rows = {
            name: typed_cells(self.schema[name], table[place])
            for name, place in zip(self.names, places, strict=True)
            if name in self.schema
        }
        return rows, list(range(table.num_rows))
