"""Buckets of a shuffled split, filled by many machines at once (see `shuffling`).

A task reads a run of the staged records from front to back, and writes them to a file of its own, sorted by the bucket
that they belong to:

    buckets-train/1f0c....records   records of bucket 0, of bucket 1, ...
    buckets-train/1f0c....keys      for each of them: what it is sorted by, and its length
    buckets-train/1f0c....ends      for each bucket: how many records and bytes come before its end

A bucket is then a part of each of these files. They may also be objects of a store. Two attempts at the same task leave
two files, of which one is used.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from recordsmith import _core
from recordsmith.keyed_random import Uint64s
from recordsmith.records.index import FRAMING_BYTES
from recordsmith.run.shards import shuffling
from recordsmith.run.splits.split_order import SplitOrder, StagedBlock
from recordsmith.run.staging.record_files import RecordFiles
from recordsmith.run.staging.staged_files import StagedFile, write_staged
from recordsmith.run.staging.staging import Each, Staging

__all__ = ["DealtBuckets", "deal_buckets"]

_TASK_BYTES = 64 << 20  # of records; a task holds them two to three times
_TASK_ROWS = 1 << 20


class _Run(NamedTuple):
    """Consecutive staged records of one file.

    Attributes:
        place: where the first one is.
        lengths: how long each is, without framing.
        chosen: which of them are written, as often as they are.
        sorting_keys: for each time, what it is sorted by.
    """

    place: int
    lengths: npt.NDArray[np.uint32]
    chosen: npt.NDArray[np.int64]
    sorting_keys: Uint64s

    @property
    def bytes(self) -> int:
        return int(self.lengths.sum(dtype=np.int64)) + FRAMING_BYTES * len(self.lengths)


class DealtRecords(NamedTuple):
    """What one task has written."""

    records: StagedFile
    keys: StagedFile
    ends: StagedFile


@dataclass(frozen=True)
class DealtBuckets:
    """The buckets of a split.

    Attributes:
        dealt: what tasks have written.
        rows: how many positions of the order each bucket has; the last one may have fewer.
    """

    dealt: list[DealtRecords]
    rows: int
    _files: list[Any] = field(default_factory=list, compare=False)  # once they are open, in this process

    def __getstate__(self) -> dict[str, Any]:
        return {"dealt": self.dealt, "rows": self.rows}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _files=[])

    def open(self, number: int) -> _DealtBucket:
        """Load what is needed to read a bucket in its order."""
        if not self._files:
            self._files.append(_core.FileSet([one.records.opened() for one in self.dealt]))
        return _DealtBucket(self._files[0], self.dealt, number)


class _DealtBucket:
    """A run of the final order, in parts of several files."""

    def __init__(self, files: _core.FileSet, dealt: list[DealtRecords], number: int) -> None:
        self._files = files
        entries: list[Uint64s] = []
        starts: list[Uint64s] = []
        counts: list[int] = []
        for one in dealt:  # of a store, all at the same time
            one.ends.announce(np.uint64, 2 * number, 4)
        every_end = [one.ends.array(np.uint64, 2 * number, 4).reshape(2, 2) for one in dealt]
        limits = [ends[:, 0].tolist() for ends in every_end]
        for one, (first, last) in zip(dealt, limits, strict=True):
            one.keys.announce(np.uint64, 2 * first, 2 * (last - first))
        for one, ends, (first, last) in zip(dealt, every_end, limits, strict=True):
            mine = one.keys.array(np.uint64, 2 * first, 2 * (last - first)).reshape(-1, 2)
            sizes = mine[:, 1] + np.uint64(FRAMING_BYTES)
            entries.append(mine)
            starts.append(ends[0, 1] + np.cumsum(sizes, dtype=np.uint64) - sizes)
            counts.append(len(mine))
        every = np.concatenate(entries)
        order = np.argsort(np.ascontiguousarray(every[:, 0]))  # no two are equal
        self._lengths = np.ascontiguousarray(every[order, 1])
        self._offsets = np.concatenate(starts)[order]
        self._which = np.repeat(np.arange(len(dealt), dtype=np.uint32), counts)[order]

    def lengths(self, first: int, last: int) -> Uint64s:
        """Return how long the payloads at these positions of the run are."""
        return self._lengths[first:last]

    def frames(self, first: int, last: int) -> npt.NDArray[np.uint8]:
        """Return the records at these positions of the run, with their framing."""
        some = slice(first, last)
        numbers = np.arange(first, last, dtype=np.uint64)
        frames = self._files.frames(self._which[some], self._offsets[some], self._lengths[some], numbers, verify=True)
        self._files.forget()  # pages that were read count as this process's memory
        return frames


def deal_buckets(staging: Staging, order: SplitOrder, each: Each) -> DealtBuckets | None:
    """Distribute the records of a shuffled split over buckets; None if there are too few for that."""
    limits = shuffling.bucket_limits(order)
    if limits is None or order.unsorted is None:
        return None
    folder = staging.begin_bucket_folder(order.split)
    records = staging.records()
    tasks = _tasks(run for block in order.unsorted() for run in _runs(block, records))
    return DealtBuckets(sorted(one for _, one in each(_Dealer(records, folder, limits.keys), tasks)), limits.rows)


def _runs(block: StagedBlock, records: RecordFiles) -> Iterator[_Run]:
    for first, last in shuffling.cut_runs(block, records):
        mine = slice(*np.searchsorted(block.places, [first, last]).tolist())
        if mine.start < mine.stop:
            keys = block.keys[first:last]
            chosen, sorting_keys = block.places[mine] - first, np.ascontiguousarray(block.entries[mine, 0])
            yield _Run(int(keys["offset"][0]), np.ascontiguousarray(keys["length"]), chosen, sorting_keys)


def _tasks(runs: Iterable[_Run]) -> Iterator[list[_Run]]:
    task: list[_Run] = []
    size = rows = 0
    for run in runs:
        size += run.bytes
        rows += len(run.chosen)
        if task and (size > _TASK_BYTES or rows > _TASK_ROWS):
            yield task
            task, size, rows = [], run.bytes, len(run.chosen)
        task.append(run)
    if task:
        yield task


@dataclass(frozen=True)
class _Dealer:
    """Writes the file of one task.

    Attributes:
        records: the staged records.
        folder: where the file goes: a folder, or its URL.
        limits: the sorting keys at which buckets begin, without the first.
    """

    records: RecordFiles
    folder: str
    limits: Uint64s

    def __call__(self, runs: list[_Run]) -> DealtRecords:
        """Sort the records of some runs by bucket, and return where they are."""
        buckets = len(self.limits) + 1
        sink = _core.RecordSink()
        entries: list[Uint64s] = []
        ends = np.zeros((buckets + 1, 2), np.uint64)
        parts = [_Part.of(run, self.records, self.limits, buckets) for run in runs]
        for bucket in range(buckets):
            for part in parts:
                mine = part.order[part.cuts[bucket] : part.cuts[bucket + 1]]
                if len(mine):
                    sink.append_chosen(part.frames, part.offsets, part.run.chosen[mine])
                    lengths = part.run.lengths[part.run.chosen[mine]].astype(np.uint64)
                    entries.append(np.stack([part.run.sorting_keys[mine], lengths], axis=1))
            ends[bucket + 1] = sink.records, sink.bytes
        path = os.path.join(self.folder, secrets.token_hex(16))
        frames, _ = sink.take()
        keys = np.concatenate(entries).view(np.uint8)
        return DealtRecords(
            write_staged(f"{path}.records", np.ascontiguousarray(frames).reshape(-1)),
            write_staged(f"{path}.keys", np.ascontiguousarray(keys).reshape(-1)),
            write_staged(f"{path}.ends", np.ascontiguousarray(ends.view(np.uint8)).reshape(-1)),
        )


class _Part(NamedTuple):
    """A run with its records, and which of them go to which bucket."""

    run: _Run
    frames: npt.NDArray[np.uint8]
    offsets: Uint64s
    order: npt.NDArray[np.intp]
    cuts: list[int]

    @classmethod
    def of(cls, run: _Run, records: RecordFiles, limits: Uint64s, buckets: int) -> _Part:
        """Read a run."""
        sizes = run.lengths.astype(np.uint64) + np.uint64(FRAMING_BYTES)
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.uint64)
        bucket_of = np.searchsorted(limits, run.sorting_keys, side="right")
        order = np.argsort(bucket_of.astype(np.uint16), kind="stable")
        cuts = [0, *np.cumsum(np.bincount(bucket_of, minlength=buckets)).tolist()]
        return cls(run, records.span(run.place, run.bytes), offsets, order, cuts)
