"""One version of a remote object, as the core reads it."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

from recordsmith.storage.objects import ObjectFolder, child_url
from recordsmith.storage.ranged.block_cache import BLOCK, BlockCache, shared_cache
from recordsmith.storage.ranged.requests import RequestThreads, network_failures, result_of
from recordsmith.workers.forking import renew_after_fork

__all__ = ["MEMORY", "RemoteObject", "announced_before", "in_background", "version_of", "waits"]

MEMORY = 256 << 20
"""How many bytes of blocks stay in memory, over all objects of the process."""

_BLOCKS_PER_REQUEST = 4
_WORTH_KEEPING = 4  # times the limit of the cache: of larger data, few blocks would be found again
_FIRST_AHEAD, _MOST_AHEAD = 4, 48  # blocks that are fetched before a reader in order asks for them
_READERS = 16  # that may read one object in order at the same time

T = TypeVar("T")
Range = tuple[int, int]
# A block of an object, or a range of it: (name, number) or (name, begin, end).
Key = tuple[Any, ...]
Buffer = bytes | memoryview


class _Arrived:
    """What is in memory and what is on its way, over all objects of the process."""

    def __init__(self) -> None:
        self.waits = 0
        self.forget()
        self.threads = RequestThreads()
        self.after_fork()
        renew_after_fork(self)

    def forget(self) -> None:
        """Begin with nothing in memory."""
        self.memory: OrderedDict[Key, Buffer] = OrderedDict()
        self.bytes = 0
        self._shared: dict[int, int] = {}  # how many blocks are parts of one answer, which stays as long as one of them
        self.sizes: dict[str, int] = {}  # of all objects that were read from
        self.size = 0  # of all of them together

    def after_fork(self) -> None:
        """Forget what other threads were at."""
        self.lock = threading.Lock()
        self.coming: dict[Key, Future[Buffer]] = {}

    def keep(self, key: Key, data: Buffer) -> None:
        """Keep what arrived. Needs the lock."""
        if key in self.memory:
            return
        self.memory[key] = data
        answer, size = _answer(data)
        self.bytes += 0 if answer in self._shared else size
        self._shared[answer] = self._shared.get(answer, 0) + 1
        while self.bytes > MEMORY and len(self.memory) > 1:
            self._let_go(self.memory.popitem(last=False)[1])

    def _let_go(self, data: Buffer) -> None:
        answer, size = _answer(data)
        left = self._shared.pop(answer) - 1
        if left:
            self._shared[answer] = left
        else:
            self.bytes -= size

    def taken(self, key: Key) -> Buffer | None:
        """Return what is in memory; a range is used only once. Needs the lock."""
        data = self.memory.get(key)
        if data is None:
            return None
        if len(key) == 2:
            self.memory.move_to_end(key)
        else:
            del self.memory[key]
            self._let_go(data)
        return data


def _answer(data: Buffer) -> tuple[int, int]:
    """Return what identifies the memory that some bytes are a part of, and its size."""
    whole: Any = data.obj if isinstance(data, memoryview) else data
    return id(whole), len(whole)


_arrived = _Arrived()


def version_of(etag: str, size: int) -> int:
    """Return the number of a version. The core takes it as an inode.

    Only the content counts: a copy of the object has the same index.
    """
    return int.from_bytes(hashlib.sha256(f"{etag}\n{size}".encode()).digest()[:8], "little")


def in_background(work: Callable[[], T]) -> Future[T]:
    """Do something on a thread that makes requests, when none is waited for."""
    return _arrived.threads.submit(work, urgent=False)


def waits() -> int:
    """Return how often somebody had to wait for the network."""
    return _arrived.waits


_thread = threading.local()


@contextmanager
def announced_before(*, in_windows: bool = False) -> Iterator[None]:
    """Say that this thread only reads what was announced: then single reads do not announce what follows them.

    If it reads in windows, every record of a block is read soon: no record is fetched alone.
    """
    _thread.has_announced, _thread.in_windows = True, in_windows
    try:
        yield
    finally:
        _thread.has_announced = _thread.in_windows = False


class RemoteObject:
    """An object of a store with the ETag that it had when it was opened. Any number of threads may use one.

    Args:
        folder: the folder that it is in.
        key: its name there.
        size: its bytes.
        etag: its version.
    """

    def __init__(self, folder: ObjectFolder, key: str, size: int, etag: str) -> None:
        self.folder, self.key, self.size, self.etag = folder, key, size, etag
        self.url = child_url(folder.url, key)
        digest = hashlib.sha256(f"{self.url}\n{etag}\n{size}".encode()).hexdigest()
        self.name = digest[:32]
        self.version = version_of(etag, size)
        self.next_use: Callable[[int], float] | None = None
        """When a block is used next, if somebody knows: seconds since 1970."""
        self._ahead: OrderedDict[int, int] = OrderedDict()  # of readers in order: the next block, and how far

    # --- what the core calls ---

    def fetch(self, ranges: Sequence[Range]) -> list[tuple[int, Buffer]]:
        """Return pieces that cover these ranges, with the position of each."""
        found, missing = self._in_memory(ranges)
        if not missing:
            return found
        parts = [part for one in ranges for part in _cut(one) if part[0] in missing]
        cache = self.cache()
        known, waited, unknown = self._looked_up(parts)
        found += known
        exact: list[Range] = []
        whole: list[int] = []
        in_windows = getattr(_thread, "in_windows", False)
        fetch_alone = len(ranges) > 1 and not in_windows and not self._fits_in_memory()
        for number, begin, end in unknown:
            first, size = number * BLOCK, self._block_size(number)
            if fetch_alone and end - begin < size // 2:
                data = cache.read(self.name, number, begin - first, end - first, size=size)
                if data is not None:
                    found.append((begin, data))
                    continue
                if not self._keeps_blocks(cache):
                    exact.append((begin, end))
                    continue
            whole.append(number)
        waited += self._request(whole, exact, urgent=True)
        if len(ranges) == 1 and not getattr(_thread, "has_announced", False):
            self._read_on(parts[0][0], parts[-1][0])
        if not all(future.done() for _, future in waited):
            _arrived.waits += 1
        return found + [(begin, result_of(future)) for begin, future in waited]

    def announce(self, ranges: Sequence[Range]) -> None:
        """Begin to fetch these ranges: they are asked for soon."""
        found, missing = self._in_memory(ranges)
        if self.next_use is not None:
            for place, _ in found:  # used from memory: the cache learns it here
                self.cache().expect(self.name, place // BLOCK, self.next_use(place // BLOCK))
        if not missing:
            return
        long = {n for begin, end in ranges if end - begin >= BLOCK for n in (begin // BLOCK, (end - 1) // BLOCK)}
        _, _, unknown = self._looked_up([part for one in ranges for part in _cut(one) if part[0] in missing], use=False)
        exact, whole = [], []
        cache = self.cache()
        reads_parts = not self._fits_in_memory()
        keeps_blocks = not reads_parts or self._keeps_blocks(cache)
        for number, begin, end in unknown:
            is_part = end - begin < self._block_size(number) // 2 and number not in long  # the edges of a long range
            if is_part and reads_parts and cache.has(self.name, number):
                continue  # a part is read from there when it is needed
            if is_part and not keeps_blocks:
                exact.append((begin, end))
            else:
                whole.append(number)
        self._request(whole, exact, urgent=False)

    def read(self, offset: int, size: int) -> bytes:
        """Return so many bytes from an offset on, or those up to the end."""
        begin, end = min(offset, self.size), min(offset + size, self.size)
        if begin == end:
            return b""
        pieces = sorted(self.fetch([(begin, end)]), key=lambda piece: piece[0])
        first = pieces[0][0]
        return b"".join(data for _, data in pieces)[begin - first : end - first]

    def read_once(self, offset: int, size: int) -> memoryview:
        """Return so many bytes from an offset on, by a request of their own; nothing of them is kept."""
        return self._get(offset, offset + size)

    def offer(self, data: bytes) -> None:
        """Keep the whole of a small object in memory, which was read otherwise."""
        if len(data) == self.size <= BLOCK:
            _came([(self.name, 0)], [data])

    def cache(self) -> BlockCache:
        """Return the cache that blocks of this object are kept in."""
        return shared_cache(self.url)

    # --- inside ---

    def _fits_in_memory(self) -> bool:
        """Say whether all objects that are read fit into memory: then parts of blocks are not worth a request."""
        if self.name not in _arrived.sizes:
            _arrived.sizes[self.name] = self.size
            _arrived.size = sum(_arrived.sizes.values())
        return _arrived.size <= MEMORY

    def _keeps_blocks(self, cache: BlockCache) -> bool:
        """Say whether a block is worth fetching for a part of it, since it will be in the cache for the others."""
        return _arrived.size <= _WORTH_KEEPING * cache.limit and cache.has_room()

    def _block_size(self, number: int) -> int:
        return min(BLOCK, self.size - number * BLOCK)

    def _in_memory(self, ranges: Sequence[Range]) -> tuple[list[tuple[int, Buffer]], set[int]]:
        """Return the blocks that are in memory, and the numbers of those that are not. Quick where all are."""
        numbers = {n for begin, end in ranges for n in range(begin // BLOCK, (end + BLOCK - 1) // BLOCK)}
        found, missing = [], set()
        memory, name = _arrived.memory, self.name
        with _arrived.lock:
            for number in numbers:
                data = memory.get((name, number))
                if data is None:
                    missing.add(number)
                else:
                    memory.move_to_end((name, number))  # also what is only announced stays
                    found.append((number * BLOCK, data))
        return found, missing

    def _looked_up(
        self, parts: Sequence[tuple[int, int, int]], *, use: bool = True
    ) -> tuple[list[tuple[int, Buffer]], list[tuple[int, Future[Buffer]]], list[tuple[int, int, int]]]:
        """Return what is in memory, what is on its way, and what is neither."""
        found: list[tuple[int, Buffer]] = []
        waited: list[tuple[int, Future[Buffer]]] = []
        missing: list[tuple[int, int, int]] = []
        with _arrived.lock:
            for number, begin, end in parts:
                for key, place in (((self.name, number), number * BLOCK), ((self.name, begin, end), begin)):
                    if key in _arrived.coming:
                        waited.append((place, _arrived.coming[key]))
                        break
                    if key in _arrived.memory:
                        data = _arrived.taken(key) if use else None
                        found += [] if data is None else [(place, data)]
                        break
                else:
                    missing.append((number, begin, end))
        return found, waited, missing

    def _read_on(self, first: int, last: int) -> None:
        """After a single range: if it follows another one, fetch what comes next, more of it each time."""
        with _arrived.lock:
            ahead = self._ahead.pop(first, None) or self._ahead.pop(first + 1, None)
            self._ahead[last + 1] = min(_MOST_AHEAD, 2 * ahead) if ahead else _FIRST_AHEAD
            while len(self._ahead) > _READERS:
                self._ahead.popitem(last=False)
        if ahead:
            begin, end = (last + 1) * BLOCK, min(self.size, (last + 1 + ahead) * BLOCK)
            if begin < end:
                self.announce([(begin, end)])

    def _request(
        self, blocks: Sequence[int], ranges: Sequence[Range], *, urgent: bool
    ) -> list[tuple[int, Future[Buffer]]]:
        """Send requests for blocks and ranges, unless somebody else did meanwhile."""
        futures: list[tuple[int, Future[Buffer]]] = []
        runs: list[list[int]] = []
        work: list[tuple[int, Callable[[], None]]] = []
        with _arrived.lock:
            for number in sorted(set(blocks)):
                key: Key = (self.name, number)
                if key not in _arrived.coming:
                    _arrived.coming[key] = Future()
                    if runs and runs[-1][-1] == number - 1 and len(runs[-1]) < _BLOCKS_PER_REQUEST:
                        runs[-1].append(number)
                    else:
                        runs.append([number])
                futures.append((number * BLOCK, _arrived.coming[key]))
            for begin, end in ranges:
                key = (self.name, begin, end)
                if key not in _arrived.coming:
                    _arrived.coming[key] = Future()
                    work.append((end - begin, partial(self._get_range, begin, end)))
                futures.append((begin, _arrived.coming[key]))
        work += [(len(run) * BLOCK, partial(self._get_blocks, run)) for run in runs]
        for size, one in work:
            _arrived.threads.submit(one, urgent=urgent, size=size)
        return futures

    def _get_blocks(self, run: list[int]) -> None:
        """Bring neighbouring blocks into memory: those that are in the cache from there, the others by one request."""
        cache = self.cache()
        while run and (data := self._from_cache(cache, run[0])) is not None:
            _came([(self.name, run[0])], [data])
            run = run[1:]
        if not run:
            return
        first = run[0] * BLOCK
        keys = [(self.name, number) for number in run]
        try:
            fetched = self._get(first, min(self.size, (run[-1] + 1) * BLOCK))
        except BaseException as error:  # noqa: BLE001 - raised by those who wait for it
            _failed(keys, error)
            return
        parts = [fetched[i * BLOCK : (i + 1) * BLOCK] for i in range(len(run))]
        _came(keys, parts)
        for number, part in zip(run, parts, strict=True):
            cache.put(self.name, number, part, expected=None if self.next_use is None else self.next_use(number))

    def _from_cache(self, cache: BlockCache, number: int) -> bytes | None:
        size = self._block_size(number)
        data = cache.read(self.name, number, 0, size, size=size)
        if data is not None and self.next_use is not None:
            cache.expect(self.name, number, self.next_use(number))
        return data

    def _get(self, begin: int, end: int) -> memoryview:
        with network_failures(self.url):
            return self.folder.get_range(self.key, begin, end, etag=self.etag)

    def _get_range(self, begin: int, end: int) -> None:
        keys = [(self.name, begin, end)]
        try:
            _came(keys, [self._get(begin, end)])
        except BaseException as error:  # noqa: BLE001 - raised by those who wait for it
            _failed(keys, error)


def _came(keys: Sequence[Key], parts: Sequence[Buffer]) -> None:
    with _arrived.lock:
        futures = [_arrived.coming.pop(key, None) for key in keys]
        for key, part in zip(keys, parts, strict=True):
            _arrived.keep(key, part)
    for future, part in zip(futures, parts, strict=True):
        if future is not None:
            future.set_result(part)


def _failed(keys: Sequence[Key], error: BaseException) -> None:
    with _arrived.lock:
        futures = [_arrived.coming.pop(key, None) for key in keys]
    for future in futures:
        if future is not None:
            future.set_exception(error)


def _cut(part: Range) -> list[tuple[int, int, int]]:
    """Cut a range at the edges of blocks.

    >>> _cut((BLOCK - 2, BLOCK + 3))
    [(0, 1048574, 1048576), (1, 1048576, 1048579)]
    """
    begin, end = part
    numbers = range(begin // BLOCK, -(-end // BLOCK))
    return [(n, max(begin, n * BLOCK), min(end, (n + 1) * BLOCK)) for n in numbers]
