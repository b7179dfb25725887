"""What `make` and `copy` decide for themselves; everything else is done by `Run`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from recordsmith.dataset.descriptions.metadata import Metadata
from recordsmith.formats.source import Chunk, Source
from recordsmith.run.shards.shard_writing import Change
from recordsmith.run.splits.split_order import SplitOrder
from recordsmith.run.staging.encoded_chunk import EncodedChunk
from recordsmith.run.staging.record_files import RecordFiles
from recordsmith.run.staging.run_in_store import RunInStore
from recordsmith.run.staging.staging import Staging
from recordsmith.schema import Schema

__all__ = ["OnError", "OrderedSplit", "Output", "Policy"]

OnError = Literal["stop", "skip", "quarantine"]


@dataclass(frozen=True)
class Output:
    """What is written, and where.

    Attributes:
        path: the folder, or the file if `is_file` is set.
        name: how the names of the files begin.
        is_file: all records go to one file, which has no manifest.
        shards: how many files a split has; None goes by their size.
        shard_bytes: how large a file should be.
        compression: None, "gzip" or "zlib".
        on_error: what happens to rows that do not fit.
        max_rejects: the maximum share of rejected rows.
        workers: how many threads work at a time.
        metadata: what is said about the dataset.
        store: the remote folders of a run whose machines share nothing else.
    """

    path: str
    name: str
    is_file: bool = False
    shards: int | None = None
    shard_bytes: int = 128 << 20
    compression: str | None = None
    on_error: OnError = "stop"
    max_rejects: float = 1.0
    workers: int = 1
    metadata: Metadata = Metadata()  # noqa: RUF009 - it cannot be changed
    store: RunInStore | None = None


class OrderedSplit(NamedTuple):
    """The rows of a split in the order of writing, and how many there are of each class."""

    order: SplitOrder
    classes: dict[str, int]


class TextFile(NamedTuple):
    """A text that is published next to the shards, and its mode."""

    text: str
    mode: int = 0o666


@dataclass
class Policy(ABC):
    """How the records of one run come to be.

    Attributes:
        source: where the chunks come from.
        plan: everything that decides about the bytes written; a run is resumed only with the same plan.
        schema: what is in the staged records; None: their bytes are copied, whatever they hold.
        described: the schema that the dataset is published with; None: it has none.
        label: the feature whose classes are counted.
        provenance: features that say where a record comes from, and not what it is.
        changes: what is fitted on the training split, and done to the records when they are written.
        warnings: what should be known about the dataset.
        dropped_because: why rows are counted as dropped, after their number.
        is_python: encoding runs Python code of the user's, in processes.
        functions: the user's functions that encoding calls.
    """

    source: Source
    plan: dict[str, Any]
    schema: Schema | None
    described: Schema | None
    label: str | None = None
    provenance: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
    warnings: list[str] = field(default_factory=list)
    dropped_because: str = "dropped"
    is_python: bool = False
    functions: tuple[Callable[..., Any], ...] = ()

    def chunks(self) -> Iterator[Chunk]:
        """Give all chunks of the source."""
        return self.source.chunks()

    @property
    def final_features(self) -> tuple[str, ...]:
        """The names of the features that the dataset is published with."""
        schema = self.described or Schema({})
        for change in self.changes:
            schema = change.schema(schema)
        return tuple(schema)

    @abstractmethod
    def encoder(self) -> Callable[[Chunk], EncodedChunk]:
        """Return what encodes a chunk. Several threads may use it, and it can be pickled."""

    def split_of(self, chunk: Chunk) -> int:  # noqa: ARG002 - where splits are not kept, chunks have none
        """Return the place of the split that a chunk's rows stay in, where splits are kept."""
        return 0

    def records(self, staging: Staging) -> RecordFiles:
        """Return where records are read from when they are written."""
        return staging.records()

    @abstractmethod
    def order(self, staging: Staging) -> dict[str, OrderedSplit]:
        """Choose the records of each split, and their order."""

    def texts(self) -> dict[str, TextFile]:
        """Return the files to publish next to the shards, by name."""
        return {}

    @abstractmethod
    def outcome(self, staging: Staging) -> dict[str, Any]:
        """Return what else the manifest says about the run."""

    @abstractmethod
    def is_final(self, error: Exception, staging: Staging) -> bool:
        """Say whether resuming the run would end in the same error."""
