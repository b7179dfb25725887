"""Batches: rows in file order, n at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from recordsmith.dataset import StoredDataset
from recordsmith.errors import PipelineError

__all__ = ["Batches"]

_MOST_THREADS = 4  # beyond this the planning of batches, which one thread does at a time, sets the pace


class Batches:
    """An iterable of batches; each iteration reads the data from the start.

    >>> import recordsmith as rs, tempfile
    >>> path = tempfile.mkdtemp() + "/data.tfrecord"
    >>> with rs.RecordWriter(path) as writer:
    ...     writer.write_columns({"n": range(5)}, rs.Schema({"n": rs.Scalar("int64")}))
    >>> batches = rs.open(path).batch(2, drop_last=True)
    >>> len(batches), [len(batch["n"]) for batch in batches]
    (2, [2, 2])
    """

    def __init__(self, dataset: StoredDataset, n: int, *, drop_last: bool = False, threads: int | None = None) -> None:
        if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
            raise PipelineError("A batch has at least one row.", found=repr(n), expected="a whole number from 1")
        if threads is not None and (isinstance(threads, bool) or not isinstance(threads, int) or threads < 0):
            raise PipelineError("The number of threads is 0 or more.", found=repr(threads))
        self._dataset = dataset
        self._size = int(n)
        self._drop_last = drop_last
        self._threads = min(_MOST_THREADS, os.cpu_count() or 1) if threads is None else threads

    def __len__(self) -> int:
        rows = len(self._dataset)
        return rows // self._size if self._drop_last else -(-rows // self._size)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        batches = self._dataset.read_batches(self._size, drop_last=self._drop_last, threads=self._threads)
        return (batch for batch, _ in batches)
