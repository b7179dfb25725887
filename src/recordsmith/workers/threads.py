"""Runs work in parallel, and returns the results in order.

Native work (decoding images, parsing tables, encoding records) releases Python's lock and runs on threads. The user's
own functions are Python and run in processes: see process_pool.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Generic, TypeVar

from recordsmith.errors import RecordsmithError

__all__ = ["default_workers", "in_order", "result_of", "thread_pool"]

T = TypeVar("T")
R = TypeVar("R")

_FEWER = "Try fewer workers, such as workers=1. Finished work is kept: resume continues from there."


def default_workers() -> int:
    """Return how many processors this process may use."""
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
    getpid = os.getpid  # when a program ends, the modules are emptied before the last generators are closed
    owner = getpid()
    try:
        for item in items:
            waiting.append(_submitted(pool, work, item))
            if len(waiting) >= ahead:
                yield result_of(waiting.popleft(), _FEWER)
        while waiting:
            yield result_of(waiting.popleft(), _FEWER)
    finally:
        if getpid() == owner:  # a fork leaves the threads behind, and whatever they held
            for future in waiting:
                future.cancel()


def _submitted(pool: Executor, work: Callable[[T], R], item: T) -> Future[R]:
    """Submit one piece of work; where a pool of threads does not take it, do it here.

    The system may give no more threads, and once the main thread has ended, Python's pools take no more work.
    """
    if not isinstance(pool, ThreadPoolExecutor):
        return pool.submit(work, item)
    task = _Task(work, item)
    try:
        pool.submit(task.run)
    except RuntimeError:
        task.run()  # unless a thread of the pool has already started it
    return task.future


class _Task(Generic[T, R]):
    """A piece of work that is done once, by whoever comes first."""

    def __init__(self, work: Callable[[T], R], item: T) -> None:
        self.future: Future[R] = Future()
        self._waiting = deque([(work, item)])

    def run(self) -> None:
        try:
            work, item = self._waiting.pop()
        except IndexError:  # it is done, or under way
            return
        if not self.future.set_running_or_notify_cancel():
            return
        try:
            self.future.set_result(work(item))
        except BaseException as error:  # noqa: BLE001 - it is raised where the result is asked for
            self.future.set_exception(error)


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
    # When a program ends, the modules are emptied before the last generators are closed, and the threads have ended.
    getpid, is_finalizing = os.getpid, sys.is_finalizing
    owner = getpid()
    try:
        yield pool
    finally:
        if getpid() == owner and not is_finalizing():
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
                "An argument or a result of the function cannot be sent between processes.",
                found=_cause(error),
                advice="Use numbers, strings, bytes and arrays as arguments and results.",
            ) from None
        raise RecordsmithError(
            "A worker process died.",
            found=str(error).splitlines()[0],
            advice=f"It may have run out of memory, or the function crashed Python. {advice}",
        ) from None


def _cause(error: BaseException) -> str:
    """The last line of the traceback of another process or thread, which names the exception."""
    lines = str(error.__cause__ or error).strip().strip('"').strip().splitlines()
    return lines[-1] if lines else ""
