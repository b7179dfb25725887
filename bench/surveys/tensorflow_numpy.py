"""The facts of a dataset by tf.data and numpy, as one would write it: parsed in batches, and put together at the end.

Not all that a survey tells, but what costs most of it: per feature the count, range, moments, zeros, NaN, quantiles,
distinct and most frequent values; of strings their lengths, whether they are text and white space at their ends; of the
label its counts and longest run; and records that are there twice.
"""

from __future__ import annotations

import importlib
import os
from collections import Counter
from typing import Any

import numpy as np

from bench.data.datasets import BATCH, DATASETS, Feature

READ_BUFFER = 8 << 20
SHARES = (0.0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1.0)


def survey(dataset: str, paths: list[str], threads: int) -> dict[str, list[float]]:
    """Collect the facts, and return of each feature the numbers that both ways have to agree on."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    tf: Any = importlib.import_module("tensorflow")
    features = DATASETS[dataset].features
    spec = {feature.name: _spec(tf, feature) for feature in features}
    records = tf.data.TFRecordDataset(paths, buffer_size=READ_BUFFER).batch(BATCH)
    parsed = records.map(lambda batch: (batch, tf.io.parse_example(batch, spec)), num_parallel_calls=threads)
    columns: dict[str, list[Any]] = {feature.name: [] for feature in features}
    seen: Counter[int] = Counter()
    for serialized, batch in parsed.prefetch(tf.data.AUTOTUNE):
        seen.update(map(hash, serialized.numpy().tolist()))
        for name, values in batch.items():
            columns[name].append(values.values.numpy() if hasattr(values, "row_splits") else values.numpy().ravel())
    duplicates = sum(count - 1 for count in seen.values())
    answer = {
        feature.name: _strings(columns[feature.name]) if feature.kind == "bytes" else _numbers(columns[feature.name])
        for feature in features
    }
    label = np.concatenate(columns["label"])
    borders = np.flatnonzero(np.diff(label)) + 1
    runs = np.diff(np.concatenate([[0], borders, [len(label)]]))
    answer["the records"] = [float(duplicates), float(runs.max())]
    return answer


def _spec(tf: Any, feature: Feature) -> Any:
    dtype = {"float": tf.float32, "int64": tf.int64, "bytes": tf.string}[feature.kind]
    if feature.count is None:
        return tf.io.RaggedFeature(dtype)
    return tf.io.FixedLenFeature([] if feature.count == 1 else [feature.count], dtype)


def _numbers(parts: list[Any]) -> list[float]:
    values = np.concatenate(parts)
    finite = values[np.isfinite(values)]
    different, counts = np.unique(finite, return_counts=True)
    commonest = different[np.argsort(counts)[-20:]]
    quantiles = np.quantile(finite, SHARES)
    zeros, nan = int((finite == 0).sum()), int(np.isnan(values).sum())
    np.histogram(finite, 20)
    assert len(commonest)
    assert len(quantiles) == len(SHARES)
    low, high = float(finite.min()), float(finite.max())
    wide = finite.astype(np.float64)
    return [float(len(values)), low, high, float(wide.mean()), float(wide.std()), float(zeros), float(nan)]


def _strings(parts: list[Any]) -> list[float]:
    values = np.concatenate(parts).tolist()
    lengths = np.fromiter(map(len, values), np.int64, len(values))
    counts = Counter(values)
    commonest = counts.most_common(20)
    texts = [value.decode() for value in values if value.isascii()]
    spaces = sum(text != text.strip() for text in texts)
    assert commonest
    return [float(len(values)), float(lengths.min()), float(lengths.max()), float(lengths.mean()), float(spaces)]
