"""Rows that wait in a bucket until there are enough of them for a batch, and which rows wait at a place."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from functools import cached_property
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from recordsmith.loader.engine.row_access import take_rows
from recordsmith.loader.engine.row_making import joined
from recordsmith.loader.plan import Rows

__all__ = ["Bucket", "WaitingRows"]


class _Link:
    """Positions of rows that came to a bucket, and those that came after them."""

    __slots__ = ("after", "positions")

    def __init__(self, positions: npt.NDArray[np.int64]) -> None:
        self.positions = positions
        self.after: _Link | None = None


class Bucket:
    """Rows of similar length, in the order in which they came.

    Rows are kept as parts of what they came with, and not copied one by one. `copy` frees what they came with.

    Attributes:
        count: how many rows wait.
        place: the first of them in the chain of their positions, which only becomes longer.
    """

    def __init__(self) -> None:
        self.count = 0
        self._parts: deque[tuple[Rows, int, int]] = deque()
        self._last = _Link(np.empty(0, np.int64))
        self.place: tuple[_Link, int] = (self._last, 0)

    def add(self, rows: Rows, first: int, last: int) -> None:
        """Let some rows wait."""
        self._parts.append((rows, first, last))
        self.count += last - first
        self._last.after = _Link(rows.positions[first:last])
        self._last = self._last.after

    def take(self, count: int) -> Rows:
        """Return the first rows that wait."""
        taken: list[Rows] = []
        self.count -= count
        self._move_on(count)
        while count:
            rows, first, last = self._parts.popleft()
            stop = min(last, first + count)
            if stop < last:
                self._parts.appendleft((rows, stop, last))
            taken.append(take_rows(rows, slice(first, stop)))
            count -= stop - first
        return joined(taken)

    def copy(self) -> None:
        """Keep nothing but the rows that wait."""
        if self._parts:
            rows = joined([take_rows(rows, np.arange(first, last)) for rows, first, last in self._parts])
            self._parts = deque([(rows, 0, self.count)])

    def _move_on(self, count: int) -> None:
        link, passed = self.place
        passed += count
        while passed >= len(link.positions) and link.after is not None:
            passed -= len(link.positions)
            link = link.after
        self.place = link, passed


class WaitingRows(Sequence[int]):
    """The positions of the rows that wait in buckets, rising.

    They are only computed when they are needed, for saving a state: there are many of them for each batch.

    Args:
        places: where each bucket begins.
        before: rows from this position on did not come yet.
    """

    def __init__(self, places: Sequence[tuple[_Link, int]], before: int) -> None:
        self._places = places
        self._before = before

    @cached_property
    def _positions(self) -> tuple[int, ...]:
        found = [np.empty(0, np.int64)]
        for first, passed in self._places:
            link: _Link | None = first
            while link is not None:
                positions = link.positions[passed if link is first else 0 :]
                came = int(np.searchsorted(positions, self._before))
                found.append(positions[:came])
                link = link.after if came == len(positions) else None
        return tuple(np.sort(np.concatenate(found)).tolist())

    def __len__(self) -> int:
        return len(self._positions)

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[int, ...]: ...
    def __getitem__(self, index: Any) -> Any:
        return self._positions[index]

    def __eq__(self, other: object) -> bool:
        return self._positions == tuple(other) if isinstance(other, (tuple, WaitingRows)) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._positions)

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (self._positions,)
