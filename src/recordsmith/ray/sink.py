"""Writes a dataset of Ray Data as TFRecords: each task a file of its own, and all of them appear in one step."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterable
from typing import Any, NamedTuple

from ray.data.block import BlockAccessor
from ray.data.datasource import Datasink, WriteResult

from recordsmith import _core
from recordsmith.errors import EncodeError, RecordsmithError, list_names
from recordsmith.making.added_split import AddedSplit, shard_entry
from recordsmith.ray.blocks import columns_of, schema_of_block
from recordsmith.records.compression import writing_compression
from recordsmith.records.writer import RecordWriter
from recordsmith.run.option_checks import check_name, default_name
from recordsmith.run.shards.shard_writing import shard_name
from recordsmith.run.splits.splitting import parse_splits
from recordsmith.schema import Schema
from recordsmith.storage.atomic_file import is_url
from recordsmith.storage.publication import Publication, complete

__all__ = ["RecordsmithSink"]


class _Written(NamedTuple):
    """What a task has written."""

    task: int
    path: str
    entry: dict[str, Any]
    schema: Schema


class RecordsmithSink(Datasink[_Written | None]):  # type: ignore[misc] # Ray is not checked
    """Writes a dataset of Ray Data as one split of a dataset of TFRecords: `ds.write_datasink(RecordsmithSink(...))`.

    Each task writes a file, and reads it back. When all are complete, they get their names, and the manifest is
    written, in one step. If a task is tried twice, its rows are in the dataset once. If the job fails, nothing is
    written. The files have the order of the tasks.

    Args:
        folder: the folder of the dataset, in a file system that all machines see.
        schema: the features of a record; None takes the types of the columns as they are.
        name: the start of the file names; None uses the name of the folder.
        split: the split to write; others in the folder stay.
        compression: None, "gzip" or "zlib".
        rows_per_file: how many rows a file has at least, except the last; None leaves it to Ray.
        cast: allow casts that lose information.
        overwrite: replace the split if it exists.
        description: a sentence about the dataset, for its description files.
    """

    def __init__(  # noqa: PLR0913 - each is a setting of its own, and all but one have a default
        self,
        folder: str | os.PathLike[str],
        schema: Schema | None = None,
        *,
        name: str | None = None,
        split: str = "train",
        compression: str | None = None,
        rows_per_file: int | None = None,
        cast: bool = False,
        overwrite: bool = False,
        description: str = "",
    ) -> None:
        text = os.fsdecode(folder)
        if is_url(text):
            raise RecordsmithError(
                "A Ray cluster can write only to a folder that all machines share, not to a URL.",
                path=text,
                advice="Write to a shared folder, and copy the dataset with rs.copy.",
            )
        self._folder = os.path.abspath(text)
        self._name = default_name(self._folder) if name is None else name
        check_name(self._name)
        (self._split,) = parse_splits({split: 1.0}).names
        checked = writing_compression(compression)
        self._compression = None if checked == "none" else checked
        self._schema = schema
        self._rows_per_file = rows_per_file
        self._cast = cast
        self._overwrite = overwrite
        self._description = description
        self._attempts = Publication(self._folder).path(f"attempts-{secrets.token_hex(8)}")
        self._publication: Publication | None = None  # of the process that was started

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_publication": None}

    @property
    def min_rows_per_write(self) -> int | None:
        """How many rows a task gets at least."""
        return self._rows_per_file

    def on_write_start(self, schema: Any = None) -> None:  # noqa: ARG002 - each task knows it, too
        """Take the folder, and refuse what would be replaced."""
        complete(self._folder)
        self._added().look(overwrite=self._overwrite)
        self._publication = Publication(self._folder, overwrite=self._overwrite)
        self._publication.__enter__()
        os.makedirs(self._attempts)

    def write(self, blocks: Iterable[Any], ctx: Any) -> _Written | None:
        """Write the blocks of one task to a file, and read it back."""
        path = os.path.join(self._attempts, f"{ctx.task_idx:08}-{secrets.token_hex(4)}")
        schema = self._schema
        with contextlib.ExitStack() as stack:
            writer: RecordWriter | None = None
            for block in blocks:
                table = BlockAccessor.for_block(block).to_arrow()
                if not table.num_rows:
                    continue
                schema = schema if schema is not None else schema_of_block(table.schema)
                if writer is None:
                    writer = stack.enter_context(RecordWriter(path, self._compression, digest="sha256"))
                self._append(writer, schema, table)
            if writer is None or schema is None:
                return None  # there was no row
        found = _core.verify_files([path], [self._compression or "none"], 1)
        if found != writer.records:
            raise RecordsmithError(
                "The data that was read back differs from the data that was written.",
                path=path,
                found=found,
                expected=writer.records,
            )
        entry = shard_entry(writer, "")
        return _Written(ctx.task_idx, path, entry, schema)

    def _append(self, writer: RecordWriter, schema: Schema, table: Any) -> None:
        names = [name for name in schema if name in table.column_names]
        unknown = [name for name in table.column_names if name not in schema]
        if unknown:
            raise EncodeError(
                f"The schema has no feature {unknown[0]!r}.",
                expected=list_names(schema),
                advice="Drop the column, or add it to the schema.",
            )
        try:
            writer.write_columns(columns_of(table, names), schema, cast=self._cast)
        except EncodeError as error:
            if error.row is not None:
                error.row += writer.records
            raise

    def on_write_complete(self, write_result: WriteResult[_Written | None]) -> None:
        """Give all files their names, and write the manifest."""
        publication = self._publication
        if publication is None:
            raise RecordsmithError("The write was not started by this process.", path=self._folder)
        written = sorted((_Written(*one) for one in write_result.write_returns if one is not None), key=_task)
        if not written:
            self._give_up()
            raise RecordsmithError("The dataset has no rows to write.", path=self._folder)
        differing = next((one for one in written if one.schema != written[0].schema), None)
        if differing is not None:
            self._give_up()
            raise RecordsmithError(
                "The blocks of the dataset have different types, and a dataset has one schema.",
                path=self._folder,
                found=str(differing.schema),
                expected=str(written[0].schema),
                advice="Give a schema to RecordsmithSink.",
            )
        try:
            schema = written[0].schema
            added = self._added()
            added.look(overwrite=self._overwrite)
            added.check_schema(schema)
            entries = []
            for number, one in enumerate(written):
                file = shard_name(self._name, self._split, number, len(written), self._compression)
                os.replace(one.path, publication.new_file(file))
                entries.append({**one.entry, "file": file})
            added.publish(publication, schema, entries, description=self._description)
        finally:
            self._give_up()

    def on_write_failed(self, error: Exception) -> None:  # noqa: ARG002 - Ray raises it
        """Leave nothing."""
        self._give_up()

    def _give_up(self) -> None:
        publication, self._publication = self._publication, None
        if publication is not None:
            publication.discard()

    def _added(self) -> AddedSplit:
        return AddedSplit(self._folder, self._name, self._split, self._compression, by="recordsmith.ray")


def _task(written: _Written) -> int:
    return written.task
