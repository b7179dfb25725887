"""The viewer: how long a person waits for the first page, for a far place, and for a filter."""

from __future__ import annotations

import http.cookiejar
import json
import signal
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import recordsmith as rs
from bench.measuring.workers import PROJECT
from bench.reporting import targets
from bench.reporting.results import Figure, Outcome, Section

if TYPE_CHECKING:
    from bench.tasks.context import Context

METHOD = (
    "`recordsmith view` in a new process each time, over one file of records with four features, whose index is there. "
    "First page: from the moment at which the server says that it listens to the whole HTML of the first page, which "
    "has 40 records. Far cells: 40 records in the middle. Filter, first hits: the page of `n % 10 == 3`, which has the "
    "first 40 hits. Filter, all: until all records are searched for one, which is the last. The check of the whole "
    "dataset, which starts by itself, runs at the same time."
)
SIZES = (10_000, 1_000_000, 10_000_000)
_PART = 100_000
_PAGE, _FAR, _HITS, _ALL = "first page", "far cells", "filter, first hits", "filter, all"


def run(context: Context) -> Section:
    """Open datasets of three sizes."""
    section = Section("view", "The viewer", METHOD)
    for size in SIZES:
        records = max(1_000, int(size * context.scale))
        path = _written(context.folder / f"view-{records}.tfrecord", records)
        found: dict[str, list[float]] = {name: [] for name in (_PAGE, _FAR, _HITS, _ALL)}
        for number in range(context.repeats):
            context.say(f"view: {records:,} records, pass {number + 1}")
            for name, seconds in _measured(context, path, records):
                found[name].append(seconds)
        subject = f"{records:,}"
        section.figures += [Figure(subject, "recordsmith", name, seconds) for name, seconds in found.items()]
        section.outcomes.append(
            Outcome(subject, _PAGE, min(found[_PAGE]), "seconds", "a fixed limit", targets.VIEW_FIRST_PAGE)
        )
        section.outcomes.append(
            Outcome(subject, _HITS, min(found[_HITS]), "seconds", "a fixed limit", targets.VIEW_FIRST_HITS)
        )
    return section


def _written(path: Path, records: int) -> str:
    if not path.exists():
        schema = rs.Schema(
            {"label": rs.Label(10), "x": rs.Scalar("float32"), "n": rs.Scalar("int64"), "word": rs.Text()}
        )
        with rs.RecordWriter(str(path)) as writer:
            for start in range(0, records, _PART):
                numbers = np.arange(start, min(records, start + _PART))
                words = [f"word {number % 5000}" for number in numbers.tolist()]
                x = (numbers % 1000 / 7).astype(np.float32)
                writer.write_columns({"label": numbers % 10, "x": x, "n": numbers, "word": words}, schema)
    len(rs.open(str(path)))  # makes the index
    return str(path)


@contextmanager
def _viewer(context: Context, path: str) -> Iterator[str]:
    command = [context.workers.python("recordsmith"), "-m", "recordsmith", "view", path, "--no-browser"]
    process = subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30)


def _measured(context: Context, path: str, records: int) -> Iterator[tuple[str, float]]:
    with _viewer(context, path) as link:
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
        base = link.partition("?")[0] + "d/0"

        def get(address: str) -> bytes:
            answer: bytes = browser.open(base + address).read()
            return answer

        def status(query: str) -> Any:
            return json.loads(get(f"/status?{query}"))

        start = time.perf_counter()
        browser.open(link).read()
        assert get("/").count(b"data-at") == 40
        yield _PAGE, time.perf_counter() - start
        start = time.perf_counter()
        assert get(f"/cells?start={records // 2}&count=40").count(b"data-at") == 40
        yield _FAR, time.perf_counter() - start
        query = urllib.parse.urlencode({"where": "n % 10 == 3"})
        start = time.perf_counter()
        while get(f"/?{query}").count(b"data-at") < 40:
            pass
        yield _HITS, time.perf_counter() - start
        query = urllib.parse.urlencode({"where": f"n == {records - 1}"})
        start = time.perf_counter()
        while not (found := status(query))["done"]:
            time.sleep(0.01)
        assert found["count"] == 1
        yield _ALL, time.perf_counter() - start
