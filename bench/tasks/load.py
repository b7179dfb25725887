"""Feeding: chains that shuffle, batch and decode, as numpy and into frameworks."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench.data.datasets import DATASETS
from bench.data.prepare import sample_of
from bench.loaders.contract import BUFFER, SUBJECTS
from bench.measuring.measure import Contender, alternate
from bench.measuring.workers import PROJECT, PeerFailedError, WorkerProcess
from bench.reporting import targets
from bench.reporting.results import Figure, Outcome, Section, times_faster

if TYPE_CHECKING:
    from bench.tasks.context import Context

METHOD = (
    "One epoch of a chain that shuffles and batches. tab, vec and tok (padded): batches of 1,024. Images: decoded, "
    "resized to 224x224, flipped at random, changed in brightness and scaled to float32, in batches of 32; img are "
    "JPEGs of 500x375, large are JPEGs of 1,600x1,200, png and webp are 1,000 images as of img in these formats. "
    "recordsmith shuffles all records; the others use a buffer of "
    f"{BUFFER:,} rows. TensorFlow's tensors are not converted to numpy (except the labels); the fastest of its forms "
    "in the table counts. The bits of every value are compared in an untimed pass; for images, shape and mean "
    "brightness are compared. `to_tf`, `to_torch`, `to_keras` and `to_jax` are the same chain in the framework, and "
    "compared with the chain as numpy. PyTorch is compared with a "
    "DataLoader over the package tfrecord, on a tenth of the records. Memory is the maximum of the process in each "
    "half of an epoch, without mapped files. The first batch is that of a shuffle of ten million records of 34 bytes "
    "with an existing index, measured from rs.open, in a new process, without the import."
)
OURS, OURS_TF, OURS_TORCH = "recordsmith", "recordsmith, to_tf", "recordsmith, to_torch"
MEMORY_OF = ("tab", "img")
FIRST_BATCH_CODE = """
import sys, time
import recordsmith as rs
import recordsmith._core, recordsmith.loader
start = time.perf_counter()
batch = next(iter(rs.open(sys.argv[1:]).shuffle(seed=0).batch(1024)))
print(time.perf_counter() - start, len(batch["label"]))
"""


@dataclass(frozen=True, slots=True)
class _Source:
    """The files that a subject is fed from, and what must come out."""

    paths: list[str]
    records: int
    bytes: int
    label_sum: int
    bits: dict[str, int]


class _Loaders:
    """The loaders' processes, started when they are needed and stopped at the end."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._running: dict[str, WorkerProcess] = {}
        self.skipped: dict[str, str] = {}

    def get(self, name: str) -> WorkerProcess | None:
        if name not in self._running and name not in self.skipped:
            workers = self._context.workers
            log = self._context.folder / "logs" / f"load-{name.replace(', ', '-')}.log"
            python = workers.python(name.partition(",")[0])
            worker = WorkerProcess(name, python=python, log=log, module="bench.loaders")
            if worker.unavailable is not None:
                worker.stop()
                self.skipped[name] = worker.unavailable
            else:
                workers.versions |= worker.versions
                self._running[name] = worker
        return self._running.get(name)

    def forget(self) -> None:
        for name, worker in list(self._running.items()):
            try:
                worker.ask("forget")
            except PeerFailedError:
                self._running.pop(name).stop()

    def stop(self) -> None:
        for worker in self._running.values():
            worker.stop()


def run(context: Context) -> Section:
    """Load each dataset with each loader."""
    section = Section("load", "Loading: shuffled, batched, decoded", METHOD)
    loaders = _Loaders(context)
    try:
        for subject in ("tab", "vec", "tok", "img"):
            if subject in context.datasets:
                _load_stored(context, section, loaders, subject)
        if "img" in context.datasets:
            for subject in ("large", "png", "webp"):
                _load_images(context, section, loaders, subject)
        _first_batch(context, section, loaders)
    finally:
        loaders.stop()
    _judge(section)
    section.skipped += [f"{name}: {reason}" for name, reason in loaders.skipped.items()]
    return section


def _load_stored(context: Context, section: Section, loaders: _Loaders, subject: str) -> None:
    stored = context.datasets[subject]
    whole = _Source(
        [str(path) for path in stored.paths],
        stored.records,
        stored.bytes,
        stored.label_sum,
        {name: bits for name, (_, bits) in stored.fingerprint.items() if name != "image"},
    )
    sources = {OURS: whole, "tensorflow": whole}
    for output, subjects in targets.LOAD_OUTPUTS.items():
        if subject in subjects:
            sources[f"{OURS}, {output}"] = whole
    if subject in targets.LOAD_TF:
        sources[OURS_TF] = whole
    if subject in targets.LOAD_TORCH:
        part = sample_of(DATASETS[subject], stored)
        bits = {name: bits for name, (_, bits) in part.fingerprint.items()}
        sources[OURS_TORCH] = whole
        sources["tfrecord"] = _Source(
            [str(path) for path in part.paths], part.records, part.bytes, part.label_sum, bits
        )
    _load(context, section, loaders, subject, sources)


def _load_images(context: Context, section: Section, loaders: _Loaders, subject: str) -> None:
    worker = loaders.get(OURS)
    if worker is None:
        return
    context.say(f"load: images of {subject}")
    written = worker.ask("prepare", what=subject, folder=str(context.folder), scale=context.scale)
    source = _Source(**written, bits={})
    _load(context, section, loaders, subject, {OURS: source, "tensorflow": source})


def _load(context: Context, section: Section, loaders: _Loaders, subject: str, sources: dict[str, _Source]) -> None:
    contenders: list[tuple[Contender, _Source]] = []
    for name, source in sources.items():
        worker = loaders.get(name)
        if worker is None:
            continue
        for form in worker.ask("forms", subject=subject)["forms"]:
            context.say(f"load {subject}: warm-up of {name}, {form}")
            try:
                _check(worker, subject, source, form)
            except PeerFailedError as problem:
                section.skipped.append(f"{name} on {subject} ({form}): {problem}")
                continue
            contenders.append((Contender(name, form, _epoch(worker, subject, source, form)), source))
    alternate(
        (contender for contender, _ in contenders),
        repeats=context.repeats,
        say=lambda text: context.say(f"load {subject}: {text}"),
    )
    for contender, source in contenders:
        if contender.failure is not None:
            section.skipped.append(f"{contender.peer} on {subject} ({contender.form}): {contender.failure}")
        elif contender.seconds:
            note = "" if source.records == sources[OURS].records else f"on {source.records:,} records"
            section.figures.append(
                Figure(subject, contender.peer, contender.form, contender.seconds, source.records, source.bytes, note)
            )
    if subject in MEMORY_OF:
        _memory(section, loaders, subject, sources[OURS])
    loaders.forget()


def _check(worker: WorkerProcess, subject: str, source: _Source, form: str) -> None:
    answer = worker.ask("check", subject=subject, paths=source.paths, form=form)
    if (answer["records"], answer["label_sum"]) != (source.records, source.label_sum):
        raise PeerFailedError(f"delivered {answer['records']:,} records instead of {source.records:,}")
    wrong = [name for name, bits in source.bits.items() if answer["bits"].get(name) != bits]
    if wrong:
        raise PeerFailedError(f"delivered other values than were written: {', '.join(wrong)}")
    if SUBJECTS[subject].is_images and not 0.35 < answer["brightness"] < 0.65:
        raise PeerFailedError(f"the images are not as bright as they were: {answer['brightness']:.2f}")


def _epoch(worker: WorkerProcess, subject: str, source: _Source, form: str) -> Callable[[], float]:
    def run() -> float:
        answer = worker.ask("load", subject=subject, form=form)
        if (answer["records"], answer["label_sum"]) != (source.records, source.label_sum):
            raise PeerFailedError(f"delivered {answer['records']:,} records instead of {source.records:,}")
        return float(answer["seconds"])

    return run


def _memory(section: Section, loaders: _Loaders, subject: str, source: _Source) -> None:
    worker = loaders.get(OURS)
    if worker is None:
        return
    (form,) = worker.ask("forms", subject=subject)["forms"]
    try:
        batches = -(-source.records // SUBJECTS[subject].batch)
        first, second = worker.ask("memory", subject=subject, form=form, batches=batches)["halves"]
    except PeerFailedError as problem:
        section.skipped.append(f"memory on {subject}: {problem}")
        return
    section.outcomes.append(
        Outcome(
            subject,
            "memory, first half of an epoch to the second",
            first / max(1, second),
            "fraction",
            f"{first / 1e6:,.0f} MB, then {second / 1e6:,.0f} MB of its own",
            targets.LOAD_FLAT,
        )
    )


def _first_batch(context: Context, section: Section, loaders: _Loaders) -> None:
    worker = loaders.get(OURS)
    if worker is None:
        return
    context.say("load: ten million records")
    written = worker.ask("prepare", what="many", folder=str(context.folder), scale=context.scale)
    source = _Source(**written, bits={})

    def run() -> float:
        done = subprocess.run(
            [context.workers.python("recordsmith"), "-c", FIRST_BATCH_CODE, *source.paths],
            cwd=PROJECT,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise PeerFailedError(f"ended with code {done.returncode}: {done.stderr.strip().splitlines()[-1:]}")
        return float(done.stdout.split()[0])

    contender = Contender(OURS, "open, shuffle, first batch", run)
    alternate([contender], repeats=context.repeats, say=lambda text: context.say(f"load many: {text}"))
    if contender.failure is not None:
        section.skipped.append(f"first batch of many records: {contender.failure}")
        return
    section.figures.append(
        Figure("many", OURS, contender.form, contender.seconds, note=f"{source.records:,} records, index there")
    )
    section.outcomes.append(
        Outcome(
            "many",
            "first batch of 10 million records",
            min(contender.seconds),
            "seconds",
            "a fixed limit",
            targets.LOAD_FIRST_BATCH,
            f"{source.records:,} records in {source.bytes / 1e6:,.0f} MB, shuffled, index there",
        )
    )


def _judge(section: Section) -> None:
    for what, ours, theirs, wanted in (
        ("load", OURS, "tensorflow", targets.LOAD),
        ("load, to_tf", OURS_TF, "tensorflow", targets.LOAD_TF),
        ("load, to_torch", OURS_TORCH, "tfrecord", targets.LOAD_TORCH),
    ):
        for subject, target in wanted.items():
            mine, peer = section.best(subject, ours), section.best(subject, theirs)
            if mine and peer:
                against = f"{theirs}: {peer.form}"
                section.outcomes.append(Outcome(subject, what, times_faster(mine, peer), "times", against, target))
    for output, wanted_parts in targets.LOAD_OUTPUTS.items():
        for subject, part in wanted_parts.items():
            limit, into = section.best(subject, OURS), section.best(subject, f"{OURS}, {output}")
            if limit and into:
                share = times_faster(into, limit)
                section.outcomes.append(Outcome(subject, f"{output}, part of numpy", share, "fraction", OURS, part))
