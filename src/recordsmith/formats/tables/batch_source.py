"""Tables that come as Arrow batches, one after the other: what DataFrames, Arrow files, databases and sheets share.

BatchReader    one table, or one split of it; gives the same batches whenever it is asked
BatchSource    looks at all batches once to learn the types, and then cuts them into chunks, which carry their data
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from recordsmith.errors import RecordsmithError, import_extra, list_names
from recordsmith.formats.files.file_splits import in_split_order, splits_by_name
from recordsmith.formats.files.source_files import SourceFile, describe_files
from recordsmith.formats.source import Chunk, Loaded, NumberedRows, Places, Source
from recordsmith.formats.tables.columns import ColumnFacts, flattened, int64_array, named_facts, schema_of
from recordsmith.formats.tables.hugging_face import DeclaredColumns, declared_columns
from recordsmith.formats.tables.loading import Bad, LoadingRules, load_columns
from recordsmith.formats.tables.nested import facts_over_all, leaf_names, united_type
from recordsmith.formats.tables.options import TableOptions
from recordsmith.schema import Label, Schema

__all__ = ["Batch", "BatchReader", "BatchSource"]

_CHUNK_BYTES = 8 << 20
_CHUNK_ROWS = 65_536


@dataclass(frozen=True, slots=True)
class Batch:
    """Some rows of a table.

    Attributes:
        rows: an Arrow RecordBatch.
        bad: rows with a value of the wrong type, for which the batch has a null: the feature, the reason, the value.
    """

    rows: Any
    bad: Bad = field(default_factory=dict)

    def good_rows(self) -> Any:
        """Return the rows that are not bad."""
        if not self.bad:
            return self.rows
        return self.rows.take(int64_array([row for row in range(self.rows.num_rows) if row not in self.bad]))


class BatchReader(ABC):
    """One table.

    Attributes:
        name: what its rows are called in messages: the path of a file, or words.
        file: the file that it is, if it is one.
        folder: where relative paths of images begin.
        split: the split that all of its rows are in, if that is known.
        first: the number of its first row.
    """

    name: str
    file: SourceFile | None = None
    folder: str = ""
    split: str | None = None
    first: int = 0

    @abstractmethod
    def batches(self, fields: Any) -> Iterator[Batch]:
        """Give all rows in order. `fields` are the types that values are to have; None: those that they have."""

    @abstractmethod
    def describe(self) -> Any:
        """Return what identifies the table, JSON-ready."""

    def metadata(self) -> dict[bytes, bytes]:
        """Return what whoever wrote the table said about it."""
        return {}


class BatchSource(Source):
    """The rows of tables that come as batches."""

    sequential = True

    def __init__(
        self, readers: Sequence[BatchReader], options: TableOptions, said: dict[str, Any] | None = None
    ) -> None:
        self._readers = readers
        self._options = options
        self._said = said or {}
        self._rows: int | None = None
        self._bytes: int | None = None
        self.label = options.label_name()

    def schema(self) -> Schema:
        """Return the schema of the rows, after a look at all of them."""
        return self._looked[1]

    def describe(self) -> dict[str, Any]:
        """Return what the source is: its tables, and the options."""
        files = [reader.file for reader in self._readers if reader.file is not None]
        tables = {"files": describe_files(files)} if len(files) == len(self._readers) else {}
        others = [reader.describe() for reader in self._readers if reader.file is None]
        return {
            "kind": self.kind,
            "options": {**self._said, **self._options.describe()},
            **tables,
            **({"tables": others} if others else {}),
        }

    @property
    def row_count(self) -> int | None:
        """How many rows there are; None before they were looked at."""
        return self._rows

    @property
    def size_bytes(self) -> int | None:
        """How large the rows are in memory; None before they were looked at."""
        return self._bytes

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits that the tables are, the training split first."""
        return in_split_order(split for split in self._split_of_reader if split is not None)

    def split_of(self, chunk: Chunk) -> str | None:
        """Return the split of the table that a chunk comes from."""
        return self._split_of_reader[chunk.reader] if isinstance(chunk, BatchChunk) else None

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is not kept of the columns."""
        return self._declared.lost

    def chunks(self) -> Iterator[Chunk]:
        """Give the chunks: about 8 MB of rows each, and at most 65,536 of them."""
        fields, schema = self._looked
        options = self._options
        rules = LoadingRules(schema, options.preparation, strip=options.strip, times=options.times())
        for number, reader in enumerate(self._readers):
            first = reader.first
            for part, bad in _cut(reader.batches(fields), schema):
                places = NumberedRows(reader.name, first)
                yield BatchChunk(part, bad, rules, reader.folder, places, number, part.nbytes)
                first += part.num_rows

    @cached_property
    def _split_of_reader(self) -> list[str | None]:
        said = [reader.split for reader in self._readers]
        paths = [reader.file.path for reader in self._readers if reader.file is not None]
        if any(said) or len(paths) < len(said):
            return said
        by_name = splits_by_name(paths)
        return [by_name.get(path) for path in paths]

    @cached_property
    def _declared(self) -> DeclaredColumns:
        return declared_columns(self._readers[0].metadata())

    @cached_property
    def _looked(self) -> tuple[Any, Schema]:
        """Look at all rows: the types that hold them all, and the schema that follows; with a schema, at none."""
        if self._options.schema is not None:
            return None, self._options.schema
        arrow = import_extra("pyarrow", "arrow", purpose="Reading tables")
        fields: Any = arrow.struct([])
        seen: list[tuple[int, dict[str, ColumnFacts]]] = []
        declared, size = self._declared, 0
        options = declared.with_sounds(self._options, declared.sounds)
        for reader in self._readers:
            kind: Any = arrow.struct([])
            for batch in reader.batches(None):
                columns = columns_of(batch.good_rows(), reader.name)
                facts = {name: named_facts(name, array, options) for name, array in columns.items()}
                seen.append((batch.rows.num_rows - len(batch.bad), facts))
                size += batch.rows.nbytes
                kind = united_type(kind, arrow.struct(list(batch.rows.schema)))
            self._check_same(fields, kind, reader)
            fields = united_type(fields, kind)
        self._rows, self._bytes = sum(rows for rows, _ in seen), size
        name = self._readers[0].name
        if not self._rows:
            raise RecordsmithError("There are no rows.", path=name, advice="Pass a schema to make an empty dataset.")
        empty = flattened({field.name: arrow.nulls(0, field.type) for field in fields})
        wanted = options.wanted(list(empty), name)
        known = {name: facts_over_all(name, empty[name].type, seen) for name in wanted}
        classes = {name: Label(declared.classes[name], optional=known[name].missing)
                   for name in wanted if name in declared.classes and options.declared(name) is None}  # fmt: skip
        if classes:
            options = replace(options, types={**options.types, **classes})
            self.label = self.label or (next(iter(classes)) if len(classes) == 1 else None)
        return arrow.schema(list(fields)), schema_of(known, options)

    def _check_same(self, fields: Any, kind: Any, reader: BatchReader) -> None:
        if not len(fields) or not len(kind):
            return
        ours, theirs = {f.name: f.type for f in fields}, {f.name: f.type for f in kind}
        differing = [name for name in {**ours, **theirs} if not _agree(ours.get(name), theirs.get(name))]
        if differing:
            raise RecordsmithError(
                "The tables have different columns.",
                path=reader.name,
                found=f"differences in {list_names(differing)}",
                expected=f"the columns of {self._readers[0].name}",
                advice="Make a separate dataset for each kind of table.",
            )


def _agree(first: Any, second: Any) -> bool:
    types = import_extra("pyarrow", "arrow", purpose="Reading tables").types
    if first is None or second is None:
        return False
    numbers = {str(first), str(second)} == {"int64", "double"}
    return bool(first == second or numbers or types.is_null(first) or types.is_null(second))


class BatchChunk(Chunk):
    """Some rows of a table, which it carries with it."""

    def __init__(
        self, table: Any, bad: Bad, rules: LoadingRules, folder: str, places: Places, reader: int, source_bytes: int
    ) -> None:
        self._table, self._bad, self._rules, self._folder, self._places = table, bad, rules, folder, places
        self.reader = reader
        self.source_bytes = source_bytes

    def load(self) -> Loaded:
        """Convert the rows."""
        columns = columns_of(self._table, "")
        bad = dict(self._bad)
        return load_columns(
            columns, self._table.num_rows, self._rules, folder=self._folder, places=self._places, bad=bad
        )

    def __getstate__(self) -> dict[str, Any]:
        # As a stream of Arrow: pickle would take all rows of the table along of which this is a part.
        arrow = import_extra("pyarrow", "arrow", purpose="Reading tables")
        sink = arrow.BufferOutputStream()
        with arrow.ipc.new_stream(sink, self._table.schema) as writer:
            writer.write_table(self._table)
        return {**self.__dict__, "_table": sink.getvalue().to_pybytes()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        arrow = import_extra("pyarrow", "arrow", purpose="Reading tables")
        self.__dict__.update(state)
        self._table = arrow.ipc.open_stream(state["_table"]).read_all()


def columns_of(table: Any, name: str) -> dict[str, Any]:
    """Return the columns of a table or a batch by name, nested ones taken apart; two of one name are an error."""
    twice = [column for column, count in Counter(table.schema.names).items() if count > 1]
    if twice:
        raise RecordsmithError(
            "Several columns have the same name.", path=name, found=list_names(twice), advice="Rename them."
        )
    return flattened(dict(zip(table.schema.names, table.columns, strict=True)))


def _cut(batches: Iterator[Batch], schema: Schema) -> Iterator[tuple[Any, Bad]]:
    """Give the rows in tables of a size that depends on the rows alone, each with the rows that are bad."""
    arrow = import_extra("pyarrow", "arrow", purpose="Reading tables")
    held: list[Any] = []
    bad: Bad = {}
    rows = size = 0
    for batch in batches:
        fields = batch.rows.schema
        kept = batch.rows.select([f.name for f in fields if any(name in schema for name in leaf_names(f.name, f.type))])
        at_once = max(1, min(_CHUNK_ROWS, _CHUNK_BYTES * kept.num_rows // max(1, kept.nbytes)))
        start = 0
        while start < kept.num_rows:
            part = kept.slice(start, min(at_once, _CHUNK_ROWS - rows))
            stop = start + part.num_rows
            bad |= {rows + row - start: found for row, found in batch.bad.items() if start <= row < stop}
            held.append(part)
            rows, size, start = rows + part.num_rows, size + part.nbytes, stop
            if rows >= _CHUNK_ROWS or size >= _CHUNK_BYTES:
                yield arrow.Table.from_batches(held), bad
                held, bad, rows, size = [], {}, 0, 0
    if held:
        yield arrow.Table.from_batches(held), bad
