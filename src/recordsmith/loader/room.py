"""Memory for what a task makes of its rows, filled part by part."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from recordsmith import _core

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["Room"]


class Room:
    """Arrays for all rows of a task, of which parts are handed out one after the other.

    Records as large as pictures are fetched a few at a time, so that they are still in the processor's cache when they
    are decoded. What becomes of them lies together in the end nevertheless, and is not copied for it.

    Args:
        rows: how many rows the task has.

    >>> import numpy as np
    >>> room = Room(3)
    >>> parts = [room.part("x", 2, (4,), np.dtype("float32")), room.part("x", 1, (4,), np.dtype("float32"))]
    >>> room.whole("x", parts).shape
    (3, 4)
    """

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self._arrays: dict[str, npt.NDArray[Any]] = {}
        self._parts: dict[str, list[npt.NDArray[Any]]] = {}

    def part(self, name: str, rows: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
        """Return room for the next rows of a feature."""
        if name not in self._arrays:
            whole = (self._rows, *shape)
            # Fresh memory would have to be cleared first, which takes longer than a fifth of decoding pictures.
            memory = _core.pooled_bytes(math.prod(whole) * dtype.itemsize)
            self._arrays[name] = memory.view(dtype).reshape(whole)
            self._parts[name] = []
        start = sum(map(len, self._parts[name]))
        part = self._arrays[name][start : start + rows]
        self._parts[name].append(part)
        return part

    def whole(self, name: str, parts: list[Any]) -> npt.NDArray[Any] | None:
        """Return the array of all rows, if these are its parts; None if they became something else."""
        mine = self._parts.get(name, [])
        same = len(mine) == len(parts) and all(one is other for one, other in zip(mine, parts, strict=True))
        return self._arrays[name] if same and sum(map(len, mine)) == self._rows else None
