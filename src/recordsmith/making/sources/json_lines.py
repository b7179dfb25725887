"""Files of JSON lines as a source: one object a line.

Every line is looked at once before anything is written, to learn the types; then pieces of about 8 MB are parsed with
those types. Arrow's parser does both, and where it stops at a line, Python's own finds out which lines are at fault.
"""

from __future__ import annotations

import codecs
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from recordsmith.errors import RecordsmithError, import_extra
from recordsmith.making.source import Chunk, Loaded, Reject
from recordsmith.making.sources.annotated_folders import refuse_annotation_file
from recordsmith.making.sources.exported_form import SIDECAR, form_beside
from recordsmith.making.sources.exported_text import ExportedTextSource
from recordsmith.making.sources.file_splits import FileSource
from recordsmith.making.sources.table_columns import ColumnFacts, flattened, merged, named_facts, schema_of
from recordsmith.making.sources.table_files import PathLike, SourceFile, describe_files, find_files
from recordsmith.making.sources.table_lines import LineRules, Piece, pieces_of, windows
from recordsmith.making.sources.table_loading import LoadingRules, load_columns, shortened
from recordsmith.making.sources.table_nested import MisfitError, fitted, leaf_names, plain_type, united_type
from recordsmith.making.sources.table_options import TableOptions, preparation_of, table_options
from recordsmith.making.sources.table_survey import on_threads
from recordsmith.schema import Schema

__all__ = ["JsonlSource", "jsonl"]

SUFFIXES = tuple(stem + tail for stem in (".jsonl", ".ndjson", ".json") for tail in ("", ".gz", ".bz2", ".zst"))
_RULES = LineRules(quote=None, newlines=b"\n")
_BEYOND_64_BITS = re.compile(rb"[:\[,]\s*-?[0-9]{19,}\s*[,}\]]")


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
) -> JsonlSource | ExportedTextSource:
    r"""Return the objects of JSON lines as a source for `make`.

    Keys of nested objects are joined with "/". Lists become tensors: of a fixed length if they have the same one in
    all rows. A key that some rows lack, or have as null, makes an optional feature. Where a key holds different kinds
    of values, that of the first counts, and rows with another are refused. Files that `recordsmith export` wrote are
    read by the description beside them.

    Args:
        paths: a file, a folder, a glob, or a list of these; .gz, .bz2 and .zst are decompressed on the way.
        label: the key that holds the class.
        text: keys that are text; numbers are written out.
        images: keys that hold the paths of pictures, relative to the file.
        columns: the only keys to take, nested ones with "/".
        types: by key: a feature, a dtype, or "text", "label" or "image".
        schema: the features of all keys to take.
        floats: "float32", "float64", or "auto": float32, unless a key has values from 2**24 up.
        size: the height and width that pictures are resized to.
        channels: the channels that pictures are to have: 1, 3 or 4.
        image_encoding: what pictures are encoded as, where they are not already.
        quality: of JPEG and WebP, where a picture is encoded anew.
        strip: cut off white space around the names of classes, so that "cat" and "cat " are one.

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
    # What an export leaves beside its files is found with them in a folder.
    files = tuple(file for file in found if not file.path.endswith(SIDECAR)) or found
    for file in files:
        refuse_annotation_file(file.path)
    if options == TableOptions(label=label, strip=strip):
        form = form_beside(file.path for file in files)
        if form is not None and form.kind == "jsonl":
            return ExportedTextSource("jsonl", files, form, label)
    return JsonlSource(files, options)


@dataclass(frozen=True, slots=True)
class LinePlaces:
    """Which line each row of a piece stands in."""

    piece: Piece
    lines: tuple[int, ...] | None  # of the rows, counted in the piece from 0; None: every line is a row

    def of(self, row: int) -> str:
        """Say where a row came from, such as "talk.jsonl, line 17"."""
        return f"{self.piece.file.path}, line {self.piece.line + (row if self.lines is None else self.lines[row])}"


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
        table, lines, rejects = parsed(self.piece, self.fields)
        columns = flattened(dict(zip(table.column_names, table.columns, strict=True)))
        folder = os.path.dirname(self.piece.file.path)
        places = LinePlaces(self.piece, lines)
        return load_columns(columns, table.num_rows, self.rules, folder=folder, places=places, rejects=rejects)


class JsonlSource(FileSource):
    """The objects of JSON lines. Made by `rs.sources.jsonl`."""

    kind: ClassVar[str] = "jsonl"

    def __init__(self, files: Sequence[SourceFile], options: TableOptions) -> None:
        self._files = files
        self._options = options
        self._rows: int | None = None
        self._pieces: list[Piece] | None = None
        self.label = options.label_name()
        self.sequential = any(file.compression() for file in files)

    def schema(self) -> Schema:
        """Return the schema of the rows, after a look at all of them."""
        return self._looked[1]

    def describe(self) -> dict[str, Any]:
        """Return what the source is: its files with size and time, and the options."""
        return {"kind": self.kind, "options": self._options.describe(), "files": describe_files(self._files)}

    def chunks(self) -> Iterator[Chunk]:
        """Give the chunks: about 8 MB of whole lines each, and at most 65,536 of them."""
        arrow = import_extra("pyarrow", "arrow", purpose="Reading JSON lines")
        fields, schema = self._looked
        needed = arrow.schema([f for f in fields if any(name in schema for name in leaf_names(f.name, f.type))])
        rules = LoadingRules(schema, self._options.preparation, strip=self._options.strip)
        for piece in self._pieces if self._pieces is not None else self._cut():
            yield JsonlChunk(piece, needed, rules, piece.size)

    @property
    def size_bytes(self) -> int | None:
        """How many bytes the files have; None if they are compressed."""
        return None if self.sequential else sum(file.size for file in self._files)

    @property
    def row_count(self) -> int | None:
        """How many rows there are, once they have been looked at."""
        return self._rows

    def _cut(self) -> Iterator[Piece]:
        for file in self._files:
            with windows(file) as source:
                head = source.read(0, 1 << 20)
            start = len(codecs.BOM_UTF8) if head.startswith(codecs.BOM_UTF8) else 0
            _check_lines(file, head[start:])
            yield from pieces_of(file, _RULES, start=start, line=1)

    @cached_property
    def _looked(self) -> tuple[Any, Schema]:
        """Look at all lines: the nested types that hold them all, and the schema that follows."""
        arrow = import_extra("pyarrow", "arrow", purpose="Reading JSON lines")
        fields: Any = arrow.struct([])
        seen: list[tuple[int, dict[str, ColumnFacts]]] = []
        pieces = []
        for piece, kind, rows, facts in on_threads(self._look, self._cut()):
            fields = united_type(fields, kind)
            seen.append((rows, facts))
            if not self.sequential:
                pieces.append(piece)
        rows = sum(count for count, _ in seen)
        path = self._files[0].path
        if not rows:
            raise RecordsmithError("There are no rows.", path=path, expected="one JSON object a line")
        united = flattened({field.name: arrow.nulls(0, field.type) for field in fields})
        known = {name: _over_all(name, array.type, seen) for name, array in united.items()}
        self._rows, self._pieces = rows, None if self.sequential else pieces
        wanted = self._options.wanted(list(known), path)
        return arrow.schema(list(fields)), schema_of({name: known[name] for name in wanted}, self._options)

    def _look(self, piece: Piece) -> tuple[Piece, Any, int, dict[str, ColumnFacts]]:
        arrow = import_extra("pyarrow", "arrow", purpose="Reading JSON lines")
        table, _, _ = parsed(piece, None)
        columns = flattened(dict(zip(table.column_names, table.columns, strict=True)))
        facts = {name: named_facts(name, array, self._options) for name, array in columns.items()}
        kind = arrow.struct([(field.name, plain_type(field.type)) for field in table.schema])
        beyond = [name for name, fact in facts.items() if fact.large]
        if beyond and _BEYOND_64_BITS.search(piece.read()):
            facts = {name: _checked_digits(name, fact, columns[name], piece) for name, fact in facts.items()}
        return piece, kind, table.num_rows, facts


def parsed(piece: Piece, fields: Any) -> tuple[Any, tuple[int, ...] | None, list[Reject]]:
    """Return the lines of a piece as an Arrow table, the lines of its rows (None: all), and those that are refused.

    Without `fields` the types are told from the lines.
    """
    arrow = import_extra("pyarrow", "arrow", purpose="Reading JSON lines")
    reader = import_extra("pyarrow.json", "arrow", purpose="Reading JSON lines")
    data = piece.read()
    try:
        data.decode()  # Arrow does not look whether strings are UTF-8
        table = reader.read_json(
            arrow.BufferReader(data),
            read_options=reader.ReadOptions(use_threads=False, block_size=len(data) + 1),
            parse_options=reader.ParseOptions(
                explicit_schema=fields, unexpected_field_behavior="infer" if fields is None else "ignore"
            ),
        )
    except (arrow.ArrowInvalid, UnicodeDecodeError):
        return _line_by_line(piece, data, fields)
    if table.num_rows == piece.lines:
        return table, None, []
    return _line_by_line(piece, data, fields)  # there are empty lines, or objects that go over several


def _line_by_line(piece: Piece, data: bytes, fields: Any) -> tuple[Any, tuple[int, ...], list[Reject]]:
    arrow = import_extra("pyarrow", "arrow", purpose="Reading JSON lines")
    rows: list[dict[str, Any]] = []
    lines: list[int] = []
    rejects: list[Reject] = []

    def refuse(line: int, reason: str, value: Any, feature: str | None = None) -> None:
        place = f"{piece.file.path}, line {piece.line + line}"
        rejects.append(Reject(place, None, feature, reason, shortened(value)))

    for number, line in enumerate(data.split(b"\n")):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            refuse(number, f"The line is not JSON: {error}.", line.decode(errors="backslashreplace"))
            continue
        if isinstance(row, dict):
            rows.append(row)
            lines.append(number)
        else:
            refuse(number, "The line is not a JSON object.", line.decode())
    kind = arrow.struct(list(fields)) if fields is not None else _type_of_rows(rows)
    fitting: list[dict[str, Any]] = []
    kept: list[int] = []
    for row, number in zip(rows, lines, strict=True):
        try:
            fitting.append(fitted(row, kind))
            kept.append(number)
        except MisfitError as error:
            refuse(number, error.reason, json.dumps(error.value), error.name)
    rejects.sort(key=lambda reject: int(reject.source.rpartition(" ")[2]))
    array = arrow.array(fitting, kind)
    return arrow.Table.from_arrays(array.flatten(), names=[field.name for field in kind]), tuple(kept), rejects


def _misfits() -> tuple[type[Exception], ...]:
    """The exceptions by which Arrow says that a Python value does not fit a type."""
    arrow = import_extra("pyarrow", "arrow", purpose="Reading JSON lines")
    return arrow.ArrowException, OverflowError, UnicodeEncodeError


def _type_of_rows(rows: list[dict[str, Any]]) -> Any:
    arrow = import_extra("pyarrow", "arrow", purpose="Reading JSON lines")
    try:
        return arrow.array(rows).type if rows else arrow.struct([])
    except _misfits():
        pass
    united = arrow.struct([])
    for row in rows:
        try:
            united = united_type(united, arrow.array([row]).type)
        except _misfits():
            continue  # a row that is of no kind in itself: refused when it is loaded
    return united


def _over_all(name: str, kind: Any, seen: Iterable[tuple[int, dict[str, ColumnFacts]]]) -> ColumnFacts:
    """Put together what all pieces show of a column; a piece that lacks it has no value in any row."""
    arrow = import_extra("pyarrow", "arrow", purpose="Reading JSON lines")
    known: ColumnFacts | None = None
    for rows, facts in seen:
        if not rows:
            continue
        found = facts.get(name, ColumnFacts(arrow.null(), missing=True))
        if united_type(kind, plain_type(found.type)) != kind or found.lengths[len(_levels(kind)) :]:
            continue  # of another kind than elsewhere: its rows are refused
        if arrow.types.is_null(found.type) and known is not None:
            known = merged(known, ColumnFacts(kind, True, known.lengths), kind)
        elif known is None or arrow.types.is_null(known.type):
            missing = found.missing or known is not None
            known = ColumnFacts(found.type, missing, found.lengths, found.large, found.classes)
        else:
            known = merged(known, found, kind)
    if known is None:
        return ColumnFacts(kind, missing=True)
    return ColumnFacts(kind, known.missing, known.lengths, known.large, known.classes)


def _levels(kind: Any) -> list[Any]:
    """List the lists that a type is made of, from the outside in."""
    types = import_extra("pyarrow", "arrow", purpose="Reading JSON lines").types
    levels = []
    while types.is_list(kind) or types.is_large_list(kind):
        levels.append(kind)
        kind = kind.value_type
    return levels


def _checked_digits(name: str, facts: ColumnFacts, array: Any, piece: Piece) -> ColumnFacts:
    compute = import_extra("pyarrow.compute", "arrow", purpose="Reading JSON lines")
    if facts.large and not facts.lengths and compute.max(compute.abs(array)).as_py() >= 2.0**63:
        raise RecordsmithError(
            "A whole number has more than 64 bits.",
            path=piece.file.path,
            feature=name,
            advice="Write such numbers as strings, in quotes: every reader of JSON rounds them otherwise.",
        )
    return facts


def _check_lines(file: SourceFile, head: bytes) -> None:
    """Refuse early what is JSON, but not in lines."""
    first = head.lstrip().split(b"\n", 1)[0].strip()
    if not first:
        return
    advice = f"Write one object a line: jq -c '.[]' {os.path.basename(file.path)} > rows.jsonl"
    if first.startswith(b"["):
        raise RecordsmithError(
            "This is one JSON array, not JSON lines.", path=file.path, found=shortened(first), advice=advice
        )
    if first == b"{" or (first.startswith(b"{") and not first.endswith(b"}") and len(first) < len(head) - 2):
        try:
            json.loads(first)
        except ValueError:
            if first == b"{":
                advice = f"Write one object a line: jq -c . {os.path.basename(file.path)} > rows.jsonl"
                raise RecordsmithError(
                    "An object goes over several lines.", path=file.path, found=shortened(first), advice=advice
                ) from None
    if b"\0" in head[:512]:
        raise RecordsmithError("This is not a text file.", path=file.path, found=repr(head[:24]))
