"""The index of a file: the position of every record.

The index is a cache: it is derived from the file, and rebuilt automatically when it no longer matches. It is
kept in a hidden folder next to the data, `.recordsmith/`, which no glob for data matches; where that cannot be written,
in the user's cache folder. Files below `_WORTH_KEEPING` are indexed in memory each time. The format, and when an index
is believed, are described in cpp/records/record_index.h.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeVar, overload

import numpy as np
import numpy.typing as npt

from recordsmith import _core
from recordsmith.errors import ChangedFileError, CompressionError, RecordsmithError
from recordsmith.records.compression import reading_compression
from recordsmith.storage.atomic_file import write_atomically
from recordsmith.storage.objects import ObjectFolder, child_url, open_folder, split_url, without_secrets
from recordsmith.storage.publication import INDEX_FOLDER
from recordsmith.storage.ranged.opening import file_size, is_ranged
from recordsmith.storage.ranged.remote_object import in_background
from recordsmith.storage.ranged.requests import result_of
from recordsmith.workers.forking import renew_after_fork

__all__ = [
    "FRAMING_BYTES",
    "Identity",
    "ShardIndex",
    "StoredOffsets",
    "announce_indexes",
    "build_index",
    "cache_paths",
    "cached_index",
    "export_index",
    "forget_index",
    "keep_index",
    "load_index",
    "save_index",
    "upload_index",
]

_LOG = logging.getLogger("recordsmith")
_WORTH_KEEPING = 1 << 20  # bytes; a file below it is indexed in about a millisecond
_READ_AT_ONCE = 32 << 20  # bytes of an index object
_ATTEMPTS = 3  # to index a file that keeps changing
FRAMING_BYTES = 16  # what a record takes next to its payload

T = TypeVar("T")
Uint64s = npt.NDArray[np.uint64]
Identity = tuple[int, int, int, int, int, int]


class StoredOffsets:
    """Offsets in an index file: only those that are asked for are read.

    >>> import recordsmith as rs, tempfile
    >>> path = tempfile.mkdtemp() + "/two.tfrecord"
    >>> with rs.RecordWriter(path) as writer:
    ...     writer.write(b"foo")
    ...     writer.write(b"bar")
    >>> offsets = keep_index(path)[0].offsets
    >>> len(offsets), offsets[1], offsets[1:].tolist()
    (3, 19, [19, 38])
    """

    def __init__(self, file: _core.IndexFile) -> None:
        self.file = file
        self._end = int(file.read(len(file) - 1, len(file))[0])

    def __len__(self) -> int:
        return len(self.file)

    @overload
    def __getitem__(self, key: int) -> int: ...
    @overload
    def __getitem__(self, key: slice) -> Uint64s: ...
    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            start, stop, step = key.indices(len(self))
            if step > 0:
                return self.file.read(start, max(start, stop))[::step]
            return np.asarray(self)[key]
        number = range(len(self))[key]
        if number == len(self) - 1:
            return self._end
        return int(self.file.read(number, number + 1)[0])

    def __array__(self, dtype: Any = None, *, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.asarray(self.file.read(0, len(self)), dtype)

    def __reduce__(self) -> tuple[Any, ...]:
        """In another process they are in memory."""
        return np.asarray, (np.asarray(self),)

    def tolist(self) -> list[int]:
        """Return all of them as a list."""
        every: list[int] = self[:].tolist()
        return every


@dataclass(frozen=True, slots=True)
class ShardIndex:
    """Where the records of one file begin.

    Attributes:
        path: the file.
        size, modified: what the file was when it was indexed: bytes, and nanoseconds since 1970.
        compression: "none", "gzip" or "zlib".
        offsets: where each record begins in the (decompressed) file, and where the last one ends.
        inode, changed, sample, noted: what else the file is recognised by, see cpp/files/file_identity.h.
        content: a digest of all records, which copies of the file share.
    """

    path: str
    size: int
    modified: int
    compression: str
    offsets: Uint64s | StoredOffsets
    inode: int = 0
    changed: int = 0
    sample: int = 0
    noted: int = 0
    content: int = 0

    @classmethod
    def of(cls, path: str, facts: tuple[Identity, str, int], offsets: Uint64s | StoredOffsets) -> ShardIndex:
        """Put an index together from what the core knows of it."""
        (inode, size, modified, changed, sample, noted), compression, content = facts
        return cls(path, size, modified, compression, offsets, inode, changed, sample, noted, content)

    @property
    def identity(self) -> Identity:
        """What the file is recognised by, as the core takes it."""
        return self.inode, self.size, self.modified, self.changed, self.sample, self.noted

    @property
    def records(self) -> int:
        """How many records the file has."""
        return len(self.offsets) - 1

    @property
    def end(self) -> int:
        """Where the last record ends, in the (decompressed) file."""
        return int(self.offsets[-1])

    @property
    def is_damaged(self) -> bool:
        """Whether the index was changed on disk since it was opened."""
        return isinstance(self.offsets, StoredOffsets) and not self.offsets.file.is_sound()

    @property
    def lengths(self) -> Uint64s:
        """How long each record's payload is."""
        return np.diff(self.offsets[:]) - np.uint64(FRAMING_BYTES)


def build_index(path: str | os.PathLike[str], compression: str | None = "auto") -> ShardIndex:
    """Index a file by walking over its record headers, and keep nothing."""
    name = os.fspath(path)
    how = reading_compression(compression)
    return ShardIndex.of(name, *_retried_while_changing(lambda: _core.build_index(name, how)))


def load_index(
    path: str | os.PathLike[str], compression: str | None = "auto", *, use_cache: bool = True, rebuild: bool = False
) -> ShardIndex:
    """Return a file's index: from the cache if it still fits the file, else built now and cached.

    Args:
        path: the TFRecord file.
        compression: "auto", None, "gzip" or "zlib".
        use_cache: look for the index on disk, and leave it there; False reads and writes nothing but the file.
        rebuild: build the index even if a fitting one is cached.
    """
    name = os.fspath(path)
    cached = cached_index(name, compression) if use_cache and not rebuild else None
    if cached is not None:
        return cached[0]
    if use_cache and (is_ranged(name) or os.stat(name).st_size >= _WORTH_KEEPING):
        with contextlib.suppress(OSError):  # nowhere to keep it: it is built again next time
            return keep_index(name, compression)[0]
    return build_index(name, compression)


def cached_index(path: str | os.PathLike[str], compression: str | None = "auto") -> tuple[ShardIndex, str] | None:
    """Return a file's cached index and its path, or None if there is none that matches the file."""
    name = os.fspath(path)
    wanted = reading_compression(compression)
    file_size(name)  # says so where there is no such file
    for place in cache_paths(name):
        index = _kept(place, name)
        if index is not None and wanted in ("auto", index.compression):
            return index, place
    if is_ranged(name) and _download_index(name):
        index = _kept(cache_paths(name)[0], name)
        if index is not None and wanted in ("auto", index.compression):
            return index, cache_paths(name)[0]
    return None


def keep_index(path: str | os.PathLike[str], compression: str | None = "auto") -> tuple[ShardIndex, str]:
    """Index a file into the cache, next to the data or in the user's cache folder; return the index and where it is.

    It is written while it is built, and takes no memory that grows with the number of records.
    """
    name = os.fspath(path)
    how = reading_compression(compression)

    def build(target: str) -> ShardIndex:
        with write_atomically(target) as temporary:
            _core.build_index_file(name, how, temporary)
        index = _kept(target, name)
        if index is None:
            raise ChangedFileError("The file was changed while it was being indexed.", path=name)
        return index

    index, place = _in_cache(name, lambda target: _retried_while_changing(lambda: build(target)))
    _LOG.info("%s: indexed %s records into %s", without_secrets(name), f"{index.records:,}", place)
    return index, place


def save_index(index: ShardIndex) -> str:
    """Put an index into the cache, next to the data or in the user's cache folder, and return where."""

    def write(target: str) -> None:
        with write_atomically(target) as temporary:
            offsets = np.ascontiguousarray(index.offsets[:], np.uint64)
            _core.write_index_file(temporary, index.identity, index.compression, index.content, offsets)

    return _in_cache(index.path, write)[1]


def forget_index(path: str | os.PathLike[str]) -> None:
    """Remove what is in the cache for a file, which does not fit it: the next one who asks has it built."""
    for place in cache_paths(os.fspath(path)):
        with contextlib.suppress(OSError):
            os.remove(place)


def _in_cache(path: str, write: Callable[[str], T]) -> tuple[T, str]:
    """Write an index to the first place that takes it."""
    refused: OSError | None = None
    for target in cache_paths(path):
        try:
            os.makedirs(os.path.dirname(target), exist_ok=True)
            return write(target), target
        except OSError as error:
            if error.filename == path:
                raise
            refused = error
    raise OSError(f"no folder is writable for the index of {path!r}") from refused


def _retried_while_changing(build: Callable[[], T]) -> T:
    """Index a file; if it changes meanwhile, as one does that is still being written, try again."""
    for _ in range(_ATTEMPTS - 1):
        with contextlib.suppress(ChangedFileError):
            return build()
    return build()


class _Downloads:
    """The indexes of remote files that are on their way, by the URL of the file."""

    def __init__(self) -> None:
        self.after_fork()
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Forget what the threads of the parent fetch."""
        self.coming: dict[str, Future[bool]] = {}


_downloads = _Downloads()


def announce_indexes(paths: Iterable[str]) -> None:
    """Begin to fetch the index objects beside remote files, while the caller waits for something else."""
    for path in paths:
        if is_ranged(path) and path not in _downloads.coming and not os.path.exists(cache_paths(path)[0]):
            _downloads.coming[path] = in_background(partial(_fetch_index, path))


def _download_index(url: str) -> bool:
    """Fetch the index object that is next to a remote file, if there is one; whether it matches is not known yet."""
    coming = _downloads.coming.pop(url, None)
    return _fetch_index(url) if coming is None else result_of(coming)


def _fetch_index(url: str) -> bool:
    above, name = split_url(url)
    target = cache_paths(url)[0]
    try:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with write_atomically(target) as temporary, open(temporary, "wb") as file:
            file.writelines(_index_object(open_folder(above), f"{INDEX_FOLDER}/{name}.index"))
    except OSError:
        return False  # there is none, or nowhere to put it
    return True


def _index_object(folder: ObjectFolder, key: str) -> Iterable[bytes | memoryview]:
    """Return the content of an index object: by one request, unless it is large."""
    try:
        return [folder.read(key, longest=_READ_AT_ONCE)[0]]
    except RecordsmithError:  # among others, that it is larger
        return folder.stream(key)


def upload_index(url: str, index: str) -> str:
    """Put the index of a remote file next to it, where every reader finds it; return its URL."""
    above, name = split_url(url)
    key = f"{INDEX_FOLDER}/{name}.index"
    open_folder(above).upload(key, index)
    return child_url(above, key)


def cache_paths(path: str) -> tuple[str, ...]:
    """Return the possible paths of a file's index: next to the data, unless it is remote; in the user's cache folder.

    >>> cache_paths("/data/train.tfrecord")[0]
    '/data/.recordsmith/train.tfrecord.index'
    """
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    key = hashlib.sha256(os.fsencode(path if is_ranged(path) else os.path.realpath(path))).hexdigest()[:32]
    cached = os.path.join(home, "recordsmith", f"{key}.index")
    if is_ranged(path):
        return (cached,)
    folder, name = os.path.split(os.path.abspath(path))
    return os.path.join(folder, INDEX_FOLDER, f"{name}.index"), cached


def export_index(
    path: str | os.PathLike[str],
    target: str | os.PathLike[str] | None = None,
    *,
    format: Literal["dali", "vahidk"],  # noqa: A002 - as on the command line
) -> str:
    r"""Write the text index that DALI and the `tfrecord` package read: a line `offset size` for each record.

    Args:
        path: a TFRecord file that is not compressed.
        target: the file to write; None: DALI's or vahidk's usual name next to the data.
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
            f"The file is compressed ({index.compression}), so a text index cannot give the positions of its records.",
            path=name,
            advice="Decompress the file first: DALI and vahidk's reader read only uncompressed files by index.",
        )
    if target is None:
        target = f"{name}.idx" if format == "dali" else f"{os.path.splitext(name)[0]}.tfindex"
    sizes = index.lengths + np.uint64(FRAMING_BYTES)
    with write_atomically(target) as temporary, open(temporary, "w", encoding="ascii") as file:
        places = zip(index.offsets[:-1].tolist(), sizes.tolist(), strict=True)
        file.writelines(f"{offset} {size}\n" for offset, size in places)
    return os.fspath(target)


def _kept(cached: str, path: str) -> ShardIndex | None:
    """Return a cached index, or None if it is not there, not whole, or not of this file as it is now."""
    file = _core.IndexFile.open_fitting(cached, path)
    return None if file is None else ShardIndex.of(path, file.facts, StoredOffsets(file))
