"""What one call from TensorFlow brings over: the arrays of a batch, packed into few.

Every array that is handed over costs tens of microseconds, and every string in it an object of Python. So columns of
one number a row travel as the lines of one array for each dtype, and short strings as one message in TensorFlow's own
format, which an operation of its graph takes apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from recordsmith import _core
from recordsmith.loader.frameworks.tensorflow.columns import FlatStrings, Part, Taken

__all__ = ["BatchTransfer"]

_SHORT_STRING = 4096  # bytes on average up to which strings travel as a message: longer ones would be copied too often
_MOST_BYTES = 64 << 20  # of strings in one message, which cannot have more than 2 GiB


class BatchTransfer:
    """The arrays of a batch, with those of one number or string a row packed together.

    Args:
        parts: the arrays as they are before packing.
    """

    def __init__(self, parts: Sequence[Part]) -> None:
        self._numbers: dict[np.dtype[Any], list[int]] = {}
        together: list[int] = []
        alone: list[list[int]] = []
        self._others: list[int] = []
        for place, part in enumerate(parts):
            if part.dtype == object:
                together.append(place) if part.one_a_row else alone.append([place])
            elif part.one_a_row:
                self._numbers.setdefault(part.dtype, []).append(place)
            else:
                self._others.append(place)
        lines = [Part(dtype, (len(places), parts[places[0]].shape[0])) for dtype, places in self._numbers.items()]
        self._strings = [
            (places, _StringLines([parts[place] for place in places]))
            for places in ([together] if together else []) + alone
        ]
        self.parts = [*lines, *(parts[place] for place in self._others)]
        for _, strings in self._strings:
            self.parts += strings.parts

    def packed(self, taken: Taken) -> list[Any]:
        """Return what is handed over."""
        arrays: list[Any] = taken
        numbers = [
            arrays[places[0]][np.newaxis] if len(places) == 1 else np.stack([arrays[place] for place in places])
            for places in self._numbers.values()
        ]
        handed = [*numbers, *(arrays[place] for place in self._others)]
        for places, strings in self._strings:
            handed += strings.packed([arrays[place] for place in places])
        return handed

    def unpacked(self, tf: Any, tensors: Sequence[Any]) -> list[Any]:
        """Return the tensors of the arrays before they were packed."""
        handed = iter(tensors)
        found: dict[int, Any] = {}
        for places in self._numbers.values():
            found.update(zip(places, tf.unstack(next(handed), num=len(places)), strict=True))
        found.update((place, next(handed)) for place in self._others)
        for places, strings in self._strings:
            found.update(zip(places, strings.unpacked(tf, next(handed), next(handed)), strict=True))
        return [found[place] for place in sorted(found)]


class _StringLines:
    """Columns of strings of one shape: as a message, or as objects if they are long or not in buffers.

    >>> lines = _StringLines([Part(np.dtype(object), (None,))])
    >>> [part.shape for part in lines.parts]
    [(), (None,)]
    """

    def __init__(self, parts: Sequence[Part]) -> None:
        self._count = len(parts)
        shape = parts[0].shape
        self._shape = shape if self._count == 1 else (self._count, *shape)
        self.parts = [Part(np.dtype(object), ()), Part(np.dtype(object), (None,) * len(self._shape))]
        self._no_message, self._no_objects = (part.empty() for part in self.parts)

    def packed(self, columns: Taken) -> list[Any]:
        """Return the message and the objects, one of which is empty."""
        flat = [column for column in columns if isinstance(column, FlatStrings)]
        if len(flat) < self._count or not _short(flat):
            objects = [column.objects() if isinstance(column, FlatStrings) else column for column in columns]
            return [self._no_message, objects[0] if self._count == 1 else np.stack(objects)]
        shape = flat[0].shape if self._count == 1 else (self._count, *flat[0].shape)
        message = np.empty((), object)
        rows = [(strings.column.data, strings.column.offsets) for strings in flat]
        message[()] = _core.string_tensor(rows, list(shape))
        return [message, self._no_objects]

    def unpacked(self, tf: Any, message: Any, objects: Any) -> list[Any]:
        """Return the tensors of the columns."""
        has_message = tf.strings.length(message) > 0
        strings = tf.cond(has_message, lambda: tf.io.parse_tensor(message, tf.string), lambda: objects)
        strings.set_shape(self._shape)
        return [strings] if self._count == 1 else list(tf.unstack(strings, num=self._count))


def _short(columns: Sequence[FlatStrings]) -> bool:
    """Say whether the strings are worth a message."""
    count = sum(len(strings.column) for strings in columns)
    size = sum(int(strings.column.offsets[-1] - strings.column.offsets[0]) for strings in columns)
    return size <= min(_SHORT_STRING * count, _MOST_BYTES)
