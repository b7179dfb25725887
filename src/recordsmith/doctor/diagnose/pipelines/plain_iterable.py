"""Any iterable of batches: lists, generators, keras.utils.PyDataset, loops of one's own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from recordsmith.doctor.diagnose.pipelines.class_names import class_names_of
from recordsmith.doctor.diagnose.pipelines.pipeline import Pipeline

__all__ = ["PlainIterable"]


class PlainIterable(Pipeline):
    """An iterable. One that is its own iterator, such as a generator, can be iterated only once.

    >>> PlainIterable(n for n in range(3)).repeatable
    False
    >>> list(PlainIterable([1, 2]).epoch())
    [1, 2]
    """

    def __init__(self, thing: Any) -> None:
        self._thing = thing
        self.repeatable = not hasattr(thing, "__next__") or self._is_keras_dataset()
        self.fixed = isinstance(thing, (list, tuple))
        self.class_names = class_names_of(thing)
        self.kind = "a list" if self.fixed else "an iterable" if self.repeatable else "a generator"

    def epoch(self, number: int = 0) -> Iterator[Any]:  # noqa: ARG002 - for those that are told
        """Begin an epoch."""
        if hasattr(self._thing, "__iter__") and not self._is_keras_dataset():
            return iter(self._thing)
        return self._by_number()

    def _is_keras_dataset(self) -> bool:
        """Whether it is a PyDataset or Sequence of Keras, which is read by number and notified when an epoch ends."""
        return hasattr(self._thing, "__getitem__") and hasattr(self._thing, "on_epoch_end")

    def _by_number(self) -> Iterator[Any]:
        for number in range(len(self._thing)):
            yield self._thing[number]
        if hasattr(self._thing, "on_epoch_end"):
            self._thing.on_epoch_end()
