"""RecordWriter: writes one TFRecord file, which appears under its name only when it is complete."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from recordsmith import _core
from recordsmith.errors import RecordsmithError
from recordsmith.records.compression import writing_compression
from recordsmith.records.example import encode_example
from recordsmith.records.row_writing import RowWriter
from recordsmith.schema import Schema
from recordsmith.schema.native import compile_plan
from recordsmith.storage.atomic_file import put_in_place, with_temporary_file
from recordsmith.workers.threads import default_workers

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["RecordWriter"]

_ROWS_AT_ONCE = 1024


class RecordWriter:
    """Writes payload bytes, mappings, rows or columns to a TFRecord file.

    The file is written under a hidden temporary name and gets its own name when it is closed: flushed, synced to disk
    and renamed, replacing an existing file. If the `with` block raises an exception, or the process is killed, there is
    no new file under the final name, and an existing file is not
    changed. A full disk or a failing write raises OSError.

    Args:
        path: the file to write.
        compression: None, "gzip" or "zlib".
        level: the level of compression, 1 (fast) to 9 (small).
        sync: wait at the end until the data is on the disk, so that it survives a power failure.
        threads: how many threads compress a gzip file; None: one per processor. The file is the same.
        digest: the name of a hash of hashlib, such as "sha256", of the file as it is written; see `hexdigest`.

    >>> import recordsmith as rs, tempfile
    >>> path = tempfile.mkdtemp() + "/data.tfrecord"
    >>> schema = rs.Schema({"x": rs.Scalar("float32"), "label": rs.Scalar("int64")})
    >>> with rs.RecordWriter(path) as writer:
    ...     writer.write_columns({"x": [0.5, 1.5], "label": [0, 1]}, schema)
    ...     writer.write_rows([{"x": 2.5, "label": 0}], schema)
    >>> writer.records
    3
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        compression: str | None = None,
        *,
        level: int = 6,
        sync: bool = True,
        threads: int | None = None,
        digest: str | None = None,
    ) -> None:
        name = writing_compression(compression)
        threads = default_workers() if threads is None else threads
        if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
            raise RecordsmithError("threads must be at least 1.", path=path, found=threads)
        if isinstance(level, bool) or not isinstance(level, int) or not 1 <= level <= 9:
            raise RecordsmithError("The compression level must be from 1 to 9.", path=path, found=level)
        self._final = _target(os.fsdecode(path))
        self._sync = sync
        self._hash = None if digest is None else hashlib.new(digest)
        self._process = os.getpid()
        self._temporary, sink = with_temporary_file(
            self._final, lambda temporary: _core.RecordSink(temporary, name, level, threads)
        )
        if self._hash is not None:
            sink.digest_with(self._hash)
        self._sink: _core.RecordSink | None = sink
        self._counts = (0, 0)
        self._row_writer: tuple[Schema, bool, RowWriter] | None = None

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Append one record with this payload."""
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise TypeError(
                f"a record's payload must be bytes, not {type(data).__name__}; "
                "write_example, write_rows and write_columns take values"
            )
        self._opened().append(data if isinstance(data, bytes) else bytes(data))

    def write_example(self, mapping: Mapping[str, Any]) -> None:
        """Append one record: the mapping as a tf.train.Example, encoded as by `encode_example`.

        >>> import recordsmith as rs, tempfile
        >>> with rs.RecordWriter(tempfile.mkdtemp() + "/one.tfrecord") as writer:
        ...     writer.write_example({"label": 3, "name": "cat"})
        """
        sink = self._opened()
        sink.append(encode_example(mapping))

    def write_rows(self, rows: Iterable[Mapping[str, Any]], schema: Schema, *, cast: bool = False) -> None:
        """Append rows given as mappings of names to values.

        A row that does not fit the schema raises an EncodeError that names the row and the feature. With `cast`,
        numbers that do not fit are converted to the nearest value that does.
        """
        sink = self._opened()
        if self._row_writer is None or self._row_writer[0] is not schema or self._row_writer[1] is not cast:
            self._row_writer = (schema, cast, RowWriter(schema, cast=cast))
        row_writer = self._row_writer[2]
        remaining = iter(rows)
        number = 0
        while batch := list(islice(remaining, _ROWS_AT_ONCE)):
            row_writer.append(sink, batch, number)
            number += len(batch)

    def write_columns(self, columns: Any, schema: Schema, *, cast: bool = False) -> None:
        """Append rows given as columns: a mapping of names to arrays or lists, an Arrow table or a DataFrame.

        With `cast`, numbers that do not fit are converted to the nearest value that does, instead of raising an error.
        """
        sink = self._opened()
        count, parts = schema.columns_to_parts(columns, cast=cast)
        sink.append_columns(compile_plan(schema), parts, count)

    def write_frames(self, frames: npt.NDArray[np.uint8]) -> None:
        """Append whole records with their framing, as copied from another TFRecord file."""
        self._opened().append_frames(frames)

    @staticmethod
    def deal_columns(writers: Sequence[RecordWriter], columns: Any, schema: Schema, *, first: int, cast: bool) -> int:
        """Append rows given as columns to several files in turn, and return how many rows there are.

        Args:
            writers: the files.
            columns: a mapping of names to arrays or lists, an Arrow table or a DataFrame.
            schema: the features of a record.
            first: the number of the file for the first row.
            cast: as in `write_columns`.
        """
        sinks = [writer._opened() for writer in writers]  # noqa: SLF001 - of the same class
        count, parts = schema.columns_to_parts(columns, cast=cast)
        _core.deal_columns(sinks, compile_plan(schema), parts, count, first, default_workers())
        return count

    def write_every(
        self, frames: npt.NDArray[np.uint8], offsets: npt.NDArray[np.uint64], first: int, step: int
    ) -> None:
        """Append every step-th of some framed records, starting with number `first`.

        Args:
            frames: whole records with their framing, one after the other.
            offsets: where each record starts, and where the last one ends.
            first: the first one to append.
            step: the distance between appended records.
        """
        self._opened().append_every(frames, offsets, first, step)

    def flush(self) -> None:
        """Pass everything written so far to the operating system."""
        self._opened().flush()

    @property
    def path(self) -> str:
        """The file's final name."""
        return self._final

    @property
    def records(self) -> int:
        """How many records were written."""
        return self._counts[0] if self._sink is None else self._sink.records

    @property
    def bytes(self) -> int:
        """How many bytes they take with their framing, before compression."""
        return self._counts[1] if self._sink is None else self._sink.bytes

    @property
    def hexdigest(self) -> str | None:
        """The digest of the file, once it is closed; None if none was asked for.

        >>> import recordsmith as rs, tempfile
        >>> with rs.RecordWriter(tempfile.mkdtemp() + "/data.tfrecord", digest="sha256") as writer:
        ...     writer.write(b"one")
        >>> writer.hexdigest[:16]
        '734d280e8727c176'
        """
        return None if self._hash is None else self._hash.hexdigest()

    def close(self) -> None:
        """Finish the file and give it its name. It may be called twice.

        >>> import os, recordsmith as rs, tempfile
        >>> writer = rs.RecordWriter(tempfile.mkdtemp() + "/data.tfrecord")
        >>> os.path.exists(writer.path)
        False
        >>> writer.close()
        >>> os.path.exists(writer.path)
        True
        """
        if self._sink is None:
            return
        try:
            self.finish()
            self._counts = (self._sink.records, self._sink.bytes)
            put_in_place(self._temporary, self._final, sync=self._sync)
        except BaseException:
            self.discard()
            raise
        self._sink = None

    def finish(self) -> None:
        """Write everything to disk without giving the file its name; `close` does that."""
        self._opened().close(self._sync)

    def discard(self) -> None:
        """Discard everything that was written.

        >>> import os, recordsmith as rs, tempfile
        >>> writer = rs.RecordWriter(tempfile.mkdtemp() + "/data.tfrecord")
        >>> writer.discard()
        >>> os.listdir(os.path.dirname(writer.path))
        []
        """
        if self._sink is None:
            return
        self._counts = (self._sink.records, self._sink.bytes)
        if os.getpid() == self._process:  # else a forked child's copy: the file is the parent's
            with contextlib.suppress(FileNotFoundError):
                os.remove(self._temporary)
        self._sink = None  # and its lock, without which the name could be another writer's

    def _opened(self) -> _core.RecordSink:
        if self._sink is None:
            raise RecordsmithError("The writer is closed.", path=self._final, advice="Open another file.")
        if os.getpid() != self._process:  # both processes would write at the same place of the file
            raise RecordsmithError(
                "The writer was opened in another process, before a fork, and cannot be used in this one.",
                path=self._final,
                found=f"process {os.getpid()}",
                expected=f"process {self._process}",
                advice="Open a separate file in each process, such as one shard per worker.",
            )
        return self._sink

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.discard()

    def __del__(self) -> None:
        if getattr(self, "_sink", None) is not None and os.getpid() == self._process:
            self.discard()
            warnings.warn(
                f"A RecordWriter was not closed, so {self._final!r} was not written. Use it in a with statement.",
                ResourceWarning,
                stacklevel=2,
            )


def _target(path: str) -> str:
    """Return the file that is meant, or raise if none can be written there.

    The name is settled now: neither a change of the working folder nor a link may lead elsewhere at the end.
    """
    if not path:
        raise FileNotFoundError(errno.ENOENT, "The file name is empty", path)
    final = os.path.realpath(path)
    folder = os.path.dirname(final)
    if os.path.isdir(final):
        raise IsADirectoryError(errno.EISDIR, "The target is a folder, not a file", path)
    if os.path.exists(final) and not os.path.isfile(final):
        raise OSError(errno.EINVAL, "The target is a pipe or a device, not a regular file", path)
    if not os.path.isdir(folder):
        error = FileNotFoundError(errno.ENOENT, "The folder to write to does not exist", folder)
        error.add_note("Create it first, for example with os.makedirs.")
        raise error
    return final
