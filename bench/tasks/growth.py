"""How the cost grows: time per record or value and memory, for more records, features and shards."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

from bench.measuring.workers import PROJECT, PeerFailedError
from bench.reporting import targets
from bench.reporting.results import Figure, Outcome, Section

if TYPE_CHECKING:
    from bench.tasks.context import Context

METHOD = (
    "Datasets of float32 values from a fixed seed, in memory-backed storage: 10,000 to 10,000,000 records of 3 "
    "features, 10 to 10,000 features with a million values in all, and 10 to 10,000 shards of 100 records. make: "
    "`rs.write` from columns of two million values at a time, flushed and published. open: `rs.open` of the "
    "shards alone, without manifest and index, so that the schema is inferred and every record found. check: "
    "`rs.check`. feed: one shuffled epoch in batches of 256. Each pass is a new process, without its imports. The "
    "time per value of the smallest and the largest dataset is compared: 100% means that the cost grows with the "
    "data and no faster. What every dataset costs once is a large part of the time of a small one: more than 100% is "
    "usual. `peak` is the memory of the process itself at its highest, without mapped files."
)
WORK = ("make", "open", "check", "feed")
FEATURES, VALUES, SHARD_RECORDS = 3, 1_000_000, 100


def run(context: Context) -> Section:
    """Make, open, check and feed datasets of each size."""
    section = Section("growth", "Cost as the data grow", METHOD)
    sizes = (10_000, 100_000, 1_000_000, 10_000_000)
    _measure(context, section, "records", [(_scaled(n, context, 1000), FEATURES, 4) for n in sizes])
    widths = (10, 100, 1_000, 10_000)
    _measure(context, section, "features", [(_scaled(VALUES // n, context, 4), n, 4) for n in widths])
    shards = (10, 100, 1_000, 10_000)
    counts = [_scaled(n, context, 10) for n in shards]
    _measure(context, section, "shards", [(SHARD_RECORDS * n, FEATURES, n) for n in counts])
    return section


def _scaled(amount: int, context: Context, least: int) -> int:
    return max(min(amount, least), int(amount * context.scale))


def _measure(context: Context, section: Section, what: str, sizes: list[tuple[int, int, int]]) -> None:
    costs: dict[str, list[float]] = {work: [] for work in WORK}
    for amounts in sizes:
        records, features, shards = amounts
        subject = {"records": f"{records:,} records", "features": f"{features:,} features"}.get(
            what, f"{shards:,} shards"
        )
        folder = context.folder / "growth"
        found: dict[str, list[dict[str, Any]]] = {work: [] for work in WORK}
        try:
            for _ in range(min(context.repeats, 2)):
                shutil.rmtree(folder, ignore_errors=True)
                for work in WORK:
                    context.say(f"growth: {work}, {subject}")
                    found[work].append(_ask(context, work, str(folder), *amounts))
        except PeerFailedError as problem:
            section.skipped.append(f"{subject}: {problem}")
            return
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        for work, answers in found.items():
            seconds = [answer["seconds"] for answer in answers]
            peak = max(answer["memory"] for answer in answers)
            note = f"{min(seconds) / records * 1e6:.2f} \u00b5s per record, {peak / 1e6:,.0f} MB"
            section.figures.append(Figure(subject, "recordsmith", work, seconds, records, note=note, peak_bytes=peak))
            costs[work].append(min(seconds) / (records * features))
    for work, cost in costs.items():
        against = f"the cost per value of {what} at their fewest"
        largest = f"{'x'.join(f'{amount:,}' for amount in sizes[-1])} (records, features, shards)"
        section.outcomes.append(Outcome(largest, work, cost[0] / cost[-1], "fraction", against, targets.GROWTH))


def _ask(context: Context, work: str, folder: str, *amounts: int) -> dict[str, Any]:
    command = [context.workers.python("recordsmith"), "-m", "bench.growth", work, folder, *map(str, amounts)]
    environment = {**os.environ, "XDG_CACHE_HOME": f"{folder}/cache"}
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False, env=environment)
    if done.returncode != 0:
        raise PeerFailedError(f"{work} ended with code {done.returncode}: {done.stderr.strip().splitlines()[-1:]}")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer
