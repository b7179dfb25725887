"""One dataset on the server: its records, what is known about it, and its searches, all bounded."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any

import numpy as np

from recordsmith.errors import RecordsmithError
from recordsmith.images import ImageError, read_header
from recordsmith.images.codec import decode_image
from recordsmith.viewer.data.examination import Examination
from recordsmith.viewer.data.likeness import Likeness
from recordsmith.viewer.data.media import (
    Media,
    MediaCache,
    heat_map,
    mask_image,
    playable,
    raw_pixels,
    thumbnail,
    wave_file,
)
from recordsmith.viewer.data.opened import OpenedDataset
from recordsmith.viewer.data.program import ProgramReport
from recordsmith.viewer.data.searching import Search
from recordsmith.viewer.data.state import ViewState
from recordsmith.viewer.pages.cards import has_visuals
from recordsmith.viewer.pages.values import ValueRenderer

__all__ = ["ViewedDataset"]

_MOST_SEARCHES = 6
_SIDES = (96, 256, 384, 768, 1024)


class ViewedDataset:
    """A dataset that the viewer has open.

    Attributes:
        number: its number on the server.
        has_batches: a chain over it is shown too.
        base: where its pages are.
        dataset: its records.
        examination: facts and findings.
        program: the program that is shown next to it.
        likeness: its near-duplicates.
        renderer: renders its values.
    """

    def __init__(
        self,
        number: int,
        dataset: OpenedDataset,
        cache: MediaCache,
        *,
        has_batches: bool = False,
        program: str | None = None,
    ) -> None:
        self.number = number
        self.has_batches = has_batches
        self.base = f"/d/{number}"
        self.dataset = dataset
        self.examination = Examination(dataset)
        self.program = None if program is None else ProgramReport(program, self.examination)
        self.renderer = ValueRenderer(self.base, _ClassNames(dataset), dataset.colours, dataset.types)
        self.likeness = Likeness(dataset)
        self._cache = cache
        self._searches: OrderedDict[ViewState, Search] = OrderedDict()
        self._lock = threading.Lock()

    def begin(self) -> None:
        """Begin to collect facts."""
        self.examination.start()
        if self.program is not None:
            self.program.start()

    def close(self) -> None:
        """Stop all work in the background."""
        self.dataset.close()
        self.examination.stop()
        self.likeness.stop()
        if self.program is not None:
            self.program.stop()
        for search in self._searches.values():
            search.stop()

    def layout_of(self, state: ViewState) -> str:
        """Return "cards" or "table": what was chosen, or what suits the first records."""
        return state.layout or ("cards" if has_visuals(self.dataset.read(range(6))) else "table")

    def search(self, state: ViewState) -> Search:
        """Return the search for a state, which may be running already."""
        key = state.chosen
        with self._lock:
            search = self._searches.get(key)
            if search is None:
                places = self.examination.records_of(key.finding) if key.finding else None
                if key.finding and places is None and self.examination.report is None:
                    return Search(self.dataset, key, [])  # not kept: the check is not done yet
                finder = self.examination.finder_of(key.finding) if key.finding else None
                if key.like is not None and not key.finding:
                    finder = self.likeness.finder_of(key.like)
                search = self._searches[key] = Search(
                    self.dataset, key, places if places is not None or not key.finding else [], finder
                )
                if len(self._searches) > _MOST_SEARCHES:
                    self._searches.popitem(last=False)[1].stop()
            self._searches.move_to_end(key)
            return search

    def media(
        self, number: int, feature: str, kind: str, *, place: int = 0, side: int = 384, rate: int = 16_000
    ) -> Media:
        """Return a value of a record as something that a browser shows or plays; raises an ImageError."""
        value = self._value(number, feature, place, kind)
        if kind == "raw" and isinstance(value, bytes):
            return Media("application/octet-stream", value)
        if kind == "play" and isinstance(value, bytes):
            return Media(playable(value) or "application/octet-stream", value)
        if kind == "wave" and isinstance(value, np.ndarray):
            return wave_file(value, min(192_000, max(1_000, rate)))
        near = next((one for one in _SIDES if one >= side), _SIDES[-1])
        return self._cache.get((self.number, number, feature, kind, place, near), lambda: _made(value, kind, near))

    def _value(self, number: int, feature: str, place: int, kind: str) -> Any:
        within = kind in ("image", "mask")
        found = self.dataset.read([number])
        value = found[0].values.get(feature) if found else None
        if within and isinstance(value, (list, np.ndarray)) and (isinstance(value, list) or value.dtype == object):
            value = value[place] if 0 <= place < len(value) else None
        if value is None:
            raise ImageError("The record has no such value.")
        pixels = None if within else raw_pixels(found[0].values, feature)
        return pixels if kind == "heat" and pixels is not None else value


class _ClassNames(dict[str, Any]):
    """The class names of features, asked for only when they are needed."""

    def __init__(self, dataset: OpenedDataset) -> None:
        super().__init__()
        self._dataset = dataset

    def get(self, key: str, default: Any = ()) -> Any:
        return self._dataset.value_names(key) or default


def _made(value: Any, kind: str, side: int) -> Media:
    if kind == "image" and isinstance(value, bytes):
        return thumbnail(value, side)
    if kind == "heat" and isinstance(value, np.ndarray):
        drawn = heat_map(value)
        if drawn is not None:
            return drawn
    if kind == "mask":
        return mask_image(_classes(value))
    raise ImageError("The value cannot be shown as an image.")


def _classes(value: Any) -> Any:
    """Return the map of classes in a mask: its numbers, or the number of each of its colours."""
    if isinstance(value, bytes) and read_header(value) is not None:
        try:
            value = decode_image(value)
        except RecordsmithError as error:  # OpenCV is missing
            raise ImageError(str(error)) from None
    if not isinstance(value, np.ndarray) or value.ndim < 2 or value.dtype.kind not in "biu":
        raise ImageError("The value is not a mask.")
    if value.ndim == 3 and value.shape[2] >= 3:
        packed = value[:, :, 0].astype(np.int64) << 16 | value[:, :, 1].astype(np.int64) << 8 | value[:, :, 2]
        colours, classes = np.unique(packed, return_inverse=True)
        classes = classes.reshape(packed.shape)
        return classes if colours[0] == 0 else classes + 1
    return value
