"""Converts places and sizes of the core to the dataclasses of facts."""

from __future__ import annotations

from collections.abc import Sequence

from recordsmith import _core
from recordsmith.facts.value_facts import LengthFacts, Place

__all__ = ["FilePlaces", "lengths_of"]


class FilePlaces:
    """Turns the core's names of records, which number the files, into places.

    >>> FilePlaces(["a.tfrecord"]).place_of((0, 7, 140), "NaN")
    Place(path='a.tfrecord', record=7, offset=140, detail='NaN')
    """

    def __init__(self, files: Sequence[str]) -> None:
        self._files = files

    def place_of(self, name: tuple[int, int, int | None], detail: str = "") -> Place:
        """Return the place of one record."""
        file, record, offset = name
        return Place(self._files[file], record, offset, detail)

    def all_of(self, places: Sequence[_core.SurveyPlace]) -> tuple[Place, ...]:
        """Return the places of several, each with its detail."""
        return tuple(self.place_of(place.record, place.detail) for place in places)


def lengths_of(sizes: _core.Sizes | None) -> LengthFacts | None:
    """Return the smallest, the largest and the mean size; None without sizes."""
    return None if sizes is None else LengthFacts(sizes.min, sizes.max, sizes.sum / sizes.count)
