"""Where the worker processes of a DataLoader are: asked by a signal, they write down the lines that they execute."""

from __future__ import annotations

import faulthandler
import gc
import multiprocessing
import os
import re
import shutil
import signal
import tempfile
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from recordsmith.doctor.diagnose.observing.drawing import is_users, place_text

__all__ = ["WorkerPlaces"]

_FRAME = re.compile(r'  File "(.+)", line (\d+) in (.+)')
_PATIENCE = 2.0  # seconds: writing a few lines takes milliseconds, unless the machine is busy


class WorkerPlaces:
    """Asks the workers of a DataLoader where they are.

    >>> WorkerPlaces().innermost()
    ''
    """

    def __init__(self) -> None:
        self._folder = ""

    @contextmanager
    def noted(self, loader: Any) -> Iterator[None]:
        """Let the workers that are started meanwhile answer; the loader is as before afterwards."""
        able = hasattr(faulthandler, "register") and hasattr(loader, "worker_init_fn")
        if not able or not getattr(loader, "num_workers", 0):
            yield
            return
        if not self._folder:
            self._folder = tempfile.mkdtemp(prefix="recordsmith-")
            weakref.finalize(self, _remove, self._folder, os.getpid())
        before = loader.worker_init_fn
        loader.worker_init_fn = _Answering(self._folder, before)
        gc.collect()  # a worker must not inherit garbage: see _Answering
        try:
            yield
        finally:
            loader.worker_init_fn = before

    def innermost(self) -> str:
        """Return the innermost line of the user's code that a worker executes; empty if that is not known."""
        if not self._folder:
            return ""
        running = {str(child.pid) for child in multiprocessing.active_children()}
        asked = sorted(running & set(os.listdir(self._folder)))
        for number in asked:
            os.kill(int(number), signal.SIGUSR1)
        until = time.monotonic() + _PATIENCE
        waiting = [os.path.join(self._folder, number) for number in asked]
        while waiting and time.monotonic() < until:
            time.sleep(0.05)
            for path in list(waiting):
                with open(path, encoding="utf-8", errors="replace") as file:
                    answer = file.read()
                found = next((frame for frame in _FRAME.findall(answer) if is_users(frame[0])), None)
                if found is not None:
                    return f"{place_text(found[0], int(found[1]), found[2])} (in a worker process)"
                if answer.endswith("\n") and "most recent call first" in answer:
                    waiting.remove(path)
        return ""


def _remove(folder: str, process: int) -> None:
    """Remove a folder, in the process that made it: workers have a copy of everything."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


class _Answering:
    """A worker_init_fn that lets the worker answer, and then does what the user's own does."""

    def __init__(self, folder: str, inner: Callable[[int], object] | None) -> None:
        self._folder, self._inner = folder, inner

    def __call__(self, worker: int) -> None:
        # A forked worker that collects what its parent left of a tf.data pipeline crashes: its threads are not there.
        gc.freeze()
        path = os.path.join(self._folder, str(os.getpid()))
        self._file = open(path, "w", encoding="utf-8")  # noqa: SIM115 - open as long as the worker runs
        faulthandler.register(signal.SIGUSR1, file=self._file)
        if self._inner is not None:
            self._inner(worker)
