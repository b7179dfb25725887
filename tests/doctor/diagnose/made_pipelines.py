"""Small images with two or three classes that can be learnt, as arrays, as records, and as batches."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import recordsmith as rs

SIDE = 16


def images(count: int = 256, classes: int = 2, *, in_order: bool = False) -> tuple[Any, Any]:
    """Return images of different gradients, each with blots of its own, and their classes."""
    random = np.random.default_rng(0)
    labels = random.integers(0, classes, count)
    labels = np.sort(labels) if in_order else labels
    ramp = np.linspace(0, 1, SIDE)
    kinds = [np.add.outer(ramp, ramp) / 2, np.add.outer(ramp[::-1], ramp) / 2, np.abs(np.subtract.outer(ramp, ramp))]
    plain = np.stack([kinds[label] for label in labels])[..., np.newaxis] * random.uniform(0.5, 1, (count, 1, 1, 3))
    blots = random.uniform(-0.3, 0.3, (count, 4, 4, 1)).repeat(SIDE // 4, 1).repeat(SIDE // 4, 2)
    values = plain + blots + random.normal(0, 0.04, plain.shape)
    return (np.clip(values, 0, 1) * 255).astype(np.uint8), labels.astype(np.int64)


def write(path: Path, images: Any, labels: Any) -> str:
    """Write images and labels as records."""
    schema = rs.Schema({"image": rs.Image(encoding="png"), "label": rs.Label(int(labels.max()) + 1)})
    with rs.RecordWriter(path) as writer:
        writer.write_columns({"image": list(images), "label": labels}, schema)
    return str(path)


class Epochs:
    """An iterable of batches, in a new order each time."""

    def __init__(self, *columns: Any, size: int = 32, seed: int | None = 0, form: Any = tuple) -> None:
        self._columns, self._size, self._form = columns, size, form
        self._random = None if seed is None else np.random.default_rng(seed)

    def __iter__(self) -> Iterator[Any]:
        count = len(self._columns[0])
        order = np.arange(count) if self._random is None else self._random.permutation(count)
        for start in range(0, count, self._size):
            rows = order[start : start + self._size]
            yield self._form([column[rows] for column in self._columns])


def codes(report: Any, *, least: str = "info") -> list[str]:
    """Return the codes of a report's findings, at or above a severity."""
    wanted = {"info": 0, "warning": 1, "error": 2}[least]
    return [finding.code for finding in report.findings if finding.severity.rank >= wanted]


def wrong(report: Any) -> list[str]:
    """Return what a report says is wrong, with its words, so that a failing test tells them."""
    return [f"{finding.code} {finding.message}" for finding in report.findings if finding.severity.rank > 0]
