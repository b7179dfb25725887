"""Collecting the facts of a dataset: what `check` looks at."""

from __future__ import annotations

import json
import math
import subprocess
from typing import TYPE_CHECKING, Any

from bench.measuring.workers import PROJECT, PeerFailedError
from bench.reporting import targets
from bench.reporting.results import Figure, Outcome, Section, times_faster

if TYPE_CHECKING:
    from bench.data.store import StoredDataset
    from bench.tasks.context import Context

METHOD = (
    "Everything that `recordsmith check` measures, for all four shards, with two threads. The comparison is a pass "
    "with tf.data (parsed in batches on all cores) and numpy that collects a part of it: count, range, moments, "
    "quantiles, distinct and frequent values of each feature, lengths and white space of strings, runs of labels, and "
    "duplicate records. It keeps all values in memory. The numbers of both are compared. TensorFlow Data Validation "
    "could not be installed together with the other libraries. Memory is the maximum resident size of a new process "
    "for half of the shards, relative to all of them. *check* is all of `rs.check`: the facts, a sample of 200 images "
    "decoded in full, and all rules. The task `verify` measures how fast both CRCs are checked."
)
THREADS = 2
SUBJECTS = ("tab", "tok")
OURS, THEIRS, CHECK = "recordsmith", "tensorflow", "recordsmith, check"


def run(context: Context) -> Section:
    """Survey the datasets with both, and compare their numbers."""
    section = Section("facts", "Collecting facts", METHOD)
    for name in SUBJECTS:
        stored = context.datasets.get(name)
        if stored is None:
            continue
        answers = {}
        for peer, times in ((OURS, context.repeats), (THEIRS, max(1, context.repeats // 2))):
            if context.workers.get(peer) is None:
                continue
            context.say(f"facts {name}: {peer}")
            try:
                answers[peer] = _survey(context, stored, peer, times, stored.paths)
            except PeerFailedError as problem:
                section.skipped.append(f"{peer} on {name}: {problem}")
                continue
            form = "all facts" if peer == OURS else "tf.data and numpy"
            section.figures.append(
                Figure(name, peer, form, answers[peer]["seconds"], stored.records, stored.bytes,
                       peak_bytes=answers[peer]["peak"])
            )  # fmt: skip
        _judge(context, section, stored, answers)
    for name, stored in context.datasets.items():
        if context.workers.get(OURS) is not None:
            _check(context, section, name, stored)
    section.skipped += context.missing(OURS, THEIRS)
    return section


def _check(context: Context, section: Section, name: str, stored: StoredDataset) -> None:
    context.say(f"facts {name}: check")
    answer = _survey(context, stored, CHECK, context.repeats, stored.paths)
    figure = Figure(name, OURS, "check", answer["seconds"], stored.records, stored.bytes, peak_bytes=answer["peak"])
    section.figures.append(figure)
    speed = stored.bytes / figure.best / 1e9
    section.outcomes.append(Outcome(name, "check, with two cores", speed, "GB/s", "two cores", targets.CHECK.get(name)))


def _survey(context: Context, stored: StoredDataset, peer: str, times: int, paths: list[Any]) -> dict[str, Any]:
    """Survey in a new process, some times."""
    python = context.workers.python(peer.partition(",")[0])
    words = [python, "-m", "bench.surveys", peer, stored.name, str(times), str(THREADS), *map(str, paths)]
    done = subprocess.run(words, cwd=PROJECT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise PeerFailedError((done.stderr.strip().splitlines() or ["no reason given"])[-1])
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def _judge(context: Context, section: Section, stored: StoredDataset, answers: dict[str, dict[str, Any]]) -> None:
    if OURS in answers and THEIRS in answers:
        _compare(answers[OURS]["found"], answers[THEIRS]["found"])
        ours, theirs = section.best(stored.name, OURS, forms=("all facts",)), section.best(stored.name, THEIRS)
        assert ours is not None
        assert theirs is not None
        target = targets.FACTS.get(stored.name)
        section.outcomes.append(
            Outcome(stored.name, "facts", times_faster(ours, theirs), "times", "tf.data and numpy", target)
        )
    if OURS in answers:
        half = _survey(context, stored, OURS, 1, stored.paths[: len(stored.paths) // 2])
        whole = _survey(context, stored, OURS, 1, stored.paths)
        flat = half["peak"] / whole["peak"]
        section.outcomes.append(
            Outcome(stored.name, "memory", flat, "fraction", "the highest of half of the shards", targets.FACTS_FLAT)
        )


def _compare(ours: dict[str, list[float]], theirs: dict[str, list[float]]) -> None:
    assert ours.keys() == theirs.keys()
    for name, numbers in theirs.items():
        pairs = zip(ours[name], numbers, strict=True)
        assert all(math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9) for one, other in pairs), (name, ours[name])
