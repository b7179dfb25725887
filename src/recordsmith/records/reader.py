"""RecordReader: the payloads of one TFRecord file, in order."""

from __future__ import annotations

import os
from collections.abc import Iterator
from types import TracebackType
from typing import Self

from recordsmith import _core
from recordsmith.errors import RecordsmithError
from recordsmith.records.compression import reading_compression
from recordsmith.workers.forking import check_process, renew_after_fork

__all__ = ["RecordReader"]


class RecordReader(Iterator[bytes]):
    """Iterates over the payload bytes of a TFRecord file.

    Both checksums of every record are checked before it is returned; `verify=False` skips the checksum of the data. If
    a record is damaged, all records before it are returned first; then an error names the file, the record number and
    the byte offset. At the end of a file that is still being written, the next call reads what was added.

    Args:
        path: the file, or a pipe.
        compression: "auto" (detected from the content), None, "gzip" or "zlib".
        verify: check the checksums of the data.

    >>> import recordsmith as rs, tempfile
    >>> path = tempfile.mkdtemp() + "/two.tfrecord"
    >>> with rs.RecordWriter(path) as writer:
    ...     writer.write(b"foo")
    ...     writer.write(b"bar")
    >>> list(rs.RecordReader(path))
    [b'foo', b'bar']
    """

    def __init__(self, path: str | os.PathLike[str], compression: str | None = "auto", *, verify: bool = True) -> None:
        self._path = os.fsdecode(path)
        self._process = os.getpid()
        self._stream: _core.RecordStream | None = _core.RecordStream(
            self._path, reading_compression(compression), verify
        )
        renew_after_fork(self)

    def __next__(self) -> bytes:
        payload = self._opened().next()
        if payload is None:
            raise StopIteration
        return payload

    @property
    def path(self) -> str:
        """The file being read."""
        return self._path

    @property
    def compression(self) -> str | None:
        """How the file is compressed: None, "gzip" or "zlib"."""
        name = self._opened().compression
        return None if name == "none" else name

    @property
    def record(self) -> int:
        """The number of the next record, from 0."""
        return self._opened().number

    @property
    def offset(self) -> int:
        """Where the next record begins in the (decompressed) file."""
        return self._opened().offset

    def close(self) -> None:
        """Close the file. It may be called twice."""
        self._stream = None

    def _opened(self) -> _core.RecordStream:
        if self._stream is None:
            check_process(self._process)
            raise RecordsmithError("The reader is closed.", path=self._path, advice="Open the file again.")
        return self._stream

    def after_fork(self) -> None:
        """Release the file in a child process, which would share its position with the parent."""
        self._stream = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
