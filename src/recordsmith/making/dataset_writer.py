"""rs.write: one split of a dataset, written from your own loop."""

from __future__ import annotations

import contextlib
import errno
import os
import resource
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any, Self

from recordsmith import _core
from recordsmith.errors import EncodeError, RecordsmithError
from recordsmith.making.added_split import AddedSplit, shard_entry
from recordsmith.records.compression import writing_compression
from recordsmith.records.row_writing import RowWriter
from recordsmith.records.writer import RecordWriter
from recordsmith.run.full_disk import explained
from recordsmith.run.option_checks import check_name, check_shards
from recordsmith.run.publishing.destination import open_destination
from recordsmith.run.shards.shard_writing import shard_name
from recordsmith.run.splits.splitting import parse_splits
from recordsmith.schema import Schema
from recordsmith.storage.publication import Publication, complete
from recordsmith.workers.threads import default_workers

__all__ = ["DatasetWriter", "write"]

_ROWS_AT_ONCE = 1024


def write(  # noqa: PLR0913 - each is a setting of its own, and most have a default
    folder: str | os.PathLike[str],
    schema: Schema,
    *,
    name: str = "dataset",
    split: str = "train",
    shards: int = 1,
    compression: str | None = None,
    cast: bool = False,
    overwrite: bool = False,
    staging: str | os.PathLike[str] | None = None,
    allow_race: bool = False,
    description: str = "",
) -> DatasetWriter:
    """Open a writer for one split of a dataset, to add your own rows or columns. Use it in a with statement.

    Rows are distributed over the shards in turn. At the end of the block the files get their names and the manifest is
    written. If the block raises an exception, nothing is written. Another split can be added to the same folder later,
    with the same name and schema.

    Args:
        folder: the folder of the dataset, or its URL; it is created if it does not exist.
        schema: the features of a record.
        name: the start of the file names.
        split: the split to write.
        shards: the number of files.
        compression: None, "gzip" or "zlib".
        cast: allow casts that lose information.
        overwrite: replace the split if it exists.
        staging: for a URL, the local folder in which the files are written before they are uploaded; None: one in the
            cache folder.
        allow_race: for a URL, also write to a store that has no conditional writes, in which two runs could overwrite
            each other's output.
        description: a sentence about the dataset, for its description files.

    >>> import recordsmith as rs, tempfile
    >>> folder = tempfile.mkdtemp() + "/pets"
    >>> schema = rs.Schema({"weight": rs.Scalar("float32"), "label": rs.Label(["cat", "dog"])})
    >>> with rs.write(folder, schema, name="pets", split="train", shards=2) as writer:
    ...     writer.add({"weight": 4.2, "label": "cat"})
    ...     writer.extend({"weight": [30.5, 9.0], "label": ["dog", "dog"]})
    >>> [round(float(row["weight"]), 1) for row in rs.open(folder, split="train")]
    [4.2, 9.0, 30.5]
    """
    return DatasetWriter(
        folder,
        schema,
        name=name,
        split=split,
        shards=shards,
        compression=compression,
        cast=cast,
        overwrite=overwrite,
        staging=staging,
        allow_race=allow_race,
        description=description,
    )


class DatasetWriter:
    """Writes one split of a dataset; `rs.write` makes one."""

    def __init__(  # noqa: PLR0913 - those of `write`
        self,
        folder: str | os.PathLike[str],
        schema: Schema,
        *,
        name: str,
        split: str,
        shards: int,
        compression: str | None,
        cast: bool,
        overwrite: bool,
        staging: str | os.PathLike[str] | None,
        allow_race: bool,
        description: str,
    ) -> None:
        if not isinstance(schema, Schema):
            raise RecordsmithError("rs.write needs a schema.", found=type(schema).__name__, expected="rs.Schema({...})")
        check_shards(shards)
        (self._split,) = parse_splits({split: 1.0}).names
        check_name(name)
        self._schema = schema
        self._name = name
        checked = writing_compression(compression)
        self._compression = None if checked == "none" else checked
        self._cast = cast
        self._description = description
        self._files = [shard_name(name, split, number, shards, self._compression) for number in range(shards)]
        self._rows = RowWriter(schema, cast=cast)
        self._count = 0  # rows given so far
        self._writers: list[RecordWriter] = []
        self._stack = contextlib.ExitStack()
        self._destination = self._stack.enter_context(
            open_destination(folder, staging=staging, overwrite=overwrite, adds=True, allow_race=allow_race)
        )
        self._folder = self._destination.path
        self._publication = Publication(self._folder, overwrite=overwrite)
        self._added = AddedSplit(self._folder, name, self._split, self._compression, by="rs.write")
        try:
            complete(self._folder)
            self._added.look(overwrite=overwrite)  # refuses before anything is written
            self._added.check_schema(schema)
            self._publication.__enter__()
            self._added.look(overwrite=overwrite)  # nobody else changes them from here on
            self._added.check_schema(schema)
            threads = max(1, default_workers() // shards)  # files are written at the same time
            for file in self._files:
                path = self._publication.new_file(file)
                self._writers.append(RecordWriter(path, self._compression, threads=threads, digest="sha256"))
        except BaseException as error:
            self.discard()
            if isinstance(error, OSError) and error.errno == errno.EMFILE:
                raise _too_many_shards(shards) from None
            raise

    def add(self, row: Mapping[str, Any]) -> None:
        """Add one row, a mapping of names to values. An error names the row by its number, counted from 0."""
        self._opened()
        if not isinstance(row, Mapping):
            raise EncodeError(
                "A row must be a mapping of names to values.",
                row=self._count,
                found=type(row).__name__,
                advice="Give each row as a dict. For columns, use extend().",
            )
        sink = _core.RecordSink()
        self._rows.append(sink, [row], self._count)
        self._deal(sink)

    def extend(self, columns: Any) -> None:
        """Add rows given as columns (a mapping of arrays or lists, an Arrow table, a DataFrame), or as rows.

        An error names the row, counted from 0 over everything that was added.
        """
        self._opened()
        if not isinstance(columns, Mapping) and not hasattr(columns, "columns") and isinstance(columns, Iterable):
            sink = _core.RecordSink()
            rows = iter(columns)
            batch: list[Mapping[str, Any]] = []
            for row in rows:
                batch.append(row)
                if len(batch) == _ROWS_AT_ONCE:
                    self._rows.append(sink, batch, self._count)
                    self._deal(sink)
                    batch = []
            self._rows.append(sink, batch, self._count)
            self._deal(sink)
            return
        first = self._count % len(self._writers)
        try:
            self._count += RecordWriter.deal_columns(self._writers, columns, self._schema, first=first, cast=self._cast)
        except EncodeError as error:
            if error.row is not None:
                error.row += self._count
            raise

    @property
    def records(self) -> int:
        """How many rows were added."""
        return self._count

    def close(self) -> None:
        """Finish the files, give them their names and write the manifest. It may be called twice."""
        if not self._writers:
            return
        try:
            with explained(self._folder):
                for writer in self._writers:
                    writer.close()
                written = zip(self._files, self._writers, strict=True)
                entries = [shard_entry(writer, file) for file, writer in written]
                self._added.publish(self._publication, self._schema, entries, description=self._description)
                self._publication.discard()
            self._destination.publish()
            self._stack.close()
        finally:
            self.discard()

    def discard(self) -> None:
        """Discard everything that was added."""
        for writer in self._writers:
            writer.discard()
        self._writers = []
        self._publication.discard()
        error = RecordsmithError("The writer was discarded.", path=self._folder)
        self._stack.__exit__(type(error), error, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.discard()

    def _opened(self) -> None:
        if not self._writers:
            raise RecordsmithError("The writer is closed.", path=self._folder, advice="Open another one.")

    def _deal(self, sink: _core.RecordSink) -> None:
        """Deal framed records out to the shards, row i to shard i modulo their number."""
        frames, offsets = sink.take()
        rows = len(offsets) - 1
        count = len(self._writers)
        for number, writer in enumerate(self._writers):
            writer.write_every(frames, offsets, (number - self._count) % count, count)
        self._count += rows


def _too_many_shards(shards: int) -> RecordsmithError:
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return RecordsmithError(
        "There are more shards than files that this process may have open. rs.write keeps all of them open.",
        found=f"shards={shards}, and at most {limit} open files (ulimit -n)",
        advice="Write fewer shards, or raise the limit with `ulimit -n`. rs.make writes any number of shards.",
    )
