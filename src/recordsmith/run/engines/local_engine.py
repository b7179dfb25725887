"""The threads and processes of this machine."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from functools import partial
from itertools import tee
from typing import TypeVar

from recordsmith.formats.source import Chunk
from recordsmith.run.engines.engine import Engine, NumberedChunk, StagingWork
from recordsmith.run.staging.encoded_chunk import EncodedChunk
from recordsmith.run.staging.staging import Staging
from recordsmith.workers.processes import process_pool
from recordsmith.workers.threads import in_order, thread_pool

__all__ = ["LocalEngine"]

T = TypeVar("T")
R = TypeVar("R")
Encode = Callable[[Chunk], EncodedChunk]

_MOST_WRITERS = 4  # threads; more would wait for the disk

_encode: Encode | None = None  # of a worker process


class LocalEngine(Engine):
    """The threads of this process, and worker processes for the user's functions.

    Args:
        workers: how many work at a time.
    """

    def __init__(self, workers: int) -> None:
        self._workers = workers

    def stage(self, staging: Staging, work: StagingWork, chunks: Iterable[NumberedChunk]) -> Iterator[None]:
        """Encode chunks in parallel, and append them in order."""
        waiting: deque[NumberedChunk] = deque()

        def passed() -> Iterator[Chunk]:
            for chunk in chunks:
                waiting.append(chunk)
                yield chunk.chunk

        with self._pool(work) as (pool, encode):
            for encoded in in_order(pool, encode, passed(), ahead=self._workers + 1):
                number, _, encoded.split = waiting.popleft()
                staging.append(number, encoded)
                yield

    def each(self, work: Callable[[T], R], items: Iterable[T]) -> Iterator[tuple[T, R]]:
        """Do the work on threads."""
        workers = min(self._workers, _MOST_WRITERS)
        with thread_pool(workers) as pool:
            given, worked_on = tee(items)
            yield from zip(given, in_order(pool, work, worked_on, ahead=workers), strict=True)

    def in_order(self, work: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """Do the work on threads."""
        return (result for _, result in self.each(work, items))

    @contextlib.contextmanager
    def _pool(self, work: StagingWork) -> Iterator[tuple[Executor | None, Encode]]:
        if work.is_python and self._workers > 1:
            with process_pool(self._workers, partial(_remember, work.encode)) as processes:
                yield processes, _encode_in_process
            return
        with thread_pool(self._workers) as threads:
            yield threads, work.encode


def _remember(encode: Encode) -> None:
    global _encode  # noqa: PLW0603 - one for the life of a worker process
    _encode = encode


def _encode_in_process(chunk: Chunk) -> EncodedChunk:
    if _encode is None:
        raise RuntimeError("a worker process was not prepared")
    return _encode(chunk)
