"""Start-up: importing, and the first batch in a new process."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from bench.data.datasets import BATCH, TAB
from bench.measuring.measure import Contender, alternate
from bench.measuring.workers import PROJECT, PeerFailedError
from bench.reporting import targets
from bench.reporting.results import Figure, Outcome, Section

if TYPE_CHECKING:
    from bench.data.store import StoredDataset
    from bench.tasks.context import Context

METHOD = (
    "Each measurement is a new Python process. Import: the time of the import statement. First batch: from the start "
    "of the process until it has the first batch of 1,024 records of tab (four shards), so both times include the "
    "start of the interpreter. recordsmith finds the shards in a new folder each time, without an index or a "
    "manifest, and infers the schema; TensorFlow gets the feature spec."
)
_IMPORT = "import in a new process"
_FIRST_BATCH = "open + first batch in a new process"
_INTERPRETER = "bare interpreter, for comparison"

_IMPORT_CODE = """
import time; start = time.perf_counter()
import {module}
print(time.perf_counter() - start)
"""
_CODES = {
    "recordsmith": """
import sys, time
import recordsmith as rs
batch = next(iter(rs.open(sys.argv[2:]).batch({batch})))
print(time.monotonic(), len(batch["label"]))
""",
    "tensorflow": """
import json, os, sys, time
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import tensorflow as tf
kinds = {{"float": tf.float32, "int64": tf.int64, "bytes": tf.string}}
spec = {{name: tf.io.FixedLenFeature([], kinds[kind]) for name, kind in json.loads(sys.argv[1]).items()}}
records = tf.data.TFRecordDataset(sys.argv[2:]).batch({batch})
batch = next(iter(records.map(lambda serialized: tf.io.parse_example(serialized, spec)).prefetch(tf.data.AUTOTUNE)))
print(time.monotonic(), len(batch["label"].numpy()))
""",
    "python": """
import time
print(time.monotonic(), {batch})
""",
}


def run(context: Context) -> Section:
    """Start new processes of recordsmith and of TensorFlow in turn."""
    section = Section("startup", "Start-up in a new process", METHOD)
    stored = context.datasets.get("tab")
    if stored is None:
        section.skipped.append("start-up: it reads the dataset tab, which was not asked for")
        return section
    peers = [peer for peer in ("recordsmith", "tensorflow") if context.workers.get(peer) is not None]
    contenders = [Contender("python", _INTERPRETER, _first_batch(context, "python", stored))]
    for peer in peers:
        contenders.append(Contender(peer, _IMPORT, _importing(context, peer)))
        contenders.append(Contender(peer, _FIRST_BATCH, _first_batch(context, peer, stored)))
    for contender in contenders:
        context.say(f"startup: warm-up of {contender.peer}")
        try:
            contender.run()  # brings the library's files into the page cache
        except PeerFailedError as problem:
            contender.failure = str(problem)
    alternate(contenders, repeats=context.repeats, say=lambda text: context.say(f"startup: {text}"), only_best=False)
    for contender in contenders:
        if contender.failure is not None:
            section.skipped.append(f"{contender.peer} ({contender.form}): {contender.failure}")
        elif contender.seconds:
            section.figures.append(Figure("tab", contender.peer, contender.form, contender.seconds))
    _judge(section)
    section.skipped += context.missing("recordsmith", "tensorflow")
    return section


def _importing(context: Context, peer: str) -> Callable[[], float]:
    return lambda: float(_run_code(context, peer, _IMPORT_CODE.format(module=peer), [])[0])


def _first_batch(context: Context, peer: str, stored: StoredDataset) -> Callable[[], float]:
    code = _CODES[peer].format(batch=min(BATCH, stored.records))
    spec = json.dumps({feature.name: feature.kind for feature in TAB.features})

    def run() -> float:
        folder = context.folder / "first-open"
        paths = _linked(stored, folder)
        start = time.monotonic()  # the same clock in all processes of a machine
        end, records = _run_code(context, peer, code, [spec, *map(str, paths)])
        shutil.rmtree(folder)
        if int(records) != min(BATCH, stored.records):
            raise PeerFailedError(f"the first batch has {records} records")
        return float(end) - start

    return run


def _linked(stored: StoredDataset, folder: Path) -> list[Path]:
    """The shards under new names in a new folder, where no cached index can lie."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    paths = [folder / path.name for path in stored.paths]
    for source, target in zip(stored.paths, paths, strict=True):
        target.hardlink_to(source)
    return paths


def _run_code(context: Context, peer: str, code: str, arguments: list[str]) -> list[str]:
    done = subprocess.run(
        [context.workers.python(peer), "-c", code, *arguments], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise PeerFailedError(f"ended with code {done.returncode}: {done.stderr.strip().splitlines()[-1:]}")
    return done.stdout.split()


def _judge(section: Section) -> None:
    ours = section.best("tab", "recordsmith", forms=(_IMPORT,))
    if ours:
        section.outcomes.append(
            Outcome("import", "import recordsmith", ours.best, "seconds", "a fixed limit", targets.IMPORT_SECONDS)
        )
    ours = section.best("tab", "recordsmith", forms=(_FIRST_BATCH,))
    theirs = section.best("tab", "tensorflow", forms=(_FIRST_BATCH,))
    if ours and theirs:
        sooner = theirs.best / ours.best
        section.outcomes.append(
            Outcome("tab", "open + first batch, sooner", sooner, "times", "tensorflow", targets.FIRST_BATCH)
        )
