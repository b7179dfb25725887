"""Writing whole datasets to four shards."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bench.data.datasets import DATASETS
from bench.data.fingerprint import add, difference, fingerprint
from bench.data.store import StoredDataset, load_columns, shard_columns, shard_paths
from bench.measuring.measure import Contender, alternate
from bench.measuring.workers import PeerFailedError, WorkerProcess
from bench.peers.recordsmith_peer import EXTEND, MAKE
from bench.reporting import targets
from bench.reporting.results import Figure, Outcome, Section, times_faster

if TYPE_CHECKING:
    from bench.tasks.context import Context

METHOD = (
    "The columns (numpy arrays, and lists of bytes) are in memory before the measurement, the same for both. A pass "
    "writes four new shards into memory-backed storage. TensorFlow is measured on the first records of each shard of "
    "tab, vec and tok, because all of them would take minutes; rates are compared. After each form, the other library "
    "reads the files once and compares every value. recordsmith and TensorFlow are both measured with one and with "
    "two threads. The targets are compared with TensorFlow's usual form (as in its guide: message constructors on "
    "numpy values) and with its fastest form. `the machine` is the same bytes in memory, written with plain write "
    "calls: the limit of the storage. `vec` is also written as a whole dataset, by rs.write and by rs.make of the same "
    "arrays, with digests, and by `make` with splits, a shuffle and reading everything back."
)
USUAL_FORM = "as in the guide"
READY_BYTES = "ready bytes, 1 thread"
# Records that TensorFlow writes in a pass, a second or two of its work; `img` is written whole.
TENSORFLOW_RECORDS = {"tab": 20_000, "vec": 4_000, "tok": 8_000}
ROW_RECORDS = 100_000


@dataclass(frozen=True, slots=True)
class _Entry:
    contender: Contender
    records: int
    sizes: list[int]


def run(context: Context) -> Section:
    """Write each dataset with each peer."""
    section = Section("write", "Writing four shards", METHOD)
    for stored in context.datasets.values():
        _write_dataset(context, section, stored)
        _judge(section, stored.name)
    section.skipped += context.missing("recordsmith", "tensorflow")
    return section


def _write_dataset(context: Context, section: Section, stored: StoredDataset) -> None:
    folder = context.folder / "written"
    entries: list[_Entry] = []
    for worker in context.workers.having("write"):
        for form in worker.ask("writing_forms", dataset=stored.name)["forms"]:
            context.say(f"write {stored.name}: preparing {worker.peer}, {form}")
            limit = _limit(worker.peer, form, stored.name)
            try:
                entry = _prepare(worker, stored, form, limit=limit, folder=folder)
                _check(context, stored, entry, folder)
            except PeerFailedError as problem:
                section.skipped.append(f"{worker.peer} on {stored.name} ({form}): {problem}")
                continue
            entries.append(entry)
    entries += _limits(context, stored, folder)
    alternate(
        (entry.contender for entry in entries),
        repeats=context.repeats,
        say=lambda text: context.say(f"write {stored.name}: {text}"),
        only_best=False,
    )
    for entry in entries:
        contender = entry.contender
        if contender.failure is not None:
            section.skipped.append(f"{contender.peer} on {stored.name} ({contender.form}): {contender.failure}")
        elif contender.seconds:
            note = "" if entry.records == stored.records else f"on {entry.records:,} of {stored.records:,} records"
            section.figures.append(
                Figure(
                    stored.name,
                    contender.peer,
                    contender.form,
                    contender.seconds,
                    entry.records,
                    entry.sizes[-1],
                    note,
                )
            )
    shutil.rmtree(folder, ignore_errors=True)
    context.workers.forget_prepared()


def _limits(context: Context, stored: StoredDataset, folder: Path) -> list[_Entry]:
    """Contenders that only write bytes that are ready, in the process of any peer that writes."""
    entries = []
    for worker in context.workers.having("write")[:1]:
        for form, threads in ((READY_BYTES, 1), ("ready bytes, 2 threads", 2)):
            sizes: list[int] = []

            def run(worker: WorkerProcess = worker, threads: int = threads, sizes: list[int] = sizes) -> float:
                _empty(folder)
                targets = shard_paths(folder, stored.name)
                answer = worker.ask("write_ready_bytes", sources=stored.paths, paths=targets, threads=threads)
                sizes.append(int(answer["bytes"]))
                return float(answer["seconds"])

            entries.append(_Entry(Contender("the machine", form, run), stored.records, sizes))
    return entries


def _empty(folder: Path) -> None:
    # New files each time: overwriting finds its pages ready, which would be another measurement.
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


def _prepare(worker: WorkerProcess, stored: StoredDataset, form: str, *, limit: int | None, folder: Path) -> _Entry:
    answer = worker.ask("prepare_writing", dataset=stored.name, columns=stored.columns_folder, form=form, limit=limit)
    sizes: list[int] = []
    return _Entry(Contender(worker.peer, form, _pass(worker, stored, form, folder, sizes)), answer["records"], sizes)


def _pass(
    worker: WorkerProcess, stored: StoredDataset, form: str, folder: Path, sizes: list[int]
) -> Callable[[], float]:
    def run() -> float:
        _empty(folder)
        answer = worker.ask("write", form=form, paths=shard_paths(folder, stored.name))
        sizes.append(int(answer["bytes"]))
        return float(answer["seconds"])

    return run


def _check(context: Context, stored: StoredDataset, entry: _Entry, folder: Path) -> None:
    """Write once and let the other library read it; the warm-up pass."""
    entry.contender.run()
    writer = entry.contender.peer
    reader = context.workers.get("tensorflow" if writer == "recordsmith" else "recordsmith")
    # With only one of the two installed, a file is read back by its own writer.
    reader = reader or context.workers.get(writer)
    if reader is None:
        raise PeerFailedError("nothing can read back what it wrote")
    form = reader.ask("reading_forms", dataset=stored.name)["forms"][0]
    paths = shard_paths(folder, stored.name)
    found = reader.ask("check_reading", dataset=stored.name, paths=paths, form=form)["fingerprint"]
    spec = DATASETS[stored.name]
    expected: dict[str, list[int]] = {}
    for part in shard_columns(load_columns(spec, stored.columns_folder), limit=entry.records):
        expected = add(expected, fingerprint(part))
    problem = difference(found, expected)
    if problem is not None:
        raise PeerFailedError(f"wrote files in which {reader.peer} finds wrong data: {problem}")


def _limit(peer: str, form: str, dataset: str) -> int | None:
    if peer == "tensorflow":
        return TENSORFLOW_RECORDS.get(dataset)
    return ROW_RECORDS if _is_rows(form) else None


def _is_rows(form: str) -> bool:
    return form.startswith("rows")


def _judge(section: Section, name: str) -> None:
    forms = {
        peer: [figure.form for figure in section.figures if figure.subject == name and figure.peer == peer]
        for peer in ("recordsmith", "tensorflow")
    }
    ours_by_what = {
        "columns": (
            tuple(form for form in forms["recordsmith"] if not _is_rows(form) and form not in (EXTEND, MAKE)),
            targets.WRITE_COLUMNS[name],
        ),
        "rows": (tuple(form for form in forms["recordsmith"] if _is_rows(form)), targets.WRITE_ROWS.get(name)),
    }
    theirs_by_what = {
        "usual form": tuple(form for form in forms["tensorflow"] if form.startswith(USUAL_FORM)),
        "fastest form": tuple(forms["tensorflow"]),
    }
    for what, (our_forms, target) in ours_by_what.items():
        for which, their_forms in theirs_by_what.items():
            ours = section.best(name, "recordsmith", forms=our_forms)
            theirs = section.best(name, "tensorflow", forms=their_forms)
            if ours and theirs:
                against = f"tensorflow, {which}: {theirs.form}"
                ratio = times_faster(ours, theirs)
                section.outcomes.append(
                    Outcome(name, f"write from {what}", ratio, "times", against, target, note=ours.form)
                )
    limit = section.best(name, "the machine", forms=(READY_BYTES,))
    for form, wanted in ((EXTEND, targets.WRITE_EXTEND), (MAKE, targets.WRITE_MAKE)):
        ours = section.best(name, "recordsmith", forms=(form,))
        if ours and limit:
            ratio = times_faster(ours, limit)
            against = f"plain writes: {READY_BYTES}"
            section.outcomes.append(Outcome(name, form, ratio, "fraction", against, wanted.get(name)))
