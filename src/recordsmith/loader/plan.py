"""What a chain of verbs amounts to: which records, in which order, changed how, in which batches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

from recordsmith.dataset import StoredDataset
from recordsmith.errors import PipelineError, did_you_mean, list_names
from recordsmith.loader.order.record_order import ENDLESS, AllRecords, Order
from recordsmith.loader.row_memory import MemoryPart
from recordsmith.loader.skipping import Skipped
from recordsmith.schema import Feature

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["PACKED_ROWS", "RECORD_NUMBERS", "BatchChange", "Batching", "Plan", "RowChange", "Rows", "plan_of"]

Batch = dict[str, Any]

RECORD_NUMBERS = "__record__"
"""The column that a batch change with `with_index` finds the records' numbers in."""


PACKED_ROWS = 1 << 20
"""The most rows that a window is packed into. The position of row j is that of its window times this, plus j."""


@dataclass
class Rows:
    """Some rows on their way from the files to a batch.

    Attributes:
        columns: the features by name.
        numbers: which record each row is.
        epochs: in which epoch.
        positions: where in the order it stood.
        memory: memory for them, beside that of other rows.
    """

    columns: dict[str, Any]
    numbers: npt.NDArray[np.int64]
    epochs: npt.NDArray[np.int64]
    positions: npt.NDArray[np.int64]
    memory: MemoryPart | None = None

    def __len__(self) -> int:
        return len(self.numbers)


class RowChange(ABC):
    """Something done to each row by itself. What becomes of a row depends on the row, its record and its epoch alone.

    Attributes:
        drops_rows: it may leave rows out.
        heavy: it takes so long that a batch is worth a task of its own.
        window: it needs so many rows at a time, always the same ones, and gives others in their place; None: any.
    """

    drops_rows: bool = False
    heavy: bool = False
    window: int | None = None

    @abstractmethod
    def apply(self, rows: Rows) -> Rows:
        """Return the rows after the change."""


class BatchChange(ABC):
    """Something done to each batch.

    Attributes:
        picks_columns: it only picks from the columns, so that what becomes of them is known without a batch.
        with_index: it needs the records' numbers, as the column RECORD_NUMBERS.
        makes_tuples: it gives tuples, in which features have no names.
    """

    picks_columns: bool = False
    with_index: bool = False
    makes_tuples: bool = False

    @abstractmethod
    def apply(self, batch: Any) -> Any:
        """Return the batch after the change."""


@dataclass(frozen=True)
class Batching:
    """How rows become batches.

    Attributes:
        size: rows in a batch.
        drop_last: leave out the last batch if it is not full.
    """

    size: int
    drop_last: bool = False

    @property
    def sizes(self) -> tuple[int, ...]:
        """The rows in a batch of each bucket, where rows are put into buckets; else one number."""
        return (self.size,)

    @property
    def features(self) -> tuple[str, ...]:
        """The features that it looks at."""
        return ()

    def buckets(self, columns: Batch) -> npt.NDArray[np.intp]:
        """Return which bucket each row belongs to, where there are several."""
        raise NotImplementedError

    def collate(self, columns: Batch) -> Batch:
        """Turn the columns of a batch's rows into what is fed."""
        return columns


@dataclass(frozen=True)
class Plan:
    """What a chain of verbs amounts to. Verbs make a new one from the one before.

    Attributes:
        datasets: where the records come from; they are numbered through.
        features: what rows have, by name; None where a user's function has made that unknown.
        order: which records, in which order.
        changes: what is done to rows.
        batching: how they become batches; None before that.
        batch_changes: what is done to batches.
        epochs_fed: how often the batches are repeated after batching; None without end.
        batches_taken: a part of each epoch's batches, as (start, stop).
        ahead: how many batches may be ready before they are asked for; None chooses.
        workers: how many threads; None chooses.
        verbs: the chain as it was written, JSON-ready.
        even_world: the number of ranks that must all have the same number of batches, and the records of all of them.
        skipped: rows with errors are left out and counted here; None lets the error come through.
    """

    datasets: tuple[StoredDataset, ...]
    features: Mapping[str, Feature] | None
    order: Order
    changes: tuple[RowChange, ...] = ()
    batching: Batching | None = None
    batch_changes: tuple[BatchChange, ...] = ()
    epochs_fed: int | None = 1
    batches_taken: tuple[int, int | None] = (0, None)
    ahead: int | None = None
    workers: int | None = None
    verbs: tuple[dict[str, Any], ...] = ()
    even_world: tuple[int, int] | None = None
    known: frozenset[str] = field(default_factory=frozenset)  # shuffled, repeated, sharded: for the checks of verbs
    skipped: Skipped | None = None

    def then(self, verb: str, settings: Mapping[str, Any] | None = None, **changes: Any) -> Self:
        """Return the plan after one more verb."""
        written = {"verb": verb, **{name: value for name, value in (settings or {}).items() if value is not None}}
        return replace(self, verbs=(*self.verbs, written), **changes)

    def has(self, fact: str) -> bool:
        """Say whether a verb with this effect came before."""
        return fact in self.known

    @property
    def drops_rows(self) -> bool:
        """Whether the number of rows is only known once they were read."""
        return any(change.drops_rows for change in self.changes)

    @property
    def is_streamed(self) -> bool:
        """Whether it is only known once the rows were read which of them are in a batch."""
        return self.drops_rows or (self.batching is not None and len(self.batching.sizes) > 1)

    @property
    def is_endless(self) -> bool:
        """Whether the batches of an iteration have no end."""
        return self.epochs_fed is None or (self.order.length >= ENDLESS and self.batches_taken[1] is None)

    @property
    def window(self) -> int | None:
        """How many rows are packed together; None if rows stay what they are."""
        return next((change.window for change in self.changes if change.window), None)

    @property
    def picks_columns(self) -> bool:
        """Whether the form of a batch follows from its columns: no function of the user's changes batches."""
        return all(change.picks_columns for change in self.batch_changes)

    @property
    def heavy(self) -> bool:
        """Whether a row takes long, or much memory."""
        return any(change.heavy for change in self.changes)

    def feature(self, name: str, verb: str) -> Feature | None:
        """Return a feature that a verb names, or explain that it does not exist; None if the features are not known."""
        if self.features is None:
            return None
        if name not in self.features:
            raise PipelineError(
                f"{verb} names a feature {name!r} that the rows do not have.{did_you_mean(name, self.features)}",
                expected=list_names(self.features),
            )
        return self.features[name]

    def batched(self, advice: str = "End the chain with .batch(n), or iterate over rows.") -> Batching:
        """Return how rows become batches, or explain that nothing says so yet."""
        if self.batching is None:
            raise PipelineError("There are no batches yet.", advice=advice)
        return self.batching

    def changed_batch(self, batch: Any, numbers: npt.NDArray[np.int64]) -> Any:
        """Return a batch after all that is done to batches; `numbers` are those of its records."""
        for change in self.batch_changes:
            batch = change.apply({**batch, RECORD_NUMBERS: numbers} if change.with_index else batch)
        return batch

    def before_batching(self, verb: str, advice: str) -> None:
        """Refuse a verb that is about rows once there are batches."""
        if self.batching is not None:
            raise PipelineError(f"{verb} after batching would {advice}")

    def before_pairs(self, verb: str) -> None:
        """Refuse a verb that names features of batches once these are tuples."""
        if self.batch_changes and self.batch_changes[-1].makes_tuples:
            raise PipelineError(f"{verb} after pairs would find tuples without names. Write it before .pairs().")


def plan_of(dataset: StoredDataset) -> Plan:
    """Return the plan of a dataset without any verb: all records in the order of the files."""
    return Plan((dataset,), dict(dataset.schema), AllRecords(dataset))
