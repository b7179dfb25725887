"""Near-duplicates: records that look alike although they are not equal. Found in the background, when asked for.

Each dataset is compared by one feature, the first of these that it has:

images    a hash of 64 bits of the image in grey at a very small size (dHash, as `check --similar-images` has it), and
          that small image; alike are images with at most 6 different bits whose small images correlate by 0.9 or
          more. Turned, cropped or mirrored images are not found; images that differ in small details or in colour are.
texts     16 smallest hashes (MinHash) of the pieces of 5 bytes of the longest text, capitals aside; alike are texts of
          which at least 11 agree, which is about 0.7 of their pieces.
numbers   the floats of the record, each rounded to 2 digits; alike are records where all are then the same. Numbers on
          two sides of a limit of rounding are not found.

A sketch takes 8 (numbers), 80 (images) or 128 bytes (texts) of memory for each record. At most the first
`_MOST_RECORDS` records and `_MOST_BYTES` of the files are compared, which the page says.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.columns import ByteColumn
from recordsmith.dataset.layout import DatasetLayout
from recordsmith.dataset.stored import StoredDataset
from recordsmith.errors import RecordsmithError, reason_of
from recordsmith.facts.similar_images import hash_of_grey, small_grey
from recordsmith.images import read_header
from recordsmith.keyed_random import Uint64s, priorities
from recordsmith.schema import Feature, Image, Schema, Steps, Text
from recordsmith.storage.ranged.opening import is_ranged
from recordsmith.viewer.data.finding_records import RecordFinder
from recordsmith.viewer.data.opened import OpenedDataset
from recordsmith.workers.background import start_in_background

__all__ = ["Likeness"]

_MOST_RECORDS = 1_000_000
_MOST_BYTES = 8 << 30
_UNASKED_RECORDS = 20_000  # that are compared without being asked, on a local disk
_UNASKED_BYTES = 256 << 20
_SAMPLE = 16  # records that decide what is compared
_BATCH = 512
_PIECE = 5  # bytes of a text
_HASHES = 16
_NEAR_BITS = 6
_GREY_WORDS = 9  # of 8 bytes: a grey image of 9 × 8
_NEAR_GREY = 0.9  # correlation
_NEAR_SHARE = 11 / 16
_SHORTEST = 20  # bytes of a text that is worth comparing
_FEWEST_FLOATS = 8  # of a record: fewer are equal by chance
_DIGITS = 2
_MOST_ALIKE = 1_000


class Likeness:
    """Compares the records of a dataset.

    Attributes:
        kind: "images", "texts" or "numbers": what is compared; "" if there is nothing to compare.
        feature: the feature that is compared; "" for numbers.
        compared: how many records are known so far.
        done: no more will be.
        started: it was asked for.
        error: why it ended early.
    """

    def __init__(self, dataset: OpenedDataset) -> None:
        self._dataset = dataset
        self._stopped = False
        self._lock = threading.Lock()
        self._sketches: npt.NDArray[np.uint64] = np.empty((0, 1), np.uint64)
        self._sound = np.empty(0, np.bool_)
        self._features: dict[str, Feature] = {}
        self.kind = self.feature = ""
        self.compared = 0
        self.done = self.started = False
        self.error: str | None = None

    def start(self, *, asked: bool) -> bool:
        """Begin, if that was asked for or takes little; return whether it has begun."""
        with self._lock:
            if self.started or not (asked or self._takes_little()):
                return self.started
            self.started = True
        start_in_background(self._run, name="recordsmith-view-likeness", stop=self.stop)
        return True

    def stop(self) -> None:
        """End the work in the background."""
        self._stopped = True

    @property
    def limit(self) -> int:
        """How many records are compared at most."""
        return min(self._dataset.records, _MOST_RECORDS)

    def near(self, number: int) -> list[int]:
        """Return the records that look like one, as far as they are known; the most alike first."""
        known = self.compared
        if number >= known or not self._sound[number]:
            return []
        sketches, mine = self._sketches[:known], self._sketches[number]
        if self.kind == "images":
            distance = _bits(sketches[:, 0] ^ mine[0])
            fits = distance <= _NEAR_BITS
            near = np.flatnonzero(fits)
            fits[near] = _correlation(sketches[near, 1:], mine[1:]) >= _NEAR_GREY
        else:
            distance = 1 - (sketches == mine).mean(axis=1)
            fits = distance <= 1 - (_NEAR_SHARE if self.kind == "texts" else 1)
        fits &= self._sound[:known]
        fits[number] = False
        places = np.flatnonzero(fits)
        order = np.argsort(distance[places], kind="stable")
        found: list[int] = places[order][:_MOST_ALIKE].tolist()
        return found

    def finder_of(self, number: int) -> RecordFinder:
        """Return what finds a record and those that look like it."""

        def find(_: OpenedDataset, on_searched: Callable[[int], object]) -> Iterator[int]:
            self.start(asked=True)
            while not self.done:
                on_searched(self.compared)
                threading.Event().wait(0.05)
            if number < self._dataset.records:
                yield number
            yield from self.near(number)

        return find

    @property
    def said(self) -> str:
        """How records are compared, as text."""
        return {
            "images": f"by what {self.feature!r} looks like at a very small size",
            "texts": f"by the pieces of {_PIECE} characters that {self.feature!r} consists of",
            "numbers": "by their floats, each rounded to 2 digits",
        }.get(self.kind, "")

    # --- in the background ---

    def _takes_little(self) -> bool:
        dataset = self._dataset
        size = sum(file.bytes for file in dataset.files)
        local = not any(is_ranged(file.path) for file in dataset.files)
        return dataset.indexed and local and dataset.records <= _UNASKED_RECORDS and size <= _UNASKED_BYTES

    def _run(self) -> None:
        with contextlib.suppress(OSError, AttributeError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 10)
        try:
            while not self._dataset.indexed and not self._stopped:
                threading.Event().wait(0.05)
            self._choose()
            if self.kind:
                self._compare()
        except Exception as error:  # noqa: BLE001 - whoever waits must be told, whatever went wrong
            self.error = reason_of(error)
        self.done = True

    def _choose(self) -> None:
        """Choose what is compared, by the first records."""
        records = [one.values for one in self._dataset.read(range(_SAMPLE))]
        lengths: dict[str, int] = {}
        floats = 0
        for name, feature in self._dataset.types.items():
            if feature is None or isinstance(feature, Steps):
                continue
            values = [record[name] for record in records if record.get(name) is not None]
            if values and all(isinstance(one, bytes) and read_header(one) is not None for one in values):
                self.kind, self.feature, self._features = "images", name, {name: feature}
                return
            if isinstance(feature, Text) and not isinstance(feature, Image) and feature.shape == ():
                lengths[name] = max((len(str(one)) for one in values), default=0)
            elif "float" in str(getattr(feature, "dtype", "")):
                self._features[name] = feature
                floats += max((np.asarray(one).size for one in values), default=0)
        longest = max(lengths, key=lambda name: lengths[name], default="")
        if longest and lengths[longest] >= _SHORTEST:
            self.kind, self.feature = "texts", longest
            self._features = {longest: self._dataset.types[longest]}  # type: ignore[dict-item]  # it has one
        elif floats >= _FEWEST_FLOATS:
            self.kind = "numbers"

    def _compare(self) -> None:
        width = {"texts": _HASHES, "images": 1 + _GREY_WORDS}.get(self.kind, 1)
        self._sketches = np.zeros((self.limit, width), np.uint64)
        self._sound = np.zeros(self.limit, np.bool_)
        done = size = 0
        for file in self._dataset.files:
            size += file.bytes
            if done >= self.limit or (size > _MOST_BYTES and done) or self._stopped:
                break
            end = min(self.limit, done + file.records)
            for sketches, sound in self._of_file(file.path, damaged=file.damaged):
                rows = min(len(sound), end - done)
                self._sketches[done : done + rows] = sketches[:rows]
                self._sound[done : done + rows] = sound[:rows]
                done += rows
                self.compared = done
                if done == end or self._stopped:
                    break
            done = self.compared = end  # also where records could not be read: they are like no other

    def _of_file(self, path: str, *, damaged: bool) -> Iterator[tuple[Uint64s, npt.NDArray[np.bool_]]]:
        if damaged:
            return
        dataset = StoredDataset(DatasetLayout((path,)), schema=Schema(self._features))
        try:
            for columns, rows in dataset.read_batches(_BATCH):
                yield self._sketched(columns, rows)
        except RecordsmithError:
            return  # records of another type: they are not compared

    def _sketched(self, columns: dict[str, Any], rows: int) -> tuple[Uint64s, npt.NDArray[np.bool_]]:
        if self.kind == "numbers":
            return _rounded(list(columns.values()), rows)
        column = columns[self.feature]
        return _minhashes(column) if self.kind == "texts" else _perceptual(column)


def _perceptual(column: ByteColumn) -> tuple[Uint64s, npt.NDArray[np.bool_]]:
    sketches = np.zeros((len(column), 1 + _GREY_WORDS), np.uint64)
    sound = np.zeros(len(column), np.bool_)
    for row, data in enumerate(column):
        small = None if data is None else small_grey(bytes(data))
        if small is not None:
            sound[row] = True
            sketches[row, 0] = hash_of_grey(small)
            levels = (small - small.mean()) / small.std() * 24  # of which nearly all are within 5 deviations
            sketches[row, 1:] = np.clip(np.rint(levels), -127, 127).astype(np.int8).reshape(-1).view(np.uint64)
    return sketches, sound


def _correlation(many: Uint64s, one: Uint64s) -> npt.NDArray[np.float64]:
    greys = np.ascontiguousarray(many).view(np.int8).reshape(len(many), -1).astype(np.float64)
    mine = np.ascontiguousarray(one).view(np.int8).astype(np.float64)
    return np.asarray(greys @ mine / np.sqrt((greys**2).sum(axis=1) * (mine**2).sum()))


def _minhashes(column: ByteColumn) -> tuple[Uint64s, npt.NDArray[np.bool_]]:
    """Return the smallest hashes of the pieces of each text, in several orders of them."""
    data, starts, ends = column.data, column.offsets[:-1], column.offsets[1:]
    small = np.where((data >= 65) & (data <= 90), data + 32, data).astype(np.uint64)
    count = max(0, len(small) - _PIECE + 1)
    pieces = np.zeros(count + 1, np.uint64)  # one more, for the bound after the last one
    for place in range(_PIECE):
        pieces[:count] |= small[place : place + count] << np.uint64(8 * place)
    sound = ends - starts >= _SHORTEST
    sketches = np.zeros((len(starts), _HASHES), np.uint64)
    if not sound.any():
        return sketches, sound
    # reduceat takes bounds in pairs; what is between two texts is reduced too, and left out.
    bounds = np.stack([starts[sound], ends[sound] - _PIECE + 1], axis=1).reshape(-1)
    for order in range(_HASHES):
        sketches[sound, order] = np.minimum.reduceat(priorities(pieces, order), bounds)[::2]
    return sketches, sound


def _rounded(columns: list[Any], rows: int) -> tuple[Uint64s, npt.NDArray[np.bool_]]:
    """Return a digest of the floats of each row, rounded."""
    digests = np.zeros(rows, np.uint64)
    for place, column in enumerate(columns):
        if isinstance(column, np.ndarray) and column.dtype != object:
            hashes = _digests(np.ma.filled(column.astype(np.float64), np.nan).reshape(rows, -1), place)
        else:
            values = (np.ma.filled(np.asarray(column[row], np.float64), np.nan).reshape(1, -1) for row in range(rows))
            hashes = np.concatenate([_digests(value, place) for value in values])
        digests = priorities(digests, place) ^ hashes
    return digests[:, None], np.ones(rows, np.bool_)


def _digests(values: npt.NDArray[np.float64], stream: int) -> Uint64s:
    size = np.where(np.isfinite(values) & (values != 0), np.abs(values), 1.0)
    scale = 10.0 ** (_DIGITS - 1 - np.floor(np.log10(size)))
    with np.errstate(all="ignore"):
        rounded = np.where(np.isfinite(values), np.rint(values * scale) / scale, values) + 0.0  # no negative zero
    rounded[np.isnan(rounded)] = np.nan  # one of the many
    places = np.arange(values.shape[1], dtype=np.uint64)
    mixed = priorities(priorities(np.ascontiguousarray(rounded).view(np.uint64), stream) ^ places, stream)
    return np.asarray(np.bitwise_xor.reduce(mixed, axis=1))


def _bits(numbers: Uint64s) -> npt.NDArray[np.float64]:
    """Count the bits that are set in each number."""
    bits = np.unpackbits(np.ascontiguousarray(numbers).view(np.uint8).reshape(-1, 8), axis=1)
    return np.asarray(bits.sum(axis=1), np.float64)
