"""StoredDataset: records by number, in order, and as tables."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Self, TypeVar, overload

import numpy as np
import numpy.typing as npt

from recordsmith import _core
from recordsmith.columns.arrow_tables import to_arrow_table
from recordsmith.dataset.compressed import CompressedShards
from recordsmith.dataset.inference import Census, not_examples, sample_census, schema_from_census
from recordsmith.dataset.layout import DatasetLayout, find_layout
from recordsmith.dataset.payload_decoding import PayloadDecoder, payload_decoder
from recordsmith.dataset.selected_names import check_selected_names
from recordsmith.errors import (
    ChangedFileError,
    RecordsmithError,
    SchemaError,
    SchemaMismatchError,
    did_you_mean,
    import_extra,
)
from recordsmith.records.compression import reading_compression
from recordsmith.records.core_failures import StaleIndexError
from recordsmith.records.index import ShardIndex, StoredOffsets, announce_indexes, forget_index, load_index
from recordsmith.schema import Schema
from recordsmith.schema.native import compile_plan
from recordsmith.storage.ranged.block_cache import cache_size, limit_cache
from recordsmith.storage.ranged.opening import is_ranged
from recordsmith.wording.numbers import count_text
from recordsmith.workers.forking import in_own_process
from recordsmith.workers.threads import in_order, thread_pool

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

__all__ = ["StoredDataset"]

_ROWS_AT_ONCE = 256
_TABLE_ROWS = 4096
_INDEXES_AT_ONCE = 8  # of remote files
_INDEXES_ANNOUNCED = 256  # files; with more, the schema alone would cost too many requests

T = TypeVar("T")
Row = dict[str, Any]
Batch = dict[str, Any]
PathLike = str | os.PathLike[str]


class StoredDataset:
    """The records of some TFRecord files as a sequence of rows."""

    def __init__(
        self,
        layout: DatasetLayout,
        *,
        schema: Schema | None = None,
        compression: str | None = "auto",
        verify: bool = True,
        rows: range | None = None,
        cache: int | None = None,
        decoder: PayloadDecoder | None = None,
    ) -> None:
        self._layout = layout
        self._decoder = decoder  # of records that are not Examples
        self._given_schema = decoder.schema if decoder is not None else schema if schema is not None else layout.schema
        self._compression = reading_compression(compression)
        self._verify = verify
        self._rows = rows  # None: all; what a slice leaves
        self._census: Census | None = None
        self._inferred: Schema | None = None
        self._table: PlaceTable | None = None
        self._content: tuple[int, ...] | None = None  # of the files, once they were indexed, also elsewhere
        self._compressed = CompressedShards(verify=verify)
        self._cache = cache  # bytes; None: as the environment says
        self._limit_cache()

    @classmethod
    def open(  # noqa: PLR0913 - each is a setting of its own
        cls,
        paths: PathLike | Iterable[PathLike],
        *,
        split: str | None = None,
        schema: Schema | None = None,
        compression: str | None = "auto",
        verify: bool = True,
        cache: int | str | None = None,
        raw: bool = False,
        descriptor: PathLike | None = None,
        message: str | None = None,
    ) -> Self:
        """Open a file, folder, glob or list of them."""
        limit = None if cache is None else cache_size(cache, "cache")
        decoder = payload_decoder(schema, raw=raw, descriptor=descriptor, message=message)
        layout = find_layout(paths).select(split)
        return cls(layout, schema=schema, compression=compression, verify=verify, cache=limit, decoder=decoder)

    # --- what it is ---

    @property
    def files(self) -> tuple[str, ...]:
        """The files, in reading order."""
        return self._layout.files

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits of the files, as far as known from names or a description."""
        return tuple(self._layout.splits)

    @property
    def payload(self) -> str:
        """What the records are: "example", "sequence_example", "text", "event", "example_list", "unknown", "empty"."""
        return self._look().payload

    @property
    def schema(self) -> Schema:
        """The schema: the given one, the one next to the files, or one inferred from the records."""
        if self._given_schema is not None:
            return self._given_schema
        if self._inferred is None:
            self._inferred = schema_from_census(self._look(), self.files)
        return self._inferred

    def select(self, *names: str) -> Self:
        """Keep only some features. The others are not decoded."""
        check_selected_names(names, self.schema, SchemaError)
        return self._like(_given_schema=self.schema.select(names))

    def __len__(self) -> int:
        return len(self.record_range())

    def __repr__(self) -> str:
        part = "" if self._rows is None else f" of {count_text(len(self._rows), 'row')}"
        files = f"{len(self.files)} file{'s' if len(self.files) != 1 else ''}"
        more = ", ..." if len(self.files) > 1 else ""
        return f"<recordsmith.{type(self).__name__}{part} from {files}: {self.files[0]!r}{more}>"

    # --- rows ---

    @overload
    def __getitem__(self, key: int | np.integer[Any]) -> Row: ...
    @overload
    def __getitem__(self, key: slice) -> Self: ...
    @overload
    def __getitem__(self, key: Sequence[int] | npt.NDArray[np.integer[Any]]) -> Batch: ...
    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return self._like(_rows=self.record_range()[key])
        if isinstance(key, str):
            near = "" if key in self.schema else did_you_mean(key, self.schema)
            raise SchemaError(
                f"A dataset is indexed by record numbers, not by names.{near}",
                found=repr(key),
                advice=f"For a column use ds.select({key!r}), for a value ds[0][{key!r}].",
            )
        if isinstance(key, (list, tuple, range, np.ndarray)):
            return self._decode(self._numbers(key))
        batch = self._decode(self._numbers([key]))
        return self._row(batch, 0)

    def __iter__(self) -> Iterator[Row]:
        return in_own_process(self._in_order())

    def _in_order(self) -> Iterator[Row]:
        for batch, count in self.read_batches(_ROWS_AT_ONCE):
            for i in range(count):
                yield self._row(batch, i)

    def head(self, n: int = 5) -> list[Row]:
        """Return the first `n` rows."""
        rows: list[Row] = []
        if n > 0:
            for batch, count in self.read_batches(min(n, _ROWS_AT_ONCE)):
                rows.extend(self._row(batch, i) for i in range(min(count, n - len(rows))))
                if len(rows) >= n:
                    break
        return rows

    @overload
    def raw(self, key: int | np.integer[Any]) -> bytes: ...
    @overload
    def raw(self, key: Sequence[int] | npt.NDArray[np.integer[Any]]) -> list[bytes]: ...
    def raw(self, key: Any) -> Any:
        """Return the payload bytes of one record, or of several."""
        if isinstance(key, (list, tuple, range, np.ndarray)):
            return self._payloads(self._numbers(key))
        return self._payloads(self._numbers([key]))[0]

    def verify(self, threads: int | None = None) -> int:
        """Check both checksums of every record of all files, and return how many records there are."""
        compressions = [self._compression] * len(self.files)
        return _core.verify_files(list(self.files), compressions, threads or os.cpu_count() or 1)

    def place_of(self, number: int) -> tuple[str, int]:
        """Return the file that a record is in, and its number in that file."""
        files, within = self.places().at(self._numbers([number]))
        return self.files[int(files[0])], int(within[0])

    # --- tables ---

    def to_arrow(self) -> pa.Table:
        """Return all rows as a pyarrow.Table. Needs the extra "arrow"."""
        import_extra("pyarrow", extra="arrow", purpose="Dataset.to_arrow")
        return to_arrow_table(self.schema, (batch for batch, _ in self.read_batches(_TABLE_ROWS)))

    def to_pandas(self) -> pd.DataFrame:
        """Return all rows as a pandas.DataFrame. Needs the extra "pandas"."""
        import_extra("pandas", extra="pandas", purpose="Dataset.to_pandas")
        frame: pd.DataFrame = self.to_arrow().to_pandas()
        return frame

    def to_polars(self) -> pl.DataFrame:
        """Return all rows as a polars.DataFrame. Needs polars and the extra "arrow"."""
        polars = import_extra("polars", extra="polars", purpose="Dataset.to_polars")
        return polars.from_arrow(self.to_arrow())

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Give the rows to any library that takes Arrow streams: polars, DuckDB, pandas and pyarrow take a dataset."""
        pa = import_extra("pyarrow", extra="arrow", purpose="Reading a dataset as an Arrow stream")
        nothing = self.schema.assemble(_core.decode_payloads(self._plan(), []))
        fields = to_arrow_table(self.schema, [nothing]).schema
        tables = (to_arrow_table(self.schema, [batch]).cast(fields) for batch, _ in self.read_batches(_TABLE_ROWS))
        batches = (batch for table in tables for batch in table.to_batches())
        return pa.RecordBatchReader.from_batches(fields, batches).__arrow_c_stream__(requested_schema)

    # --- batches, which the loader builds on ---

    def read_batches(self, size: int, *, drop_last: bool = False, threads: int = 0) -> Iterator[tuple[Batch, int]]:
        """Read the rows in order: batches of `size`, and how many rows each has.

        A whole dataset is decoded ahead on `threads` threads (0: in the calling one); what a slice left of one is
        fetched by number.
        """
        return in_own_process(self._read_batches(size, drop_last=drop_last, threads=threads))

    def _read_batches(self, size: int, *, drop_last: bool, threads: int) -> Iterator[tuple[Batch, int]]:
        if self._rows is not None or self._decoder is not None:
            rows = self.record_range()
            for start in range(0, len(rows), size):
                chunk = rows[start : start + size]
                if len(chunk) == size or not drop_last:
                    yield self._decode(np.arange(chunk.start, chunk.stop, chunk.step, dtype=np.int64)), len(chunk)
            return
        stream = _core.BatchStream(
            list(self.files),
            [self._compression] * len(self.files),
            self._plan(),
            size,
            verify=self._verify,
            drop_last=drop_last,
            threads=0 if self.is_remote else threads,  # so that Ctrl-C reaches the thread that waits for the network
            known=None if self._table is None else [(i.identity, i.records, i.end) for i in self._table.indexes],
        )
        schema = self.schema
        while True:
            try:
                decoded = stream.next()
            except SchemaMismatchError as error:
                raise self._explained(error) from None
            except StaleIndexError:
                self._forget_indexes()
                raise
            if decoded is None:
                return
            yield schema.assemble(decoded[1]), decoded[0]

    # --- inside ---

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what belongs to this process, for another one to find again: open files and mapped memory."""
        return {**vars(self), "_table": None, "_compressed": CompressedShards(verify=self._verify)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._limit_cache()

    def _limit_cache(self) -> None:
        if self._cache is not None:
            limit_cache(self.files, self._cache)

    def _like(self, **changes: Any) -> Self:
        """Return the same dataset with some attributes changed; what was learned about the files is shared."""
        other = object.__new__(type(self))
        vars(other).update({**vars(self), **changes})
        return other

    def _look(self) -> Census:
        if self._census is None:
            if self._table is None and len(self.files) <= _INDEXES_ANNOUNCED:
                announce_indexes(self.files)
            self._census = sample_census(self.files, self._compression, verify=self._verify)
        return self._census

    def _plan(self) -> _core.Plan:
        if self._given_schema is None and not self.schema:
            census = self._look()
            if census.records and census.payload not in ("example", "sequence_example"):
                raise not_examples(census.payload, self.files[0])
        return compile_plan(self.schema)

    @property
    def verifies(self) -> bool:
        """Whether the checksum of every record's data is checked."""
        return self._verify

    def reading_with(self, reader: Any) -> Self:
        """Return the same dataset, which reads compressed files with another reader: an object with a method `read`."""
        return self._like(_compressed=reader)

    def places(self) -> PlaceTable:
        """Return where every record of all files is."""
        if self._table is None:
            table = PlaceTable(self._load_indexes())
            content = tuple(index.content for index in table.indexes)
            for path, ours, theirs in zip(self.files, content, self._content or content, strict=True):
                if ours != theirs:
                    raise ChangedFileError(
                        "The file changed after another process opened the dataset.",
                        path=path,
                        advice="Wait until no program writes to it, then open the dataset again.",
                    )
            self._table, self._content = table, content
        return self._table

    def _load_indexes(self) -> list[ShardIndex]:
        with thread_pool(_INDEXES_AT_ONCE if self.is_remote else 1) as pool:
            load = partial(load_index, compression=self._compression)
            return list(in_order(pool, load, self.files, ahead=2 * _INDEXES_AT_ONCE))

    @property
    def is_remote(self) -> bool:
        """Whether some files are in an object store."""
        return any(map(is_ranged, self.files))

    def announce(self, numbers: npt.NDArray[np.int64]) -> None:
        """Say which records are read soon, by their positions in the dataset; remote ones are fetched meanwhile."""
        rows = self.record_range()
        if self.is_remote and self.places().is_plain:
            self.places().files.announce(rows.start + numbers * rows.step)

    def record_range(self) -> range:
        """Return which records of all files the dataset has."""
        return range(self.places().records) if self._rows is None else self._rows

    def _numbers(self, keys: Any) -> npt.NDArray[np.int64]:
        """Return record numbers counted over all files; negative ones count from the end."""
        rows = self.record_range()
        if type(keys) is list:
            plain = _core.record_numbers(keys, rows.start, rows.step, len(rows))
            if plain is not None:
                return plain
        asked = np.asarray(keys)
        if asked.dtype == np.int64 and asked.ndim == 1 and asked.size and 0 <= asked.min() <= asked.max() < len(rows):
            return asked if rows.start == 0 and rows.step == 1 else rows.start + asked * rows.step
        if asked.dtype.kind == "O" and all(isinstance(key, int) for key in asked.flat):
            asked = np.clip(asked, -(2**62), 2**62).astype(np.int64)  # far outside in any case
        if asked.size and asked.dtype.kind not in "iu":
            raise TypeError(f"record numbers must be integers, not {asked.dtype}")
        if asked.dtype.kind == "u":
            asked = np.minimum(asked, np.uint64(2**62))
        numbers = asked.astype(np.int64).reshape(-1)
        outside = (numbers < -len(rows)) | (numbers >= len(rows))
        if outside.any():
            missing = np.asarray(keys).reshape(-1)[outside][0]
            raise IndexError(f"there is no record {missing}: the dataset has {len(rows)} records")
        numbers = np.where(numbers < 0, numbers + len(rows), numbers)
        return rows.start + numbers * rows.step

    def _decode(self, numbers: npt.NDArray[np.int64]) -> Batch:
        if self._decoder is not None:
            schema = self.schema
            return self._decoded(numbers, partial(self._decoder.columns, schema=schema))
        plan = self._plan()
        try:
            if self.places().is_plain:
                parts = self._with_sound_index(lambda table: table.files.decode(plan, numbers, self._verify))
            else:
                parts = self._decoded(numbers, partial(_core.decode_payloads, plan))
        except SchemaMismatchError as error:
            raise self._explained(error) from None
        return self.schema.assemble(parts)

    def _decoded(self, numbers: npt.NDArray[np.int64], decode: Callable[[list[bytes]], T]) -> T:
        payloads = self._payloads(numbers)
        try:
            return decode(payloads)
        except RecordsmithError as error:
            if error.record is not None and error.path is None:
                # It was counted within the payloads that were given.
                table = self.places()
                files, within = table.at(numbers[error.record : error.record + 1])
                error.record = int(within[0])
                offset = int(table.indexes[int(files[0])].offsets[error.record])
                error.at(path=self.files[int(files[0])], offset=offset)
            raise

    def _payloads(self, numbers: npt.NDArray[np.int64]) -> list[bytes]:
        table = self.places()
        if table.is_plain:
            return self._read_plain(numbers)
        payloads: list[bytes] = [b""] * len(numbers)
        files, within = table.at(numbers)
        for file in np.unique(files).tolist():
            asked = np.flatnonzero(files == file)
            index = table.indexes[file]
            if index.compression == "none":
                read = self._read_plain(numbers[asked])
            else:
                read = self._read_compressed(index, within[asked].tolist())
            for position, payload in zip(asked.tolist(), read, strict=True):
                payloads[position] = payload
        return payloads

    def _read_plain(self, numbers: npt.NDArray[np.int64]) -> list[bytes]:
        return self._with_sound_index(lambda table: table.files.read(numbers, self._verify))

    def _with_sound_index(self, read: Callable[[PlaceTable], list[T]]) -> list[T]:
        table = self.places()
        try:
            return read(table)
        except StaleIndexError:
            current = self.places()
            fresh = self._rebuilt(table) if current is table else current  # another thread met the damage before
            if fresh is None:
                raise
            return read(fresh)

    def _rebuilt(self, table: PlaceTable) -> PlaceTable | None:
        """Return the places of new indexes instead of damaged ones; None if what was read before may be wrong."""
        damaged = any(index.is_damaged for index in table.indexes)
        self._forget_indexes()
        if not damaged:
            return None  # it left records out, or is of another file: all has been counted wrong
        fresh = PlaceTable(self._load_indexes())
        if not np.array_equal(fresh.starts, table.starts):
            return None
        self._table = fresh
        return fresh

    def _read_compressed(self, index: ShardIndex, numbers: list[int]) -> list[bytes]:
        try:
            return self._compressed.read(index, numbers)
        except StaleIndexError:
            self._forget_indexes()
            raise

    def _forget_indexes(self) -> None:
        for file in self.files:
            forget_index(file)

    def _row(self, batch: Batch, i: int) -> Row:
        return {name: feature.row(batch[name], i) for name, feature in self.schema.items()}

    def _explained(self, error: SchemaMismatchError) -> SchemaMismatchError:
        census = self._census
        if self._given_schema is None and census is not None and not census.complete:
            error.advice = (
                f"The schema was inferred from the first {census.records} records, and this record does not match it. "
                "Pass schema=recordsmith.infer_schema(path), which reads them all, or a schema of your own."
            )
        return error


class PlaceTable:
    """Where every record of all files is, and the files for reading there."""

    def __init__(self, indexes: list[ShardIndex]) -> None:
        self.indexes = indexes
        self.starts = np.concatenate([[0], np.cumsum([index.records for index in indexes])]).astype(np.int64)
        self.records = int(self.starts[-1])
        self.is_plain = all(index.compression == "none" for index in indexes)
        # Reads by number, at the plain files of them.
        self.files = _core.IndexedFiles(
            [index.path for index in indexes],
            [index.identity for index in indexes],
            [index.offsets.file if isinstance(index.offsets, StoredOffsets) else index.offsets for index in indexes],
        )

    def at(self, numbers: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.int64]]:
        """Return the file of each of these records, and its number within the file."""
        files = np.searchsorted(self.starts, numbers, side="right") - 1
        return files, numbers - self.starts[files]
