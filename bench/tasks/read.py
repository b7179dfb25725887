"""Reading whole datasets into batches of 1,024."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.data.datasets import DATASETS
from bench.data.fingerprint import difference
from bench.data.prepare import sample_of
from bench.measuring.measure import Contender, alternate
from bench.measuring.workers import PeerFailedError, WorkerProcess
from bench.peers import PEERS
from bench.reporting import targets
from bench.reporting.results import Figure, Outcome, Section, times_faster

if TYPE_CHECKING:
    from bench.data.store import StoredDataset
    from bench.tasks.context import Context

METHOD = (
    "Each form opens the four shards once and reads them in an untimed warm-up pass that compares every value with "
    "the generated data. Then the forms of all libraries take turns. Each timed pass reads every batch of 1,024 "
    "records and must find the right number of records and sum of labels. TensorFlow's tensors are not converted to "
    "numpy (except the labels); recordsmith's batches are numpy. The best pass counts, and for TensorFlow the best "
    "form. Slow libraries read only the first records of each shard of tab, vec and tok. Ray Data runs after the "
    "others, because its background processes would disturb them."
)


def run(context: Context) -> Section:
    """Read each dataset with each peer."""
    section = Section("read", "Reading into batches of 1,024", METHOD)
    for restless in (False, True):
        for stored in context.datasets.values():
            _read_dataset(context, section, stored, restless=restless)
        if restless:
            for worker in context.workers.having("read", restless=True):
                context.workers.stop(worker.peer)
    section.figures.sort(key=lambda figure: (list(DATASETS).index(figure.subject), list(PEERS).index(figure.peer)))
    for name in context.datasets:
        ours, theirs = section.best(name, "recordsmith"), section.best(name, "tensorflow")
        if ours and theirs:
            ratio = times_faster(ours, theirs)
            section.outcomes.append(
                Outcome(name, "read", ratio, "times", f"tensorflow: {theirs.form}", targets.READ[name])
            )
    section.skipped += context.missing("recordsmith", "tensorflow", "tfrecord", "ray")
    return section


def _read_dataset(context: Context, section: Section, stored: StoredDataset, *, restless: bool) -> None:
    contenders: list[tuple[Contender, StoredDataset, str]] = []
    for worker in context.workers.having("read", restless=restless):
        source = sample_of(DATASETS[stored.name], stored) if PEERS[worker.peer].slow else stored
        for form in worker.ask("reading_forms", dataset=stored.name)["forms"]:
            context.say(f"read {stored.name}: warm-up of {worker.peer}, {form}")
            try:
                opened = _check(worker, source, form)
            except PeerFailedError as problem:
                section.skipped.append(f"{worker.peer} on {stored.name} ({form}): {problem}")
                continue
            note = f"opened in {opened:.3f} s"
            if source is not stored:
                note += f"; on the first {source.records:,} of {stored.records:,} records"
            contenders.append((_contender(worker, source, form), source, note))
    alternate(
        (contender for contender, _, _ in contenders),
        repeats=context.repeats,
        say=lambda text: context.say(f"read {stored.name}: {text}"),
    )
    for contender, source, note in contenders:
        if contender.failure is not None:
            section.skipped.append(f"{contender.peer} on {stored.name} ({contender.form}): {contender.failure}")
        elif contender.seconds:
            section.figures.append(
                Figure(
                    stored.name, contender.peer, contender.form, contender.seconds, source.records, source.bytes, note
                )
            )
    context.workers.forget_prepared()


def _check(worker: WorkerProcess, source: StoredDataset, form: str) -> float:
    answer = worker.ask("check_reading", dataset=source.name, paths=source.paths, form=form)
    problem = difference(answer["fingerprint"], source.fingerprint)
    if problem is not None:
        raise PeerFailedError(f"delivered wrong data: {problem}")
    return float(answer["open_seconds"])


def _contender(worker: WorkerProcess, source: StoredDataset, form: str) -> Contender:
    def run() -> float:
        answer = worker.ask("read", form=form)
        if (answer["records"], answer["label_sum"]) != (source.records, source.label_sum):
            raise PeerFailedError(f"delivered {answer['records']:,} records instead of {source.records:,}")
        return float(answer["seconds"])

    return Contender(worker.peer, form, run)
