"""Compares what TensorFlow parsed with the rows that recordsmith reads."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

import recordsmith as rs


def written(schema: rs.Schema, rows: Iterable[dict[str, Any]]) -> tuple[list[bytes], list[dict[str, Any]]]:
    """Write rows, and return the payloads and the rows as recordsmith reads them."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.tfrecord"
        with rs.RecordWriter(path) as writer:
            writer.write_rows(rows, schema)
        return list(rs.RecordReader(path)), list(rs.open(path, schema=schema))


def assert_same(found: Any, feature: Any, row: Any, *, where: str = "") -> None:
    """Check one parsed row: its dtype, its shape, and all of its values, NaN for NaN."""
    expected = in_tensorflow(feature, row)
    if isinstance(expected, dict):
        assert sorted(found) == sorted(expected), where
        for key, entry in expected.items():
            assert_equal(found[key], entry, where=f"{where} {key}")
    else:
        assert_equal(found, expected, where=where)


def assert_equal(found: Any, expected: Any, *, where: str) -> None:
    if isinstance(found, tf.SparseTensor):
        found = tf.sparse.to_dense(found)
    if isinstance(found, tf.RaggedTensor):
        # A row of several sizes inside a batch: numpy has no form for it, so lists are compared.
        entries = [np.asarray(entry) for entry in expected] if isinstance(expected, list) else expected
        dtype = expected.dtype if isinstance(expected, np.ndarray) else entries[0].dtype if entries else None
        assert dtype is None or found.dtype == as_tf(dtype), where
        assert repr(found.to_list()) == repr([entry.tolist() for entry in entries]), where
        return
    array = found.numpy()
    if found.dtype == tf.string:
        assert np.asarray(array, dtype=object).tolist() == np.asarray(expected, dtype=object).tolist(), where
        assert np.shape(array) == np.shape(expected), where
        return
    expected = np.asarray(expected)
    assert found.dtype == as_tf(expected.dtype), where
    assert np.shape(array) == expected.shape, where
    np.testing.assert_array_equal(array, expected, err_msg=where)


def as_tf(dtype: np.dtype[Any]) -> Any:
    return tf.string if dtype.kind in "OS" else tf.as_dtype(dtype)


def in_tensorflow(feature: Any, row: Any) -> Any:
    """Turn a value of a row into what parse_tf says it is."""
    if isinstance(feature, rs.Steps):
        steps = [in_tensorflow(feature.feature, step) for step in ([] if row is None else row)]
        inner = in_tensorflow_shape(feature.feature)
        if None in inner[0]:
            return steps
        return np.stack(steps) if steps else np.zeros((0, *inner[0]), inner[1])
    if isinstance(feature, (rs.Text, rs.Bytes, rs.Image)):
        return strings(feature, row)
    if isinstance(feature, rs.Packed):
        return packed(feature, row)
    if isinstance(feature, rs.Sparse):
        dense = np.zeros(feature.size, feature.dtype)
        if row is not None:
            dense[row.indices] = row.values
        return dense
    shape, dtype = in_tensorflow_shape(feature)
    if None in shape:
        return np.zeros([size or 0 for size in shape], dtype) if row is None else row
    if feature.presence == "optional":
        return np.zeros((0, *shape), dtype) if row is None else np.asarray(row, dtype)[np.newaxis]
    return np.asarray(row, dtype)


def in_tensorflow_shape(feature: Any) -> tuple[tuple[int | None, ...], Any]:
    if isinstance(feature, (rs.Text, rs.Bytes)):
        return feature.shape, np.dtype(object)
    if isinstance(feature, rs.Image):
        return (), np.dtype(object)
    if isinstance(feature, rs.Label):
        return (), np.dtype("int64")
    return feature.row_shape, feature.dtype


def packed(feature: Any, row: Any) -> dict[str, Any]:
    found = {}
    for name, (dtype, shape) in feature.parts.items():
        there = np.zeros((0, *shape), dtype) if row is None else np.asarray(row[name], dtype)[np.newaxis]
        found[name] = there if feature.presence == "optional" else there[0]
    return found


def strings(feature: Any, row: Any) -> Any:
    shape = in_tensorflow_shape(feature)[0]
    if row is None:
        return np.empty((0, *(size for size in shape if size is not None)), object)
    values = [entry.encode() if isinstance(entry, str) else entry for entry in ([row] if shape == () else row)]
    array: Any = np.empty(len(values), object)
    array[:] = values
    if shape == ():
        array = array.reshape(())
    return array[np.newaxis] if feature.presence == "optional" and None not in shape else array


def assert_rows_same(schema: rs.Schema, payloads: Sequence[bytes], rows: Sequence[dict[str, Any]]) -> None:
    """Check both ways to parse: all records at once, and each alone."""
    batch = schema.parse_tf(list(payloads))
    assert list(batch) == list(schema)
    for number, (payload, row) in enumerate(zip(payloads, rows, strict=True)):
        alone = schema.parse_tf(payload)
        assert list(alone) == list(schema)
        for name, feature in schema.items():
            assert_same(alone[name], feature, row[name], where=f"{name}, row {number} alone")
            assert_same(of_batch(batch[name], number), feature, row[name], where=f"{name}, row {number} of a batch")


def of_batch(value: Any, number: int) -> Any:
    if isinstance(value, dict):
        return {key: of_batch(entry, number) for key, entry in value.items()}
    if isinstance(value, tf.SparseTensor):
        return tf.sparse.to_dense(value)[number]
    return value[number]
