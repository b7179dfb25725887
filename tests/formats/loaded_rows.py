"""The rows of a source as they read once they have been stored, for the tests of sources."""

from __future__ import annotations

import pickle
import tempfile
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import recordsmith as rs
from recordsmith.formats.source import Reject, Source


@dataclass
class Stored:
    rows: list[dict[str, Any]] = field(default_factory=list)
    places: list[str] = field(default_factory=list)
    rejects: list[Reject] = field(default_factory=list)
    chunks: int = 0

    def column(self, name: str) -> list[Any]:
        return [row[name] for row in self.rows]


def stored_rows(source: Source) -> Stored:
    """Load every chunk as a worker would, write it with the source's schema, and read it back."""
    stored = Stored()
    schema = source.schema()
    path = tempfile.mkdtemp() + "/rows.tfrecord"
    with rs.RecordWriter(path) as writer:
        for chunk in source.chunks():
            loaded = pickle.loads(pickle.dumps(chunk)).load()
            assert loaded.rows <= 65_536
            writer.write_columns(loaded.columns, schema)
            stored.places += [loaded.places.of(row) for row in range(loaded.rows)]
            stored.rejects += loaded.rejects
            stored.chunks += 1
    stored.rows = [{name: plain(value) for name, value in row.items()} for row in rs.open(path, schema=schema)]
    assert len(stored.rows) == len(stored.places)
    return stored


def plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value
