"""The machines of a Ray cluster, which see the source and the staging folder under the same paths or URLs.

Tasks are small pieces of work (`ray_tasks`), and what they return is smaller still: everything large is in the shared
folder. A task whose machine or process died is tried again; one that ran out of memory is tried again with less at a
time. Two attempts at the same work leave the same files, of which one counts.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import ModuleType, TracebackType
from typing import Any, Generic, Self, TypeVar
from urllib.parse import urlsplit

from recordsmith.errors import RecordsmithError, advise, import_extra
from recordsmith.run.engines.chunk_groups import groups_of
from recordsmith.run.engines.engine import Engine, NumberedChunk, StagingWork
from recordsmith.run.engines.ray_tasks import Surroundings, WritePiece, call
from recordsmith.run.staging.staging import Staging

__all__ = ["RayEngine"]

T = TypeVar("T")
R = TypeVar("R")

_LOOPBACK = "127.0.0.2" if sys.platform == "linux" else "127.0.0.1"  # Ray replaces the latter by a public address
_MOST_ATTEMPTS = 6
_SECONDS_TO_CONNECT = 10.0
_SECONDS_WITHOUT = 300.0  # processors; new machines may be on their way
_SECONDS_TO_LOOK = 1.0  # for a result, before new machines are looked for
_AHEAD = 2  # tasks for each processor, so that none has to wait for the next one
_WINDOW = 4  # times as many: how far results may be ahead of the next one in order


@dataclass
class _Attempt(Generic[T]):
    item: T
    place: int  # of the item
    number: int = 1


class RayEngine(Engine):
    """A Ray cluster.

    Args:
        address: that of the cluster, or "auto". None: the one that this process is connected to, or that RAY_ADDRESS
            names, or a new one on this machine.
        workers: how many tasks run at a time; None: one for each processor.
    """

    def __init__(self, address: str | None, workers: int | None) -> None:
        self._address = address
        self._workers = workers
        self._surroundings = Surroundings.here()
        self._is_ours = False
        self._seen = 0.0  # when there was a processor

    @property
    def is_remote(self) -> bool:
        """Whether the work is done by other machines: it is."""
        return True

    @cached_property
    def _ray(self) -> ModuleType:
        return import_extra("ray", "ray", purpose="The engine 'ray'")

    def __enter__(self) -> Self:
        ray = self._ray
        if not ray.is_initialized():
            self._is_ours = True
            self._connect()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Disconnect, and end what was started."""
        if self._is_ours:
            self._ray.shutdown()

    def _connect(self) -> None:
        quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "warning"}
        if self._address is None and "RAY_ADDRESS" not in os.environ:
            # Nobody else is to use it: it listens on this machine alone.
            quiet |= {"include_dashboard": False, "num_cpus": self._workers, "_node_ip_address": _LOOPBACK}
            self._ray.init(address="local", **quiet)
            return
        address = self._address or os.environ["RAY_ADDRESS"]
        try:
            _check_listening(address)
            self._ray.init(address=self._address, **quiet)
        except (OSError, ValueError, RuntimeError) as error:
            raise RecordsmithError(
                "There is no Ray cluster at this address.",
                found=f"{address}: {str(error).splitlines()[0]}",
                expected="the address of a running cluster, such as 10.0.0.1:6379, or auto",
                advice="Start one with `ray start --head`, or leave the address out to use this machine.",
            ) from None

    def begin(self, plan: str, source: Sequence[str]) -> None:
        """Take the files that every machine must see."""
        self._surroundings = Surroundings.here(plan, source)

    def stage(self, staging: Staging, work: StagingWork, chunks: Iterable[NumberedChunk]) -> Iterator[None]:
        """Have groups of chunks encoded and written as pieces."""
        _carry_modules(work.functions)
        groups = groups_of(chunks, work, workers=self._processors())
        consecutive = (run for group in groups for run in _consecutive(group))
        for _, piece in self._done(WritePiece(staging.piece_writer, work.encode), consecutive, halves=True):
            staging.adopt(piece)
            yield

    def each(self, work: Callable[[T], R], items: Iterable[T]) -> Iterator[tuple[T, R]]:
        """Have the work done on each item."""
        return self._done(work, iter(items))

    def in_order(self, work: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """Have the work done on each item; results wait for their turn in the memory of the cluster."""
        return (result for _, result in self._done(work, iter(items), ordered=True))

    def _processors(self) -> int:
        found = int(self._ray.cluster_resources().get("CPU", 0))
        return max(1, found if self._workers is None else min(found, self._workers))

    def _check_processors(self) -> None:
        """Raise if the cluster has had no processor for some time: nobody would do the work."""
        if self._ray.cluster_resources().get("CPU", 0) >= 1:
            self._seen = time.monotonic()
        elif time.monotonic() - self._seen > _SECONDS_WITHOUT:
            raise RecordsmithError(
                "The Ray cluster has no processor.",
                found=f"none for {_SECONDS_WITHOUT:.0f} seconds",
                advice=advise(
                    "Add machines to the cluster, and continue with {resume}: finished work is kept.", resume=True
                ),
            )

    def _done(
        self, work: Callable[[T], R], items: Iterator[T], *, halves: bool = False, ordered: bool = False
    ) -> Iterator[tuple[T, R]]:
        """Have tasks done, several at a time, and give the results.

        Args:
            work: what is done.
            items: to each of them.
            halves: an item is a list that can be halved, if there is not enough memory for it.
            ordered: give the results in the order of the items, and not as they come.
        """
        ray = self._ray
        task = ray.remote(num_cpus=1, max_retries=0)(call)
        key = secrets.token_hex(8)
        shared = [ray.put(work)]
        again: deque[_Attempt[T]] = deque()
        waiting: dict[Any, _Attempt[T]] = {}
        finished: list[tuple[Any, _Attempt[T]]] = []
        numbered = enumerate(items)
        given = 0
        looked = self._seen = time.monotonic()
        limit = self._processors() * _AHEAD
        try:
            while True:
                while len(waiting) < limit and (again or len(waiting) + len(finished) < limit * _WINDOW):
                    if (attempt := _next(again, numbered)) is None:
                        break
                    waiting[task.remote(key, shared, attempt.item, self._surroundings)] = attempt
                if not waiting and not finished:
                    return
                ready = ray.wait(list(waiting), num_returns=1, timeout=_SECONDS_TO_LOOK)[0] if waiting else ()
                finished += [(reference, waiting.pop(reference)) for reference in ready]
                finished.sort(key=lambda one: one[1].place)
                while finished and (not ordered or finished[0][1].place == given):
                    reference, attempt = finished.pop(0)
                    try:
                        result = ray.get(reference)
                    except ray.exceptions.RayTaskError as error:
                        raise _cause(error) from None
                    except ray.exceptions.RayError as error:
                        again.extend(self._retried(attempt, error, halves=halves))
                        continue
                    given += 1
                    yield attempt.item, result
                if time.monotonic() - looked > _SECONDS_TO_LOOK:
                    looked = time.monotonic()
                    limit = self._processors() * _AHEAD
                    self._check_processors()
        finally:
            for reference in waiting:
                with contextlib.suppress(Exception):  # the cluster may be gone
                    ray.cancel(reference, force=True)

    def _retried(self, attempt: _Attempt[T], error: Exception, *, halves: bool) -> list[_Attempt[T]]:
        """Return what to try again after a machine or a process died: the same, or less if memory may be the reason.

        Ray says so where it ended a worker itself. The kernel says nothing, so a second death counts as well.
        """
        item: Any = attempt.item
        errors = self._ray.exceptions
        lacked_memory = isinstance(error, errors.OutOfMemoryError)
        lacked_memory |= isinstance(error, errors.WorkerCrashedError) and attempt.number > 0
        if lacked_memory and halves and len(item) > 1:
            half = len(item) // 2
            return [replace(attempt, item=item[:half]), replace(attempt, item=item[half:])]
        if attempt.number >= _MOST_ATTEMPTS:
            raise RecordsmithError(
                "A task of the Ray cluster failed on every attempt.",
                found=(str(error).strip().splitlines() or [type(error).__name__])[0],
                expected=f"success within {_MOST_ATTEMPTS} attempts",
                advice="Finished work is kept. Check the logs of Ray: a worker may have too little memory.",
            ) from error
        return [replace(attempt, number=attempt.number + 1)]


def _check_listening(address: str) -> None:
    """Raise OSError if nobody listens at the host and port of an address: Ray would try for minutes.

    An address of this machine is left to Ray, which may replace it by a public one.
    """
    place = urlsplit(address if "://" in address else f"//{address}")
    if place.hostname and place.port and place.hostname not in ("localhost", "127.0.0.1"):
        socket.create_connection((place.hostname, place.port), _SECONDS_TO_CONNECT).close()


def _next(again: deque[_Attempt[T]], items: Iterator[tuple[int, T]]) -> _Attempt[T] | None:
    """Return what to do next: first what has to be done again."""
    if again:
        return again.popleft()
    for place, item in items:
        return _Attempt(item, place)
    return None


def _consecutive(group: Sequence[NumberedChunk]) -> Iterator[list[NumberedChunk]]:
    """Cut a group where chunks are missing, because they are staged already."""
    run: list[NumberedChunk] = []
    for chunk in group:
        if run and chunk.number != run[-1].number + 1:
            yield run
            run = []
        run.append(chunk)
    if run:
        yield run


def _cause(error: Any) -> BaseException:
    """Return what was raised in a task."""
    cause = error.cause
    return (
        cause
        if isinstance(cause, BaseException)
        else RecordsmithError("A task of the Ray cluster failed.", found=str(error).strip().splitlines()[-1])
    )


def _carry_modules(functions: Iterable[Callable[..., Any]]) -> None:
    """Have the modules of the user's functions sent along, unless they are installed: the machines need not have them.

    Such a module is a file in the current folder. What it imports itself must be installed on the machines.
    """
    import ray.cloudpickle

    for function in functions:
        module = sys.modules.get(getattr(function, "__module__", None) or "")
        path = getattr(module, "__file__", None)
        if module is not None and path and module.__name__ != "__main__" and "site-packages" not in path:
            ray.cloudpickle.register_pickle_by_value(module)
