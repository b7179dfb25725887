"""Parquet files as a source, row group by row group, in batches of bounded size."""

from __future__ import annotations

import os
import threading
from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

from recordsmith.errors import CorruptRecordError, RecordsmithError, import_extra, list_names
from recordsmith.formats.exported.form import METADATA_KEY, ExportedForm, same_form
from recordsmith.formats.files.file_splits import FileSource
from recordsmith.formats.files.source_files import PathLike, SourceFile, describe_files, find_files
from recordsmith.formats.images.options import preparation_of
from recordsmith.formats.parquet.feature_arrays import restored_columns
from recordsmith.formats.parquet.partitions import partition_columns, partition_values
from recordsmith.formats.source import Chunk, Loaded, NumberedRows
from recordsmith.formats.tables.columns import (
    EXACT_IN_FLOAT32,
    ColumnFacts,
    flattened,
    int64_array,
    is_image_struct,
    is_wide,
    merged,
    named_facts,
    schema_of,
)
from recordsmith.formats.tables.hugging_face import DeclaredColumns, declared_columns
from recordsmith.formats.tables.loading import LoadingRules, load_columns
from recordsmith.formats.tables.nested import leaf_names
from recordsmith.formats.tables.options import TableOptions, table_options
from recordsmith.schema import Label, Schema
from recordsmith.storage.ranged.opening import is_ranged
from recordsmith.storage.ranged.remote_stream import open_stream

__all__ = ["ParquetSource", "first_rows", "parquet"]

SUFFIXES = (".parquet", ".pq")
_CHUNK_BYTES = 8 << 20
_CHUNK_ROWS = 65_536
_LOOKED_AT_ONCE = 16_384  # rows


def parquet(  # noqa: PLR0913 - each is an option of its own, named by the caller
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
) -> ParquetSource:
    """Return the rows of Parquet files as a source for `make`.

    The types are those of the files. Columns without missing values become required features, according to the
    statistics in the files or, without statistics, to the values. Fields of structs are joined with "/". Images and
    class names of Hugging Face datasets become Image and Label features. Files written by `recordsmith export` are read
    with the schema in their metadata. Folders such as year=2024 are a column "year".

    Args:
        paths: a file, a folder, a glob, or a list of these.
        label: the column with the class.
        text: columns to store as text. Numbers are converted to text.
        images: columns with images, or with their paths relative to the file.
        columns: use only these columns; write nested ones with "/".
        types: the types of columns, by name: a feature, a dtype, "text", "label" or "image"; or, to store times as
            numbers, their unit: "s", "ms", "us" or "ns".
        schema: the features. Other columns are left out.
        floats: the dtype that float64 is stored as: "float32", "float64", or "auto": float32, unless a value is at
            least 2**24.
        size: resize images to this height and width.
        channels: convert images to this number of channels: 1, 3 or 4.
        image_encoding: convert images to this format: jpeg, png, webp or bmp.
        quality: the quality of converted JPEG and WebP images.
        strip: remove white space around class names, so that "cat" and "cat " are the same class.

    >>> import recordsmith as rs, tempfile, pyarrow, pyarrow.parquet
    >>> path = tempfile.mkdtemp() + "/points.parquet"
    >>> table = pyarrow.table({"point": [[0.5, 1.0], [2.0, 3.5]], "kind": ["b", "a"]})
    >>> pyarrow.parquet.write_table(table, path)
    >>> rs.sources.parquet(path, label="kind").schema()
    Schema({
        'point': Tensor('float32', (2,)),
        'kind':  Label(['a', 'b']),
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
    return ParquetSource(find_files(paths, SUFFIXES, kind="Parquet"), options)


@dataclass(frozen=True, slots=True)
class ParquetChunk(Chunk):
    """Some rows of a row group."""

    file: SourceFile
    group: int
    part: range  # of the rows of the row group
    step: int  # how far apart the chunks of a row group begin
    first: int  # in the file
    columns: tuple[str, ...]  # at the top level
    rules: LoadingRules
    source_bytes: int
    exported: bool = False
    constants: Any = None  # an Arrow table of one row: the columns that the names of the file's folders are

    def origin(self) -> str:
        """Return the file."""
        return self.file.path

    def load(self) -> Loaded:
        """Read the rows."""
        with parquet_errors(self.file.path, self.group):
            return self._load()

    def _load(self) -> Loaded:
        table = _OPEN_GROUPS.read(self.file, self.group, self.columns, self.part, self.step)
        if self.exported:
            restored = restored_columns(self.rules.schema, table)
            return Loaded(restored, table.num_rows, NumberedRows(self.file.path, self.first))
        columns = flattened(dict(zip(table.column_names, table.columns, strict=True)))
        for name in () if self.constants is None else self.constants.column_names:
            columns[name] = self.constants[name].take(int64_array([0] * table.num_rows))
        places = NumberedRows(self.file.path, self.first)
        folder = os.path.dirname(self.file.path) or "."
        return load_columns(columns, table.num_rows, self.rules, folder=folder, places=places)


class ParquetSource(FileSource):
    """The rows of Parquet files. Made by `rs.sources.parquet`."""

    kind: ClassVar[str] = "parquet"

    def __init__(self, files: Sequence[SourceFile], options: TableOptions) -> None:
        self._files = files
        self._options = options
        self.label = options.label_name()

    def schema(self) -> Schema:
        """Return the schema of the rows: the types of the files, with the gaps that statistics or the columns show."""
        return self._schema

    def describe(self) -> dict[str, Any]:
        """Return what the source is: its files with size and time, and the options."""
        return {"kind": self.kind, "options": self._options.describe(), "files": describe_files(self._files)}

    def chunks(self) -> Iterator[Chunk]:
        """Give the chunks: parts of row groups of about 8 MB, and at most 65,536 rows."""
        schema = self.schema()
        options = self._options
        rules = LoadingRules(schema, options.preparation, strip=options.strip, times=options.times())
        exported = self._exported is not None
        arrow = import_extra("pyarrow", "arrow", purpose="Reading Parquet")
        said = arrow.table({name: array for name, array in self._partitions.items() if name in schema})
        for number, (file, metadata) in enumerate(zip(self._files, self._metadata, strict=True)):
            kinds = metadata.schema.to_arrow_schema()
            constants = said.slice(number, 1) if said.num_columns and not exported else None
            columns = tuple(
                field.name
                for field in kinds
                if exported or any(name in schema for name in leaf_names(field.name, field.type))
            )
            first = 0
            for group in range(metadata.num_row_groups):
                with parquet_errors(file.path, group):
                    facts = metadata.row_group(group)
                at_once = max(1, min(_CHUNK_ROWS, _CHUNK_BYTES * facts.num_rows // max(1, facts.total_byte_size)))
                for start in range(0, facts.num_rows, at_once):
                    part = range(start, min(start + at_once, facts.num_rows))
                    share = file.size * len(part) // max(1, metadata.num_rows)
                    begin = first + start
                    yield ParquetChunk(file, group, part, at_once, begin, columns, rules, share, exported, constants)
                first += facts.num_rows

    @property
    def row_count(self) -> int | None:
        """How many rows the files have."""
        return sum(int(metadata.num_rows) for metadata in self._metadata)

    @cached_property
    def _metadata(self) -> list[Any]:
        found = [_opened(file).metadata for file in self._files]
        schemas = [_arrow_schema(file, metadata) for file, metadata in zip(self._files, found, strict=True)]
        first = _fields_by_name(self._files[0].path, schemas[0])
        for file, kinds in zip(self._files, schemas, strict=True):
            fields = _fields_by_name(file.path, kinds)
            both = first.keys() & fields.keys()
            differing = [name for name in first | fields if name not in both or first[name] != fields[name]]
            if differing:
                raise RecordsmithError(
                    "The files have different columns.",
                    path=file.path,
                    found=_types_of(differing, fields),
                    expected=f"{_types_of(differing, first)}, as in {self._files[0].path}",
                    advice="Make a separate dataset for each kind of file.",
                )
        return found

    @cached_property
    def _partitions(self) -> dict[str, Any]:
        """The columns that the names of folders are, with an entry for each file; those of the files come first."""
        found = partition_columns(partition_values(self._files))
        return {
            name: array for name, array in found.items() if name not in self._metadata[0].schema.to_arrow_schema().names
        }

    @cached_property
    def _exported(self) -> ExportedForm | None:
        """What the files say of themselves, if `recordsmith export` wrote them and nothing else was said of them."""
        if self._options != TableOptions(label=self._options.label, strip=self._options.strip):
            return None
        texts = [(metadata.metadata or {}).get(METADATA_KEY) for metadata in self._metadata]
        paths = [file.path for file in self._files]
        forms = [
            ExportedForm.from_text(text, path) for text, path in zip(texts, paths, strict=True) if text is not None
        ]
        return same_form(forms) if len(forms) == len(texts) else None

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is declared about the columns and not kept."""
        return () if self._exported is not None else self._declared_columns.lost

    @cached_property
    def _declared_columns(self) -> DeclaredColumns:
        return declared_columns(self._metadata[0].schema.to_arrow_schema().metadata)

    @property
    def declared(self) -> bool:  # type: ignore[override]
        """Whether the files say what they hold, because `recordsmith export` wrote them."""
        return self._exported is not None

    def _declared_splits(self) -> tuple[str, ...]:
        return () if self._exported is None else self._exported.splits

    @cached_property
    def _schema(self) -> Schema:
        if self._exported is not None:
            labels = [name for name, feature in self._exported.schema.items() if isinstance(feature, Label)]
            self.label = self.label or (labels[0] if len(labels) == 1 else None)
            return self._exported.schema
        arrow = import_extra("pyarrow", "arrow", purpose="Reading Parquet")
        kinds = self._metadata[0].schema.to_arrow_schema()
        with parquet_errors(self._files[0].path):
            empty = flattened({field.name: arrow.nulls(0, field.type) for field in kinds})
        empty |= {name: array.slice(0, 0) for name, array in self._partitions.items()}
        wanted = self._options.wanted(list(empty), self._files[0].path)
        if self._options.schema is not None:
            return self._options.schema
        if not self.row_count:
            raise RecordsmithError(
                "There are no rows.",
                path=self._files[0].path if len(self._files) == 1 else None,
                advice="Pass a schema to make an empty dataset.",
            )
        names = self._declared_columns.classes
        options = self._declared_columns.with_sounds(self._options, wanted)
        declared = {name: Label(names[name]) for name in wanted if name in names and options.declared(name) is None}
        undeclared = [name for name in wanted if options.declared(name) is None]
        inferred = [name for name in undeclared if name in names or not options.is_label(name)]
        known = {
            name: named_facts(name, self._partitions[name], options) for name in undeclared if name in self._partitions
        }
        with parquet_errors(self._files[0].path):
            known |= self._facts_from_statistics(empty, [name for name in inferred if name not in known])
        known |= self._look(kinds, [name for name in undeclared if name not in known])
        if declared:
            declared = {name: Label(names[name], optional=known[name].missing) for name in declared}
            options = replace(options, types={**options.types, **declared})
            if self.label is None and len(declared) == 1:
                self.label = next(iter(declared))
        return schema_of({name: known.get(name, ColumnFacts(empty[name].type)) for name in wanted}, options)

    def _facts_from_statistics(self, empty: Mapping[str, Any], names: list[str]) -> dict[str, ColumnFacts]:
        """Return what the files' own statistics say of columns of single values, as far as they have any."""
        types = import_extra("pyarrow", "arrow", purpose="Reading Parquet").types
        facts: dict[str, ColumnFacts] = {}
        for name in names:
            kind = empty[name].type
            if is_image_struct(kind):
                gaps = [self._statistics(f"{name}/{field}") for field in ("bytes", "path")]
                if any(gap is not None and gap[0] == 0 for gap in gaps):
                    facts[name] = ColumnFacts(kind)
            elif not types.is_nested(kind) and not types.is_dictionary(kind):
                found = self._statistics(name, extremes=is_wide(kind))
                if found is not None:
                    facts[name] = ColumnFacts(kind, found[0] > 0, large=found[1] >= EXACT_IN_FLOAT32)
        return facts

    def _statistics(self, name: str, *, extremes: bool = False) -> tuple[int, float] | None:
        """Return how many rows lack a value, and the largest magnitude if asked for; None if unknown."""
        nulls, largest = 0, 0.0
        path = name.replace("/", ".")
        for places, groups in self._groups:
            place = places.get(path)
            for group in groups:
                statistics = None if place is None else group.column(place).statistics
                if statistics is None or not statistics.has_null_count or (extremes and not statistics.has_min_max):
                    return None
                nulls += statistics.null_count
                if extremes:
                    largest = max(largest, float(abs(statistics.min)), float(abs(statistics.max)))
        return nulls, largest

    @cached_property
    def _groups(self) -> list[tuple[dict[str, int], list[Any]]]:
        """For each file: the numbers of the stored columns by their paths, and the row groups."""
        return [
            (_leaf_places(metadata), [metadata.row_group(number) for number in range(metadata.num_row_groups)])
            for metadata in self._metadata
        ]

    def _look(self, kinds: Any, names: list[str]) -> dict[str, ColumnFacts]:
        """Look at all rows of some columns."""
        wanted = set(names)
        top = [field.name for field in kinds if any(name in wanted for name in leaf_names(field.name, field.type))]
        known: dict[str, ColumnFacts] = {}
        for file in self._files if top else ():
            with parquet_errors(file.path):
                for batch in _opened(file).iter_batches(_LOOKED_AT_ONCE, columns=top):
                    columns = flattened(dict(zip(batch.schema.names, batch.columns, strict=True)))
                    for name in names:
                        facts = named_facts(name, columns[name], self._options)
                        known[name] = merged(known[name], facts, facts.type) if name in known else facts
        return known


class OpenGroups:
    """Row groups that are being read, kept so that the chunks of one can be read in order without starting again.

    A row group can only be read from its start. Chunks come in order, or nearly so; what is read on the way to one
    that was asked for early is kept for the thread that will ask for it.
    """

    _MOST_OPEN = 4

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: OrderedDict[tuple[SourceFile, int, tuple[str, ...], int], GroupReader] = OrderedDict()

    def read(self, file: SourceFile, group: int, columns: tuple[str, ...], part: range, step: int) -> Any:
        """Return some rows of a row group whose chunks begin `step` rows apart."""
        key = (file, group, columns, step)
        with self._lock:
            reader = self._open.pop(key, None)
            if reader is None:
                reader = GroupReader(file, group, columns, step)
            self._open[key] = reader
            while len(self._open) > self._MOST_OPEN:
                self._open.popitem(last=False)
        table, done = reader.read(part.start, len(part))
        if done:
            with self._lock:
                self._open.pop(key, None)
        return table


class GroupReader:
    """Reads one row group from its start, and again from its start if it is asked for what has been handed out."""

    _KEPT = 4  # chunks that were passed and not yet asked for

    def __init__(self, file: SourceFile, group: int, columns: tuple[str, ...], step: int) -> None:
        self._file, self._group, self._columns, self._step = file, group, columns, step
        self._lock = threading.Lock()
        self._passed: OrderedDict[int, Any] = OrderedDict()
        self._begin()

    def read(self, start: int, rows: int) -> tuple[Any, bool]:
        """Return the rows from `start` on, and whether the group has no more."""
        with self._lock:
            if start in self._passed:
                return self._passed.pop(start), False
            if start < self._position:
                self._begin()
            while self._position < start:
                position = self._position
                self._passed[position] = self._next(self._step)
                while len(self._passed) > self._KEPT:
                    self._passed.popitem(last=False)
            table = self._next(rows)
            return table, self._position >= self._total and not self._passed

    def _begin(self) -> None:
        file = _opened(self._file)
        self._total = file.metadata.row_group(self._group).num_rows
        self._position = 0
        self._rest: Any = None
        self._batches = file.iter_batches(4096, row_groups=[self._group], columns=list(self._columns))

    def _next(self, rows: int) -> Any:
        arrow = import_extra("pyarrow", "arrow", purpose="Reading Parquet")
        parts = []
        missing = rows
        while missing:
            batch = self._rest if self._rest is not None else next(self._batches)
            part = batch.slice(0, missing)
            self._rest = batch.slice(missing) if batch.num_rows > missing else None
            parts.append(part)
            missing -= part.num_rows
        self._position += rows
        return arrow.Table.from_batches(parts)


_OPEN_GROUPS = OpenGroups()


def first_rows(file: SourceFile, count: int) -> tuple[tuple[str, ...], list[list[Any]]]:
    """Return the names of the columns of a file, and its first rows."""
    with parquet_errors(file.path):
        batch = next(_opened(file).iter_batches(count), None)
        if batch is None:
            return (), []
        return tuple(batch.schema.names), [list(row.values()) for row in batch.to_pylist()]


def _opened(file: SourceFile) -> Any:
    reader = import_extra("pyarrow.parquet", "arrow", purpose="Reading Parquet")
    now = SourceFile.at(file.path)
    if now != file:
        raise RecordsmithError(
            "The file changed while the dataset was being made.",
            path=file.path,
            advice="Start again when no program writes to the file.",
        )
    with parquet_errors(file.path):
        if is_ranged(file.path):  # the column chunks of a row group at once: single reads would wait for each
            return reader.ParquetFile(open_stream(file.path), pre_buffer=True)
        return reader.ParquetFile(file.path, memory_map=False, pre_buffer=False, buffer_size=1 << 20)


def _arrow_schema(file: SourceFile, metadata: Any) -> Any:
    with parquet_errors(file.path):
        return metadata.schema.to_arrow_schema()


def _fields_by_name(path: str, kinds: Any) -> dict[str, Any]:
    twice = sorted(name for name, count in Counter(kinds.names).items() if count > 1)
    if twice:
        raise RecordsmithError(
            "Several columns have the same name.", path=path, found=list_names(twice), advice="Rename them."
        )
    return {field.name: field for field in kinds}


def _types_of(names: Sequence[str], fields: Mapping[str, Any]) -> str:
    """Say which types some columns have in a file."""
    said = [_type_of(fields[name]) if name in fields else f"no {name!r}" for name in names[:4]]
    return ", ".join([*said, f"and {len(names) - 4} more"] if len(names) > 4 else said)


def _type_of(field: Any) -> str:
    return f"{field.name!r} {field.type}{'' if field.nullable else ' without gaps'}"


@contextmanager
def parquet_errors(path: str, group: int | None = None) -> Iterator[None]:
    """Say of whatever Arrow finds wrong with a file which file it is, and which row group."""
    arrow = import_extra("pyarrow", "arrow", purpose="Reading Parquet")
    try:
        yield
    except RecordsmithError as error:
        raise error.at(path=path) from None
    except StopIteration:
        raise _damaged_parquet(path, group, "it has fewer rows than its metadata says") from None
    except (arrow.ArrowException, OSError, ValueError, TypeError, OverflowError, MemoryError, LookupError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the disk, and not the data
        raise _damaged_parquet(path, group, str(error) or type(error).__name__) from None


def _damaged_parquet(path: str, group: int | None, found: str) -> CorruptRecordError:
    return CorruptRecordError(
        "This is not a complete Parquet file."
        if group is None
        else f"Row group {group} of the Parquet file is damaged.",
        path=path,
        found=found.partition("\n")[0],
        advice="Copy the file again from its source, or write it again.",
    )


def _leaf_places(metadata: Any) -> dict[str, int]:
    """Return the numbers of the stored columns by their paths, but for paths that two of them have."""
    paths = [metadata.schema.column(number).path for number in range(metadata.num_columns)]
    counts = Counter(paths)
    return {path: number for number, path in enumerate(paths) if counts[path] == 1}
