"""A dataset whose rows are all different, and whose label follows from the other features."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np

import recordsmith as rs

ROWS = 503
SCHEMA = rs.Schema(
    {
        "n": rs.Scalar("int64"),
        "label": rs.Label(5),
        "text": rs.Text(),
        "values": rs.Tensor("float32", (None,)),
        "proof": rs.Scalar("int64"),
    }
)


def proof_of(n: int, text: str, values: Any) -> int:
    """A number that only the features of one and the same row give."""
    content = f"{n}/{text}/{np.asarray(values, np.float32).tolist()}".encode()
    return int.from_bytes(hashlib.blake2b(content, digest_size=6).digest(), "little")


def write_numbered(path: Path, rows: int = ROWS, first: int = 0, **options: Any) -> Path:
    """Write numbered rows to one file."""
    numbers = range(first, first + rows)
    texts = [f"row {n}" for n in numbers]
    values = [np.full(n % 7, n, np.float32) for n in numbers]
    with rs.RecordWriter(path, **options) as writer:
        writer.write_columns(
            {
                "n": np.array(numbers),
                "label": np.array(numbers) % 5,
                "text": texts,
                "values": values,
                "proof": [proof_of(*row) for row in zip(numbers, texts, values, strict=True)],
            },
            SCHEMA,
        )
    return path


def numbers_of(batches: Any) -> list[int]:
    """The numbers of all rows of some batches."""
    return [n for batch in batches for n in batch["n"].tolist()]
