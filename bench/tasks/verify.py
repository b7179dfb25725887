"""Verifying whole files, against the speed at which their bytes can be read at all."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from bench.measuring.measure import Contender, alternate
from bench.measuring.workers import PeerFailedError, WorkerProcess
from bench.reporting import targets
from bench.reporting.results import Figure, Outcome, Section, times_faster

if TYPE_CHECKING:
    from bench.data.store import StoredDataset
    from bench.tasks.context import Context

METHOD = (
    "All four shards. The limit is measured in the same process: numpy adds up the mapped bytes of the files, eight "
    "at a time. With a fresh mapping, the files are mapped within the measured time, as when any file is opened; the "
    "target refers to this. With a warm mapping, they were mapped and touched before, which is not possible for a new "
    "file. Each is measured with one and with two threads."
)
THREADS = (1, 2)
_VERIFY, _FRESH, _WARM = "verify both CRCs", "only read, fresh mapping", "only read, warm mapping"


def run(context: Context) -> Section:
    """Verify each dataset, and read it without verifying."""
    section = Section("verify", "Verifying both CRCs of whole files", METHOD)
    # The limit is also measured if recordsmith is not installed.
    workers = context.workers.having("verify") or context.workers.having("write")
    for stored in context.datasets.values():
        for worker in workers[:1]:
            _verify_dataset(context, section, stored, worker)
        _judge(section, stored.name)
    section.skipped += context.missing("recordsmith")
    return section


def _verify_dataset(context: Context, section: Section, stored: StoredDataset, worker: WorkerProcess) -> None:
    contenders = []
    for threads in THREADS:
        if worker.peer == "recordsmith":
            contenders.append(Contender("recordsmith", _form(_VERIFY, threads), _verifying(worker, stored, threads)))
        for name, fresh in ((_FRESH, True), (_WARM, False)):
            contenders.append(
                Contender("the machine", _form(name, threads), _touching(worker, stored, threads, fresh=fresh))
            )
    alternate(
        contenders,
        repeats=context.repeats,
        say=lambda text: context.say(f"verify {stored.name}: {text}"),
        only_best=False,
    )
    for contender in contenders:
        if contender.failure is not None:
            section.skipped.append(f"{contender.peer} on {stored.name} ({contender.form}): {contender.failure}")
        elif contender.seconds:
            section.figures.append(
                Figure(stored.name, contender.peer, contender.form, contender.seconds, stored.records, stored.bytes)
            )


def _form(name: str, threads: int) -> str:
    return f"{name}, {threads} thread{'s' if threads > 1 else ''}"


def _verifying(worker: WorkerProcess, stored: StoredDataset, threads: int) -> Callable[[], float]:
    def run() -> float:
        answer = worker.ask("verify", paths=stored.paths, threads=threads)
        if answer["records"] != stored.records:
            raise PeerFailedError(f"counted {answer['records']:,} records instead of {stored.records:,}")
        return float(answer["seconds"])

    return run


def _touching(worker: WorkerProcess, stored: StoredDataset, threads: int, *, fresh: bool) -> Callable[[], float]:
    return lambda: float(worker.ask("touch", paths=stored.paths, threads=threads, fresh=fresh)["seconds"])


def _judge(section: Section, name: str) -> None:
    for threads in THREADS:
        ours = section.best(name, "recordsmith", forms=(_form(_VERIFY, threads),))
        for limit, target in ((_FRESH, targets.VERIFY), (_WARM, None)):
            theirs = section.best(name, "the machine", forms=(_form(limit, threads),))
            if ours and theirs:
                fraction = times_faster(ours, theirs)
                section.outcomes.append(Outcome(name, "verify", fraction, "fraction", _form(limit, threads), target))
