"""Arrays in memory: what `model.fit(x, y)` is given. Keras shuffles them itself, and so does this."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from recordsmith.doctor.diagnose.pipelines.pipeline import Pipeline

__all__ = ["ArrayPair", "is_array_pair"]

_ROWS = 32
_FEWEST = 2 * _ROWS


class ArrayPair(Pipeline):
    """Inputs and target as arrays, or inputs alone; batches are drawn in a random order.

    >>> len(list(ArrayPair((np.zeros((70, 4)), np.zeros(70))).epoch()))
    3
    """

    kind = "arrays in memory"
    shuffled_here = True

    def __init__(self, arrays: Any) -> None:
        self._arrays = arrays if isinstance(arrays, tuple) else (arrays,)

    def epoch(self, number: int = 0) -> Iterator[Any]:
        """Begin an epoch."""
        order = np.random.default_rng(number).permutation(len(self._arrays[0]))
        for start in range(0, len(order), _ROWS):
            rows = np.sort(order[start : start + _ROWS])
            batch = tuple(array[rows] for array in self._arrays)
            yield batch if len(batch) > 1 else batch[0]


def is_array_pair(thing: Any) -> bool:
    """Whether an object is a pair of arrays with one row for each example, rather than a list of batches.

    >>> is_array_pair((np.zeros((100, 4)), np.zeros(100))), is_array_pair([(np.zeros((8, 4)), np.zeros(8))])
    (True, False)
    """
    parts = thing if isinstance(thing, tuple) else (thing,)
    if len(parts) not in (1, 2) or not all(isinstance(part, np.ndarray) and part.ndim for part in parts):
        return False
    if len(parts) == 1:
        return bool(parts[0].ndim == 2 and len(parts[0]) >= _FEWEST)
    return len(parts[0]) == len(parts[1]) >= _FEWEST
