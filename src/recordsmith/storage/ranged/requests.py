"""Requests in the background, on threads that never keep a program from ending.

The threads are daemons, started as needed. What somebody waits for goes before what was only announced. Of that, only
some bytes are on their way at first, so that the first ones have a slow network for themselves; each answer lets twice
its bytes follow, so that after a few round trips a fast one is full. After a fork the child has no threads, and starts
its own.
"""

from __future__ import annotations

import errno
import heapq
import itertools
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from recordsmith.errors import ChangedFileError, RecordsmithError
from recordsmith.storage.objects import without_secrets
from recordsmith.workers.forking import renew_after_fork

__all__ = [
    "ReadingStopped",
    "RemoteReadError",
    "RequestThreads",
    "Waiting",
    "network_failures",
    "result_of",
    "stopped_by_ctrl_c",
]

T = TypeVar("T")

_MOST = 64  # requests at a time
_FIRST_BYTES, _MOST_BYTES = 64 << 20, 256 << 20  # of what was announced that are on their way at a time
_LOOK = 0.2  # seconds between two looks at whether to stop


class ReadingStopped(RuntimeError):  # noqa: N818 - it is no error of the data: somebody ended the reading
    """A read was given up because whoever wanted it has ended."""


class RemoteReadError(ConnectionError):
    """Bytes of a remote file did not come, for all that was tried.

    Like the failure of a disk it says nothing about the data, so it is no RecordsmithError: whatever passes over
    damaged records, or counts them, must not do so here.
    """


@contextmanager
def network_failures(url: str) -> Iterator[None]:
    """Raise failures of the network as RemoteReadError; a changed or missing object stays what it is."""
    try:
        yield
    except ChangedFileError:
        raise
    except RecordsmithError as error:
        failure = RemoteReadError(errno.EIO, error.problem.rstrip("."), without_secrets(url))
        for label, text in (("found", error.found), ("to do", error.advice)):
            if text is not None:
                failure.add_note(f"{label}: {text}")
        raise failure from None


class RequestThreads:
    """Does pieces of work, the urgent ones first."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._order = itertools.count()
        self.after_fork()
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Begin without threads and without work."""
        self._waiting: list[tuple[int, int, _Task]] = []
        self._threads = 0
        self._idle = 0
        self._on_their_way, self._allowed = 0, _FIRST_BYTES
        self._changed = threading.Condition()

    def submit(self, work: Callable[[], T], *, urgent: bool, size: int = 0) -> Future[T]:
        """Return the future of a piece of work, which brings so many bytes."""
        future: Future[T] = Future()
        with self._changed:
            task = _Task(future, work, 0 if urgent else size)
            heapq.heappush(self._waiting, (0 if urgent else 1, next(self._order), task))
            if self._idle >= len(self._waiting) or self._threads >= self._most:
                self._changed.notify()
                return future
            self._threads += 1
        try:
            threading.Thread(target=self._work, name="recordsmith-requests", daemon=True).start()
        except RuntimeError:  # the system gives no more threads
            with self._changed:
                self._threads -= 1
                alone = heapq.heappop(self._waiting)[2] if self._threads == 0 and self._waiting else None
            if alone is not None:
                alone.do()
        return future

    def _work(self) -> None:
        while True:
            with self._changed:
                self._idle += 1
                self._changed.wait_for(self._may_begin)
                self._idle -= 1
                task = heapq.heappop(self._waiting)[2]
                self._on_their_way += task.size
                if self._waiting:
                    self._changed.notify()
            task.do()
            with self._changed:
                self._on_their_way -= task.size
                self._allowed = min(_MOST_BYTES, self._allowed + task.size)
                self._changed.notify()

    def _may_begin(self) -> bool:
        if not self._waiting:
            return False
        size = self._waiting[0][2].size
        return not size or not self._on_their_way or self._on_their_way + size <= self._allowed


@dataclass(frozen=True, slots=True)
class _Task:
    future: Future[Any]
    work: Callable[[], Any]
    size: int  # bytes of what was announced

    def do(self) -> None:
        if not self.future.set_running_or_notify_cancel():
            return
        try:
            self.future.set_result(self.work())
        except BaseException as error:  # noqa: BLE001 - it is raised where the result is asked for
            self.future.set_exception(error)


class Waiting:
    """Everything that some threads wait for, so that all of it can be given up at once.

    >>> waiting = Waiting()
    >>> with waiting.mine():
    ...     waiting.stop()
    ...     result_of(Future())
    Traceback (most recent call last):
    recordsmith.storage.ranged.requests.ReadingStopped: Reading was stopped.
    """

    def __init__(self) -> None:
        self._stopped = threading.Event()

    def stop(self) -> None:
        """Give up what is waited for, now and later."""
        self._stopped.set()

    @property
    def is_stopped(self) -> bool:
        """Whether it was given up."""
        return self._stopped.is_set()

    @contextmanager
    def mine(self) -> Iterator[None]:
        """Count what this thread waits for as part of it."""
        before = getattr(_thread, "waiting", None)
        _thread.waiting = self
        try:
            yield
        finally:
            _thread.waiting = before


_thread = threading.local()
_others = [Waiting()]  # the last one: of all threads that are part of no other


@contextmanager
def stopped_by_ctrl_c() -> Iterator[None]:
    """Let all threads that wait, except those of a loader, give up if Ctrl-C ends what they are needed for."""
    try:
        yield
    except KeyboardInterrupt:
        _others.append(Waiting())
        _others.pop(0).stop()
        raise


def result_of(future: Future[T]) -> T:
    """Wait for a result, unless whoever wants it has ended. Also lets signals through."""
    waiting: Waiting = getattr(_thread, "waiting", None) or _others[-1]
    while True:
        if waiting.is_stopped:
            raise ReadingStopped("Reading was stopped.")
        try:
            return future.result(_LOOK)
        except TimeoutError:
            if future.done():
                raise  # it is what the work raised
