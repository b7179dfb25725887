"""Feeding PyTorch from local files: each library on the same rows in its own best format."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.feeders.asking import ask
from bench.feeders.contract import LOADERS
from bench.feeders.recordsmith_feeder import FILES
from bench.measuring.workers import PeerFailedError
from bench.reporting import targets
from bench.reporting.results import Figure, Outcome, Section, times_faster

if TYPE_CHECKING:
    from bench.data.store import StoredDataset
    from bench.tasks.context import Context

METHOD = (
    "Shuffled epochs of tensors: vec in batches of 256, img in batches of 64, decoded, resized to 224x224, flipped, "
    "brightened, float32. Each library reads the same rows in its own format, from memory-backed storage: recordsmith "
    "TFRecords, litdata chunks, mosaicml-streaming MDS shards, WebDataset tar files, grain array_record files, "
    "Hugging Face datasets Arrow files, Ray Data Parquet files. Libraries with a DataLoader have a worker per "
    "processor; for grain and Hugging Face datasets two ways are measured, and the better one counts. The peers decode "
    "with simplejpeg (libjpeg-turbo with its fast settings, scaled while decoding). recordsmith, grain, Hugging Face "
    "datasets and litdata shuffle all rows, the others use their buffers. A pass is a new process that runs "
    "three epochs; imports and the first epoch are not counted, the best of the other two is. Each epoch must have "
    "every label, and batches the right type and shape."
)
OURS = "recordsmith, to_torch"
BATCH = {"vec": 256, "img": 64}
WITHOUT = {"recordsmith", "tf.data", "plain download"}  # measured by other tasks, or not for PyTorch
EPOCHS = 3


def run(context: Context) -> Section:
    """Write each dataset in each form, and feed it."""
    section = Section("feed", "Feeding PyTorch", METHOD)
    folder = context.folder / "feed"
    for subject, batch in BATCH.items():
        if subject not in context.datasets:
            continue
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        try:
            _compare(context, section, context.datasets[subject], batch, folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    _judge(section)
    return section


def _compare(context: Context, section: Section, stored: StoredDataset, batch: int, folder: Path) -> None:
    written = _write(context, section, stored, folder)
    seconds: dict[str, list[float]] = {name: [] for name in LOADERS if name in written}
    for turn in range(context.repeats):
        for name in list(seconds):
            context.say(f"feed {stored.name}: {name}, turn {turn + 1}")
            try:
                answer = _fed(name, stored, batch, written[name], folder / "cache")
            except PeerFailedError as problem:
                section.skipped.append(f"{name} on {stored.name}: {problem}")
                del seconds[name]
                continue
            context.workers.versions |= answer["versions"]
            seconds[name] += answer["seconds"][1:]
    for name, times in seconds.items():
        peer, _, way = name.partition(", ")
        section.figures.append(Figure(stored.name, peer, way, times, stored.records, stored.bytes))


def _write(context: Context, section: Section, stored: StoredDataset, folder: Path) -> dict[str, str]:
    """Write a dataset in the form of each library, and return the folder of each."""
    (folder / FILES).write_text("\n".join(map(str, stored.paths)))
    written: dict[str, str] = {}
    for name, (_, form) in LOADERS.items():
        if name in WITHOUT:
            continue
        target = folder / form
        if not target.exists():
            context.say(f"feed {stored.name}: writing for {name}")
            request = {"do": "write", "loader": name, "subject": stored.name, "folder": str(target)}
            try:
                ask({**request, "columns": str(stored.columns_folder)}, {})
            except PeerFailedError as problem:
                section.skipped.append(f"{name}: {problem}")
                continue
        written[name] = str(target)
    return written


def _fed(name: str, stored: StoredDataset, batch: int, url: str, cache: Path) -> dict[str, Any]:
    shutil.rmtree(cache, ignore_errors=True)
    cache.mkdir()
    request = {"do": "load", "loader": name, "subject": stored.name, "url": url, "cache": str(cache)}
    answer = ask({**request, "batch": batch, "epochs": EPOCHS}, {})
    if set(answer["records"]) != {stored.records}:
        raise PeerFailedError(f"delivered {answer['records']} records instead of {stored.records:,}")
    if set(answer["label_sum"]) != {stored.label_sum}:
        raise PeerFailedError("delivered other labels than were written")
    return answer


def _judge(section: Section) -> None:
    ours, _, way = OURS.partition(", ")
    peers = dict.fromkeys(figure.peer for figure in section.figures if figure.peer != ours)
    for subject in BATCH:
        mine = section.best(subject, ours, forms=(way,))
        for peer in peers:
            theirs = section.best(subject, peer)
            if mine and theirs:
                against = f"{peer}, {theirs.form}" if theirs.form else peer
                value = times_faster(mine, theirs)
                section.outcomes.append(
                    Outcome(subject, "feed PyTorch", value, "times", against, targets.FEED_TORCH[subject])
                )
