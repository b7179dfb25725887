"""The rows that are written by one library and read by another."""

from __future__ import annotations

from typing import Any

import numpy as np

import recordsmith as rs

SCHEMA = rs.Schema(
    {
        "label": rs.Scalar("int64"),
        "score": rs.Scalar("float32"),
        "box": rs.Tensor("float32", (4,)),
        "tokens": rs.Tensor("int64", (None,)),
        "image": rs.Bytes(),
        "name": rs.Text(),
        "words": rs.Text((None,)),
        "maybe": rs.Scalar("int64", optional=True),
    }
)


def row(n: int) -> dict[str, Any]:
    return {
        "label": n * 1_000_003 - 7,
        "score": n / 8,
        "box": np.array([n, -0.0, np.inf, 1e-40], np.float32),
        "tokens": np.arange(-n, n, 3, dtype=np.int64) * 2**40,
        "image": bytes(range(256)) * (n % 3),
        "name": f"row {n} é",
        "words": [f"w{w}" for w in range(n % 4)],
        "maybe": n if n % 3 else None,
    }


ROWS = [row(n) for n in range(50)]
