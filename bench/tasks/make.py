"""Making whole datasets: from a folder of pictures, and from a CSV file."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from bench import targets
from bench.makers import inputs, process, recordsmith_maker, usual_script
from bench.measure import Contender, alternate
from bench.results import Figure, Outcome, Section, times_faster
from bench.workers import PeerFailedError

if TYPE_CHECKING:
    from bench.makers.inputs import Input
    from bench.tasks.context import Context

METHOD = (
    "pictures: 2,000 JPEGs of 500x375 in class folders, resized to 224x224 and written as JPEG of quality 95. "
    "table: a CSV file of 1,000,000 rows and 18 columns. Both onto two cores and into four shards. recordsmith's "
    "time is that of the whole of `make`: telling the types, splitting, a global shuffle, digests, files synced, "
    "every shard read back and checked. The usual script does the resizing in a pool of two processes, with the "
    "parent writing or each worker writing shards of its own (the faster one counts), and the table in a loop over "
    "csv.DictReader; it checks nothing. The target for pictures is held against the script with the same resizing "
    "(INTER_AREA), and then against OpenCV's default (INTER_LINEAR), which is cheaper and loses detail. The loop is "
    "measured on the first rows only, since all of them would take minutes: its rate is taken for that of the whole "
    "file. Each pass is a new process; Python's start and the imports are not part of it. The other library reads "
    "each result once: records, labels, sizes of pictures. `peak` is the highest resident size of the process and "
    "all its children together, looked at every 20 ms; pages that forked processes share count in each."
)
LOOP_ROWS = 20_000
MAKERS = {"recordsmith": recordsmith_maker, "tensorflow": usual_script}
TARGETS = {"pictures": targets.MAKE_PICTURES, "table": targets.MAKE_TABLE}


@dataclass(slots=True)
class _Entry:
    contender: Contender
    records: int
    peaks: list[int] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)


def run(context: Context) -> Section:
    """Make each dataset with each maker."""
    section = Section("make", "Making datasets", METHOD)
    for subject, prepare in (("pictures", inputs.pictures), ("table", inputs.table)):
        context.say(f"make: {subject}")
        _make(context, section, subject, prepare(context.folder, context.scale))
        _judge(section, subject)
    return section


def _make(context: Context, section: Section, subject: str, source: Input) -> None:
    out = context.folder / "made"
    entries = []
    for peer, maker in MAKERS.items():
        for form in maker.FORMS[subject]:
            records = min(LOOP_ROWS, source.records) if form == usual_script.LOOP else source.records
            entry = _Entry(Contender(peer, form, lambda: 0.0), records)
            entry.contender.run = _pass(context, subject, source, entry, out)
            try:
                entry.contender.run()
                _check(context, subject, source, entry, out)
            except PeerFailedError as problem:
                section.skipped.append(f"{peer} on {subject} ({form}): {problem}")
                continue
            entries.append(entry)
    alternate(
        (entry.contender for entry in entries),
        repeats=context.repeats,
        say=lambda text: context.say(f"make {subject}: {text}"),
        only_best=False,
    )
    for entry in entries:
        contender = entry.contender
        if contender.failure is not None or not contender.seconds:
            section.skipped.append(f"{contender.peer} on {subject} ({contender.form}): {contender.failure}")
            continue
        part = "" if entry.records == source.records else f"on {entry.records:,} of {source.records:,} rows; "
        section.figures.append(
            Figure(
                subject,
                contender.peer,
                contender.form,
                contender.seconds,
                entry.records,
                entry.sizes[-1],
                f"{part}peak {max(entry.peaks) / 1e6:,.0f} MB",
                max(entry.peaks),
            )
        )
    shutil.rmtree(out, ignore_errors=True)


def _pass(context: Context, subject: str, source: Input, entry: _Entry, out: Path) -> Callable[[], float]:
    peer, form = entry.contender.peer, entry.contender.form
    module = MAKERS[peer].__name__.rpartition(".")[2]
    limit = entry.records if entry.records < source.records else 0

    def run() -> float:
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True)
        log = context.folder / "logs" / f"{module}.log"
        answer, peak = process.run(
            context.workers.python(peer), module, subject, form, source.path, out, limit, log=log
        )
        entry.peaks.append(peak)
        entry.sizes.append(sum(path.stat().st_size for path in out.glob("*.tfrecord-*")))
        return float(answer["seconds"])

    return run


def _check(context: Context, subject: str, source: Input, entry: _Entry, out: Path) -> None:
    reader = "tensorflow" if entry.contender.peer == "recordsmith" else "recordsmith"
    module = MAKERS[reader].__name__.rpartition(".")[2]
    log = context.folder / "logs" / f"{module}.log"
    found, _ = process.run(context.workers.python(reader), module, subject, "check", source.path, out, 0, log=log)
    whole = entry.records == source.records
    expected = {
        "records": entry.records,
        "label_sum": source.label_sum if whole else inputs.label_sum_of_first(source, entry.records),
        "right_size": entry.records if subject == "pictures" else 0,
    }
    if found != expected:
        raise PeerFailedError(f"wrote files in which {reader} finds {found} instead of {expected}")


def _judge(section: Section, subject: str) -> None:
    kinds = usual_script.RESIZING if subject == "pictures" else (usual_script.LOOP,)
    for kind in kinds:
        forms = tuple(form for form in usual_script.FORMS[subject] if kind in form)
        ours, theirs = section.best(subject, "recordsmith"), section.best(subject, "tensorflow", forms=forms)
        if ours and theirs:
            against = f"tensorflow, {theirs.form}" + (", extrapolated" if theirs.records != ours.records else "")
            ratio = times_faster(ours, theirs)
            section.outcomes.append(Outcome(subject, "make", ratio, "times", against, TARGETS[subject], note=ours.form))
