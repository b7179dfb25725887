"""Memory for what is made of some rows, filled part by part."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from recordsmith import _core

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["Room", "RoomPart"]


class Room:
    """Arrays for some rows, of which parts are filled one by one, also by several threads.

    Records as large as images are fetched and decoded a few at a time, so that they are still in the processor's
    cache, and no thread waits for one that has many. What becomes of them lies together in the end nevertheless, and is
    not copied for it.

    Attributes:
        rows: how many rows there are.

    >>> import numpy as np
    >>> room = Room(3)
    >>> parts = [room.at(0).array("x", 2, (4,), np.dtype("int8")), room.at(2).array("x", 1, (4,), np.dtype("int8"))]
    >>> room.whole("x", parts).shape
    (3, 4)
    """

    def __init__(self, rows: int) -> None:
        self.rows = rows
        self._arrays: dict[str, npt.NDArray[Any]] = {}
        self._parts: dict[str, dict[int, npt.NDArray[Any]]] = {}
        self._lock = threading.Lock()

    def at(self, start: int) -> RoomPart:
        """Return the part that begins with this row."""
        return RoomPart(self, start)

    def part(self, name: str, start: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
        """Return the memory of a feature's next rows, of which the first dimension says how many."""
        with self._lock:
            if name not in self._arrays:
                whole = (self.rows, *shape[1:])
                # Fresh memory would have to be cleared first, which takes longer than a fifth of decoding images.
                memory = _core.pooled_bytes(math.prod(whole) * dtype.itemsize)
                self._arrays[name] = memory.view(dtype).reshape(whole)
                self._parts[name] = {}
            part = self._arrays[name][start : start + shape[0]]
            self._parts[name][start] = part
            return part

    def whole(self, name: str, parts: list[Any]) -> npt.NDArray[Any] | None:
        """Return the array of all rows, if these are its parts; None if they became something else."""
        mine = [part for _, part in sorted(self._parts.get(name, {}).items())]
        same = len(mine) == len(parts) and all(one is other for one, other in zip(mine, parts, strict=True))
        return self._arrays[name] if same and sum(map(len, mine)) == self.rows else None


@dataclass(frozen=True)
class RoomPart:
    """Some rows of a room."""

    room: Room
    start: int

    def array(self, name: str, rows: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
        """Return the memory of a feature of these rows."""
        return self.room.part(name, self.start, (rows, *shape), dtype)
