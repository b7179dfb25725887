"""Small datasets with a feature of every kind, and how tensors of them are compared."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np

import recordsmith as rs

NUMBERED = rs.Schema({"n": rs.Scalar("int64"), "x": rs.Tensor("float32", (4,)), "y": rs.Label(2)})

PLAIN = {
    "n": rs.Scalar("int64"),
    "small": rs.Scalar("uint16"),
    "matrix": rs.Tensor("float32", (2, 3)),
    "tokens": rs.Tensor("int64", (None,)),
    "boxes": rs.Tensor("float32", (None, 4)),
    "wide": rs.Tensor("uint8", (2, None)),
    "shaped": rs.Tensor("uint8", (None, None, 3)),
    "text": rs.Text(),
    "words": rs.Text(shape=(3,)),
    "parts": rs.Bytes(shape=(None,)),
    "label": rs.Label(3),
    "blob": rs.Packed({"pixels": ("uint8", (2, 2)), "number": ("int64", ())}),
    "sparse": rs.Sparse("float32", 10),
}
OPTIONAL = {
    "maybe": rs.Scalar("float32", optional=True),
    "maybe_tokens": rs.Tensor("int64", (None,), optional=True),
    "maybe_text": rs.Text(optional=True),
    "maybe_label": rs.Label(3, optional=True),
    "maybe_blob": rs.Packed({"pixels": ("uint8", (2, 2))}, optional=True),
}
STEPS = {
    "times": rs.Steps(rs.Scalar("int64")),
    "curves": rs.Steps(rs.Tensor("float32", (None,))),
    "said": rs.Steps(rs.Text()),
    "frames": rs.Steps(rs.Tensor("uint8", (2, 2))),
}


def row(number: int) -> dict[str, Any]:
    """Return a row with a value for every feature; those that may be absent are there in every second row."""
    random, size = np.random.default_rng(number), number % 3
    values: dict[str, Any] = {
        "n": number,
        "small": number,
        "matrix": random.random((2, 3), np.float32),
        "tokens": np.arange(size),
        "boxes": random.random((size, 4), np.float32),
        "wide": random.integers(0, 9, (2, size)).astype(np.uint8),
        "shaped": random.integers(0, 9, (size + 1, 2, 3)).astype(np.uint8),
        "text": f"row {number} é",
        "words": ["a", "b", str(number)],
        "parts": [b"\xff\x00"] * size,
        "label": size,
        "blob": {"pixels": np.full((2, 2), number % 256, np.uint8), "number": number},
        "sparse": {1: 2.0, size + 3: 1.0},
        "times": np.arange(size),
        "curves": [np.arange(length, dtype=np.float32) for length in range(size)],
        "said": ["word"] * size,
        "frames": np.full((size, 2, 2), number % 256, np.uint8),
    }
    if number % 2:
        values |= {"maybe": 1.5, "maybe_tokens": np.arange(size), "maybe_text": "here", "maybe_label": size}
        values |= {"maybe_blob": {"pixels": np.ones((2, 2), np.uint8)}}
    return values


def write(path: Path, schema: dict[str, Any], count: int, **options: Any) -> rs.Dataset:
    """Write rows of a schema, and open them."""
    declared = rs.Schema(schema)
    with rs.RecordWriter(path, **options) as writer:
        writer.write_rows(
            ({name: value for name, value in row(n).items() if name in schema} for n in range(count)), declared
        )
    return rs.open(path, schema=declared)


def numbered(path: Path, count: int) -> rs.Dataset:
    """Write rows in which y says whether the sum of x is positive, and open them."""
    random = np.random.default_rng(0)
    x = random.normal(size=(count, 4)).astype(np.float32)
    with rs.RecordWriter(path) as writer:
        writer.write_columns({"n": np.arange(count), "x": x, "y": (x.sum(axis=1) > 0).astype(np.int64)}, NUMBERED)
    return rs.open(path, schema=NUMBERED)


def numbers(loader: Any) -> list[list[int]]:
    """Return which rows the batches have."""
    return [batch["n"].tolist() if hasattr(batch["n"], "tolist") else batch["n"].numpy().tolist() for batch in loader]


def our_threads() -> list[str]:
    """Return the threads that read ahead; those for requests to object stores stay, whatever ends."""
    names = [thread.name for thread in threading.enumerate()]
    return [name for name in names if name.startswith("recordsmith") and name != "recordsmith-requests"]


def plain(value: Any) -> Any:
    """Return tensors as plain values with their dtypes, to be compared."""
    import tensorflow as tf

    if isinstance(value, dict):
        return {name: plain(entry) for name, entry in value.items()}
    if isinstance(value, tuple):
        return tuple(plain(entry) for entry in value)
    if isinstance(value, tf.SparseTensor):
        return "sparse", plain(tf.sparse.to_dense(value))
    if isinstance(value, tf.RaggedTensor):
        return value.dtype.name, value.ragged_rank, value.to_list()
    return value.dtype.name, value.numpy().tolist()
