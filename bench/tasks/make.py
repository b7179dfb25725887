"""Making whole datasets: from a folder of images, and from a CSV file."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from bench.makers import inputs, process, recordsmith_maker, usual_script
from bench.measuring.measure import Contender, alternate
from bench.measuring.workers import PeerFailedError
from bench.reporting import targets
from bench.reporting.results import Figure, Outcome, Section, times_faster

if TYPE_CHECKING:
    from bench.makers.inputs import Input
    from bench.tasks.context import Context

METHOD = (
    "images: 2,000 JPEGs of 500x375 in class folders, resized to 224x224 and written as JPEG of quality 95. table: a "
    "CSV file of 1,000,000 rows and 18 columns. Both use two cores and four shards. recordsmith's time includes "
    "everything that `make` does: inferring types, splitting, a global shuffle, digests, flushing files to disk, and "
    "reading every shard back to verify it. The usual script resizes in a pool of two processes, where the parent "
    "writes or each worker writes its own shards (the faster one counts), and reads the table in a loop over "
    "csv.DictReader; it verifies nothing. The loop is measured on the first rows only, because all of them would take "
    "minutes; its rate is used for the whole file. pyarrow's reader, which `make` reads the table with, is also "
    "measured alone. Each pass is a new process. `whole command` includes the start of "
    "Python and all imports; the other figures do not. The target for images compares the whole command with OpenCV's "
    "default, INTER_LINEAR. The other ratios are without imports, also for the same resizing as recordsmith's "
    "(INTER_AREA, slower and without loss of detail). The other library reads each result once: records, labels, "
    "image sizes. `peak` is the maximum resident size of the process and all its children, sampled every 20 ms; pages "
    "shared by forked processes are counted in each."
)
LOOP_ROWS = 20_000
WHOLE = ", whole command"
MAKERS = {"recordsmith": recordsmith_maker, "tensorflow": usual_script}
OURS = recordsmith_maker.FORMS


@dataclass(slots=True)
class _Entry:
    contender: Contender
    records: int
    runs: list[process.Run] = field(default_factory=list)
    bytes: int = 0


def run(context: Context) -> Section:
    """Make each dataset with each maker."""
    section = Section("make", "Making datasets", METHOD)
    for subject, prepare in (("images", inputs.images), ("table", inputs.table)):
        context.say(f"make: {subject}")
        _make(context, section, subject, prepare(context.folder, context.scale))
    _judge_images(section)
    _judge_table(section)
    return section


def _make(context: Context, section: Section, subject: str, source: Input) -> None:
    out = context.folder / "made"
    entries = []
    for peer, maker in MAKERS.items():
        for form in maker.FORMS[subject]:
            records = min(LOOP_ROWS, source.records) if form == usual_script.LOOP else source.records
            entry = _Entry(Contender(peer, form, lambda: 0.0), records)
            entry.contender.run = _pass(context, subject, source, entry, out)
            context.say(f"make {subject}: checking {peer}, {form}")
            try:
                entry.contender.run()
                if form != recordsmith_maker.READING:
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
        if entry.contender.failure is not None:
            section.skipped.append(
                f"{entry.contender.peer} on {subject} ({entry.contender.form}): {entry.contender.failure}"
            )
        else:
            section.figures += _figures(subject, source, entry)
    shutil.rmtree(out, ignore_errors=True)


def _figures(subject: str, source: Input, entry: _Entry) -> list[Figure]:
    contender = entry.contender
    part = "" if entry.records == source.records else f"on {entry.records:,} of {source.records:,} rows; "
    peak = max(run.peak for run in entry.runs)
    note = f"{part}peak {peak / 1e6:,.0f} MB"
    timed = {contender.form: contender.seconds}
    if not part:  # the start of a process cannot be extrapolated
        timed[contender.form + WHOLE] = [run.seconds for run in entry.runs]
    return [
        Figure(subject, contender.peer, form, seconds, entry.records, entry.bytes, note, peak)
        for form, seconds in timed.items()
    ]


def _pass(context: Context, subject: str, source: Input, entry: _Entry, out: Path) -> Callable[[], float]:
    peer, form = entry.contender.peer, entry.contender.form
    limit = entry.records if entry.records < source.records else 0

    def run() -> float:
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True)
        done = _run(context, peer, subject, form, source.path, out, limit)
        entry.runs.append(done)
        entry.bytes = sum(path.stat().st_size for path in out.glob("*.tfrecord-*"))
        return float(done.answer["seconds"])

    return run


def _run(context: Context, peer: str, *words: object) -> process.Run:
    module = MAKERS[peer].__name__.rpartition(".")[2]
    log = context.folder / "logs" / f"{module}.log"
    return process.run(context.workers.python(peer), module, *words, log=log)


def _check(context: Context, subject: str, source: Input, entry: _Entry, out: Path) -> None:
    reader = "tensorflow" if entry.contender.peer == "recordsmith" else "recordsmith"
    found = _run(context, reader, subject, "check", source.path, out, 0).answer
    whole = entry.records == source.records
    expected = {
        "records": entry.records,
        "label_sum": source.label_sum if whole else inputs.label_sum_of_first(source, entry.records),
        "right_size": entry.records if subject == "images" else 0,
    }
    if found != expected:
        raise PeerFailedError(f"wrote files in which {reader} finds {found} instead of {expected}")


def _judge_images(section: Section) -> None:
    area, linear = usual_script.RESIZING
    for what, resizing, ending, target in (
        ("make, whole command", linear, WHOLE, targets.MAKE_IMAGES),
        ("make, without imports", linear, "", targets.MAKE_IMAGES_WITHOUT_IMPORTS),
        ("make, without imports", area, "", targets.MAKE_IMAGES_WITHOUT_IMPORTS),
    ):
        ours = section.best("images", "recordsmith", forms=tuple(f"{form}{ending}" for form in OURS["images"]))
        forms = tuple(f"{form}{ending}" for form in usual_script.FORMS["images"] if resizing in form)
        theirs = section.best("images", "tensorflow", forms=forms)
        if ours and theirs:
            ratio = times_faster(ours, theirs)
            section.outcomes.append(
                Outcome("images", what, ratio, "times", f"tensorflow, {theirs.form}", target, note=ours.form)
            )


def _judge_table(section: Section) -> None:
    ours = section.best("table", "recordsmith", forms=(recordsmith_maker.MAKE,))
    reading = section.best("table", "recordsmith", forms=(recordsmith_maker.READING,))
    theirs = section.best("table", "tensorflow")
    if ours and reading:
        share = 1 - reading.best / ours.best
        section.outcomes.append(Outcome("table", "share of make above reading", share, "fraction", reading.form))
    if ours and theirs:
        against = f"tensorflow, {theirs.form}" + (", extrapolated" if theirs.records != ours.records else "")
        ratio = times_faster(ours, theirs)
        section.outcomes.append(Outcome("table", "make", ratio, "times", against, targets.MAKE_TABLE, note=ours.form))
