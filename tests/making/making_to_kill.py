"""Runs of rs.make in processes of their own, to be killed.

    python -m tests.making.making_to_kill

imports everything once and then forks for each line of its input, so that a run costs no more than the making itself.
A line is {"recipe": ..., "out": ..., "kill_at": ..., "seconds": ..., "options": ...}. With `kill_at` the run kills
itself, and with it its whole group of processes, when its first thread is about to make that many-th call to the
operating system; without, it may be killed from outside. Answers are lines too: {"pid"} when it is started, and
{"status", "calls", "error"} when it is over.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import recordsmith as rs
from recordsmith.run.shards import shuffling
from recordsmith.run.splits import external_sort
from recordsmith.run.staging import pieces
from tests.formats.made_sources import Columns

ROOT = Path(__file__).resolve().parents[2]


def twice(row: dict[str, Any]) -> list[dict[str, Any]] | None:
    """A user's own function: leaves some rows out, and makes two of the others."""
    time.sleep(0.0005)
    if row["n"] % 7 == 0:
        return None
    return [row, {**row, "n": -row["n"]}]


def everything(seconds: float) -> tuple[Columns, dict[str, Any]]:
    """Rejects, groups, three stratified splits, balance, several shards of each."""
    rows = 600
    rng = np.random.default_rng(0)
    columns = {
        "n": [n if n % 50 else "bad" for n in range(rows)],
        "x": rng.normal(size=(rows, 5)).astype(np.float32),
        "label": (np.arange(rows) % 10 == 3).astype(np.int64),
        "note": [f"a note on row {n}" for n in range(rows)],
        "who": np.arange(rows) // 4,
    }
    schema = rs.Schema(
        {"n": rs.Scalar("int64"), "x": rs.Tensor("float32", (5,)), "label": rs.Label(["no", "yes"]), "note": rs.Text()}
    )
    source = Columns(columns, schema, chunk_rows=50, seconds=seconds, label="label")
    return source, {
        "split": "train=0.7,val=0.2,test=0.1",
        "stratify": "label",
        "group": "who",
        "balance": "oversample",
        "shards": 5,
        "workers": 2,
    }


def synthetic(seconds: float) -> tuple[Columns, dict[str, Any]]:
    """Rows that a sampler makes up, and compressed files."""
    rows = 300
    rng = np.random.default_rng(1)
    columns = {"x": rng.normal(size=(rows, 3)).astype(np.float32), "label": (np.arange(rows) % 6 == 0).astype(np.int64)}
    schema = rs.Schema({"x": rs.Tensor("float32", (3,)), "label": rs.Label(2)})
    source = Columns(columns, schema, chunk_rows=40, seconds=seconds, label="label")
    return source, {
        "split": "train=0.8,test=0.2", "balance": "SMOTE", "shards": 3, "compression": "gzip", "workers": 1,
    }  # fmt: skip


def words(seconds: float) -> tuple[Columns, dict[str, Any]]:
    """A vocabulary that is fitted on the training split."""
    rows = 300
    columns = {"text": [f"word{n % 17} and word{n % 5} of {n}" for n in range(rows)], "n": np.arange(rows)}
    source = Columns(columns, rs.Schema({"text": rs.Text(), "n": rs.Scalar("int64")}), chunk_rows=40, seconds=seconds)
    ids = rs.preprocessing.VocabularyIds("text", 40)
    return source, {"split": "train=rest,test=50", "preprocess": ids, "shards": 4, "workers": 2}


def mapped(seconds: float) -> tuple[Columns, dict[str, Any]]:
    """A function of the user's own, in processes."""
    columns = {"n": np.arange(400)}
    source = Columns(columns, rs.Schema({"n": rs.Scalar("int64")}), chunk_rows=20, seconds=seconds)
    return source, {"map": twice, "split": "train=0.8,test=0.2", "shards": 4, "workers": 2}


def dealt(seconds: float) -> tuple[Columns, dict[str, Any]]:
    """The way of splits that are too large to be read at random places: through buckets, and sorted through files."""
    external_sort._BUCKET_ENTRIES = 64
    shuffling.BUCKETS_ABOVE_BYTES, shuffling._BUCKET_BYTES, shuffling._PIECE_BYTES = 1000, 4000, 3000
    columns = {"n": np.arange(500), "label": np.arange(500) % 5 // 4}
    schema = rs.Schema({"n": rs.Scalar("int64"), "label": rs.Label(2)})
    source = Columns(columns, schema, chunk_rows=60, seconds=seconds, label="label")
    return source, {"split": "train=0.8,test=0.2", "balance": "oversample", "shards": 4, "workers": 2}


pieces._PIECE_ROWS = 70  # several pieces, of several chunks

RECIPES: dict[str, Callable[[float], tuple[Columns, dict[str, Any]]]] = {
    recipe.__name__: recipe for recipe in (everything, synthetic, words, mapped, dealt)
}


class Run:
    """A run that was started, and may be waited for or killed."""

    def __init__(self, nursery: subprocess.Popen[str], order: dict[str, Any]) -> None:
        assert nursery.stdin is not None
        assert nursery.stdout is not None
        self._answers = nursery.stdout
        nursery.stdin.write(json.dumps(order) + "\n")
        nursery.stdin.flush()
        self.pid: int = json.loads(self._answers.readline())["pid"]

    def kill(self) -> None:
        """Kill the run and every process that it has started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)

    def interrupt(self) -> None:
        """Do what Ctrl-C does: tell every process of the run."""
        os.killpg(self.pid, signal.SIGINT)

    def wait(self) -> dict[str, Any]:
        """Wait until it is over."""
        answer: dict[str, Any] = json.loads(self._answers.readline())
        for semaphore in Path("/dev/shm").glob(f"sem.loky-{self.pid}-*"):
            semaphore.unlink()  # of worker processes that were killed with all that would tidy up after them
        return answer


@contextlib.contextmanager
def nursery() -> Iterator[Callable[..., Run]]:
    """Give a function that starts runs, one after the other."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.making.making_to_kill"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )

    def start(recipe: str, out: Path, *, kill_at: int | None = None, seconds: float = 0.0, **options: bool) -> Run:
        order = {"recipe": recipe, "out": str(out), "kill_at": kill_at, "seconds": seconds, "options": options}
        return Run(process, order)

    try:
        yield start
    finally:
        process.communicate()


def _make(order: dict[str, Any], count: Callable[[], None]) -> None:
    source, options = RECIPES[order["recipe"]](order["seconds"])

    def on_progress(progress: Any) -> None:
        if progress.phase != "reading":
            time.sleep(order["seconds"])

    def on_call(_: object, event: str, called: Any) -> None:
        # Everything that changes a file or a folder goes through one of these two modules.
        if event == "c_call" and (
            getattr(called, "__module__", None) in ("posix", "_io")
            or type(getattr(called, "__self__", None)).__module__ in ("posix", "_io", "recordsmith._core")
        ):
            count()

    sys.setprofile(on_call)
    try:
        rs.make(source, order["out"], name="data", on_progress=on_progress, **options, **order["options"])
    finally:
        sys.setprofile(None)


def _run(order: dict[str, Any], report: str) -> None:
    calls = 0

    def count() -> None:
        nonlocal calls
        calls += 1
        if calls == order["kill_at"]:
            os.killpg(0, signal.SIGKILL)

    error = None
    try:
        _make(order, count)
    except BaseException as problem:  # noqa: BLE001 - passed on to the test
        error = f"{type(problem).__name__}: {problem}"
    Path(report).write_text(json.dumps({"calls": calls, "error": error}))


def _answer(answer: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def _nurse() -> None:
    for line in sys.stdin:
        order = json.loads(line)
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder) / "report.json"
            ready, started = os.pipe()
            child = os.fork()
            if child == 0:
                os.setsid()
                os.close(ready)
                os.close(started)
                _run(order, str(report))
                sys.stdout.flush()
                os._exit(0)
            os.close(started)
            os.read(ready, 1)  # the end of the pipe: the child has a group of its own
            os.close(ready)
            _answer({"pid": child})
            _, status = os.waitpid(child, 0)
            answer = json.loads(report.read_text()) if report.exists() else {"calls": None, "error": None}
            _answer({"status": os.waitstatus_to_exitcode(status), **answer})


def _import_everything() -> None:
    """Import what the runs need, or each of them would have to, in thousands of calls."""
    for part in ("over_sampling", "under_sampling", "combine"):
        importlib.import_module(f"imblearn.{part}")
    for recipe in (everything, words):
        source, options = recipe(0.0)
        with tempfile.TemporaryDirectory() as folder:
            rs.make(source, f"{folder}/out", **{**options, "workers": 1})


if __name__ == "__main__":
    _import_everything()
    assert threading.active_count() == 1, "only a process with one thread may fork"
    _nurse()
