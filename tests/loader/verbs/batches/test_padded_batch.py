"""Padding in the loader's own memory is what Ragged.to_padded gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from recordsmith.loader.engine.padding import padded


@pytest.mark.parametrize("dtype", ["int64", "float32", "uint8", "int16", "bool"])
@pytest.mark.parametrize(
    ("length", "value", "truncate"), [(None, None, False), (None, 1, False), (12, 0, False), (4, 1, True), (0, 0, True)]
)
def test_equal_to_to_padded(dtype: str, length: int | None, value: Any, truncate: bool):  # noqa: FBT001 - by pytest
    random = np.random.default_rng(0)
    for rows in range(20):
        lengths = random.integers(0, 9, rows)
        values = random.integers(0, 2, lengths.sum() + 5).astype(dtype)
        column = rs.Ragged(values, np.concatenate([[0], np.cumsum(lengths)]) + 2)
        ours, theirs = (
            padded(column, length, value, truncate=truncate),
            column.to_padded(length, value, truncate=truncate),
        )
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
        assert (ours == theirs).all()


def test_other_columns_and_refusals():
    nested = rs.Ragged(np.zeros((3, 2)), [0, 1, 3])
    assert padded(nested, None, None, truncate=False).shape == (2, 2, 2)
    column = rs.Ragged(np.array([1, 2, 3]), [0, 3])
    with pytest.raises(rs.PipelineError, match="does not fit"):
        padded(column, None, 0.5, truncate=False)
    with pytest.raises(rs.PipelineError, match="longer than the target length 2"):
        padded(column, 2, None, truncate=False)


def test_batches_do_not_share_memory_while_they_live():
    column = rs.Ragged(np.arange(2000), np.arange(0, 2001, 20))
    one, two = (padded(column, None, None, truncate=False) for _ in range(2))
    one[:] = -1
    assert (two == np.arange(2000).reshape(100, 20)).all()


def test_advice_is_about_what_is_wrong(tmp_path: Path):
    schema = rs.Schema({"tokens": rs.Tensor("int64", (None,)), "words": rs.Text((None,))})
    with rs.RecordWriter(tmp_path / "a.tfrecord") as writer:
        writer.write_rows([{"tokens": range(4), "words": ["a"]}], schema)
    ds = rs.open(tmp_path / "a.tfrecord", schema=schema)
    with pytest.raises(rs.PipelineError, match="does not fit the values") as caught:
        list(ds.padded_batch(2, pad_value="a"))
    assert (caught.value.found, caught.value.expected) == ("a", "int64")
    assert "pad_value={'tokens': ...}" in str(caught.value)
    with pytest.raises(rs.PipelineError, match="longer than the target length 3") as caught:
        list(ds.padded_batch(2, pad_to=3))
    assert "larger pad_to" in str(caught.value)
