"""Random access: 256 records a call by their number."""

from __future__ import annotations

import hashlib
import shutil
from typing import TYPE_CHECKING

import numpy as np

from bench.data.datasets import SEED
from bench.data.framing import payloads
from bench.measuring.measure import Contender, alternate
from bench.measuring.workers import PeerFailedError, WorkerProcess
from bench.reporting import targets
from bench.reporting.results import Figure, Outcome, Section, times_faster

if TYPE_CHECKING:
    from bench.data.store import Shard, StoredDataset
    from bench.tasks.context import Context

AT_A_TIME = 256
# Calls a pass: enough for tens of milliseconds on the fast side, and seconds at most on the slow one.
CALLS = {"tab": 100, "vec": 100, "tok": 100, "img": 20}

METHOD = (
    f"The first shard of each dataset. A pass makes many calls with {AT_A_TIME} random record numbers each, the same "
    "numbers for all, and gets the payloads as bytes. array_record reads a file of its own format with the same "
    "payloads, written and opened with its defaults and with the options that its documentation recommends for random "
    "access; its fastest form counts. Opening files and building indexes is not timed. In a warm-up pass, all "
    "payloads are compared with those in the TFRecord file."
)


def run(context: Context) -> Section:
    """Pick records out of each dataset with each peer."""
    section = Section("random", f"Random access, {AT_A_TIME} records per call", METHOD)
    for stored in context.datasets.values():
        _pick_from(context, section, stored)
        ours, theirs = section.best(stored.name, "recordsmith"), section.best(stored.name, "array_record")
        if ours and theirs:
            ratio = times_faster(ours, theirs)
            target = targets.RANDOM[stored.name]
            section.outcomes.append(
                Outcome(stored.name, "random access", ratio, "times", f"array_record: {theirs.form}", target)
            )
    section.skipped += context.missing("recordsmith", "array_record")
    return section


def _pick_from(context: Context, section: Section, stored: StoredDataset) -> None:
    shard = stored.shards[0]
    folder = context.folder / "converted"
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng([SEED, 256])
    calls = random.integers(0, shard.records, (CALLS[stored.name], AT_A_TIME)).tolist()
    expected, picked_bytes = _expected(shard, calls)
    contenders: list[Contender] = []
    for worker in context.workers.having("random"):
        for form in worker.ask("picking_forms")["forms"]:
            context.say(f"random {stored.name}: preparing {worker.peer}, {form}")
            try:
                worker.ask("open_picking", path=shard.path, form=form, folder=folder)
                _check(worker, form, calls, expected)
            except PeerFailedError as problem:
                section.skipped.append(f"{worker.peer} on {stored.name} ({form}): {problem}")
                continue
            contenders.append(_contender(worker, form, calls))
    alternate(contenders, repeats=context.repeats, say=lambda text: context.say(f"random {stored.name}: {text}"))
    for contender in contenders:
        if contender.failure is not None:
            section.skipped.append(f"{contender.peer} on {stored.name} ({contender.form}): {contender.failure}")
        elif contender.seconds:
            section.figures.append(
                Figure(
                    stored.name,
                    contender.peer,
                    contender.form,
                    contender.seconds,
                    len(calls) * AT_A_TIME,
                    picked_bytes,
                )
            )
    context.workers.forget_prepared()
    shutil.rmtree(folder, ignore_errors=True)


def _expected(shard: Shard, calls: list[list[int]]) -> tuple[str, int]:
    """The digest of all payloads in the order asked for, and their bytes."""
    stored_payloads = list(payloads(shard.path))
    digest, size = hashlib.sha256(), 0
    for numbers in calls:
        for number in numbers:
            digest.update(stored_payloads[number])
            size += len(stored_payloads[number])
    return digest.hexdigest(), size


def _check(worker: WorkerProcess, form: str, calls: list[list[int]], expected: str) -> None:
    if worker.ask("check_picking", form=form, calls=calls)["digest"] != expected:
        raise PeerFailedError("delivered other payloads than the TFRecord file holds")


def _contender(worker: WorkerProcess, form: str, calls: list[list[int]]) -> Contender:
    def run() -> float:
        return float(worker.ask("pick", form=form, calls=calls)["seconds"])

    return Contender(worker.peer, form, run)
