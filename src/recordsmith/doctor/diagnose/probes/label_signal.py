"""Whether labels have anything to do with the inputs, without any model.

Kernel ridge regression, linear and with a bell-shaped kernel, guesses each row from all the others; the same with
labels that were dealt out at random says what chance gives. It is crude and quick, and it misses what only a deep model
finds. Where even it finds something, the labels are not those of other rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.doctor.diagnose.observing.batch import Batch, Values
from recordsmith.doctor.diagnose.observing.image_measuring import as_images
from recordsmith.doctor.diagnose.probes.label_order import class_values

__all__ = ["label_signal"]

Array = npt.NDArray[Any]
_MOST_ROWS = 800
_MOST_COLUMNS = 4096
_MOST_WORDS = 5000
_SMOOTHING = 0.3
_SHUFFLES = 8


def label_signal(batches: list[Batch], *, seed: int = 0) -> float | None:
    """Return by how many deviations true labels are guessed better than random ones; None where it is not known.

    >>> from recordsmith.doctor.diagnose.observing.batch import read_batch
    >>> x = np.random.default_rng(0).normal(size=(400, 4))
    >>> label_signal([read_batch((x, (x[:, 0] > 0).astype(int)))]) > 10
    True
    >>> label_signal([read_batch((x, np.random.default_rng(1).integers(0, 2, 400)))]) < 3
    True
    """
    labels = _labels(batches)
    views = _views(batches, 0 if labels is None else len(labels))
    if labels is None or not views:
        return None
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) < 2 or len(classes) > len(codes) / 4:
        return None
    generator = np.random.default_rng(seed)
    wanted = np.eye(len(classes))[codes]
    best = -np.inf
    for view in views:
        for kernel in _kernels(view):
            inverse = _inverse(kernel)
            found = _accuracy(inverse, wanted)
            tried = [_accuracy(inverse, wanted[generator.permutation(len(wanted))]) for _ in range(_SHUFFLES)]
            chance = float(np.mean(tried))
            error = np.sqrt(max(chance * (1 - chance), 1e-6) / len(wanted))
            best = max(best, (found - chance) / error)
    return float(best)


def _labels(batches: list[Batch]) -> Array | None:
    parts = [class_values(next(iter(batch.target.values()))) for batch in batches if len(batch.target) == 1]
    if not parts or len(parts) != len(batches) or any(part is None for part in parts):
        return None
    return np.concatenate([part for part in parts if part is not None])[:_MOST_ROWS]


def _views(batches: list[Batch], rows: int) -> list[Array]:
    """Return the inputs as tables of numbers, in each way that makes sense."""
    views: list[Array] = []
    for name in batches[0].inputs:
        columns = [batch.inputs[name] for batch in batches if name in batch.inputs]
        views += [view for view in _tables(columns) if len(view) >= rows]
    return [view[:rows] for view in views]


def _tables(columns: list[Values]) -> list[Array]:
    arrays = [column for column in columns if isinstance(column, np.ndarray) and column.dtype.kind in "iufb"]
    if len(arrays) != len(columns):
        return [_words(columns)] if all(_whole(column) for column in columns) else []
    if len({array.shape[1:] for array in arrays}) != 1:
        return [_words(columns)] if all(_whole(column) for column in columns) else []
    every = np.concatenate(arrays)[:_MOST_ROWS]
    flat = np.nan_to_num(every.reshape(len(every), -1).astype(np.float64), posinf=0, neginf=0)
    step = max(1, -(-flat.shape[1] // _MOST_COLUMNS))
    tables = [flat[:, ::step]]
    if (
        every.dtype.kind in "iu"
        and every.ndim == 2
        and 1 < every.shape[1] <= _MOST_COLUMNS
        and flat.max() < _MOST_WORDS
    ):
        tables.append(_words(list(every)))
    images = as_images(every)
    if images is not None:
        channels = images.reshape(len(images), -1, images.shape[3]).astype(np.float64)
        tables.append(np.concatenate([channels.mean(axis=1), channels.std(axis=1)], axis=1))
    return tables


def _whole(column: Values) -> bool:
    return all(np.asarray(row).dtype.kind in "iu" for row in column)


def _words(columns: list[Any]) -> Array:
    """Count how often each id occurs in each row."""
    rows = [np.asarray(row).ravel() for column in columns for row in (column if isinstance(column, list) else [column])]
    table = np.zeros((len(rows), _MOST_WORDS))
    for place, row in enumerate(rows):
        np.add.at(table[place], np.clip(row, 0, _MOST_WORDS - 1).astype(int), 1)
    return table[:, table.any(axis=0)] if table.any() else table[:, :1]


def _kernels(table: Array) -> list[Array]:
    deviation = table.std(axis=0)
    scaled = (table - table.mean(axis=0)) / np.where(deviation > 1e-12, deviation, 1)
    products = scaled @ scaled.T / max(scaled.shape[1], 1)
    lengths = np.diag(products)
    distances = np.maximum(lengths[:, np.newaxis] + lengths - 2 * products, 0)
    middle = float(np.median(distances))
    return [products, np.exp(-distances / middle)] if middle > 0 else [products]


def _inverse(kernel: Array) -> Array:
    return np.asarray(np.linalg.inv(kernel + _SMOOTHING * np.eye(len(kernel))))


def _accuracy(inverse: Array, wanted: Array) -> float:
    """Return how many rows are guessed right, each from all the others."""
    centred = wanted - wanted.mean(axis=0)
    guessed = centred - (inverse @ centred) / np.diag(inverse)[:, np.newaxis]
    return float((guessed.argmax(axis=1) == wanted.argmax(axis=1)).mean())
