"""Exported CSV and JSON lines as a source: read with the description beside them, to exactly the original values."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from recordsmith.errors import RecordsmithError, import_extra, list_names, reason_of
from recordsmith.formats.csv.dialect import Dialect, read_head
from recordsmith.formats.csv.parsing import CsvPlaces
from recordsmith.formats.exported.form import ExportedForm, encoding_of
from recordsmith.formats.exported.values import restored_value
from recordsmith.formats.files.file_splits import FileSource
from recordsmith.formats.files.source_files import SourceFile, describe_files
from recordsmith.formats.json_lines.json_text import parse_json
from recordsmith.formats.source import Chunk, Loaded, Reject
from recordsmith.formats.tables.exact_numbers import exact_limit, exact_number, has_values_from
from recordsmith.formats.tables.lines import LineRules, Piece, pieces_of, windows
from recordsmith.formats.tables.loading import shortened
from recordsmith.schema import Feature, Label, Scalar, Schema

__all__ = ["ExportedTextSource"]

_JSON_LINES = LineRules(quote=None, newlines=b"\n")
_SHOWN = 1000  # bytes of a line that a reject looks at
_CSV = Dialect(delimiter=",", missing=("",), exported=True)


class ExportedTextSource(FileSource):
    """The rows of exported CSV files or JSON lines; `rs.sources.csv` and `rs.sources.jsonl` return it for such."""

    def __init__(self, kind: str, files: Sequence[SourceFile], form: ExportedForm, label: str | None) -> None:
        self.kind = kind  # type: ignore[misc]  # one class for the two
        self._files = files
        self._schema = form.schema
        self._splits = form.splits
        self.declared = True
        labels = [name for name, feature in form.schema.items() if isinstance(feature, Label)]
        self.label = label if label is not None else labels[0] if len(labels) == 1 else None
        self.sequential = any(file.compression() for file in files)

    def schema(self) -> Schema:
        """Return the schema of the records that were exported."""
        return self._schema

    def describe(self) -> dict[str, Any]:
        """Return what the source is: its files with size and time."""
        return {"kind": self.kind, "exported": True, "files": describe_files(self._files)}

    def chunks(self) -> Iterator[Chunk]:
        """Give the chunks: about 8 MB of whole rows each, and at most 65,536 lines."""
        for file in self._files:
            if self.kind == "jsonl":
                with windows(file) as source:
                    head = source.read(0, len(codecs.BOM_UTF8))
                start = len(codecs.BOM_UTF8) if head == codecs.BOM_UTF8 else 0
                for piece in pieces_of(file, _JSON_LINES, start=start, line=1):
                    yield ExportedChunk(piece, None, _JSON_LINES, self._schema, piece.size)
                continue
            csv_head = read_head(file, _CSV)
            missing = [name for name in self._schema if name not in csv_head.names]
            if missing:
                raise RecordsmithError(
                    f"The file lacks columns of its description: {list_names(missing)}.", path=file.path
                )
            for piece in pieces_of(file, csv_head.rules, start=csv_head.start, line=csv_head.line):
                yield ExportedChunk(piece, csv_head.names, csv_head.rules, self._schema, piece.size)

    def _declared_splits(self) -> tuple[str, ...]:
        return self._splits

    @property
    def size_bytes(self) -> int | None:
        """How many bytes the files have; None if they are compressed."""
        return None if self.sequential else sum(file.size for file in self._files)


@dataclass(frozen=True)
class ExportedChunk(Chunk):
    """Some whole rows of an exported file; with `header` of a CSV file, without of JSON lines."""

    piece: Piece
    header: tuple[str, ...] | None
    rules: LineRules
    schema: Schema
    source_bytes: int

    def origin(self) -> str:
        """Return the file."""
        return self.piece.file.path

    def load(self) -> Loaded:
        """Parse the rows; those that are not what was exported are refused."""
        rejects: list[Reject] = []
        rows, lines = self._json_rows(rejects) if self.header is None else self._csv_rows(self.header)
        columns: dict[str, list[Any]] = {}
        bad: set[int] = set()
        for name, feature in self.schema.items():
            read = _cell_reader(feature) if self.header is not None else _reader(feature)
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

    def place(self, number: int) -> str:
        """Say where a row stands, by its number in CSV, or its line in JSON lines, counted in the piece."""
        if self.header is not None:
            return self._csv_places.of(number)
        return f"{self.piece.file.path}, line {self.piece.line + number}"

    @cached_property
    def _csv_places(self) -> CsvPlaces:
        return CsvPlaces(self.piece, self.rules, self.piece.lines, ())

    def _json_rows(self, rejects: list[Reject]) -> tuple[dict[str, list[Any]], list[int]]:
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

    def _csv_rows(self, header: tuple[str, ...]) -> tuple[dict[str, list[Any]], list[int]]:
        arrow = import_extra("pyarrow", "arrow", purpose="Reading CSV")
        reader = import_extra("pyarrow.csv", "arrow", purpose="Reading CSV")
        data = self.piece.read()
        places = [f"{number}" for number in range(len(header))]  # whatever the names are
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
                advice=f"If it was changed on purpose, remove {self.piece.file.path}.schema.json: the types are then "
                "inferred from the cells.",
            ) from None
        rows = {
            name: _typed(self.schema[name], table[place], arrow)
            for name, place in zip(header, places, strict=True)
            if name in self.schema
        }
        return rows, list(range(table.num_rows))


@dataclass(frozen=True, slots=True)
class _Places:
    """The rows that were loaded."""

    chunk: ExportedChunk
    lines: tuple[int, ...]

    def of(self, row: int) -> str:
        return self.chunk.place(self.lines[row])


def _typed(feature: Feature, cells: Any, arrow: Any) -> list[Any]:
    """Parse single numbers all at once, and exactly in their own type; other cells stay texts."""
    kind = feature.dtype if isinstance(feature, Scalar) else None
    if kind is not None and kind.kind in "biuf" and kind != np.float16:
        try:
            numbers = cells.cast(arrow.from_numpy_dtype(kind))
        except arrow.ArrowInvalid:
            return list(cells.to_pylist())  # cell by cell, to say which is wrong
        if kind.kind != "f" or not has_values_from(numbers, exact_limit(kind)):
            return list(numbers.to_pylist())
    return list(cells.to_pylist())


def _reader(feature: Feature) -> Callable[[Any], Any]:
    return lambda plain: restored_value(feature, plain)


def _cell_reader(feature: Feature) -> Callable[[Any], Any]:
    """Return what makes a value of a cell."""
    if isinstance(feature, Label):
        names = frozenset(feature.names)
        return lambda cell: cell if cell in names else int(cell)
    if isinstance(feature, Scalar):
        return lambda cell: restored_value(feature, _number(cell, feature)) if isinstance(cell, str) else cell
    if encoding_of(feature, "csv") in ("json", "base64 in json"):
        return lambda cell: restored_value(feature, parse_json(cell))
    return lambda cell: restored_value(feature, cell)


def _number(cell: str, feature: Scalar) -> Any:
    if feature.dtype.kind == "c":
        return parse_json(cell)
    if feature.dtype.kind == "b":
        return {"true": True, "false": False}[cell]
    return exact_number(cell) if feature.dtype.kind == "f" else int(cell)
