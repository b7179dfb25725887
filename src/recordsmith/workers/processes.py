"""Worker processes for the user's Python functions, which cannot run in parallel on threads.

They come from loky: it carries functions of any module, also lambdas and those of a script without
`if __name__ == "__main__"`, and says so when a process dies instead of waiting for it for ever.

Ctrl-C goes to a whole group of processes at once. It is held back while one is started, so that none is caught half
made, with a traceback; what it does afterwards, a pool says.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from multiprocessing import resource_tracker
from typing import ParamSpec, TypeVar

from recordsmith.errors import import_extra
from recordsmith.workers.error_transport import with_picklable_errors
from recordsmith.workers.threads import result_of

__all__ = ["ProcessPool", "call_in_process", "process_pool"]

P = ParamSpec("P")
R = TypeVar("R")

_IDLE_SECONDS = 10  # after which a process of the shared pool ends
_FEEDER_SECONDS = 10  # how long a thread that has nothing left to send may take to end
_PARENT_SECONDS = 0.5  # between two looks whether the parent process is still there

_shared: tuple[int, ProcessPool] | None = None  # the process that made it, and the pool
_sharing = threading.Lock()


class ProcessPool(Executor):
    """Processes that are started quietly and end without a trace."""

    def __init__(
        self, workers: int | None, prepare: Callable[[], None], *, on_interrupt: signal.Handlers, idle: int | None
    ) -> None:
        loky = import_extra("loky", extra="make", purpose="running a Python function in worker processes")
        self._pool = loky.ProcessPoolExecutor(
            workers, timeout=idle, initializer=_begin, initargs=(os.getpid(), on_interrupt, prepare)
        )

    def submit(self, work: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        """Have a call done by one of the processes; the first call starts them all."""
        resource_tracker.ensure_running()  # here, as starting it lets interrupts through again (Python 3.11)
        with _interrupts_held_back():
            future: Future[R] = self._pool.submit(with_picklable_errors, work, *args, **kwargs)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002 - as in Executor
        """End the processes: when their work is done, or at once with `cancel_futures`."""
        # loky does not wait for the thread that feeds its queue. The thread may be the last to hold a semaphore, and
        # at the end of the program it was stopped between removing one and telling so: loky then warned of a leak.
        queue = getattr(self._pool, "_call_queue", None)
        self._pool.shutdown(wait=wait, kill_workers=cancel_futures)
        feeder = getattr(queue, "_thread", None)
        if wait and feeder is not None:
            feeder.join(_FEEDER_SECONDS)


@contextlib.contextmanager
def process_pool(workers: int, prepare: Callable[[], None]) -> Iterator[Executor]:
    """Give a pool whose processes call `prepare()` first and leave Ctrl-C to the first process, which ends them."""
    pool = ProcessPool(workers, prepare, on_interrupt=signal.SIG_IGN, idle=None)
    try:
        yield pool
    except BaseException:
        pool.shutdown(cancel_futures=True)
        raise
    pool.shutdown()


def call_in_process(work: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
    """Have a call done by one of the processes that all threads share, and wait for it.

    Ctrl-C ends these processes, whatever they are at; the next call starts new ones.
    """
    pool = _shared_pool()
    try:
        future = pool.submit(work, *args, **kwargs)
    except RuntimeError:  # its processes have been ended
        future = _shared_pool(instead_of=pool).submit(work, *args, **kwargs)
    return result_of(future, "Try processes=False, which runs the function on threads and shows where it fails.")


def _shared_pool(*, instead_of: ProcessPool | None = None) -> ProcessPool:
    global _shared  # noqa: PLW0603 - one for all threads of a process
    with _sharing:
        if _shared is None:
            atexit.register(_end_shared_pool)
        if _shared is None or _shared[0] != os.getpid() or _shared[1] is instead_of:
            pool = ProcessPool(None, _nothing, on_interrupt=signal.SIG_DFL, idle=_IDLE_SECONDS)
            _shared = os.getpid(), pool
        return _shared[1]


def _after_fork() -> None:
    global _sharing  # noqa: PLW0603 - another thread may have held it, and is not in this process
    _sharing = threading.Lock()


def _end_shared_pool() -> None:
    if _shared is not None and _shared[0] == os.getpid():
        _shared[1].shutdown()


def _begin(parent: int, on_interrupt: signal.Handlers, prepare: Callable[[], None]) -> None:
    """Start a worker process: from now on, Ctrl-C does what the pool says."""
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    signal.signal(signal.SIGINT, on_interrupt)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    prepare()


def _end_with(parent: int) -> None:
    """End this process when the one that started it is gone without a word: killed, or out of memory."""
    while os.getppid() == parent:
        time.sleep(_PARENT_SECONDS)
    os._exit(1)


def _nothing() -> None:
    """Nothing has to be prepared."""


@contextlib.contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Hold Ctrl-C back from this thread, and from the processes that it starts, until the block ends."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


os.register_at_fork(after_in_child=_after_fork)
