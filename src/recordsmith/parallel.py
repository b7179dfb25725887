"""Work on many pieces at once, with the results in the order of the pieces.

Native work (decoding pictures, parsing tables, encoding records) releases Python's lock and runs on threads. The user's
own functions are Python and run in processes: see process_pool.
"""

from __future__ import annotations

import contextlib
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import TypeVar

from recordsmith.errors import RecordsmithError

__all__ = ["default_workers", "in_order", "result_of", "thread_pool"]

T = TypeVar("T")
R = TypeVar("R")

_FEWER = "Try workers=1, or fewer; what was finished is kept: resume goes on from there."


def default_workers() -> int:
    """Return how many processors this process may use.

    >>> default_workers() >= 1
    True
    """
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_order(pool: Executor | None, work: Callable[[T], R], items: Iterable[T], *, ahead: int) -> Iterator[R]:
    """Give `work(item)` for each item, in order, with at most `ahead` items under way; without a pool, one by one.

    >>> with thread_pool(2) as pool:
    ...     list(in_order(pool, str.upper, "abc", ahead=4))
    ['A', 'B', 'C']
    """
    if pool is None:
        yield from map(work, items)
        return
    waiting: deque[Future[R]] = deque()
    try:
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) >= ahead:
                yield result_of(waiting.popleft(), _FEWER)
        while waiting:
            yield result_of(waiting.popleft(), _FEWER)
    finally:
        for future in waiting:
            future.cancel()


@contextlib.contextmanager
def thread_pool(workers: int) -> Iterator[Executor | None]:
    """Give a pool of threads, or None where one worker is all: then the work is done by the caller.

    >>> with thread_pool(1) as pool:
    ...     pool is None
    True
    """
    if workers <= 1:
        yield None
        return
    pool = ThreadPoolExecutor(workers, "recordsmith")
    try:
        yield pool
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def result_of(future: Future[R], advice: str) -> R:
    """Wait for a result; of a process that died meanwhile, say what may help."""
    try:
        return future.result()
    except RuntimeError as error:
        if type(error).__name__ not in ("TerminatedWorkerError", "BrokenProcessPool"):
            raise
        if "serialize" in str(error):  # loky's words for a pickle that cannot be read
            raise RecordsmithError(
                "What a function was given or returned cannot be sent between processes.",
                found=_cause(error),
                advice="Return numbers, texts, bytes and arrays.",
            ) from None
        raise RecordsmithError(
            "A worker process died.",
            found=str(error).splitlines()[0],
            advice=f"It may have run out of memory, or the function crashed Python. {advice}",
        ) from None


def _cause(error: BaseException) -> str:
    """The last line of what another process or thread told, which names the exception."""
    lines = str(error.__cause__ or error).strip().strip('"').strip().splitlines()
    return lines[-1] if lines else ""
