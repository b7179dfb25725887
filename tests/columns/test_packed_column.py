"""PackedColumn: the arrays of its parts are such that other libraries take them."""

from __future__ import annotations

import numpy as np
import pytest

import recordsmith as rs


@pytest.mark.parametrize("rows", [0, 1, 2, 5])
@pytest.mark.parametrize("order", ["<", ">"])
def test_parts_are_in_one_piece_and_aligned(rows: int, order: str):
    """A part of one row had the stride of the whole row, and PyTorch refused the last batch of an epoch."""
    dtype = np.dtype([("byte", "u1"), ("pixels", "f4", (2, 3)), ("label", f"{order}i8")])
    stored = np.zeros(rows, dtype)
    stored["label"] = np.arange(rows) + 7
    column = rs.PackedColumn(stored)
    for name in dtype.names or ():
        part = column[name]
        assert part.flags.aligned
        assert part.flags.c_contiguous
        assert all(stride % part.itemsize == 0 for stride in part.strides)
    assert column["label"].tolist() == [n + 7 for n in range(rows)]


def test_a_batch_of_one_row_is_a_tensor(tmp_path):
    pytest.importorskip("torch")
    schema = rs.Schema({"packed": rs.Packed({"byte": ("uint8", ()), "label": ("int64", ())})})
    with rs.RecordWriter(tmp_path / "a.tfrecord") as writer:
        writer.write_rows(({"packed": {"byte": n, "label": n}} for n in range(5)), schema)
    batches = rs.open(tmp_path / "a.tfrecord", schema=schema).batch(2).to_torch()
    assert [batch["packed"]["label"].tolist() for batch in batches] == [[0, 1], [2, 3], [4]]
