"""Converts places and sizes of the core to the dataclasses of facts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from recordsmith.facts.dataset_facts import LengthFacts, Place

__all__ = ["FilePlaces", "lengths_of"]


class FilePlaces:
    """Turns the core's names of records, which number the files, into places.

    >>> FilePlaces(["a.tfrecord"]).all_of([((0, 7, 140), "NaN")])
    (Place(path='a.tfrecord', record=7, offset=140, detail='NaN'),)
    """

    def __init__(self, files: Sequence[str]) -> None:
        self._files = files

    def place_of(self, name: tuple[int, int, int | None], detail: str = "") -> Place:
        """Return the place of one record."""
        file, record, offset = name
        return Place(self._files[file], record, offset, detail)

    def all_of(self, places: Sequence[Any]) -> tuple[Place, ...]:
        """Return the places of several, each with its detail."""
        return tuple(self.place_of(name, detail) for name, detail in places)


def lengths_of(sizes: tuple[int, int, int, int] | None) -> LengthFacts | None:
    """Return the least, the most and the mean, given also their sum and number; None where there are none.

    >>> lengths_of((1, 3, 4, 2))
    LengthFacts(min=1, max=3, mean=2.0)
    """
    if sizes is None:
        return None
    least, most, total, count = sizes
    return LengthFacts(least, most, total / count)
