"""Starting a run, and watching the memory of its process and of all that it starts."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.measuring.workers import PROJECT, PeerFailedError

_SECONDS_BETWEEN_LOOKS = 0.02
_PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class Run:
    """A run that ended well: its answer, the seconds from its start to its end, and the highest memory of all of it."""

    answer: dict[str, Any]
    seconds: float
    peak: int


def run(python: str, *words: object, log: Path) -> Run:
    """Run `python -m bench.makers`."""
    log.parent.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    with (
        log.open("a") as errors,
        subprocess.Popen(
            [python, "-m", "bench.makers", *map(str, words)],
            cwd=PROJECT,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as process,
        _watched(process.pid) as peak,
    ):
        output, _ = process.communicate()
    if process.returncode != 0:
        raise PeerFailedError(f"its process ended with code {process.returncode}; see {log}")
    return Run(json.loads(output.splitlines()[-1]), time.perf_counter() - start, peak[0])


@contextlib.contextmanager
def _watched(process: int) -> Iterator[list[int]]:
    peak = [0]
    done = threading.Event()

    def look() -> None:
        while not done.wait(_SECONDS_BETWEEN_LOOKS):
            peak[0] = max(peak[0], sum(map(_resident, _family(process))))

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield peak
    finally:
        done.set()
        thread.join()


def _family(process: int) -> Iterator[int]:
    """The process and everything below it."""
    yield process
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{process}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield from _family(int(child))


def _resident(process: int) -> int:
    with contextlib.suppress(OSError, IndexError):
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * _PAGE
    return 0
