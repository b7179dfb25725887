"""Loading from an object store: local files, S3 on loopback, and behind a latency; beside those who do the same."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.feeders.asking import ask
from bench.feeders.contract import LOADERS
from bench.feeders.recordsmith_feeder import FILES
from bench.loaders.contract import SUBJECTS
from bench.measuring.workers import PROJECT, PeerFailedError
from bench.remote.servers import object_store, slow_network
from bench.reporting import targets
from bench.reporting.results import Figure, Outcome, Section, times_faster

if TYPE_CHECKING:
    from bench.data.store import StoredDataset
    from bench.tasks.context import Context

METHOD = (
    "Shuffled batches of vec (1,024 rows) and img (32 images, decoded, resized to 224x224, flipped, brightened, "
    "float32) from SeaweedFS on the same machine, whose processors it shares with the loader. A proxy on loopback "
    "lets each request wait for 20 or 100 ms; the bandwidth stays that of loopback, or is 1 Gbit/s. Each pass is a new "
    "process with an empty cache: the first epoch begins with opening the dataset (imports are done before), "
    "the second one has what the loader keeps on disk. "
    "The same rows are in the bucket in the form of each library: TFRecords of recordsmith, chunks of litdata, MDS "
    "shards of mosaicml-streaming, tar files of WebDataset, all of about 64 MB (TFRecords: 4 files). The peers have a "
    "DataLoader with a worker per processor, and decode with OpenCV. `plain download` fetches the same TFRecords by "
    "obstore in ranges of 4 MiB, 32 at a time, and does nothing with them: no loader can be faster in a first epoch."
)
OURS, LIMIT = "recordsmith", "plain download"
PEERS = ("litdata", "mosaicml-streaming", "webdataset", "tf.data")
# The latency in seconds, and the bytes per second; 0 for those of loopback.
PLACES = {"S3": (0.0, 0.0), "S3, 20 ms": (0.02, 0.0), "S3, 100 ms": (0.1, 0.0), "S3, 100 ms, 1 Gbit/s": (0.1, 125e6)}
WITH_PEERS = ("S3", "S3, 100 ms")
EPOCHS = ("first epoch", "second epoch")
BUCKET = "recordsmith-bench"


@dataclass(frozen=True, slots=True)
class _Run:
    """One contender at one place."""

    subject: str
    loader: str
    place: str
    url: str
    environment: dict[str, str]


def run(context: Context) -> Section:
    """Upload each dataset in each form, and load it."""
    section = Section("remote", "Loading from an object store", METHOD)
    folder = context.folder / "remote"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        with contextlib.ExitStack() as stack:
            server = stack.enter_context(object_store(folder))
            ways = {place: stack.enter_context(slow_network(server, *way)) for place, way in PLACES.items()}
            for subject in ("vec", "img"):
                if subject in context.datasets:
                    _compare(context, section, subject, folder, ways)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    _judge(section)
    return section


def _compare(context: Context, section: Section, subject: str, folder: Path, ways: dict[str, dict[str, str]]) -> None:
    stored = context.datasets[subject]
    there = _upload(context, section, stored, folder, ways["S3"])
    runs = [_Run(subject, OURS, "local", str(stored.paths[0].parent), ways["S3"])]
    for place, environment in ways.items():
        loaders = (OURS, LIMIT, *PEERS) if place in WITH_PEERS else (OURS, LIMIT)
        runs += [_Run(subject, name, place, there[name], environment) for name in loaders if name in there]
    seconds: dict[_Key, list[dict[str, list[float]]]] = {}
    broken: set[str] = set()
    for turn in range(context.repeats):
        for one in runs:
            if one.loader in broken:
                continue
            context.say(f"remote {subject}: {one.loader}, {one.place}, turn {turn + 1}")
            try:
                answer = _loaded(one, stored, folder)
            except PeerFailedError as problem:
                section.skipped.append(f"{one.loader} on {subject}, {one.place}: {problem}")
                broken.add(one.loader)
                continue
            context.workers.versions |= answer["versions"]
            seconds.setdefault((one.loader, one.place), []).append(answer)
    for (loader, place), turns in seconds.items():
        for number, epoch in enumerate(EPOCHS):
            if number and loader == LIMIT:
                continue
            times, spent = ([turn[what][number] for turn in turns] for what in ("seconds", "cpu"))
            note = f"CPU {min(spent):.2f} s"
            figure = Figure(subject, loader, f"{place}, {epoch}", times, stored.records, stored.bytes, note)
            section.figures.append(figure)
    _memory(section, stored, folder, _Run(subject, OURS, "S3", there[OURS], ways["S3"]))


_Key = tuple[str, str]


def _upload(
    context: Context, section: Section, stored: StoredDataset, folder: Path, environment: dict[str, str]
) -> dict[str, str]:
    """Put a dataset into the bucket in the form of each loader, and return the URL of each."""
    local = folder / stored.name
    local.mkdir()
    (local / FILES).write_text("\n".join(map(str, stored.paths)))
    there: dict[str, str] = {}
    uploaded: dict[str, str] = {}
    for name in (OURS, LIMIT, *PEERS):
        form = LOADERS[name][1]
        if form not in uploaded:
            context.say(f"remote {stored.name}: writing for {name}")
            request = {"do": "write", "loader": name, "subject": stored.name, "folder": str(local / form)}
            try:
                ask({**request, "columns": str(stored.columns_folder)}, environment)
            except PeerFailedError as problem:
                section.skipped.append(f"{name}: {problem}")
                continue
            url = f"s3://{BUCKET}/{stored.name}/{form}"
            _ask_upload(str(local / form), url, environment)
            shutil.rmtree(local / form)
            uploaded[form] = url
        there[name] = uploaded[form]
    return there


UPLOAD = """
import os, sys
from recordsmith.storage.objects import open_folder
folder = open_folder(sys.argv[2])
for name in sorted(os.listdir(sys.argv[1])):
    if not name.startswith("."):
        folder.upload(name, os.path.join(sys.argv[1], name))
if sys.argv[2].endswith("/tfrecord"):  # the others have an index too
    from recordsmith.dataset.index_report import index_files, keep_indexes
    list(keep_indexes(index_files([sys.argv[2]]), upload=True))
"""


def _ask_upload(folder: str, url: str, environment: dict[str, str]) -> None:
    command = [sys.executable, "-c", UPLOAD, folder, url]
    own = {"RECORDSMITH_CACHE": f"{folder}-cache", "XDG_CACHE_HOME": f"{folder}-cache"}
    subprocess.run(command, cwd=PROJECT, env={**os.environ, **environment, **own}, check=True)
    shutil.rmtree(f"{folder}-cache", ignore_errors=True)


def _loaded(one: _Run, stored: StoredDataset, folder: Path, **more: Any) -> dict[str, Any]:
    cache = folder / "cache"
    shutil.rmtree(cache, ignore_errors=True)
    cache.mkdir()
    own = {"RECORDSMITH_CACHE": str(cache), "XDG_CACHE_HOME": str(cache / "indexes"), **more.pop("environment", {})}
    request = {"do": "load", "loader": one.loader, "subject": one.subject, "url": one.url, "cache": str(cache)}
    batch = SUBJECTS[one.subject].batch
    answer = ask({**request, "batch": batch, "epochs": 2, **more}, {**one.environment, **own})
    if one.loader != LIMIT and set(answer["records"]) != {stored.records}:
        raise PeerFailedError(f"delivered {answer['records']} records instead of {stored.records:,}")
    if one.loader != LIMIT and set(answer["label_sum"]) != {stored.label_sum}:
        raise PeerFailedError("delivered other labels than were written")
    return answer


def _memory(section: Section, stored: StoredDataset, folder: Path, one: _Run) -> None:
    """Several epochs with a cache that is smaller than the data: its size, and the memory of the process."""
    limit = stored.bytes // 3
    environment = {"RECORDSMITH_CACHE_LIMIT": str(limit)}
    answer = _loaded(one, stored, folder, epochs=8, watch=True, environment=environment)
    first, last = max(answer["memory"][4:6]), max(answer["memory"][6:])
    note = f"{first / 1e6:,.0f} MB in the fifth and sixth epoch, {last / 1e6:,.0f} MB in the two after them"
    flat = Outcome(
        one.subject, "memory, fifth epoch to later ones", first / max(1, last), "fraction", note, targets.LOAD_FLAT
    )
    largest = answer["cache"]
    held = f"{largest / 1e6:,.0f} MB of at most {limit / 1e6:,.0f} MB, for {stored.bytes / 1e6:,.0f} MB of data"
    room = Outcome(one.subject, "cache, limit to its largest size", limit / max(1, largest), "fraction", held, 1.0)
    section.outcomes += [flat, room]


def _judge(section: Section) -> None:
    def best(subject: str, peer: str, form: str) -> Figure | None:
        return section.best(subject, peer, forms=(form,))

    for subject in ("vec", "img"):
        for place, (latency, bandwidth) in PLACES.items():
            for epoch in EPOCHS:
                form = f"{place}, {epoch}"
                mine = best(subject, OURS, form)
                if mine is None:
                    continue
                local = best(subject, OURS, f"local, {epoch}")
                if local is not None:
                    value = times_faster(mine, local)
                    section.outcomes.append(Outcome(subject, form, value, "fraction", "recordsmith on local files"))
                near = best(subject, OURS, f"S3, {epoch}")
                if near is not None and latency and not bandwidth:
                    value = times_faster(mine, near)
                    against = "recordsmith on S3 without the latency"
                    section.outcomes.append(Outcome(subject, form, value, "fraction", against, targets.REMOTE_LATENCY))
                limit = best(subject, LIMIT, form)
                if limit is not None:
                    value = times_faster(mine, limit)
                    wanted = targets.REMOTE_LATENCY if bandwidth else None
                    section.outcomes.append(Outcome(subject, form, value, "fraction", f"a {LIMIT}", wanted))
                for peer in PEERS:
                    theirs = best(subject, peer, form)
                    if theirs is not None:
                        value = times_faster(mine, theirs)
                        section.outcomes.append(Outcome(subject, form, value, "times", peer, targets.REMOTE))
