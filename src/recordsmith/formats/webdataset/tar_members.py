"""Reads the members of a tar file in order and strictly: a truncated or damaged file is an error."""

from __future__ import annotations

import bz2
import gzip
import lzma
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any

from recordsmith.errors import CompressionError, CorruptRecordError, RecordsmithError, TruncatedFileError, import_extra
from recordsmith.formats.files.source_files import SourceFile, opened
from recordsmith.wording.numbers import bytes_text

__all__ = ["MOST_MEMBER_BYTES", "TarMember", "tar_members", "too_large_reason"]

_BLOCK = 512
_SKIPPED_AT_ONCE = 1 << 20
_LONGEST_EXTENSION = 1 << 20  # bytes of a long name or of extended headers
MOST_MEMBER_BYTES = 64_000_000  # of a file in a tar file, unless another limit is given
_REGULAR = (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.CONTTYPE)
_EMPTY_TYPES = (tarfile.LNKTYPE, tarfile.SYMTYPE, tarfile.DIRTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE)


@dataclass(frozen=True, slots=True)
class TarMember:
    """A file in a tar file.

    Attributes:
        name: its path.
        offset: where its content starts in the (decompressed) tar file.
        size: how long that is.
        data: the content, if it was asked for.
        too_large: it has more bytes than are read of one file; its data are empty.
    """

    name: str
    offset: int
    size: int
    data: bytes | None = None
    too_large: bool = False


def too_large_reason(member: TarMember, limit: int) -> str:
    """Say why a member was not read.

    >>> too_large_reason(TarMember("a.bin", 0, 900_000_000), 64_000_000)
    'The file has 900 MB, but a file in a tar archive may have at most 64.0 MB. Raise the limit with max_member=...'
    """
    return (
        f"The file has {bytes_text(member.size)}, but a file in a tar archive may have at most {bytes_text(limit)}. "
        "Raise the limit with max_member=..."
    )


def tar_members(file: SourceFile, *, content: bool, limit: int = MOST_MEMBER_BYTES) -> Iterator[TarMember]:
    """Give the files in a tar file, which may be compressed with gzip, bzip2, xz or zstd.

    Args:
        file: the tar file.
        content: read what is in them; else only pass over it.
        limit: the most bytes that are read of one of them: a few kilobytes may decompress to gigabytes.
    """
    with _stream(file) as stream:
        reader = _Reader(stream, file.path)
        try:
            yield from _members(reader, content=content, limit=limit)
        except (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:  # the disk, and not the data
                raise
            reason = str(error).rstrip(".")
            raise CompressionError(
                f"The compressed stream is damaged: {reason}.", path=file.path, offset=reader.at
            ) from None


class _Reader:
    """Reads a stream from its start to its end, and knows where it is."""

    def __init__(self, stream: IO[bytes], path: str) -> None:
        self._stream = stream
        self.path = path
        self.at = 0

    def read(self, size: int) -> bytes:
        """Read so many bytes, or fewer at the end of the file."""
        data = self._stream.read(size)
        self.at += len(data)
        return data

    def read_padded(self, size: int, name: str) -> bytes:
        """Read a content, which is filled up to whole blocks."""
        data = self.read(size)
        if len(data) < size or len(self.read(-size % _BLOCK)) < -size % _BLOCK:
            raise self._cut(name)
        return data

    def skip_padded(self, size: int, name: str) -> None:
        """Pass over a content."""
        left = size + -size % _BLOCK
        if self._stream.seekable() and left > _BLOCK:
            self._stream.seek(left - 1, 1)  # all but one byte, so that a file that is cut is noticed
            self.at += left - 1
            left = 1
        while left:
            passed = len(self.read(min(left, _SKIPPED_AT_ONCE)))
            if not passed:
                raise self._cut(name)
            left -= passed

    def _cut(self, name: str) -> TruncatedFileError:
        return TruncatedFileError(
            f"The tar file is incomplete: it ends inside {name!r}.",
            path=self.path,
            offset=self.at,
            advice="Copy or create it again. No sample of it is used.",
        )


def _members(reader: _Reader, *, content: bool, limit: int) -> Iterator[TarMember]:
    extended: dict[str, str] = {}
    ended = False
    while block := reader.read(_BLOCK):
        start = reader.at - len(block)
        if not block.strip(b"\0"):
            ended = True  # joined tar files continue after the end of the first one
            continue
        ended = False
        info = _header(block, reader, start)
        if info.type in (tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE, tarfile.GNUTYPE_LONGNAME):
            if not 0 <= info.size <= _LONGEST_EXTENSION:
                raise _damaged(reader.path, start, "an extended header that is too long")
            data = reader.read_padded(info.size, info.name)
            if info.type == tarfile.GNUTYPE_LONGNAME:
                extended["path"] = data.rstrip(b"\0").decode("utf-8", "surrogateescape")
            else:
                extended.update(_pax_records(data, reader.path, start))
            continue
        name = extended.get("path", info.name)
        size = _size(extended["size"], reader.path, start) if "size" in extended else info.size
        sparse = info.type == tarfile.GNUTYPE_SPARSE or any(key.startswith("GNU.sparse") for key in extended)
        extended = {}
        if size < 0:
            raise _damaged(reader.path, start, f"a size of {size}")
        if sparse:
            raise _damaged(reader.path, start, f"{name!r}, which is stored as a sparse file")
        offset = reader.at
        if info.type in _EMPTY_TYPES:
            continue
        if info.type not in _REGULAR:
            reader.skip_padded(size, name)
        elif size > limit:
            reader.skip_padded(size, name)
            yield TarMember(name, offset, size, b"", too_large=True)
        elif content:
            yield TarMember(name, offset, size, reader.read_padded(size, name))
        else:
            reader.skip_padded(size, name)
            yield TarMember(name, offset, size)
    if not ended:
        raise TruncatedFileError(
            "The tar file is incomplete: the end marker is missing." if reader.at else "The tar file is empty.",
            path=reader.path,
            offset=reader.at,
            advice="Copy or create it again.",
        )


def _header(block: bytes, reader: _Reader, start: int) -> tarfile.TarInfo:
    if len(block) < _BLOCK:
        raise TruncatedFileError("The tar file is incomplete: it ends inside a header.", path=reader.path, offset=start)
    try:
        return tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
    except tarfile.HeaderError as error:
        if start == 0:
            raise CorruptRecordError(
                "This is not a tar file.", path=reader.path, found=f"it starts with {block[:12]!r}"
            ) from None
        raise _damaged(reader.path, start, f"an invalid file header ({error})") from None


def _damaged(path: str, offset: int, found: str) -> CorruptRecordError:
    return CorruptRecordError(
        "The tar file uses a feature that is not supported.", path=path, offset=offset, found=found
    )


def _pax_records(data: bytes, path: str, start: int) -> dict[str, str]:
    """Parse records such as "18 path=some/name", each with a line's end; the number counts the whole record."""
    records: dict[str, str] = {}
    while data.strip(b"\0"):
        number, _, _ = data.partition(b" ")
        length = int(number) if number.isdigit() and len(number) < 9 else 0
        key, equals, value = data[len(number) + 1 : length].partition(b"=")
        if length > len(data) or not equals or not value.endswith(b"\n"):
            raise _damaged(path, start, "an invalid extended header")
        records[key.decode("utf-8", "surrogateescape")] = value[:-1].decode("utf-8", "surrogateescape")
        data = data[length:]
    return records


def _size(text: str, path: str, start: int) -> int:
    if not text.isdigit() or len(text) > 18:
        raise _damaged(path, start, f"a size of {text!r}")
    return int(text)


@contextmanager
def _stream(file: SourceFile) -> Iterator[Any]:
    """Open a tar file, and decompress it on the way if its content says that it is compressed."""
    with opened(file) as plain:
        head = plain.read(6)
        plain.seek(0)
        if head.startswith(b"\x1f\x8b"):
            stream: Any = gzip.GzipFile(fileobj=plain)
        elif head.startswith(b"BZh"):
            stream = bz2.BZ2File(plain)
        elif head.startswith(b"\xfd7zXZ\0"):
            stream = lzma.LZMAFile(plain)  # noqa: SIM115 - closed below, as the others
        elif head.startswith(b"\x28\xb5\x2f\xfd"):
            arrow = import_extra("pyarrow", "arrow", purpose="Reading zstd files")
            stream = arrow.CompressedInputStream(plain, "zstd")
        elif head.startswith(b"PK"):
            raise RecordsmithError(
                "This is a zip archive, not a tar file.", path=file.path, advice="Unpack it, and pass the folder."
            )
        else:
            yield plain
            return
        with stream:
            yield _OneWay(stream)


class _OneWay:
    """A decompressed stream, which is quicker read through than searched."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def read(self, size: int) -> bytes:
        data = self._stream.read(size)
        return bytes(data)

    def seekable(self) -> bool:
        return False
