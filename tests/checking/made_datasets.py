"""Small datasets for the rules: a sound one, and ways to spoil it."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import cv2
import numpy as np

import recordsmith as rs
from tests.made_records import file_bytes

CLASSES = ("cat", "dog", "bird")
Row = dict[str, Any]


def rows(count: int = 120, seed: int = 0) -> list[Row]:
    """Rows with nothing wrong about them: each is different, labels are even and in no order."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(count) % len(CLASSES))
    return [
        {
            "x": rng.normal(size=4).astype(np.float32),
            "age": int(rng.integers(1, 90)),
            "name": f"row {seed}-{number:05}",
            "label": int(labels[number]),
        }
        for number in range(count)
    ]


def write(path: Path, some: Iterable[Mapping[str, Any]], compression: str | None = None) -> Path:
    """Write rows as Examples, as any program would: no schema, no manifest."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with rs.RecordWriter(path, compression=compression) as writer:
        for row in some:
            writer.write_example(dict(row))
    return path


def write_payloads(path: Path, payloads: Iterable[bytes]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(file_bytes(payloads))
    return path


def sound(folder: Path, count: int = 120) -> Path:
    """One file of sound rows."""
    return write(folder / "data.tfrecord", rows(count))


def changed(folder: Path, change: Callable[[int, Row], Any], count: int = 120) -> Path:
    """One file of sound rows, each changed in place before it is written."""
    some = rows(count)
    for number, row in enumerate(some):
        change(number, row)
    return write(folder / "data.tfrecord", some)


def splits(folder: Path, **some: Iterable[Row]) -> Path:
    """A folder with a file for each split."""
    for split, content in some.items():
        write(folder / f"pets-{split}.tfrecord-00000-of-00001", content)
    return folder


SCHEMA = rs.Schema(
    {
        "x": rs.Tensor("float32", (4,)),
        "age": rs.Scalar("int64", min=0, max=120),
        "name": rs.Text(),
        "label": rs.Label(list(CLASSES)),
    }
)


def made(folder: Path, some: Iterable[Row] | None = None, **options: Any) -> Path:
    """A folder as `rs.make` makes it: shards, manifest, TFDS description."""
    options = {"schema": SCHEMA, "name": "pets", "split": {"train": 0.5, "val": 0.5}, "stratify": "label"} | options
    rs.make(rs.sources.rows(list(rows(600) if some is None else some)), folder, **options)
    return folder


def made_image(seed: int, suffix: str = ".jpg", side: int = 24, channels: int = 3) -> bytes:
    """An encoded image of soft random colours."""
    rng = np.random.default_rng(seed)
    coarse = rng.integers(0, 256, (6, 6, channels), dtype=np.uint8)
    pixels = cv2.resize(coarse, (side, side), interpolation=cv2.INTER_CUBIC)
    return bytes(cv2.imencode(suffix, pixels)[1])


def image_rows(count: int = 40, seed: int = 0) -> list[Row]:
    return [
        {"image": made_image(1000 * seed + n), "filename": f"image-{seed}-{n}.jpg", "label": n % 2}
        for n in range(count)
    ]


def varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def field(number: int, content: bytes) -> bytes:
    """A length-delimited field of protobuf."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def feature(name: bytes, *lists: bytes) -> bytes:
    """One entry of the map of features: the lists stand in one Feature."""
    return field(1, field(1, name) + field(2, b"".join(lists)))


def int64_list(*values: int) -> bytes:
    return field(3, field(1, b"".join(varint(value) for value in values)))


def float_list(*values: float) -> bytes:
    return field(2, field(1, struct.pack(f"<{len(values)}f", *values)))


def example(*features: bytes) -> bytes:
    return field(1, b"".join(features))
