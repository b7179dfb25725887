"""Runs of everything that writes, in processes in which one call to the operating system fails or kills.

    LD_PRELOAD=failing_calls.so python -m tests.storage.publication.failing_runs

imports everything once and then forks for each line of its input, {"scenario", "folder", "mode", "errno", "nth"}. The
answer is {"status", "kinds", "hit", "error"}: how the process ended, which calls it made, which kind of call went
wrong, and what was raised. A scenario works in one folder:

    prepare     writes what is there before, the old files of the output among it
    run         does the work that goes wrong, and may be done again
    again       does it once more afterwards: resumed, or over what is there
    output      the folder, or file, that is written, below the folder
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import recordsmith as rs
from recordsmith.dataset.index_report import export_indexes, keep_indexes

ROOT = Path(__file__).resolve().parents[3]
MODES = {"fail": 1, "fail on": 2, "shorten": 3, "kill": 4}
SCHEMA = rs.Schema({"n": rs.Scalar("int64"), "label": rs.Label(["a", "b"]), "text": rs.Text()})
OLD, NEW = 1000, 0  # where the numbers of the rows begin


class StopError(Exception):
    """A run that is to be resumed was stopped."""


@dataclass(frozen=True)
class Scenario:
    prepare: Callable[[Path], object]
    run: Callable[[Path], object]
    again: Callable[[Path], object]
    output: str = "out"
    opens: bool = True  # it is a dataset, which rs.open opens
    one_switch: bool = True  # its files are published together


def rows(first: int, count: int = 40) -> list[dict[str, Any]]:
    return [{"n": first + n, "label": n % 2, "text": f"text {n}"} for n in range(count)]


def write(folder: Path, first: int, **options: Any) -> None:
    with rs.write(folder, SCHEMA, name="data", **options) as writer:
        writer.extend(rows(first))


def table(path: Path, first: int) -> None:
    lines = [f"{row['n']},{'ab'[row['label']]},{row['text']}\n" for row in rows(first)]
    path.write_text("n,label,text\n" + "".join(lines))


def make(folder: Path, **options: Any) -> None:
    settings = {"split": "train=0.75,test=0.25", "shards": 2, "workers": 1, "name": "data", **options}
    rs.make(folder / "new.csv", folder / "out", **settings)


def made_before(folder: Path) -> None:
    table(folder / "new.csv", NEW)
    table(folder / "old.csv", OLD)
    rs.make(folder / "old.csv", folder / "out", shards=3, workers=1, name="data")


def unfinished(folder: Path) -> None:
    """A run that replaces a dataset, stopped when its first shard is written."""
    made_before(folder)

    def stop(progress: Any) -> None:
        if progress.phase == "writing" and progress.done:
            raise StopError

    with contextlib.suppress(StopError):
        make(folder, overwrite=True, on_progress=stop)


def input_dataset(folder: Path) -> None:
    write(folder / "in", NEW, split="train", shards=2)
    write(folder / "in", NEW + 100, split="test")


def copy(folder: Path, out: str = "out", **options: Any) -> None:
    rs.copy(folder / "in", folder / out, **{"name": "data", "shards": 3, "workers": 1, **options})


def copied_before(folder: Path) -> None:
    input_dataset(folder)
    write(folder / "out", OLD, shards=4)


def copy_file(folder: Path, **options: Any) -> None:
    rs.copy(folder / "in", folder / "out.tfrecord", workers=1, from_split="train", **options)


def file_before(folder: Path) -> None:
    input_dataset(folder)
    with rs.RecordWriter(folder / "out.tfrecord") as writer:
        writer.write_rows(rows(OLD), SCHEMA)


def export(folder: Path, out: str, **options: Any) -> None:
    rs.export(folder / "in", folder / out, workers=1, **options)


def exported_before(out: str, **options: Any) -> Callable[[Path], None]:
    def prepare(folder: Path) -> None:
        write(folder / "in", OLD, split="train", shards=2)
        write(folder / "in", OLD + 100, split="test")
        export(folder, out, **options)
        write(folder / "in", NEW, split="train", shards=2, overwrite=True)
        write(folder / "in", NEW + 100, split="test", overwrite=True)

    return prepare


def exporting(out: str, **options: Any) -> Scenario:
    def run(folder: Path) -> None:
        export(folder, out, overwrite=True, **options)

    return Scenario(exported_before(out, **options), run, run, out, opens=False)


def damage(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(200)
        file.write(bytes(30))


def damaged(folder: Path) -> None:
    input_dataset(folder)
    damage(folder / "in" / "data-train.tfrecord-00001-of-00002")
    write(folder / "out", OLD, shards=3)


def damaged_file(folder: Path) -> None:
    with rs.RecordWriter(folder / "in.tfrecord.gz", "gzip") as writer:
        writer.write_rows(rows(NEW), SCHEMA)
    damage(folder / "in.tfrecord.gz")
    with rs.RecordWriter(folder / "out.tfrecord.gz", "gzip") as writer:
        writer.write_rows(rows(OLD), SCHEMA)


def repair(folder: Path) -> None:
    rs.repair(folder / "in", folder / "out", overwrite=True)


def repair_file(folder: Path) -> None:
    rs.repair(folder / "in.tfrecord.gz", folder / "out.tfrecord.gz", overwrite=True)


def records(folder: Path) -> None:
    with rs.RecordWriter(folder / "out.tfrecord") as writer:
        writer.write_rows(rows(NEW), SCHEMA)


def indexed_before(folder: Path) -> None:
    write(folder / "out", NEW, shards=2)


def index(folder: Path) -> None:
    list(keep_indexes(sorted(map(str, (folder / "out").glob("data-*[0-9]"))), rebuild=True))


def text_index(folder: Path) -> None:
    list(export_indexes(sorted(map(str, (folder / "out").glob("data-*[0-9]"))), format="dali"))


def only_source(folder: Path) -> None:
    table(folder / "new.csv", NEW)


def overwriting(function: Callable[..., object], **options: Any) -> Callable[[Path], object]:
    return lambda folder: function(folder, overwrite=True, **options)


def write_new(folder: Path, *, overwrite: bool = False) -> None:
    write(folder / "out", NEW, shards=2, overwrite=overwrite)


def write_other_split(folder: Path, *, overwrite: bool = False) -> None:
    write(folder / "out", NEW, split="test", shards=2, overwrite=overwrite)


SCENARIOS = {
    "make": Scenario(only_source, make, overwriting(make)),
    "make over another": Scenario(made_before, overwriting(make), overwriting(make)),
    "make, resumed": Scenario(
        unfinished, lambda folder: make(folder, resume=True), lambda folder: make(folder, resume=True)
    ),
    "write": Scenario(lambda _: None, write_new, overwriting(write_new)),
    "write over another": Scenario(
        lambda folder: write(folder / "out", OLD, shards=3), overwriting(write_new), overwriting(write_new)
    ),
    "write another split": Scenario(
        lambda folder: write(folder / "out", OLD, shards=3), write_other_split, overwriting(write_other_split)
    ),
    "copy": Scenario(input_dataset, copy, overwriting(copy)),
    "copy over another": Scenario(copied_before, overwriting(copy), overwriting(copy)),
    "copy, changed": Scenario(copied_before, overwriting(copy, drop=["text"]), overwriting(copy, drop=["text"])),
    "copy to a file": Scenario(input_dataset, copy_file, overwriting(copy_file), "out.tfrecord"),
    "copy over a file": Scenario(file_before, overwriting(copy_file), overwriting(copy_file), "out.tfrecord"),
    "export to Parquet": exporting("out.parquet", split="train"),
    "export to CSV": exporting("out.csv", split="train"),
    "export to compressed JSON lines": exporting("out.jsonl.gz", split="train"),
    "export to WebDataset": exporting("out.tar", split="train"),
    "export to several files": exporting("out.csv", split="train", shard_size=10),
    "export to a folder": exporting("out", to="jsonl"),
    "repair": Scenario(damaged, repair, repair),
    "repair a file": Scenario(damaged_file, repair_file, repair_file, "out.tfrecord.gz"),
    "RecordWriter": Scenario(file_before, records, records, "out.tfrecord"),
    "index": Scenario(indexed_before, index, index),
    "text index": Scenario(indexed_before, text_index, text_index, one_switch=False),
}


# --- the process that forks ---


class Runs:
    """Starts runs, one after the other, in a process that has everything imported."""

    def __init__(self, library: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.storage.publication.failing_runs"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, "LD_PRELOAD": str(library), "ARROW_IO_THREADS": "1", "OMP_NUM_THREADS": "1"},
        )

    def __call__(
        self, scenario: str, folder: Path, mode: str = "fail", errno: int = 5, nth: int = -1
    ) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        order = {"scenario": scenario, "folder": str(folder), "mode": mode, "errno": errno, "nth": nth}
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer

    def close(self) -> None:
        self._process.communicate()


@contextlib.contextmanager
def runs(library: Path) -> Iterator[Runs]:
    started = Runs(library)
    try:
        yield started
    finally:
        started.close()


def _run(order: dict[str, Any], answer: int) -> None:
    library = ctypes.CDLL(None)
    library.failing_arm.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_long, ctypes.c_char_p]
    library.failing_calls.restype = ctypes.c_long
    library.failing_hit.restype = ctypes.c_char_p
    library.failing_kind.restype = ctypes.c_char_p
    library.failing_kind.argtypes = [ctypes.c_long]
    folder = Path(order["folder"])
    error = None
    library.failing_arm(MODES[order["mode"]], order["errno"], order["nth"], os.fsencode(folder))
    try:
        SCENARIOS[order["scenario"]].run(folder)
    except BaseException as problem:  # noqa: BLE001 - told to the test
        error = [[kind.__name__ for kind in type(problem).__mro__], f"{type(problem).__name__}: {problem}"]
    library.failing_disarm()
    kinds = [library.failing_kind(nth + 1).decode() for nth in range(library.failing_calls())]
    told = {"kinds": kinds, "hit": library.failing_hit().decode(), "error": error}
    with os.fdopen(answer, "wb") as file:
        file.write(json.dumps(told).encode())


def _serve() -> None:
    for line in sys.stdin:
        order = json.loads(line)
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            _run(order, writing)
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading, "rb") as file:
            told = file.read()
        _, status = os.waitpid(child, 0)
        answer = json.loads(told) if told else {"kinds": None, "hit": "", "error": None}
        sys.stdout.write(json.dumps({"status": os.waitstatus_to_exitcode(status), **answer}) + "\n")
        sys.stdout.flush()


def _import_everything() -> None:
    """Do everything once, so that no run imports anything."""
    for scenario in SCENARIOS.values():
        with tempfile.TemporaryDirectory() as folder:
            scenario.prepare(Path(folder))
            scenario.run(Path(folder))


if __name__ == "__main__":
    warnings.simplefilter("ignore", ResourceWarning)
    _import_everything()
    assert threading.active_count() == 1, "only a process with one thread may fork"
    _serve()
