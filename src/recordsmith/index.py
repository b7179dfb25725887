"""Where every record of a file begins.

The index is a cache: it is derived from the file, holds its size and modification time, and is built anew without
asking when they differ. It lies in a hidden folder beside the data, `.recordsmith/`, which no glob for data matches;
where that cannot be written, in the user's cache folder. Files below `_WORTH_KEEPING` are indexed in memory each time.

    magic        8 bytes   "RSINDEX1"
    file size    u64
    modified     i64       nanoseconds
    compression  u64       0 none, 1 gzip, 2 zlib
    records      u64
    checksum     u64       CRC-32C of all of the above but the magic, and of the offsets
    offsets      u64 * (records + 1)   in the (decompressed) file; the last one is its end
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import struct
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from recordsmith import _core
from recordsmith.atomic_file import write_atomically
from recordsmith.compression import reading_compression
from recordsmith.errors import CompressionError, RecordsmithError
from recordsmith.publication import INDEX_FOLDER

__all__ = [
    "FRAMING_BYTES",
    "ShardIndex",
    "build_index",
    "cache_paths",
    "cached_index",
    "export_index",
    "load_index",
    "save_index",
]

_MAGIC = b"RSINDEX1"
_HEADER = struct.Struct("<QqQQQ")
_COMPRESSIONS = ("none", "gzip", "zlib")
_WORTH_KEEPING = 1 << 20  # bytes; a file below it is indexed in about a millisecond
FRAMING_BYTES = 16  # what a record takes beside its payload


@dataclass(frozen=True, slots=True)
class ShardIndex:
    """Where the records of one file begin.

    Attributes:
        path: the file.
        size, modified: what the file was when it was indexed: bytes, and nanoseconds since 1970.
        compression: "none", "gzip" or "zlib".
        offsets: where each record begins in the (decompressed) file, and where the last one ends.

    >>> import numpy as np
    >>> ShardIndex("a.tfrecord", 38, 0, "none", np.array([0, 19, 38], np.uint64)).records
    2
    """

    path: str
    size: int
    modified: int
    compression: str
    offsets: npt.NDArray[np.uint64]

    @property
    def records(self) -> int:
        """How many records the file has."""
        return len(self.offsets) - 1

    @property
    def lengths(self) -> npt.NDArray[np.uint64]:
        """How long each record's payload is.

        >>> import numpy as np
        >>> ShardIndex("a.tfrecord", 38, 0, "none", np.array([0, 19, 38], np.uint64)).lengths.tolist()
        [3, 3]
        """
        return np.diff(self.offsets) - np.uint64(FRAMING_BYTES)


def build_index(path: str | os.PathLike[str], compression: str | None = "auto") -> ShardIndex:
    """Index a file by walking over its record headers, and keep nothing.

    >>> import recordsmith as rs, tempfile
    >>> path = tempfile.mkdtemp() + "/two.tfrecord"
    >>> with rs.RecordWriter(path) as writer:
    ...     writer.write(b"foo")
    ...     writer.write(b"bar")
    >>> build_index(path).offsets.tolist()
    [0, 19, 38]
    """
    name = os.fspath(path)
    facts = os.stat(name)
    offsets, found = _core.scan_offsets(name, reading_compression(compression), False)
    return ShardIndex(name, facts.st_size, facts.st_mtime_ns, found, offsets)


def load_index(
    path: str | os.PathLike[str], compression: str | None = "auto", *, use_cache: bool = True, rebuild: bool = False
) -> ShardIndex:
    """Return a file's index: from the cache if it still fits the file, else built now and cached.

    Args:
        path: the TFRecord file.
        compression: "auto", None, "gzip" or "zlib".
        use_cache: look for the index on disk, and leave it there; False reads and writes nothing but the file.
        rebuild: build the index even if a fitting one is cached.

    >>> import recordsmith as rs, tempfile
    >>> path = tempfile.mkdtemp() + "/one.tfrecord"
    >>> with rs.RecordWriter(path) as writer:
    ...     writer.write(b"foo")
    >>> load_index(path).records
    1
    """
    name = os.fspath(path)
    cached = cached_index(name, compression) if use_cache and not rebuild else None
    if cached is not None:
        return cached[0]
    index = build_index(name, compression)
    if use_cache and index.size >= _WORTH_KEEPING:
        with contextlib.suppress(OSError):  # nowhere to keep it: it is built again next time
            save_index(index)
    return index


def cached_index(path: str | os.PathLike[str], compression: str | None = "auto") -> tuple[ShardIndex, str] | None:
    """Return a file's cached index and where it lies, or None if there is none that fits the file as it is now.

    >>> import recordsmith as rs, tempfile
    >>> path = tempfile.mkdtemp() + "/one.tfrecord"
    >>> with rs.RecordWriter(path) as writer:
    ...     writer.write(b"foo")
    >>> cached_index(path) is None
    True
    """
    name = os.fspath(path)
    wanted = reading_compression(compression)
    facts = os.stat(name)
    for place in cache_paths(name):
        index = _read(place, name, facts)
        if index is not None and wanted in ("auto", index.compression):
            return index, place
    return None


def save_index(index: ShardIndex) -> str:
    """Put an index into the cache, beside the data or in the user's cache folder, and return where.

    >>> import recordsmith as rs, tempfile
    >>> path = tempfile.mkdtemp() + "/one.tfrecord"
    >>> with rs.RecordWriter(path) as writer:
    ...     writer.write(b"foo")
    >>> save_index(build_index(path)).endswith("/.recordsmith/one.tfrecord.index")
    True
    """
    refused: OSError | None = None
    for target in cache_paths(index.path):
        try:
            os.makedirs(os.path.dirname(target), exist_ok=True)
            _write(index, target)
        except OSError as error:
            refused = error
            continue
        return target
    raise OSError(f"there is no place to keep an index for {index.path!r}") from refused


def cache_paths(path: str) -> tuple[str, str]:
    """Return where a file's index may lie: beside the data, then in the user's cache folder.

    >>> cache_paths("/data/train.tfrecord")[0]
    '/data/.recordsmith/train.tfrecord.index'
    """
    folder, name = os.path.split(os.path.abspath(path))
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    key = hashlib.sha256(os.fsencode(os.path.realpath(path))).hexdigest()[:32]
    return os.path.join(folder, INDEX_FOLDER, f"{name}.index"), os.path.join(home, "recordsmith", f"{key}.index")


def export_index(
    path: str | os.PathLike[str],
    target: str | os.PathLike[str] | None = None,
    *,
    format: Literal["dali", "vahidk"],  # noqa: A002 - as on the command line
) -> str:
    r"""Write the text index that DALI and the `tfrecord` package read: a line `offset size` for each record.

    Args:
        path: a TFRecord file that is not compressed.
        target: the file to write; None: DALI's or vahidk's usual name beside the data.
        format: "dali" (`data.tfrecord.idx`) or "vahidk" (`data.tfindex`); the content is the same.

    >>> import recordsmith as rs, tempfile
    >>> path = tempfile.mkdtemp() + "/two.tfrecord"
    >>> with rs.RecordWriter(path) as writer:
    ...     writer.write(b"foo")
    ...     writer.write(b"bar")
    >>> with open(export_index(path, format="dali")) as file:
    ...     file.read()
    '0 19\n19 19\n'
    """
    name = os.fspath(path)
    if format not in ("dali", "vahidk"):
        raise RecordsmithError("Unknown index format.", path=name, found=format, expected="'dali' or 'vahidk'")
    index = load_index(name)
    if index.compression != "none":
        raise CompressionError(
            f"The file is compressed ({index.compression}), so its records have no place that a text index could name.",
            path=name,
            advice="Decompress the file first; DALI and vahidk's reader cannot read it by index otherwise.",
        )
    if target is None:
        target = f"{name}.idx" if format == "dali" else f"{os.path.splitext(name)[0]}.tfindex"
    sizes = index.lengths + np.uint64(FRAMING_BYTES)
    with write_atomically(target) as temporary, open(temporary, "w", encoding="ascii") as file:
        places = zip(index.offsets[:-1].tolist(), sizes.tolist(), strict=True)
        file.writelines(f"{offset} {size}\n" for offset, size in places)
    return os.fspath(target)


def _write(index: ShardIndex, target: str) -> None:
    header = [index.size, index.modified, _COMPRESSIONS.index(index.compression), index.records]
    offsets = np.ascontiguousarray(index.offsets, "<u8").tobytes()
    checksum = _core.masked_crc32c(_HEADER.pack(*header, 0) + offsets)
    with write_atomically(target) as temporary, open(temporary, "wb") as file:
        file.write(_MAGIC + _HEADER.pack(*header, checksum) + offsets)


def _read(cached: str, path: str, facts: os.stat_result) -> ShardIndex | None:
    """Return a cached index, or None if it is not there, not whole, or of another state of the file."""
    try:
        with open(cached, "rb") as file:
            data = file.read()
    except OSError:
        return None
    start = len(_MAGIC) + _HEADER.size
    if len(data) < start or not data.startswith(_MAGIC):
        return None
    size, modified, compression, records, checksum = _HEADER.unpack_from(data, len(_MAGIC))
    if (size, modified) != (facts.st_size, facts.st_mtime_ns) or compression >= len(_COMPRESSIONS):
        return None
    body = data[start:]
    header = _HEADER.pack(size, modified, compression, records, 0)
    if len(body) != 8 * (records + 1) or _core.masked_crc32c(header + body) != checksum:
        return None
    return ShardIndex(path, size, modified, _COMPRESSIONS[compression], np.frombuffer(body, "<u8"))
