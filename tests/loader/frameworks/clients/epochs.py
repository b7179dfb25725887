"""Which batches of which epochs a client was given, in a few characters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import recordsmith as rs

SCHEMA = rs.Schema({"n": rs.Scalar("int64"), "x": rs.Tensor("float32", (4,)), "y": rs.Label(2)})
ROWS, SIZE = 128, 8
COUNT = ROWS // SIZE


def write(folder: str) -> str:
    """Write numbered rows, and return the file."""
    path = str(Path(folder) / "rows.tfrecord")
    x = np.random.default_rng(0).normal(size=(ROWS, 4)).astype(np.float32)
    with rs.RecordWriter(path) as writer:
        writer.write_columns({"n": np.arange(ROWS), "x": x, "y": (x.sum(axis=1) > 0).astype(np.int64)}, SCHEMA)
    return path


class Epochs:
    """The epochs of a chain, to compare with."""

    def __init__(self, path: str) -> None:
        self.path = path
        native = self.loader()
        self._epochs = [[batch["n"].tolist() for batch in native] for _ in range(10)]

    def loader(self) -> Any:
        """Return the chain, from its beginning."""
        return rs.open(self.path, schema=SCHEMA).shuffle(seed=1).batch(SIZE)

    def named(self, batches: Any) -> str:
        """Return the epoch that some batches are, or the part of one, as "1" or "0[5:]"."""
        fed = [(batch if isinstance(batch, list) else batch["n"].tolist()) for batch in batches]
        for number, epoch in enumerate(self._epochs):
            for start in range(COUNT):
                for stop in (COUNT, start + len(fed)):
                    if fed and fed == epoch[start:stop]:
                        return str(number) + ("" if len(fed) == COUNT else f"[{start or ''}:{stop % COUNT or ''}]")
        return f"{len(fed)} other batches"
