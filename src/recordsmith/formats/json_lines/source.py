"""JSON files as a source: one object per line, or one array of objects.

Every line is looked at once before anything is written, to learn the types; then pieces of about 8 MB are parsed with
those types. Arrow's parser does both, and where it stops at a line, Python's own finds out which lines are at fault.
"""

from __future__ import annotations

import codecs
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from recordsmith.errors import RecordsmithError, import_extra
from recordsmith.formats.exported.form import SIDECAR, form_beside
from recordsmith.formats.files.source_files import PathLike, SourceFile, find_files
from recordsmith.formats.images.annotated_folders import refuse_annotation_file
from recordsmith.formats.images.options import preparation_of
from recordsmith.formats.json_lines.exported import ExportedJsonlSource
from recordsmith.formats.json_lines.json_array import is_array, pieces_of_array
from recordsmith.formats.json_lines.json_document import document_piece, refuse_document
from recordsmith.formats.json_lines.json_text import exact_json, too_deep
from recordsmith.formats.source import Chunk, Loaded, Reject
from recordsmith.formats.tables.columns import ColumnFacts, flattened, named_facts, schema_of
from recordsmith.formats.tables.exact_numbers import exact_limit, has_values_from
from recordsmith.formats.tables.lines import LineRules, Piece, pieces_of, windows
from recordsmith.formats.tables.loading import LoadingRules, load_columns, shortened
from recordsmith.formats.tables.nested import (
    MisfitError,
    facts_over_all,
    fitted,
    is_unicode,
    leaf_names,
    plain_type,
    type_of_values,
    united_type,
    value_at,
)
from recordsmith.formats.tables.options import TableOptions, table_options
from recordsmith.formats.tables.survey import on_threads
from recordsmith.formats.tables.text_source import TextTableSource
from recordsmith.schema import Scalar, Schema, Tensor

__all__ = ["JsonlSource", "jsonl"]

SUFFIXES = tuple(stem + tail for stem in (".jsonl", ".ndjson", ".json") for tail in ("", ".gz", ".bz2", ".zst"))
_SHOWN = 1000  # bytes of a line that a reject looks at
_RULES = LineRules(quote=None, newlines=b"\n")
# What Arrow's parser may have rounded or made infinite: long whole numbers, and exponents of three digits.
_LARGE_NUMBER = re.compile(rb"(?<![0-9.])[0-9]{8,}(?![0-9.eE])|[0-9]{300}|[0-9][eE]\+?[0-9]{3}")


def jsonl(  # noqa: PLR0913 - each is an option of its own, named by the caller
    paths: PathLike | Iterable[PathLike],
    *,
    label: str | None = None,
    text: str | Iterable[str] = (),
    images: str | Iterable[str] | None = None,
    columns: str | Iterable[str] | None = None,
    types: Mapping[str, Any] | None = None,
    schema: Schema | None = None,
    floats: str = "auto",
    size: Sequence[int] | None = None,
    channels: int | None = None,
    image_encoding: str | None = None,
    quality: int = 95,
    strip: bool = False,
) -> JsonlSource | ExportedJsonlSource:
    r"""Return the objects of JSON lines, or of a JSON array, as a source for `make`.

    Keys of nested objects are joined with "/". Lists become tensors, of a fixed length if it is the same in all rows. A
    key that is missing or null in some rows becomes an optional feature. If the values of a key have different types,
    the first type counts, and rows with another type are rejected. Files written by `recordsmith export` are read with
    the description next to them.

    Args:
        paths: a file, a folder, a glob, or a list of these. .gz, .bz2 and .zst files are decompressed.
        label: the key with the class.
        text: keys to store as text. Numbers are converted to text.
        images: keys with the paths of images, relative to the file.
        columns: use only these keys; write nested ones with "/".
        types: the types of keys, by name: a feature, a dtype, "text", "label" or "image".
        schema: the features. Other keys are left out.
        floats: "float32", "float64", or "auto": float32, unless a value of the key is at least 2**24.
        size: resize images to this height and width.
        channels: convert images to this number of channels: 1, 3 or 4.
        image_encoding: convert images to this format: jpeg, png, webp or bmp.
        quality: the quality of converted JPEG and WebP images.
        strip: remove white space around class names, so that "cat" and "cat " are the same class.

    >>> import recordsmith as rs, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "talk.jsonl"
    >>> _ = path.write_text('{"who": {"name": "Ann"}, "tokens": [1, 2]}\n{"who": {"name": "Bob"}, "tokens": []}\n')
    >>> rs.sources.jsonl(path).schema()
    Schema({
        'who/name': Text(),
        'tokens':   Tensor('int64', (None,)),
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
    found = find_files(paths, SUFFIXES, kind="JSON lines")
    # What an export leaves next to its files is found with them in a folder.
    files = tuple(file for file in found if not file.path.endswith(SIDECAR)) or found
    for file in files:
        refuse_annotation_file(file.path)
    if options == TableOptions(label=label, strip=strip):
        form = form_beside(file.path for file in files)
        if form is not None and form.kind == "jsonl":
            return ExportedJsonlSource(files, form, label)
    return JsonlSource(files, options)


@dataclass(frozen=True, slots=True)
class LinePlaces:
    """Which line each row of a piece stands in."""

    piece: Piece
    lines: tuple[int, ...] | None  # of the rows, counted in the piece from 0; None: every line is a row

    def of(self, row: int) -> str:
        """Say where a row came from, such as "talk.jsonl, line 17"."""
        return self.piece.place(row if self.lines is None else self.lines[row])


@dataclass(frozen=True, slots=True)
class JsonlChunk(Chunk):
    """Some whole lines of a file."""

    piece: Piece
    fields: Any  # an Arrow schema, which is pickled
    rules: LoadingRules
    source_bytes: int

    def origin(self) -> str:
        """Return the file."""
        return self.piece.file.path

    def load(self) -> Loaded:
        """Parse the lines."""
        schema = self.rules.schema
        dtypes = {name: feature.dtype for name, feature in schema.items() if isinstance(feature, (Scalar, Tensor))}
        found = parsed(self.piece, self.fields, dtypes)
        folder = os.path.dirname(self.piece.file.path) or "."
        places = LinePlaces(self.piece, found.lines)
        return load_columns(
            found.columns, found.table.num_rows, self.rules, folder=folder, places=places, rejects=found.rejects
        )


class JsonlSource(TextTableSource):
    """The objects of JSON lines. Made by `rs.sources.jsonl`."""

    kind: ClassVar[str] = "jsonl"

    def __init__(self, files: Sequence[SourceFile], options: TableOptions) -> None:
        super().__init__(files, options)
        self._arrays = [is_array(file) for file in files]
        self.sequential = self.sequential or any(self._arrays)
        self._pieces: list[Piece] | None = None

    def schema(self) -> Schema:
        """Return the schema of the rows, after a look at all of them."""
        return self._looked[1]

    def chunks(self) -> Iterator[Chunk]:
        """Give the chunks: about 8 MB of whole lines each, and at most 65,536 of them."""
        arrow = import_extra("pyarrow", "arrow", purpose="Reading JSON lines")
        fields, schema = self._looked
        needed = arrow.schema([f for f in fields if any(name in schema for name in leaf_names(f.name, f.type))])
        rules = self._loading_rules(schema)
        for piece in self._pieces if self._pieces is not None else self._cut():
            yield JsonlChunk(piece, needed, rules, piece.size)

    def _cut(self) -> Iterator[Piece]:
        for file, array in zip(self._files, self._arrays, strict=True):
            if array:
                yield from pieces_of_array(file)
                continue
            with windows(file) as source:
                head = source.read(0, 1 << 20)
            start = len(codecs.BOM_UTF8) if head.startswith(codecs.BOM_UTF8) else 0
            if len(self._files) == 1 or self.splits:
                refuse_document(file, head[start:])
            document = document_piece(file, head[start:])
            if document is not None:
                yield document
                continue
            _check_lines(file, head[start:])
            yield from pieces_of(file, _RULES, start=start, line=1)

    @cached_property
    def _looked(self) -> tuple[Any, Schema]:
        """Look at all lines: the nested types that hold them all, and the schema that follows."""
        arrow = import_extra("pyarrow", "arrow", purpose="Reading JSON lines")
        fields: Any = arrow.struct([])
        seen: list[tuple[int, dict[str, ColumnFacts]]] = []
        pieces = []
        first: Reject | None = None
        for piece, kind, rows, facts, reject in on_threads(self._look, self._cut()):
            first = first or reject
            fields = united_type(fields, kind)
            seen.append((rows, facts))
            if not self.sequential:
                pieces.append(piece)
        rows = sum(count for count, _ in seen)
        path = self._files[0].path
        if first is not None and not rows:
            raise RecordsmithError(
                f"No row can be used: {first.reason}", path=first.source, feature=first.feature, found=first.value
            )
        if not rows:
            raise RecordsmithError("There are no rows.", path=path, expected="JSON objects")
        united = flattened({field.name: arrow.nulls(0, field.type) for field in fields})
        known = {name: facts_over_all(name, array.type, seen) for name, array in united.items()}
        self._rows, self._pieces = rows, None if self.sequential else pieces
        wanted = self._options.wanted(list(known), path)
        return arrow.schema(list(fields)), schema_of({name: known[name] for name in wanted}, self._options)

    def _look(self, piece: Piece) -> tuple[Piece, Any, int, dict[str, ColumnFacts], Reject | None]:
        arrow = import_extra("pyarrow", "arrow", purpose="Reading JSON lines")
        found = parsed(piece, None, {})
        columns = flattened(dict(zip(found.table.column_names, found.table.columns, strict=True)))
        facts = {name: named_facts(name, array, self._options) for name, array in columns.items()}
        kind = arrow.struct([(field.name, plain_type(field.type)) for field in found.table.schema])
        return piece, kind, found.table.num_rows, facts, next(iter(found.rejects), None)


@dataclass(frozen=True, slots=True)
class ParsedLines:
    """The rows of a piece.

    Attributes:
        table: the rows that fit the types, as an Arrow table.
        columns: what they become, nested ones by their own names; a list where a number is not what Arrow has for it.
        lines: the line of each row; None: every line is one.
        rejects: the lines that are no rows.
    """

    table: Any
    columns: dict[str, Any]
    lines: tuple[int, ...] | None = None
    rejects: list[Reject] = field(default_factory=list)


def parsed(piece: Piece, fields: Any, dtypes: Mapping[str, Any]) -> ParsedLines:
    """Parse the lines of a piece.

    Without `fields` the types are inferred from the lines. `dtypes` are those that numbers are to become.
    """
    arrow = import_extra("pyarrow", "arrow", purpose="Reading JSON lines")
    reader = import_extra("pyarrow.json", "arrow", purpose="Reading JSON lines")
    data = piece.read()
    if too_deep(data):
        return _line_by_line(piece, data, fields)
    try:
        data.decode()  # Arrow does not look whether strings are UTF-8
        table = reader.read_json(
            arrow.BufferReader(data),
            read_options=reader.ReadOptions(use_threads=False, block_size=len(data) + 1),
            parse_options=reader.ParseOptions(
                explicit_schema=fields, unexpected_field_behavior="infer" if fields is None else "ignore"
            ),
        )
    except (arrow.ArrowException, UnicodeDecodeError):
        return _line_by_line(piece, data, fields)
    if table.num_rows != piece.lines:  # there are empty lines, or objects that go over several
        return _line_by_line(piece, data, fields)
    columns = flattened(dict(zip(table.column_names, table.columns, strict=True)))
    if any(_may_be_rounded(array, dtypes.get(name)) for name, array in columns.items()) and _LARGE_NUMBER.search(data):
        return _line_by_line(piece, data, fields)
    return ParsedLines(table, columns)


def _may_be_rounded(array: Any, dtype: Any) -> bool:
    """Say whether a column has floats that may be other numbers than were written."""
    types = import_extra("pyarrow", "arrow", purpose="Reading JSON lines").types
    compute = import_extra("pyarrow.compute", "arrow", purpose="Reading JSON lines")
    while types.is_list(array.type) or types.is_large_list(array.type):
        array = compute.list_flatten(array)
    if not types.is_float64(array.type):
        return False
    floats = dtype if dtype is not None and dtype.kind == "f" else np.dtype("float64")
    return has_values_from(array, exact_limit(floats))


def _line_by_line(piece: Piece, data: bytes, fields: Any) -> ParsedLines:
    arrow = import_extra("pyarrow", "arrow", purpose="Reading JSON lines")
    rows: list[dict[str, Any]] = []
    lines: list[int] = []
    rejects: list[tuple[int, Reject]] = []

    def refuse(line: int, reason: str, value: Any, feature: str | None = None) -> None:
        rejects.append((line, Reject(piece.place(line), None, feature, reason, shortened(value))))

    for number, line in enumerate(data.split(b"\n")):
        if not line.strip():
            continue
        try:
            row = exact_json(line)
        except (ValueError, RecursionError) as error:
            problem = f"cannot be read: {error}"
            if isinstance(error, json.JSONDecodeError):
                problem = f"is not JSON: {error.msg} at character {error.pos + 1}"
            refuse(number, f"The {piece.unit} {problem}.", line[:_SHOWN].decode(errors="backslashreplace"))
            continue
        if isinstance(row, dict) and not (b"\\u" in line and _has_broken_key(row)):
            rows.append(row)
            lines.append(number)
        elif isinstance(row, dict):
            refuse(number, "A key is not Unicode text.", line[:_SHOWN].decode(errors="backslashreplace"))
        else:
            refuse(number, f"The {piece.unit} is not a JSON object.", line[:_SHOWN].decode(errors="backslashreplace"))
    kind = arrow.struct(list(fields)) if fields is not None else type_of_values([{}, *rows])
    fitting: list[dict[str, Any]] = []
    kept: list[int] = []
    exact: set[str] = set()
    for place, row in enumerate(rows):
        try:
            fitting.append(fitted(row, kind, exact=exact))
            kept.append(place)
        except MisfitError as error:
            refuse(lines[place], error.reason, json.dumps(error.value, default=str), error.name)
    rejects.sort(key=lambda numbered: numbered[0])
    array = arrow.array(fitting, kind)
    table = arrow.Table.from_arrays(array.flatten(), names=[field.name for field in kind])
    columns = flattened(dict(zip(table.column_names, table.columns, strict=True)))
    columns |= {name: [value_at(rows[place], name) for place in kept] for name in exact}
    return ParsedLines(table, columns, tuple(lines[place] for place in kept), [reject for _, reject in rejects])


def _has_broken_key(value: Any) -> bool:
    """Say whether a key has half of a surrogate pair, which no file can store."""
    if isinstance(value, list):
        return any(map(_has_broken_key, value))
    if not isinstance(value, dict):
        return False
    return not all(map(is_unicode, value)) or any(map(_has_broken_key, value.values()))


def _check_lines(file: SourceFile, head: bytes) -> None:
    """Refuse early what is JSON, but neither lines nor an array of objects."""
    if b"\0" in head[:512]:
        raise RecordsmithError("This is not a text file.", path=file.path, found=repr(head[:24]))
    if head.lstrip().partition(b"\n")[0].strip() == b"{":
        name = os.path.basename(file.path)
        raise RecordsmithError(
            "A JSON object spans several lines.",
            path=file.path,
            found=shortened(head[:_SHOWN].decode(errors="backslashreplace")),
            advice=f"Write one object per line: jq -c . {name} > rows.jsonl",
        )
