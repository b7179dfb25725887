"""Blocks of remote files on this disk, under a limit of bytes, shared by all processes of a user.

    RECORDSMITH_CACHE/blocks/used                    bytes in use, under a lock: the limit holds for all processes
    RECORDSMITH_CACHE/blocks/3f/3f09...-17.block     a block: its bytes, then "RSB1" and their CRC-32C

The name has a digest of the URL, its ETag and its size: another version has other names. A file gets its name when it
is complete, so that readers need no lock; one that is removed while somebody reads it stays readable until then.

The modification time of a block is when it is used next, where that is known: the loader computes its order, so it
knows (`expected`). Otherwise it is when it was last used. When the limit is reached:

- blocks that nobody used for ten minutes go first, the oldest of them first;
- then those whose next use is farthest away, if it is farther than that of the new block;
- otherwise the new block is not kept: whoever wanted it has it in memory.

A damaged block is noticed by its checksum when a process first reads it, and fetched again. If the disk is full or
cannot be written, nothing is kept for a while. Only files with such names are ever removed, and only in this folder.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from recordsmith import _core
from recordsmith.errors import RecordsmithError
from recordsmith.storage.byte_sizes import parse_size
from recordsmith.storage.file_lock import lock_file
from recordsmith.storage.remote_files import cache_folder
from recordsmith.workers.forking import ForkSafeLock

__all__ = ["BLOCK", "BlockCache", "CacheUse", "cache_limit", "cache_size", "limit_cache", "shared_cache"]

BLOCK = 1 << 20

_LIMIT = 16 << 30
_NAME = re.compile(r"[0-9a-f]{32}-[0-9]{1,15}\.block")
_TEMPORARY = re.compile(r"[0-9a-f]{32}-[0-9]{1,15}\.block\.[0-9a-f]{16}\.partial")
_MARK = b"RSB1"
_TRAILER = len(_MARK) + 4
_UNUSED = 600.0  # seconds after which a block may go for any other
_ABANDONED = 3600.0  # seconds after which an unfinished file is one of a killed process
_REST = 5.0  # seconds without writing after the disk refused, or after a search that found nothing to remove


def cache_limit() -> int:
    """Return how many bytes of blocks may be kept: RECORDSMITH_CACHE_LIMIT, or 16 GiB; 0 keeps none.

    >>> cache_limit() >= 0
    True
    """
    return cache_size(os.environ.get("RECORDSMITH_CACHE_LIMIT") or _LIMIT, "RECORDSMITH_CACHE_LIMIT")


def cache_size(value: str | int, name: str) -> int:
    """Return the bytes that a size of a cache stands for; `name` is what it was given as.

    >>> cache_size("2KB", "cache"), cache_size(0, "cache")
    (2000, 0)
    """
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    if isinstance(value, str) and value.strip() == "0":
        return 0
    try:
        return parse_size(value)
    except (RecordsmithError, TypeError, AttributeError):
        raise RecordsmithError(
            f"{name} is not a size.", found=str(value), expected="a size such as 50GB, or 0 for no cache"
        ) from None


@dataclass(frozen=True, slots=True)
class CacheUse:
    """What is in the cache.

    Attributes:
        folder: where it is.
        blocks: how many blocks there are.
        bytes: how much space they take.
        limit: how much they may take.
    """

    folder: str
    blocks: int
    bytes: int
    limit: int


@dataclass(frozen=True, slots=True)
class _Kept:
    path: str
    size: int
    used: float  # next, or last


class BlockCache:
    """The blocks in a folder. Any number of threads and processes may use one folder.

    >>> import tempfile
    >>> cache = BlockCache(tempfile.mkdtemp(), limit=4 << 20)
    >>> cache.put("0" * 32, 7, b"bytes of a block")
    True
    >>> cache.read("0" * 32, 7, 0, 5, size=16)
    b'bytes'
    """

    def __init__(self, folder: str | os.PathLike[str], limit: int) -> None:
        self.folder = Path(folder)
        self.limit = limit
        self._verified: dict[str, int] = {}  # the inode of each block that was checked
        self._lock = ForkSafeLock(threading.RLock)
        self._rest_until = 0.0
        self._farthest = float("inf")

    # --- blocks ---

    def read(self, name: str, number: int, begin: int, end: int, *, size: int) -> bytes | None:
        """Return some bytes of a block of `size` bytes; None if it is not here, or was damaged and is gone now."""
        if not self.limit:
            return None
        path = self._path(name, number)
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            facts = os.fstat(descriptor)
            if facts.st_size == size + _TRAILER:
                if facts.st_mtime < time.time() - _UNUSED / 2:
                    os.utime(descriptor)
                if self._verified.get(path) == facts.st_ino:
                    part = os.pread(descriptor, end - begin, begin)
                    if len(part) == end - begin:
                        return part
                whole = os.pread(descriptor, facts.st_size, 0)
                if len(whole) == facts.st_size and whole[size:] == _trailer(memoryview(whole)[:size]):
                    self._verified[path] = facts.st_ino
                    return whole[begin:end]
        except OSError:
            return None  # the disk cannot read it
        finally:
            os.close(descriptor)
        self.discard(name, number)
        return None

    def has(self, name: str, number: int) -> bool:
        """Say whether a block seems to be here; only reading it tells whether it is sound."""
        return bool(self.limit) and os.path.lexists(self._path(name, number))

    def put(self, name: str, number: int, data: bytes | memoryview, *, expected: float | None = None) -> bool:
        """Keep a block, if there is room or if it is used sooner than others; say whether it is here now.

        Args:
            name: of the version of the object: 32 hexadecimal digits.
            number: of the block.
            data: its bytes.
            expected: when it is used next, in seconds since 1970; None if nobody knows.
        """
        size = len(data) + _TRAILER
        if size > self.limit or self._is_resting(expected):
            return False
        path = self._path(name, number)
        if os.path.lexists(path):
            return True
        try:
            temporary = self._reserve(path, size, expected)
        except OSError:
            self._rest()
            return False
        if temporary is None:
            return False
        is_written = self._is_written(temporary, data, expected)
        if not is_written:
            self._rest()
        with contextlib.suppress(OSError), self._ledger() as used:
            # With the lock: whoever counts all files must find this one under exactly one of its names.
            if is_written and not os.path.lexists(path):
                os.rename(temporary, path)
            else:  # the disk does not take it, or another process was faster
                os.remove(temporary)
                used.write(max(0, used.read() - size))
        return os.path.lexists(path)

    @staticmethod
    def _is_written(temporary: str, data: bytes | memoryview, expected: float | None) -> bool:
        """Write a block into its unfinished file; False if the disk does not take it."""
        try:
            with open(temporary, "r+b", buffering=0) as file:
                written = file.write(data) + file.write(_trailer(data))
                if expected is not None:
                    os.utime(file.fileno(), (expected, expected))
        except OSError:
            return False
        return written == len(data) + _TRAILER

    def expect(self, name: str, number: int, when: float) -> None:
        """Note when a block is used next, if it is here."""
        with contextlib.suppress(OSError):
            os.utime(self._path(name, number), (when, when), follow_symlinks=False)

    def discard(self, name: str, number: int) -> None:
        """Remove a block that is not what it should be."""
        path = self._path(name, number)
        self._verified.pop(path, None)
        with contextlib.suppress(OSError), self._ledger() as used:
            size = os.lstat(path).st_size
            os.remove(path)
            used.write(max(0, used.read() - size))

    def has_room(self) -> bool:
        """Say whether another block can be kept without removing one that is in use."""
        return self.limit >= BLOCK + _TRAILER and not self._is_resting(None)

    # --- the whole of it ---

    def use(self) -> CacheUse:
        """Return what is in the cache."""
        kept = [block for block in self._kept() if block.path.endswith(".block")]
        return CacheUse(str(self.folder), len(kept), sum(block.size for block in kept), self.limit)

    def empty(self) -> int:
        """Remove all blocks, and return how many bytes that freed."""
        freed = 0
        if self.folder.is_dir():
            with self._ledger() as used:
                for block in self._kept():
                    if block.path.endswith(".block"):
                        os.remove(block.path)
                        freed += block.size
                used.write(self.counted())
        self._verified.clear()
        return freed

    # --- inside ---

    def _path(self, name: str, number: int) -> str:
        return f"{self.folder}/{name[:2]}/{name}-{number}.block"

    def _is_resting(self, expected: float | None) -> bool:
        return time.monotonic() < self._rest_until and (expected is None or expected >= self._farthest)

    def _rest(self, farthest: float = float("-inf")) -> None:
        self._rest_until, self._farthest = time.monotonic() + _REST, farthest

    def _reserve(self, path: str, size: int, expected: float | None) -> str | None:
        """Create an unfinished file of the size of a new block, for which others may be removed; None if it must not.

        From then on its size counts, for all processes.
        """
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with self._ledger() as used:
            total = used.read()
            if total + size > self.limit:
                total = self._make_room(size, expected)
            if total + size > self.limit:
                used.write(total)
                return None
            temporary = f"{path}.{secrets.token_hex(8)}.partial"
            with open(temporary, "xb") as file:
                file.truncate(size)
            used.write(total + size)
        return temporary

    def _make_room(self, size: int, expected: float | None) -> int:
        """Remove blocks that are worth less than a new one, and return how many bytes are in use now."""
        kept = list(self._kept())
        total = sum(block.size for block in kept)
        kept = [block for block in kept if block.path.endswith(".block")]
        # Some more than needed, since looking at all blocks costs more than fetching one.
        wanted = self.limit - max(size, min(self.limit // 50, 64 * BLOCK))
        old = time.time() - _UNUSED
        unused = sorted((block for block in kept if block.used < old), key=lambda block: block.used)
        farther = [block for block in kept if expected is not None and block.used > expected]
        for block in [*unused, *sorted(farther, key=lambda block: -block.used)]:
            if total <= wanted:
                break
            with contextlib.suppress(FileNotFoundError):
                os.remove(block.path)
            total -= block.size
        if total + size > self.limit:
            self._rest(max((block.used for block in kept), default=0.0))
        return total

    def _kept(self) -> Iterator[_Kept]:
        """Give all blocks and unfinished files, and remove what killed processes left."""
        with contextlib.suppress(FileNotFoundError, NotADirectoryError), os.scandir(self.folder) as folders:
            for folder in folders:
                if len(folder.name) == 2 and folder.is_dir(follow_symlinks=False):
                    yield from self._kept_in(folder.path)

    @staticmethod
    def _kept_in(folder: str) -> Iterator[_Kept]:
        with contextlib.suppress(FileNotFoundError), os.scandir(folder) as files:
            for file in files:
                if not file.is_file(follow_symlinks=False):
                    continue
                with contextlib.suppress(FileNotFoundError):
                    facts = file.stat(follow_symlinks=False)
                    is_unfinished = _TEMPORARY.fullmatch(file.name) is not None
                    if is_unfinished and facts.st_ctime < time.time() - _ABANDONED:
                        os.remove(file.path)
                    elif is_unfinished or _NAME.fullmatch(file.name):
                        yield _Kept(file.path, facts.st_size, facts.st_mtime)

    @contextlib.contextmanager
    def _ledger(self) -> Iterator[_Ledger]:
        """Give the count of used bytes, to which no other process has access meanwhile."""
        with self._lock:
            descriptor = os.open(self.folder / "used", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
            try:
                with contextlib.suppress(OSError):  # not every file system has locks: then the limit is less exact
                    lock_file(descriptor, wait=True)
                yield _Ledger(descriptor, self)
            finally:
                os.close(descriptor)

    def counted(self) -> int:
        """Return the bytes of all blocks and unfinished files, by looking at them."""
        return sum(block.size for block in self._kept())


@dataclass(frozen=True, slots=True)
class _Ledger:
    descriptor: int
    cache: BlockCache

    def read(self) -> int:
        text = os.pread(self.descriptor, 32, 0)
        return int(text) if text.isdigit() and len(text) < 20 else self.cache.counted()

    def write(self, used: int) -> None:
        os.ftruncate(self.descriptor, os.pwrite(self.descriptor, str(used).encode(), 0))


def _trailer(data: bytes | memoryview) -> bytes:
    return _MARK + _core.crc32c(data).to_bytes(4, "little")


_limits: dict[str, int] = {}  # by URL, as `rs.open(cache=...)` says
_shared: dict[tuple[str | int | None, ...], BlockCache] = {}


def limit_cache(urls: Iterable[str], limit: int) -> None:
    """Say how many bytes there may be in the cache when blocks of these objects are put into it; 0 keeps none."""
    for url in urls:
        _limits[url] = limit


def shared_cache(url: str | None = None) -> BlockCache:
    """Return the cache of this process, as the environment says now, with the limit for an object."""
    said = tuple(map(os.environ.get, ("RECORDSMITH_CACHE", "XDG_CACHE_HOME", "HOME", "RECORDSMITH_CACHE_LIMIT")))
    key = (*said, None if url is None else _limits.get(url))
    cache = _shared.get(key)
    if cache is None:
        limit = cache_limit() if key[-1] is None else int(key[-1])
        cache = _shared[key] = BlockCache(cache_folder().parent / "blocks", limit)
    return cache
