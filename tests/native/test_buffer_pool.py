"""The memory of batches is used again, up to a limit, and can be given back."""

from __future__ import annotations

import resource
from pathlib import Path

import numpy as np

import recordsmith as rs
from recordsmith import _core

LIMIT = 512 << 20  # what the documents say


def test_the_pool_keeps_what_batches_used_and_gives_it_back_on_request(tmp_path: Path) -> None:
    schema = rs.Schema({"x": rs.Tensor("float32", (1000,))})
    with rs.RecordWriter(tmp_path / "data.tfrecord", sync=False) as writer:
        writer.write_columns({"x": np.zeros((2000, 1000), np.float32)}, schema)
    _core.trim_pool()
    assert _core.pool_retained_bytes() == 0
    batches = list(rs.open(tmp_path / "data.tfrecord", schema=schema).batch(500))
    held = _core.pool_retained_bytes()
    del batches
    assert held + 2000 * 4000 <= _core.pool_retained_bytes() <= LIMIT
    _core.trim_pool()
    assert _core.pool_retained_bytes() == 0


def test_the_checksum_has_a_known_backend() -> None:
    assert _core.crc32c_backend() in ("sse4.2+pclmul", "armv8", "portable")


def used_memory() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def test_a_small_feature_takes_little_memory() -> None:
    features = 50_000
    payload = rs.encode_example({f"feature {number}": number for number in range(features)})
    before = used_memory()
    row = rs.decode_example(payload)
    assert len(row) == features
    assert (used_memory() - before) / features < 1000  # name, array and entry; it was more than two pages


def test_a_small_column_takes_little_memory(tmp_path: Path) -> None:
    columns = 10_000
    schema = rs.Schema({f"x{number}": rs.Tensor("float32", (None,)) for number in range(columns)})
    with rs.RecordWriter(tmp_path / "data.tfrecord", sync=False) as writer:
        writer.write_rows([{name: [1.0, 2.0] for name in schema}], schema)
    dataset = rs.open(tmp_path / "data.tfrecord", schema=schema)
    next(iter(dataset.batch(1, threads=0)))  # what is needed once
    before = used_memory()
    batches = list(dataset.batch(1, threads=0))
    assert len(batches[0]) == columns
    assert (used_memory() - before) / columns < 4000
