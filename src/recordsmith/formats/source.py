"""The interface of all sources: a source has chunks, and a chunk can be loaded anywhere.

Source.chunks()   cheap descriptions, in an order that depends on the data alone
Chunk.load()      in any thread or process
Loaded            columns, where each row came from, and what could not be loaded
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from recordsmith.schema import Schema

__all__ = ["Chunk", "Loaded", "NumberedRows", "Places", "Reject", "Source", "local_paths"]


class Places(Protocol):
    """Where the rows of a chunk came from, put into words only for the rows that are asked about."""

    def of(self, row: int) -> str:
        """Say where a row of the chunk came from, such as "photos/cat/1.jpg" or "data.csv, line 17"."""


@dataclass(frozen=True, slots=True)
class NumberedRows:
    """Consecutive rows of a file or of arrays, by their numbers."""

    path: str
    first: int

    def of(self, row: int) -> str:
        """Say where a row came from, such as "digits.npz, row 17"."""
        return f"{self.path}, row {self.first + row}"


@dataclass(frozen=True, slots=True)
class Reject:
    """A row that does not get into the dataset, and why.

    Attributes:
        source: where the row came from, as text.
        row: its number in the whole source, where that is known.
        feature: the feature that was at fault, if it was one.
        reason: what is wrong with it.
        value: the value at fault, shortened.
    """

    source: str
    row: int | None
    feature: str | None
    reason: str
    value: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return what is known of it, JSON-ready.

        >>> Reject("a.csv, line 2", None, None, "Too long.").to_json()
        {'source': 'a.csv, line 2', 'reason': 'Too long.'}
        """
        known = {
            "source": self.source,
            "row": self.row,
            "feature": self.feature,
            "reason": self.reason,
            "value": self.value,
        }
        return {name: value for name, value in known.items() if value is not None}


@dataclass(slots=True)
class Loaded:
    """The rows of one chunk.

    Attributes:
        columns: the columns by feature name, in any form that a schema takes.
        rows: how many rows the columns have.
        places: where they came from.
        rejects: rows that could not be loaded; the columns do not have them.
    """

    columns: dict[str, Any]
    rows: int
    places: Places
    rejects: list[Reject] = field(default_factory=list)


class Chunk(ABC):
    """A piece of a source, small enough to be loaded whole. It is pickled to where it is loaded.

    Attributes:
        source_bytes: how much of the source it stands for; progress is counted in it.
    """

    source_bytes: int = 0

    def origin(self) -> str | None:
        """Return the file that all its rows come from, if they come from one."""
        return None

    @abstractmethod
    def load(self) -> Loaded:
        """Load the rows. One bad row is a Reject and not an exception."""


def local_paths(described: dict[str, Any]) -> list[str]:
    """Return the existing files and folders that the description of a source lists, which may be a part of them.

    >>> local_paths({"paths": ["/"], "files": [{"path": "/no/such/file"}]})
    ['/']
    """
    listed = [described.get("path"), *described.get("paths", ())]
    files = described.get("files")
    if isinstance(files, list):
        listed += [file.get("path") for file in files if isinstance(file, dict)]
    return [path for path in listed if isinstance(path, str) and os.path.exists(path)]


class Source(ABC):
    """Where the rows of a dataset come from.

    Attributes:
        kind: the name under which `rs.sources` and the command line know it.
        label: the feature that is the label, where there is an obvious one.
        provenance: features that only say where a row came from; rows that differ in nothing else are identical.
        sequential: chunks carry their data and can only be made one after the other.
        declared: its schema is what whoever wrote the data declared, and not inferred from it.
        unlabelled: how many rows the source itself leaves out because they have no label.
    """

    kind: ClassVar[str]
    label: str | None = None
    provenance: tuple[str, ...] = ()
    sequential: bool = False
    declared: bool = False
    unlabelled: int = 0

    def drop_unlabelled(self) -> None:  # noqa: B027 - most sources know of no such rows
        """Leave rows out of which it is known beforehand that they have no label; `make` leaves out the others."""

    @abstractmethod
    def schema(self) -> Schema:
        """Return the schema of the rows as they are loaded, from a look at the data where it takes one."""

    @abstractmethod
    def chunks(self) -> Iterator[Chunk]:
        """Give the chunks in order. Where they begin and end depends on the data alone."""

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """Return what the source is, JSON-ready: its kind, its options, and what identifies its files."""

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits that the rows are in already; none where all rows are one heap."""
        return ()

    def split_of(self, chunk: Chunk) -> str | None:  # noqa: ARG002 - of a source without splits no chunk has one
        """Return the split of a chunk's rows; a chunk never has rows of two."""
        return None

    @property
    def warnings(self) -> tuple[str, ...]:
        """What should be known about the source before its rows are used."""
        return ()

    @property
    def size_bytes(self) -> int | None:
        """How large the source is, where that is quickly known."""
        return None

    @property
    def row_count(self) -> int | None:
        """How many rows the source has, where that is quickly known."""
        return None
