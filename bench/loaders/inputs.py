"""Datasets that only loading needs: large images, images of other formats, and very many records."""

from __future__ import annotations

import importlib
import io
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench.data.datasets import SEED, SHARDS
from bench.data.images import GRAIN, QUALITY, jpeg_images
from bench.data.store import scale_folder, shard_paths

LARGE_IMAGES, WIDTH, HEIGHT = 400, 1600, 1200
OTHER_IMAGES = 1000
OTHER_FORMATS: dict[str, dict[str, int]] = {"png": {}, "webp": {"quality": 80}}  # with Pillow's options
MANY_RECORDS = 10_000_000
# A grain as fine as that of the small images would make 1.5 MB of each; photographs of this size have about half.
COARSER = 0.5


@dataclass(frozen=True, slots=True)
class Input:
    """Files that lie ready, and what must be fed from them."""

    paths: list[Path]
    records: int
    bytes: int
    label_sum: int


def large_images(folder: Path, scale: float) -> Input:
    """JPEGs of 1,600x1,200 with a label each, as TFRecords."""
    return _images(folder, scale, "large", LARGE_IMAGES, _large_jpegs)


def png_images(folder: Path, scale: float) -> Input:
    """PNGs of 500x375 with a label each, as TFRecords."""
    return _images(folder, scale, "png", OTHER_IMAGES, lambda random, count: _converted(random, count, "png"))


def webp_images(folder: Path, scale: float) -> Input:
    """WebPs of 500x375 with a label each, as TFRecords."""
    return _images(folder, scale, "webp", OTHER_IMAGES, lambda random, count: _converted(random, count, "webp"))


def _images(
    folder: Path, scale: float, name: str, full: int, make: Callable[[np.random.Generator, int], list[bytes]]
) -> Input:
    count = max(2 * SHARDS, round(full * scale / SHARDS) * SHARDS)
    target = scale_folder(folder, scale) / name
    labels = np.arange(count) % 10
    if not target.is_dir():
        unfinished = target.with_name(f"{name}.unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        images = make(np.random.default_rng([SEED, 200]), count)
        rs: Any = importlib.import_module("recordsmith")
        schema = rs.Schema({"image": rs.Bytes(), "label": rs.Scalar("int64")})
        for shard, path in enumerate(shard_paths(unfinished, name)):
            with rs.RecordWriter(str(path)) as writer:
                writer.write_columns({"image": images[shard::SHARDS], "label": labels[shard::SHARDS]}, schema)
        unfinished.rename(target)
    paths = shard_paths(target, name)
    return Input(paths, count, sum(path.stat().st_size for path in paths), int(labels.sum()))


def _converted(random: np.random.Generator, count: int, encoding: str) -> list[bytes]:
    """The images of `img` in another format."""
    image_module: Any = importlib.import_module("PIL.Image")

    def convert(jpeg: bytes) -> bytes:
        encoded = io.BytesIO()
        image_module.open(io.BytesIO(jpeg)).save(encoded, encoding.upper(), **OTHER_FORMATS[encoding])
        return encoded.getvalue()

    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(convert, jpeg_images(random, count)))


def many_records(folder: Path, scale: float) -> Input:
    """Ten million tiny records, with their index."""
    count = max(SHARDS, round(MANY_RECORDS * scale / SHARDS) * SHARDS)
    target = scale_folder(folder, scale) / "many"
    labels = np.arange(count) % 10
    rs: Any = importlib.import_module("recordsmith")
    paths = shard_paths(target, "many")
    if not target.is_dir():
        unfinished = target.with_name("many.unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        schema = rs.Schema({"label": rs.Scalar("int64")})
        for shard, path in enumerate(shard_paths(unfinished, "many")):
            with rs.RecordWriter(str(path)) as writer:
                writer.write_columns({"label": labels[shard::SHARDS]}, schema)
        unfinished.rename(target)
    len(rs.open([str(path) for path in paths]))  # which indexes them, and keeps the index
    return Input(paths, count, sum(path.stat().st_size for path in paths), int(labels.sum()))


def _large_jpegs(random: np.random.Generator, count: int) -> list[bytes]:
    image_module: Any = importlib.import_module("PIL.Image")
    grain = random.standard_normal((HEIGHT * 2, WIDTH * 2), dtype=np.float32)
    strengths = (random.uniform(*GRAIN, count) * COARSER).astype(np.float32)
    colours = random.integers(30, 226, (count, 9, 12, 3), dtype=np.uint8)
    corners = np.stack([random.integers(0, HEIGHT, count), random.integers(0, WIDTH, count)], axis=1)

    def encode(number: int) -> bytes:
        top, left = corners[number]
        window = grain[top : top + HEIGHT, left : left + WIDTH, None] * strengths[number]
        smooth = image_module.fromarray(colours[number]).resize((WIDTH, HEIGHT), image_module.Resampling.BICUBIC)
        pixels = np.clip(np.asarray(smooth, dtype=np.float32) + window, 0, 255).astype(np.uint8)
        encoded = io.BytesIO()
        image_module.fromarray(pixels).save(encoded, "JPEG", quality=QUALITY)
        return encoded.getvalue()

    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(encode, range(count)))
