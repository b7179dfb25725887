"""Sources for tests: rows that are known, in chunks that are small, slow or broken on purpose."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

import recordsmith as rs
from recordsmith.formats.source import Chunk, Loaded, Reject, Source


@dataclass(frozen=True)
class NumberedPlaces:
    """Rows of a chunk, named by their number in the whole source."""

    first: int

    def of(self, row: int) -> str:
        return f"row {self.first + row}"


@dataclass
class ColumnChunk(Chunk):
    """Columns that the chunk carries with it."""

    columns: dict[str, Any]
    rows: int
    first: int
    source_bytes: int
    rejects: tuple[Reject, ...] = ()
    seconds: float = 0.0

    def load(self) -> Loaded:
        time.sleep(self.seconds)
        return Loaded(dict(self.columns), self.rows, NumberedPlaces(self.first), list(self.rejects))


class Columns(Source):
    """A source of given columns, cut into chunks.

    Args:
        columns: arrays or lists by name.
        schema: what the source says of itself.
        chunk_rows: how many rows a chunk has.
        seconds: how long loading a chunk takes, so that a run lasts long enough to be stopped in the middle.
        rejects: rows that could not be loaded, by the number of the chunk.
    """

    kind: ClassVar[str] = "test columns"

    def __init__(
        self,
        columns: Mapping[str, Any],
        schema: rs.Schema,
        *,
        chunk_rows: int = 100,
        seconds: float = 0.0,
        label: str | None = None,
        provenance: tuple[str, ...] = (),
        rejects: Mapping[int, Sequence[Reject]] | None = None,
    ) -> None:
        self.columns = dict(columns)
        self.rows = len(next(iter(columns.values())))
        self.chunk_rows = chunk_rows
        self.seconds = seconds
        self.label = label
        self.provenance = provenance
        self.rejects = dict(rejects or {})
        self._schema = schema

    def schema(self) -> rs.Schema:
        return self._schema

    def describe(self) -> dict[str, Any]:
        digest = hashlib.sha256(repr(sorted(self.columns.items())).encode()).hexdigest()
        return {"kind": self.kind, "chunk_rows": self.chunk_rows, "digest": digest}

    def chunks(self) -> Iterator[Chunk]:
        for number, first in enumerate(range(0, self.rows, self.chunk_rows)):
            last = min(first + self.chunk_rows, self.rows)
            columns = {name: column[first:last] for name, column in self.columns.items()}
            rejects = tuple(self.rejects.get(number, ()))
            yield ColumnChunk(columns, last - first, first, 8 * (last - first), rejects, self.seconds)

    @property
    def row_count(self) -> int | None:
        return self.rows


def numbers(rows: int, **settings: Any) -> Columns:
    """Rows that differ from each other: {"n": 0}, {"n": 1}, ..."""
    return Columns({"n": np.arange(rows)}, rs.Schema({"n": rs.Scalar("int64")}), **settings)


def labelled(labels: Sequence[int], names: Sequence[str] = ("cat", "dog", "bird"), **settings: Any) -> Columns:
    """Rows that differ from each other, each with a class."""
    schema = rs.Schema({"n": rs.Scalar("int64"), "label": rs.Label(list(names))})
    columns = {"n": np.arange(len(labels)), "label": np.asarray(labels, np.int64)}
    return Columns(columns, schema, **{"label": "label", **settings})


def rows_of(folder: str | Path, split: str, feature: str = "n") -> list[Any]:
    """What a split has of one feature of one value, in the order in which it was written."""
    document = json.loads((Path(folder) / "recordsmith.json").read_text())
    text = document["schema"]["features"][feature]["type"] == "text"
    values = [
        rs.decode_example(payload)[feature][0]
        for shard in document["splits"][split]["shards"]
        for payload in rs.RecordReader(Path(folder) / shard["file"])
    ]
    return [value.decode() if text else value if isinstance(value, bytes) else value.item() for value in values]


def file_digests(folder: str | Path) -> dict[str, str]:
    """Every file below a folder, hidden ones as well, with the digest of its bytes."""
    root = Path(folder)
    return {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }
