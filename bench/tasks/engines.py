"""Ray: its own TFRecord functions against ours, and what `engine="ray"` costs and gains."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

from bench.measuring.workers import PROJECT, PeerFailedError
from bench.reporting import targets
from bench.reporting.results import Figure, Outcome, Section, times_faster

if TYPE_CHECKING:
    from bench.tasks.context import Context

METHOD = (
    "All on a Ray of this machine. read and write: Ray Data's read_tfrecords and write_tfrecords against "
    "recordsmith.ray, in one process that uses one Ray with two processors, for the dataset tab. Ray's own functions "
    "get the first 20,000 records, because they are slow; rates are compared. make: rs.make of a CSV file of a million "
    "rows (two splits, shuffled) with engine='local' and engine='ray' in turn, and again on one and on two Ray nodes "
    "of one processor each. All datasets that were made are compared by the digests of their shards. Starting Ray is "
    "not measured."
)


def run(context: Context) -> Section:
    """Measure each in a process of its own."""
    section = Section("engines", "Ray", METHOD)
    stored = context.datasets.get("tab")
    for what in ("read", "write"):
        if stored is None:
            section.skipped.append(f"{what}: it needs the dataset tab, which was not asked for")
            continue
        found = _measured(context, section, what, *map(str, stored.paths))
        if found is not None:
            ours = Figure(f"tab {what}", "recordsmith", "recordsmith.ray", found["ours"], stored.records)
            theirs = Figure(f"tab {what}", "ray", f"{what}_tfrecords", found["theirs"], found["part"])
            section.figures += [ours, theirs]
            target = {"read": targets.RAY_READ, "write": targets.RAY_WRITE}[what]
            section.outcomes.append(
                Outcome("tab", f"{what} on Ray", times_faster(ours, theirs), "times", "Ray Data", target)
            )
    made = _measured(context, section, "make")
    if made is not None:
        figures = {name: Figure("make", "recordsmith", name, made[name], made["records"]) for name in ("local", "ray")}
        section.figures += figures.values()
        share = figures["local"].best / figures["ray"].best
        section.outcomes.append(
            Outcome("make", "engine='ray' on one node", share, "fraction", "the speed of 'local'", targets.RAY_MAKE)
        )
    nodes = _measured(context, section, "nodes")
    if nodes is not None:
        one, two = (Figure("make", "recordsmith", f"nodes: {n}", nodes[n], nodes["records"]) for n in ("1", "2"))
        section.figures += [one, two]
        section.outcomes.append(Outcome("make", "two nodes", one.best / two.best, "times", "one node"))
    return section


def _measured(context: Context, section: Section, what: str, *paths: str) -> dict[str, Any] | None:
    context.say(f"engines: {what}")
    words = [context.workers.python("recordsmith"), "-m", "bench.engines", what, str(context.folder / "engines")]
    done = subprocess.run(
        [*words, str(context.repeats), *paths], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        problem = PeerFailedError((done.stderr.strip().splitlines() or ["no reason given"])[-1])
        section.skipped.append(f"{what}: {problem}")
        return None
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer
