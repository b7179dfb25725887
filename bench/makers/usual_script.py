"""The script that people write: OpenCV or csv, tf.train.Example, and TFRecordWriter, with a pool for images.

Images are resized in two ways: INTER_LINEAR, OpenCV's default, which looks at four pixels of the image for each of
the new one and loses the others, and INTER_AREA, which OpenCV recommends for shrinking and recordsmith does.
"""

from __future__ import annotations

import contextlib
import csv
import importlib
import itertools
import multiprocessing
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.makers.inputs import SIZE

SHARDS = 4
WORKERS = 2
WRITING = ("the parent writes", "each worker writes its shards")
RESIZING = ("INTER_AREA", "INTER_LINEAR")
LOOP = "csv + tf.train.Example loop"

FORMS = {"images": [f"pool + cv2 {how}, {who}" for how in RESIZING for who in WRITING], "table": [LOOP]}

Image = tuple[str, int]

# Imported before the pool forks, as at the head of a script.
cv2: Any = None
tf: Any = None
interpolation: int = 0


def prepare(subject: str, form: str) -> Callable[[Path, Path, int | None], None]:
    """Import what is needed, and return what does the work."""
    global cv2, tf, interpolation  # noqa: PLW0603 - see above
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    tf = importlib.import_module("tensorflow")
    if subject == "table":
        return _table
    cv2 = importlib.import_module("cv2")
    interpolation = getattr(cv2, next(how for how in RESIZING if how in form))
    return _images_own_shards if "each worker" in form else _images_one_writer


def check(subject: str, folder: Path) -> dict[str, int]:
    """Read what another one wrote: how many records there are, the sum of their labels, and for images their size."""
    prepare(subject, FORMS[subject][0])
    records = label_sum = right_size = 0
    wanted = {"label": tf.io.FixedLenFeature([], tf.int64)}
    if subject == "images":
        wanted["image"] = tf.io.FixedLenFeature([], tf.string)
    for batch in tf.data.TFRecordDataset(sorted(map(str, folder.glob("*.tfrecord-*")))).batch(4096):
        parsed = tf.io.parse_example(batch, wanted)
        records += len(batch)
        label_sum += int(tf.reduce_sum(parsed["label"]))
        if subject == "images":
            right_size += sum(tuple(tf.io.decode_jpeg(image).shape[:2]) == SIZE for image in parsed["image"])
    return {"records": records, "label_sum": label_sum, "right_size": right_size}


def _listed(source: Path) -> list[Image]:
    classes = sorted(path.name for path in source.iterdir())
    return [(str(path), label) for label, name in enumerate(classes) for path in sorted((source / name).iterdir())]


def _image(entry: Image) -> bytes:
    path, label = entry
    image = cv2.resize(cv2.imread(path), (SIZE[1], SIZE[0]), interpolation=interpolation)
    encoded = cv2.imencode(".jpg", image)[1].tobytes()
    train = tf.train
    fields = {
        "image": train.Feature(bytes_list=train.BytesList(value=[encoded])),
        "label": train.Feature(int64_list=train.Int64List(value=[label])),
        "filename": train.Feature(bytes_list=train.BytesList(value=[os.path.basename(path).encode()])),
    }
    serialized: bytes = train.Example(features=train.Features(feature=fields)).SerializeToString()
    return serialized


def _one_thread() -> None:
    cv2.setNumThreads(1)  # two processes on two cores: threads of OpenCV would only get in their way


def _images_one_writer(source: Path, out: Path, _limit: int | None) -> None:
    entries = _listed(source)
    with contextlib.ExitStack() as stack:
        writers = [stack.enter_context(tf.io.TFRecordWriter(_shard(out, number))) for number in range(SHARDS)]
        pool = stack.enter_context(multiprocessing.get_context("fork").Pool(WORKERS, _one_thread))
        for serialized, writer in zip(pool.imap(_image, entries, chunksize=16), itertools.cycle(writers), strict=False):
            writer.write(serialized)


def _images_own_shards(source: Path, out: Path, _limit: int | None) -> None:
    entries = _listed(source)
    shards = [(_shard(out, number), entries[number::SHARDS]) for number in range(SHARDS)]
    with multiprocessing.get_context("fork").Pool(WORKERS, _one_thread) as pool:
        pool.map(_write_shard, shards, chunksize=1)


def _write_shard(shard: tuple[str, list[Image]]) -> None:
    path, entries = shard
    with tf.io.TFRecordWriter(path) as writer:
        for entry in entries:
            writer.write(_image(entry))


def _table(source: Path, out: Path, limit: int | None) -> None:
    train = tf.train
    with source.open(newline="") as file, contextlib.ExitStack() as stack:
        writers = [stack.enter_context(tf.io.TFRecordWriter(_shard(out, number))) for number in range(SHARDS)]
        rows = itertools.islice(csv.DictReader(file), limit)
        for row, writer in zip(rows, itertools.cycle(writers), strict=False):
            fields = {}
            for name, cell in row.items():
                if name.startswith("f"):
                    fields[name] = train.Feature(float_list=train.FloatList(value=[float(cell)]))
                elif name.startswith("s"):
                    fields[name] = train.Feature(bytes_list=train.BytesList(value=[cell.encode()]))
                else:
                    fields[name] = train.Feature(int64_list=train.Int64List(value=[int(cell)]))
            writer.write(train.Example(features=train.Features(feature=fields)).SerializeToString())


def _shard(out: Path, number: int) -> str:
    return str(out / f"made-train.tfrecord-{number:05}-of-{SHARDS:05}")
