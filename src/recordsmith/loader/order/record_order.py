"""The order in which records are fed: which record is at which position, computed and never kept.

Orders are put around each other, as verbs follow each other in a chain: a shuffle of a share of a part of the records.
Each says which records are at given positions of a given epoch, so that any batch can be found from its number alone;
that is what makes workers, prefetching and resuming agree about it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from recordsmith import _core
from recordsmith.dataset import StoredDataset
from recordsmith.keyed_random import stream_key

__all__ = [
    "AGAIN",
    "ENDLESS",
    "AllRecords",
    "Order",
    "OrderedRecords",
    "Part",
    "Records",
    "Remainder",
    "Repeated",
    "Shard",
    "ShuffleKind",
    "Shuffled",
    "groups",
    "keyed_permutation",
]

Int64s: TypeAlias = npt.NDArray[np.int64]
Remainder: TypeAlias = Literal["even", "drop", "repeat"]
ShuffleKind: TypeAlias = Literal["exact", "blocks", "buffer"]

ENDLESS = 1 << 62
"""The length of an order that never ends."""

AGAIN = 1_000_003
"""Added to the epoch of rows that come again in the same epoch, so that their random numbers differ too."""

_EPOCHS = 1 << 63  # Epochs are counted without a limit; random streams distinguish this many.


class OrderedRecords(NamedTuple):
    """Records at some positions.

    Attributes:
        numbers: the records.
        epochs: the epoch of each, as random streams count it: every pass over the data has another.
    """

    numbers: Int64s
    epochs: Int64s


class Order(ABC):
    """A sequence of records, another one in each epoch.

    Attributes:
        length: how many records it has; ENDLESS if there is no end.
        is_file_order: it is all records of one dataset, in the order of the files.
    """

    length: int
    is_file_order: bool = False

    @abstractmethod
    def at(self, epoch: int, positions: Int64s) -> OrderedRecords:
        """Return the records at these positions, which are below `length`."""

    @property
    def rises(self) -> bool:
        """Whether later positions are always later records."""
        return False

    @property
    def shuffle(self) -> tuple[ShuffleKind, int] | None:
        """The kind of shuffle, and how many rows it mixes with each other; None if it is not a shuffle."""
        return None

    @property
    def inner_orders(self) -> tuple[Order, ...]:
        """The orders that this one is put around."""
        inner: Order | tuple[Order, ...] = getattr(self, "inner", ())
        return inner if isinstance(inner, tuple) else (inner,)


@dataclass(frozen=True)
class Records(Order):
    """Records one after the other."""

    length: int
    first: int = 0

    def at(self, epoch: int, positions: Int64s) -> OrderedRecords:
        """Return the records at these positions."""
        return OrderedRecords(positions + self.first, np.full(len(positions), epoch % _EPOCHS, np.int64))


class AllRecords(Order):
    """All records of a dataset in the order of its files; they are only counted when their number is asked for."""

    is_file_order = True

    def __init__(self, dataset: StoredDataset) -> None:
        self._dataset = dataset

    @property
    def length(self) -> int:  # type: ignore[override] # read only
        """How many records there are."""
        return len(self._dataset)

    @property
    def rises(self) -> bool:
        """Always."""
        return True

    def at(self, epoch: int, positions: Int64s) -> OrderedRecords:
        """Return the records at these positions."""
        return OrderedRecords(positions, np.full(len(positions), epoch % _EPOCHS, np.int64))


@dataclass(frozen=True)
class Shuffled(Order):
    """A uniform permutation of another order, a new one in each epoch."""

    inner: Order
    seed: int
    reshuffle: bool = True
    length: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", self.inner.length)

    @property
    def shuffle(self) -> tuple[ShuffleKind, int]:
        """All rows are mixed."""
        return "exact", self.length

    def at(self, epoch: int, positions: Int64s) -> OrderedRecords:
        """Return the records at these positions."""
        key = stream_key(self.seed, f"shuffle/{epoch if self.reshuffle else 0}")
        return self.inner.at(epoch, keyed_permutation(self.length, key).at(positions))


@dataclass(frozen=True)
class Part(Order):
    """A run of positions of another order.

    >>> Part(Records(10), 2, 5).at(0, np.arange(3)).numbers.tolist()
    [2, 3, 4]
    """

    inner: Order
    start: int
    stop: int
    length: int = field(init=False)

    def __post_init__(self) -> None:
        start, stop = min(self.start, self.inner.length), min(self.stop, self.inner.length)
        object.__setattr__(self, "start", start)
        object.__setattr__(self, "length", ENDLESS if stop >= ENDLESS else max(0, stop - start))

    @property
    def rises(self) -> bool:
        """Whether the other order does."""
        return self.inner.rises

    def at(self, epoch: int, positions: Int64s) -> OrderedRecords:
        """Return the records at these positions."""
        return self.inner.at(epoch, positions + self.start)


@dataclass(frozen=True)
class Shard(Order):
    """The share of one rank: every world-th position.

    Args:
        inner: the order of all ranks together.
        rank: whose share it is.
        world: the number of ranks.
        remainder: what becomes of positions that do not divide evenly: "even" gives some ranks one more, "drop" leaves
            them out, "repeat" fills up from the beginning.

    >>> [Shard(Records(5), rank, 2).at(0, np.arange(2)).numbers.tolist() for rank in range(2)]
    [[0, 2], [1, 3]]
    """

    inner: Order
    rank: int
    world: int
    remainder: Remainder = "even"
    length: int = field(init=False)

    def __post_init__(self) -> None:
        whole, rest = divmod(self.inner.length, self.world)
        more = {"even": self.rank < rest, "drop": False, "repeat": rest > 0}[self.remainder]
        object.__setattr__(self, "length", ENDLESS if self.inner.length >= ENDLESS else whole + more)

    @property
    def rises(self) -> bool:
        """Whether the other order does, and nothing comes a second time."""
        return self.inner.rises and self.remainder != "repeat"

    def at(self, epoch: int, positions: Int64s) -> OrderedRecords:
        """Return the records at these positions."""
        return self.inner.at(epoch, (positions * self.world + self.rank) % self.inner.length)


@dataclass(frozen=True)
class Repeated(Order):
    """Another order several times, each time as another epoch of it.

    >>> Repeated(Records(2), 3).at(0, np.arange(6)).epochs.tolist()
    [0, 0, 1, 1, 2, 2]
    """

    inner: Order
    times: int | None
    length: int = field(init=False)

    def __post_init__(self) -> None:
        total = ENDLESS if self.times is None else self.inner.length * self.times
        object.__setattr__(self, "length", min(ENDLESS, total) if self.inner.length else 0)

    def at(self, epoch: int, positions: Int64s) -> OrderedRecords:
        """Return the records at these positions."""
        first = epoch * (self.times or 1)
        rounds, within = np.divmod(positions, self.inner.length)
        numbers, epochs = np.empty_like(positions), np.empty_like(positions)
        for turn, mine in groups(rounds):
            numbers[mine], epochs[mine] = self.inner.at(first + turn, within[mine])
        return OrderedRecords(numbers, epochs)


def groups(keys: Int64s) -> Iterator[tuple[int, npt.NDArray[np.intp]]]:
    """Give each different key with the places that it is at. Keys may come in any order: a shuffle may be around.

    >>> [(key, places.tolist()) for key, places in groups(np.array([7, 5, 7]))]
    [(5, [1]), (7, [0, 2])]
    """
    if len(keys) == 0:
        return
    if (keys == keys[0]).all():
        yield int(keys[0]), np.arange(len(keys))
        return
    order = np.argsort(keys, kind="stable")
    for places in np.split(order, np.flatnonzero(np.diff(keys[order])) + 1):
        yield int(keys[places[0]]), places


@lru_cache(maxsize=32)  # a small one is a table, and the last ones may be asked for again
def keyed_permutation(length: int, key: int) -> _core.Permutation:
    """Return a permutation of the numbers below `length`, from among those that were asked for last where it can."""
    return _core.Permutation(length, key)
