"""CSV files as a source.

    file ──header──► names, delimiter
         ──pieces──► whole rows, about 8 MB of text each          table_lines
                       │
                       ├─ first look: types, gaps, classes        on threads, before anything is written
                       └─ load: Arrow's parser with those types   anywhere, in any order

The first look takes every cell into account, so that no value can turn up later that the schema does not hold. It is
left out where all types are declared.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar

from recordsmith.errors import RecordsmithError, SchemaError, import_extra, list_names
from recordsmith.formats.csv.dialect import MISSING, CsvHead, Dialect, checked_encoding, one_byte, read_head
from recordsmith.formats.csv.exported import ExportedCsvSource
from recordsmith.formats.csv.parsing import CsvPlaces, CsvReading
from recordsmith.formats.csv.types import are_fractions, facts_of_piece, merged_cells, settled_type
from recordsmith.formats.exported.form import form_beside
from recordsmith.formats.files.source_files import PathLike, SourceFile, find_files
from recordsmith.formats.images.options import preparation_of
from recordsmith.formats.source import Chunk, Loaded, Reject
from recordsmith.formats.tables.cells import converted_cells
from recordsmith.formats.tables.columns import ColumnFacts, int64_array, schema_of, stripped
from recordsmith.formats.tables.exact_numbers import exact_array, exact_limit, has_values_from
from recordsmith.formats.tables.kept_tables import KeptTables, Uneven, fitting_columns
from recordsmith.formats.tables.lines import Piece, pieces_of
from recordsmith.formats.tables.loading import Bad, LoadingRules, load_columns, shortened
from recordsmith.formats.tables.options import TableOptions, names_of, table_options
from recordsmith.formats.tables.survey import on_threads
from recordsmith.formats.tables.text_source import TextTableSource
from recordsmith.formats.tables.times import UNITS
from recordsmith.schema import Bytes, Feature, Image, Label, Scalar, Schema, Text
from recordsmith.wording.numbers import count_text

__all__ = ["CsvSource", "csv"]

_FEW = 10  # with this many times fewer cells that are no numbers, a column of text may be one of numbers
SUFFIXES = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".csv.bz2", ".csv.zst", ".tsv.bz2", ".tsv.zst")


def csv(  # noqa: PLR0913 - each is an option of its own, named by the caller
    paths: PathLike | Iterable[PathLike],
    *,
    label: str | None = None,
    text: str | Iterable[str] = (),
    images: str | Iterable[str] | None = None,
    columns: str | Iterable[str] | None = None,
    types: Mapping[str, Any] | None = None,
    schema: Schema | None = None,
    floats: str = "auto",
    delimiter: str | None = None,
    quote: str | None = '"',
    decimal: str = ".",
    header: bool = True,
    names: Sequence[str] | None = None,
    missing: Iterable[str] = MISSING,
    encoding: str = "utf-8",
    size: Sequence[int] | None = None,
    channels: int | None = None,
    image_encoding: str | None = None,
    quality: int = 95,
    strip: bool = False,
) -> CsvSource | ExportedCsvSource:
    r"""Return the rows of CSV files as a source for `make`.

    Types are inferred from all cells: integers, floats, true and false, or text. Numbers with leading zeros and
    integers of more than 64 bits are text. If at most one cell in a hundred is not a number, the column is numeric and
    the rows with those cells are rejected. Missing cells make a numeric column optional; in a text column they are
    empty strings. Files written by `recordsmith export` are read with the description next to them.

    Args:
        paths: a file, a folder, a glob, or a list of these. .gz, .bz2 and .zst files are decompressed.
        label: the column with the class (or with the target, if its values are not integers).
        text: columns to store as text, even if their values look like numbers.
        images: columns with the paths of images, relative to the CSV file.
        columns: use only these columns.
        types: the types of columns, by name: a feature, a dtype, "text", "bytes", "label" or "image"; or, to store
            times as numbers, their unit: "s", "ms", "us" or "ns".
        schema: the features. Other columns are left out, and no types are inferred.
        floats: "float32", "float64", or "auto": float32, unless a value of the column is at least 2**24.
        delimiter: the character between cells; None: detected from the first line.
        quote: the character around quoted cells; None: there are no quoted cells.
        decimal: the decimal separator.
        header: whether the first line has the names of the columns.
        names: the names of the columns, to use instead of the header.
        missing: cells that mean a missing value, except in text columns.
        encoding: the encoding of the text.
        size: resize images to this height and width.
        channels: convert images to this number of channels: 1, 3 or 4.
        image_encoding: convert images to this format: jpeg, png, webp or bmp.
        quality: the quality of converted JPEG and WebP images.
        strip: remove white space around class names, so that "cat" and "cat " are the same class.

    >>> import recordsmith as rs, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "irises.csv"
    >>> _ = path.write_text("length,petals,species\n5.1,3,setosa\n4.9,,virginica\n")
    >>> source = rs.sources.csv(path, label="species")
    >>> source.schema()
    Schema({
        'length':  Scalar('float32'),
        'petals':  Scalar('int64', optional=True),
        'species': Label(['setosa', 'virginica']),
    })
    """
    options = table_options(
        label=label,
        text=text,
        images=images,
        columns=columns,
        types=types,
        schema=schema,
        floats=floats,
        preparation=preparation_of(size=size, channels=channels, encoding=image_encoding, quality=quality),
        strip=strip,
    )
    dialect = Dialect(
        one_byte("delimiter", delimiter) if delimiter is not None else None,
        None if quote is None else one_byte("quote", quote),
        decimal,
        header,
        names_of(names),
        tuple(missing),
        checked_encoding(encoding),
    )
    files = find_files(paths, SUFFIXES, kind="CSV")
    if options == TableOptions(label=label, strip=strip) and dialect == Dialect():
        form = form_beside(file.path for file in files)
        if form is not None and form.kind == "csv":
            return ExportedCsvSource(files, form, label)
    return CsvSource(files, dialect, options)


@dataclass(frozen=True, slots=True)
class CsvChunk(Chunk):
    """Some whole rows of a CSV file."""

    piece: Piece
    reading: CsvReading
    rules: LoadingRules
    kept: KeptTables
    source_bytes: int

    def origin(self) -> str:
        """Return the file."""
        return self.piece.file.path

    def load(self) -> Loaded:
        """Parse the rows, or take what the first look has parsed."""
        reading, bad = self.reading, Bad()
        columns, rows, uneven = self._kept_columns() or self._parsed_columns(bad)
        columns = self._exact_columns(columns)
        places = CsvPlaces(self.piece, reading.head.rules, rows, tuple(number for number, _, _ in uneven))
        width = len(reading.head.names)
        rejects = [
            Reject(
                places.of_row_in_file(number),
                None,
                None,
                f"The line has {count} cell{'s' if count != 1 else ''}, but there are {width} columns.",
                shortened(text),
            )
            for number, count, text in uneven
        ]
        folder = os.path.dirname(self.piece.file.path) or "."
        return load_columns(columns, rows, self.rules, folder=folder, places=places, bad=bad, rejects=rejects)

    def _kept_columns(self) -> tuple[dict[str, Any], int, Uneven] | None:
        found = self.kept.take((self.piece.file.path, self.piece.start))
        if found is None or SourceFile.at(self.piece.file.path) != self.piece.file:
            return None
        columns = fitting_columns(found[0], self.reading.types, self.rules.schema)
        return None if columns is None else (columns, found[0].num_rows, found[1])

    def _parsed_columns(self, bad: Bad) -> tuple[dict[str, Any], int, Uneven]:
        arrow = import_extra("pyarrow", "arrow", purpose="Reading CSV")
        reading = self.reading
        data = reading.decoded(self.piece.read())
        try:
            table, uneven = reading.parse(self.piece, data, reading.types)
            columns = dict(zip(table.column_names, table.columns, strict=True))
        except arrow.ArrowInvalid:
            table, uneven = reading.parse(self.piece, data, dict.fromkeys(reading.types, "binary"))
            columns = _cell_by_cell(table, reading, bad)
        return columns, table.num_rows, uneven

    def _exact_columns(self, columns: dict[str, Any]) -> dict[str, Any]:
        """Put numbers back that are not what was written because a float does not hold them."""
        dtypes = {name: feature.dtype for name, feature in self.rules.schema.items() if isinstance(feature, Scalar)}
        doubtful = [
            name
            for name, kind in self.reading.types.items()
            if kind == "double" and has_values_from(columns[name], exact_limit(dtypes[name]))
        ]
        if not doubtful:
            return columns
        data = self.reading.decoded(self.piece.read())
        table, _ = self.reading.parse(self.piece, data, dict.fromkeys(doubtful, "binary"))
        decimal = self.reading.dialect.decimal

        def texts_of(name: str, rows: Any) -> list[str]:
            cells = table[name].take(int64_array(rows)).to_pylist()
            return [cell.decode().replace(decimal, ".") for cell in cells]

        exact = {name: exact_array(columns[name], dtypes[name], partial(texts_of, name)) for name in doubtful}
        return {**columns, **exact}


class CsvSource(TextTableSource):
    """The rows of CSV files. Made by `rs.sources.csv`."""

    kind: ClassVar[str] = "csv"

    def __init__(self, files: Sequence[SourceFile], dialect: Dialect, options: TableOptions) -> None:
        super().__init__(files, options)
        self._dialect = dialect
        self._pieces: list[tuple[int, Piece]] | None = None
        self._kept = KeptTables()
        self._doubts: tuple[str, ...] = ()

    def schema(self) -> Schema:
        """Return the schema of the rows, after reading all of them if types are inferred."""
        return self._schema

    def describe(self) -> dict[str, Any]:
        """Return what the source is: its files with size and time, and the options."""
        described = super().describe()
        return {**described, "options": described["options"] | self._dialect.describe()}

    def chunks(self) -> Iterator[Chunk]:
        """Give the chunks: about 8 MB of whole rows each, and at most 65,536 lines."""
        schema = self.schema()
        rules = self._loading_rules(schema, self._dialect.missing)
        readings = [
            CsvReading(
                head,
                self._dialect,
                {name: "string" if name in rules.times else _arrow_type(schema[name]) for name in self._wanted(number)},
            )
            for number, head in enumerate(self._heads)
        ]
        for number, piece in self._pieces if self._pieces is not None else self._cut():
            first = piece.start == self._heads[number].start
            yield CsvChunk(piece, readings[number], rules, self._kept, piece.size + (piece.start if first else 0))

    @cached_property
    def _heads(self) -> list[CsvHead]:
        heads = [read_head(file, self._dialect) for file in self._files]
        for file, head in zip(self._files, heads, strict=True):
            if set(head.names) != set(heads[0].names):
                raise RecordsmithError(
                    "The files have different columns.",
                    path=file.path,
                    found=list_names(head.names),
                    expected=f"{list_names(heads[0].names)}, as in {self._files[0].path}",
                    advice="Make a separate dataset for each kind of file, or list the common columns in "
                    "columns=[...].",
                )
        return heads

    def _wanted(self, number: int) -> list[str]:
        return self._options.wanted(self._heads[number].names, self._files[number].path)

    def _cut(self) -> Iterator[tuple[int, Piece]]:
        for number, (file, head) in enumerate(zip(self._files, self._heads, strict=True)):
            for piece in pieces_of(file, head.rules, start=head.start, line=head.line):
                yield number, piece

    @cached_property
    def _schema(self) -> Schema:
        wanted = self._wanted(0)
        declared = {name: self._options.declared(name) for name in wanted}
        for name, feature in declared.items():
            _check_fits_cell(name, feature)
        if self._options.schema is not None:
            return self._options.schema
        if all(feature is not None for feature in declared.values()):
            return Schema({name: feature for name, feature in declared.items() if feature is not None})
        return schema_of(self._look(wanted), self._options)

    def _look(self, wanted: list[str]) -> dict[str, ColumnFacts]:
        """Look at every cell: the type of each column, whether it has gaps, the classes of the label."""
        arrow = import_extra("pyarrow", "arrow", purpose="Reading CSV")
        hints = {name: self._options.hint(name) for name in wanted}
        types = {
            name: "binary" if hint in ("text", "bytes", "label", "image") or self._options.declared(name) else ""
            for name, hint in hints.items()
        }
        labels = frozenset(name for name in wanted if self._options.is_label(name))

        def look(numbered: tuple[int, Piece]) -> tuple[int, Piece, int, dict[str, ColumnFacts]]:
            number, piece = numbered
            reading = CsvReading(self._heads[number], self._dialect, types)
            return number, piece, *facts_of_piece(piece, reading, labels, self._kept)

        known: dict[str, ColumnFacts] = {name: ColumnFacts(arrow.null()) for name in wanted}
        pieces: list[tuple[int, Piece]] = []
        rows = 0
        for number, piece, count, facts in on_threads(look, self._cut()):
            rows += count
            if not self.sequential:
                pieces.append((number, piece))
            known = {name: merged_cells(known[name], facts[name]) for name in known}
        if not rows:
            raise self._no_rows()
        self._rows = rows
        self._doubts = tuple(self._doubtful({name: facts for name, facts in known.items() if hints[name] is None}))
        if not self.sequential:
            self._pieces = pieces
        return {name: self._settled(facts, hints[name]) for name, facts in known.items()}

    def _no_rows(self) -> RecordsmithError:
        """Return the error for files without a row that has as many cells as there are columns."""
        for number, piece in self._cut():
            head = self._heads[number]
            reading = CsvReading(head, self._dialect, {})
            for row, count, text in reading.parse(piece, reading.decoded(piece.read()), {})[1][:1]:
                return RecordsmithError(
                    "No line has as many cells as there are columns.",
                    path=CsvPlaces(piece, head.rules, 0, (row,)).of_row_in_file(row),
                    found=f"{count_text(count, 'cell')}: {shortened(text)}",
                    expected=f"{count_text(len(head.names), 'cell')}, as in the line of the names: "
                    f"{list_names(head.names)}",
                    advice="Remove lines above the names, such as comments, or set the delimiter.",
                )
        return RecordsmithError(
            "There are no rows below the header." if self._dialect.header else "There are no rows.",
            path=self._files[0].path if len(self._files) == 1 else None,
            advice="The types cannot be inferred without rows. Pass a schema to make an empty dataset.",
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """What looks like a mistake in how the files are read."""
        number = next((head.number_as_name for head in self._heads if head.number_as_name is not None), None)
        if number is None:
            return self._doubts
        said = (
            f"The first line was taken for the names of the columns, and {number!r} is a number. If the line is a row, "
            "pass header=False and names=[...] to rs.sources.csv."
        )
        return said, *self._doubts

    def _doubtful(self, known: Mapping[str, ColumnFacts]) -> Iterator[str]:
        """Say which columns are text and look like numbers."""
        arrow = import_extra("pyarrow", "arrow", purpose="Reading CSV")
        texts = {name: facts for name, facts in known.items() if arrow.types.is_string(settled_type(facts))}
        for name, cell in dict(self._heads[0].decimal_commas).items():
            if name in texts:
                yield (
                    f"Column {name!r} is text, and {cell!r} looks like a number with a decimal comma. If it is one, "
                    "pass decimal=',' to rs.sources.csv."
                )
        for name, facts in texts.items():
            if 0 < facts.others * _FEW <= facts.numbers and not facts.beyond:
                yield (
                    f"Column {name!r} is text, because {facts.others:,} of {facts.numbers + facts.others:,} cells are "
                    "not numbers. If they mean a missing value, pass missing=[...] to rs.sources.csv."
                )

    def _settled(self, facts: ColumnFacts, hint: str | None) -> ColumnFacts:
        arrow = import_extra("pyarrow", "arrow", purpose="Reading CSV")
        missing = facts.missing
        if hint == "label":
            found = stripped(facts.classes) if self._options.strip else facts.classes
            missing = any(value in self._dialect.missing for value in found)
            classes = found - set(self._dialect.missing)
            fractions = bool(classes) and are_fractions(classes)
            return ColumnFacts(arrow.float64() if fractions else arrow.string(), missing, classes=classes)
        kind = arrow.string() if hint in UNITS else settled_type(facts)
        if arrow.types.is_string(kind) and hint in (None, "text", "bytes"):
            missing = False  # an empty cell of a column of text is the empty text
        return ColumnFacts(kind, missing, large=facts.large)


def _cell_by_cell(table: Any, reading: CsvReading, bad: Bad) -> dict[str, Any]:
    columns = {}
    for name, kind in reading.types.items():

        def refuse(row: int, reason: str, value: Any, name: str = name) -> None:
            bad.setdefault(row, (name, reason, value))

        column = table[name]
        cells = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
        columns[name] = converted_cells(
            cells, kind, missing=reading.dialect.missing, decimal=reading.dialect.decimal, refuse=refuse
        )
    return columns


def _arrow_type(feature: Feature) -> str:
    """Return the type as which the cells of a feature are parsed."""
    if isinstance(feature, Scalar):
        if feature.dtype.kind == "b":
            return "bool"
        if feature.dtype.kind in "iu":
            return "uint64" if feature.dtype.name == "uint64" else "int64"
        return "double"
    return "binary" if isinstance(feature, Bytes) else "string"


def _check_fits_cell(name: str, feature: Feature | None) -> None:
    if feature is None or isinstance(feature, (Label, Image)):
        return
    if not isinstance(feature, (Scalar, Text, Bytes)) or getattr(feature, "shape", ()) != ():
        raise SchemaError(
            "A cell of a CSV file contains one number or one string.",
            feature=name,
            found=feature,
            expected="Scalar, Text, Bytes, Label or Image",
            advice="Declare the columns separately, or convert the text to values with map=.",
        )
    if isinstance(feature, Scalar) and feature.dtype.kind == "c":
        raise SchemaError("Complex numbers cannot be read from CSV.", feature=name, found=feature)
