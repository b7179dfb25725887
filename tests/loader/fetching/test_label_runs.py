"""A buffer that is shorter than the runs of equal labels is warned about when the chain is built."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from recordsmith.loader.fetching.label_runs import label_feature

ROWS = 20_000
LABELS = {
    "sorted": np.arange(ROWS) // 2_000,
    "sorted, of unequal size": np.repeat([0, 1, 2], [15_000, 4_000, 1_000]),
    "in turns": np.arange(ROWS) // 500 % 10,
    "random": np.random.default_rng(0).integers(0, 10, ROWS),
    "random, and rarely another": np.random.default_rng(0).integers(0, 200, ROWS) == 0,
    "one class only": np.zeros(ROWS),
}


def write(folder: Path, labels: Any, **options: Any) -> rs.Dataset:
    schema = rs.Schema({"x": rs.Scalar("int64"), "label": rs.Label(10)})
    with rs.RecordWriter(folder / "a.tfrecord", **options) as writer:
        writer.write_columns({"x": np.arange(ROWS), "label": np.asarray(labels, np.int64)}, schema)
    return rs.open(folder / "a.tfrecord", schema=schema)


def warned(chain: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        chain()
    assert all(isinstance(w.message, rs.PipelineWarning) and w.message.code == "P004" for w in caught)
    assert all(w.filename == __file__ for w in caught)
    return [str(w.message) for w in caught]


@pytest.mark.parametrize("compression", [None, "gzip"])
@pytest.mark.parametrize(
    ("data", "buffer", "expected"),
    [
        ("sorted", 1_000, 1),
        ("sorted", 5_000, 0),
        ("sorted", ROWS, 0),
        ("sorted, of unequal size", 1_500, 1),
        ("in turns", 100, 1),
        ("in turns", 2_000, 0),
        ("random", 50, 0),
        ("random, and rarely another", 50, 0),
        ("one class only", 100, 0),
    ],
)
def test_who_is_warned(data: str, buffer: int, expected: int, compression: str | None, tmp_path: Path):
    ds = write(tmp_path, LABELS[data], compression=compression)
    assert len(warned(lambda: ds.shuffle(seed=0, buffer=buffer))) == expected


def test_the_warning_says_how_long_a_run_is(tmp_path: Path):
    ds = write(tmp_path, LABELS["sorted"])
    (message,) = warned(lambda: ds.shuffle(seed=0, buffer=1_000))
    assert "one has 2,000 rows" in message


def test_an_order_before_the_buffer_counts(tmp_path: Path):
    ds = write(tmp_path, LABELS["sorted"])
    assert not warned(lambda: ds.shuffle(seed=1).shuffle(seed=0, buffer=100))
    assert warned(lambda: ds.skip(5_000).shard(0, 2).shuffle(seed=0, buffer=100))


def test_which_feature_says_the_class():
    assert label_feature({"a": rs.Label(3), "label": rs.Scalar("int64")}) == "a"
    assert label_feature({"a": rs.Label(3), "b": rs.Label(3)}) is None
    assert label_feature({"x": rs.Scalar("int64"), "y": rs.Text()}) == "y"
    assert label_feature({"x": rs.Scalar("int64"), "y": rs.Tensor("float32", (3,))}) is None
    assert label_feature(None) is None
