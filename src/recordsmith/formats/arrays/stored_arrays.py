"""Arrays in files: `.npy` files, `.npz` archives, and other files in which values are one after the other.

Files are read, not mapped: if a mapped file shrinks, the process is killed without a message.
"""

from __future__ import annotations

import errno
import gzip
import lzma
import os
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from math import prod
from typing import IO, Any, BinaryIO, cast

import numpy as np
import numpy.typing as npt

from recordsmith.errors import RecordsmithError, TruncatedFileError
from recordsmith.formats.arrays.npy_format import NpyHeader, read_header
from recordsmith.formats.files.source_files import PathLike, SourceFile, find_files, opened

__all__ = ["Array", "MemberStream", "StoredArray", "arrays_in_files", "stored_array"]

SUFFIXES = (".npy", ".npz")

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class StoredArray:
    """An array in a file: where its values begin, and what they are."""

    file: SourceFile
    offset: int | None  # None: compressed, and only to be read from the start
    dtype: str
    shape: tuple[int, ...]
    fortran: bool = False
    member: str | None = None  # of an archive
    header: int = 0  # of a gzip file: the bytes before the values, once decompressed

    @property
    def row_bytes(self) -> int:
        """How many bytes an entry takes."""
        return np.dtype(self.dtype).itemsize * prod(self.shape[1:])

    def rows(self, start: int, stop: int) -> Array:
        """Return some entries."""
        assert self.offset is not None  # noqa: S101 - for the type checker: others are read from their start
        dtype, inner = np.dtype(self.dtype), self.shape[1:]
        with opened(self.file) as stream:
            if not self.fortran:
                return self._read(stream, self.offset + start * self.row_bytes, (stop - start, *inner))
            # The first index varies fastest: the rows of a chunk are a run for each place within a row.
            runs = [
                self._read(stream, self.offset + (place * self.shape[0] + start) * dtype.itemsize, (stop - start,))
                for place in range(prod(inner))
            ]
            return np.stack(runs).reshape(*reversed(inner), stop - start).T

    def _read(self, stream: BinaryIO, offset: int, shape: tuple[int, ...]) -> Array:
        array = np.empty(shape, self.dtype)
        view = array.reshape(-1).view(np.uint8).data if array.nbytes else memoryview(b"")
        stream.seek(offset)
        while view:
            read = stream.readinto(view)  # type: ignore[attr-defined]
            if not read:
                raise _cut_short(self, f"the file ends {len(view)} bytes too early")
            view = view[read:]
        return array


class MemberStream:
    """Reads a compressed array of an archive from its start, some rows at a time."""

    def __init__(self, column: StoredArray) -> None:
        self._column = column
        self._stream: IO[bytes] | None = None
        self._opened = ExitStack()

    def next(self, rows: int) -> Array:
        """Return the next rows."""
        column = self._column
        with _archive_errors(column.file.path, column.member):
            stream = self._stream = self._stream or self._begin()
            wanted = rows * column.row_bytes
            parts: list[bytes] = []
            while wanted and (more := stream.read(wanted)):
                parts.append(more)
                wanted -= len(more)
        if wanted:
            raise _cut_short(column, f"{wanted} bytes are missing")
        return np.frombuffer(b"".join(parts), column.dtype).reshape(rows, *column.shape[1:])

    def _begin(self) -> IO[bytes]:
        """Open the array where its values begin."""
        column = self._column
        file = self._opened.enter_context(opened(column.file))
        if column.member is None:
            unpacked = self._opened.enter_context(gzip.GzipFile(fileobj=file))
            unpacked.read(column.header)
            return cast("IO[bytes]", unpacked)
        archive = self._opened.enter_context(zipfile.ZipFile(file))
        stream = self._opened.enter_context(archive.open(column.member))
        read_header(stream)
        return stream


def arrays_in_files(path: PathLike | Iterable[PathLike]) -> list[tuple[SourceFile, dict[str, StoredArray]]]:
    """Find the arrays of files and archives, by name."""
    files = find_files(path, SUFFIXES, kind=".npy or .npz")
    is_archive = [file.path.lower().endswith(".npz") for file in files]
    return [
        (file, _members(file) if archive else {_stem(file.path): stored_array(file)})
        for file, archive in zip(files, is_archive, strict=True)
    ]


def stored_array(file: SourceFile) -> StoredArray:
    """Return the array of a `.npy` file."""
    with opened(file) as stream, _archive_errors(file.path, None):
        header = read_header(stream)
        column = StoredArray(file, stream.tell(), header.dtype.str, header.shape, header.fortran)
        return _checked(column, header, file.size - stream.tell())


def _members(file: SourceFile) -> dict[str, StoredArray]:
    """Return the arrays of an archive: those that are stored as they are can be read from the middle."""
    columns: dict[str, StoredArray] = {}
    with opened(file) as raw, _archive_errors(file.path, None), zipfile.ZipFile(raw) as archive:
        for entry in archive.infolist():
            if not entry.filename.endswith(".npy"):
                continue
            with archive.open(entry) as stream:
                header = read_header(stream)
                header_bytes = stream.tell()
            offset, there = None, entry.file_size - header_bytes
            if entry.compress_type == zipfile.ZIP_STORED:
                raw.seek(entry.header_offset)
                name_bytes, extra_bytes = struct.unpack_from("<HH", raw.read(30), 26)
                offset = entry.header_offset + 30 + name_bytes + extra_bytes + header_bytes
                there = min(there, file.size - offset)
            column = StoredArray(file, offset, header.dtype.str, header.shape, header.fortran, entry.filename)
            columns[entry.filename.removesuffix(".npy")] = _checked(column, header, there)
    if not columns:
        raise RecordsmithError("The archive contains no arrays.", path=file.path)
    return columns


def _checked(column: StoredArray, header: NpyHeader, there: int) -> StoredArray:
    if there < header.size:
        raise _cut_short(column, f"{there} bytes of {header.size}")
    if column.fortran and column.offset is None:
        raise RecordsmithError(
            "A compressed array in Fortran order cannot be read row by row.",
            path=column.file.path,
            found=column.member,
            advice="Save it with numpy.savez instead of savez_compressed, or as numpy.ascontiguousarray(array).",
        )
    return column


def _stem(path: str) -> str:
    return os.path.basename(path).rpartition(".")[0]


@contextmanager
def _archive_errors(path: str, member: str | None) -> Iterator[None]:
    """Say of whatever is wrong with an archive which file it is."""
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, EOFError, struct.error, RuntimeError, lzma.LZMAError, OSError) as error:
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise  # the disk, and not a place before the file's start
        raise RecordsmithError(
            f"The file is not complete: {str(error) or type(error).__name__}.",
            path=path,
            found=member,
            advice="Copy or save it again.",
        ) from None
    except ValueError as error:
        if isinstance(error, RecordsmithError):
            raise
        raise RecordsmithError(str(error), path=path, found=member, advice=_advice_about(str(error))) from None


def _advice_about(problem: str) -> str:
    if "Python objects" in problem:
        return "If you trust the file, load it with numpy and allow_pickle=True, and pass the arrays."
    return "Copy or save it again."


def _cut_short(column: StoredArray, found: str) -> TruncatedFileError:
    """Return the error for an array that has fewer values than its header says."""
    return TruncatedFileError(
        "The array is incomplete: it has fewer values than its header says.",
        path=column.file.path,
        found=found if column.member is None else f"{column.member}: {found}",
        expected=f"{np.dtype(column.dtype)} of shape {column.shape}",
        advice="Copy or save it again, and do not change it while the dataset is being made.",
    )
