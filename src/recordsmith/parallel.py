"""Work on many pieces at once, with the results in the order of the pieces.

Native work (decoding pictures, parsing tables, encoding records) releases Python's lock and runs on threads. The user's
own functions are Python and run in processes, through loky: it carries functions of any module, also lambdas and those
of a script without `if __name__ == "__main__"`, and says so when a process dies instead of waiting for it for ever.
"""

from __future__ import annotations

import contextlib
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any, TypeVar

from recordsmith.errors import RecordsmithError, import_extra

__all__ = ["default_workers", "in_order", "process_pool", "thread_pool"]

T = TypeVar("T")
R = TypeVar("R")


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
                yield _result(waiting.popleft())
        while waiting:
            yield _result(waiting.popleft())
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


@contextlib.contextmanager
def process_pool(workers: int, prepare: Callable[..., None], *arguments: Any) -> Iterator[Executor]:
    """Give a pool of processes, each of which calls `prepare(*arguments)` first."""
    loky = import_extra("loky", extra="make", purpose="running a Python function (map=) in worker processes")
    pool = loky.ProcessPoolExecutor(workers, initializer=_prepare, initargs=(prepare, arguments))
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=True, kill_workers=True)
        raise
    pool.shutdown(wait=True)


def _prepare(prepare: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    import signal

    # Ctrl-C goes to the whole group of processes; it is for the first of them to end the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    prepare(*arguments)


def _result(future: Future[R]) -> R:
    try:
        return future.result()
    except RuntimeError as error:
        if type(error).__name__ not in ("TerminatedWorkerError", "BrokenProcessPool"):
            raise
        raise RecordsmithError(
            "A worker process died.",
            found=str(error).splitlines()[0],
            advice="It may have run out of memory, or the map function crashed Python. "
            "Try workers=1, or fewer; what was finished is kept: resume goes on from there.",
        ) from None
