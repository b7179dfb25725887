"""The memory of batches is used again, up to a limit, and can be given back."""

from __future__ import annotations

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
