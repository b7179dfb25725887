"""What a peer may offer. A peer has the methods of the tasks it takes part in; the worker asks which it has."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from bench.data.datasets import Columns, DatasetSpec

Labels = NDArray[np.int64]


class Peer(Protocol):
    """Any peer: it has versions to report. Creating one imports its library."""

    def versions(self) -> dict[str, str]:
        """The libraries that do the work, with their versions."""
        ...


class Reading(Protocol):
    """A dataset made ready to be read any number of times in one form."""

    def batches(self) -> Iterator[Any]:
        """One pass over all records, in whatever the engine calls a batch."""
        ...

    def labels(self, batch: Any) -> Labels:
        """The labels of a batch; the timed passes call it on each batch, so it must be cheap."""
        ...

    def columns(self, batch: Any) -> Columns:
        """All features of a batch as numpy columns; for the untimed pass that checks the values."""
        ...


class Reads(Protocol):
    """A peer that reads TFRecords into batches."""

    def reading_forms(self, dataset: DatasetSpec, /) -> list[str]:
        """The ways of reading to try: the best of them counts."""
        ...

    def open_reading(self, dataset: DatasetSpec, paths: Sequence[Path], form: str, /) -> Reading:
        """Make a dataset ready to be read; not part of the measured time."""
        ...


# Writes the records to the given paths, one shard each: the measured part of writing.
Writing = Callable[[Sequence[Path]], None]


class Writes(Protocol):
    """A peer that writes TFRecords."""

    def writing_forms(self, dataset: DatasetSpec, /) -> list[str]:
        """The ways of writing to try: the best of them counts."""
        ...

    def prepare_writing(self, dataset: DatasetSpec, shards: Sequence[Columns], form: str, /) -> Writing:
        """Bring the columns of each shard into the form the engine takes; not part of the measured time."""
        ...


# Delivers the payloads at some record numbers: the measured part of random access.
Picking = Callable[[list[int]], Sequence[bytes]]


class Picks(Protocol):
    """A peer that delivers records by number."""

    def picking_forms(self) -> list[str]:
        """The ways of storing and opening to try: the best of them counts."""
        ...

    def open_picking(self, path: Path, form: str, folder: Path, /) -> Picking:
        """Open a TFRecord file, converted first into the folder where the peer has a format of its own."""
        ...


class Verifies(Protocol):
    """A peer that checks whole files."""

    def verify(self, paths: Sequence[Path], *, threads: int) -> int:
        """Check both CRCs of every record of plain files; the number of records."""
        ...
