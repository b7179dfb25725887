"""From the staged records to shards, each whole before it has its name, and each read back before it counts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from recordsmith import _core
from recordsmith.dataset.descriptions.fingerprint import Fingerprint
from recordsmith.errors import RecordsmithError, advise
from recordsmith.keyed_random import Uint64s
from recordsmith.records.index import FRAMING_BYTES
from recordsmith.records.writer import RecordWriter
from recordsmith.run.shards import shuffling
from recordsmith.run.shards.dealing import DealtBuckets, deal_buckets
from recordsmith.run.shards.shuffling import Buckets, fill_buckets
from recordsmith.run.splits.split_order import SplitOrder
from recordsmith.run.staging.record_files import RecordFiles
from recordsmith.run.staging.staging import Each, Staging
from recordsmith.schema import Schema
from recordsmith.schema.native import compile_plan

__all__ = ["Shard", "ShardWriter", "WrittenShard", "plan_shards", "shard_name"]

_BLOCK_BYTES = 2 << 20
_READ_BACK_BYTES = 1 << 20  # at a time: it stays in the cache
_DECODED = 8  # of a shard that is proven by digests, every eighth block is decoded,
_DECODED_ROWS = 4097  # the first 4,096 rows of it
_BLOCK_ROWS = 1 << 15
_SUFFIXES = {None: "", "gzip": ".gz", "zlib": ".zlib"}


class Change(Protocol):
    """A change to the records that is fitted on the training split, and made when they are written."""

    def schema(self, schema: Schema) -> Schema:
        """Return the schema of the records after the change."""

    def fit(self, batches: Callable[[], Iterable[dict[str, Any]]]) -> None:
        """Learn from the training split. Each call of `batches` is one pass over its columns."""

    def transform(self, columns: dict[str, Any]) -> dict[str, Any]:
        """Return the columns of some records after the change."""


@dataclass(frozen=True)
class Shard:
    """One shard to be written: its name, and which entries of its split's order it holds."""

    file: str
    order: SplitOrder
    first: int
    last: int

    @property
    def rows(self) -> int:
        """How many records it holds."""
        return self.last - self.first


class WrittenShard(NamedTuple):
    """A shard that was written, and its description."""

    shard: Shard
    entry: dict[str, Any]


def plan_shards(
    order: SplitOrder, name: str, *, shards: int | None, shard_bytes: int, compression: str | None
) -> list[Shard]:
    """Divide a split into shards of nearly equal numbers of records.

    >>> order = SplitOrder("train", "", "", 10, 1000)
    >>> [shard.file for shard in plan_shards(order, "pets", shards=None, shard_bytes=600, compression=None)]
    ['pets-train.tfrecord-00000-of-00002', 'pets-train.tfrecord-00001-of-00002']
    """
    count = shards if shards is not None else -(-order.bytes // shard_bytes)
    count = max(1, min(count, order.rows))
    ends = [order.rows * number // count for number in range(count + 1)]
    order = replace(order, unsorted=None)  # which cannot be sent to another process
    return [
        Shard(shard_name(name, order.split, number, count, compression), order, ends[number], ends[number + 1])
        for number in range(count)
    ]


def shard_name(name: str, split: str, number: int, count: int, compression: str | None) -> str:
    """Return the name of a shard's file."""
    return f"{name}-{split}.tfrecord{_SUFFIXES[compression]}-{number:05}-of-{count:05}"


class ShardWriter:
    """Writes shards from staged records, and checks what it wrote.

    Several threads may use one, and a copy of it may be sent to processes that see the same folders.

    Args:
        staging: the folders that the shards go to.
        records: where the records are read from.
        schema: what the records hold; None: their bytes are copied, whatever they hold.
        changes: what is still to be done to them.
        compression: None, "gzip" or "zlib".
        ignored: the features that the digests do not count.
    """

    def __init__(
        self,
        staging: Staging,
        records: RecordFiles,
        schema: Schema | None,
        changes: Sequence[Change] = (),
        *,
        compression: str | None,
        ignored: Sequence[str],
    ) -> None:
        self._places = staging.shard_places
        self._staged = staging.pieces
        self._schema = schema if schema is not None else Schema({})
        self._verbatim = schema is None
        self._changes = changes
        self._compression = compression
        self._ignored = list(ignored)
        self.compressing_threads = 1  # of each shard that is written
        self._records = records
        self._files = records.open()
        self._is_large = records.bytes > shuffling.BUCKETS_ABOVE_BYTES
        self._buckets: dict[str, Buckets | DealtBuckets] = {}
        self.final_schema = self._schema
        for change in changes:
            self.final_schema = change.schema(self.final_schema)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_files"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._files = self._records.open()

    def fit(self, training: SplitOrder) -> None:
        """Fit the changes, one after the other, on the training split."""
        for number, change in enumerate(self._changes):
            change.fit(self._batches_before(training, number))

    def write(self, shard: Shard) -> tuple[dict[str, Any], str]:
        """Write a shard; return its description, and where it is, if it has no final name yet."""
        path = self._places.begin(shard.file)
        with RecordWriter(path, self._compression, threads=self.compressing_threads, digest="sha256") as writer:
            for frames, offsets in self._in_order(shard):
                if self._changes:
                    columns = self._changed(self._decoded(self._schema, frames, offsets), len(self._changes))
                    writer.write_columns(columns, self.final_schema)
                else:
                    writer.write_frames(frames)
        entry = {
            "file": shard.file,
            "records": writer.records,
            "bytes": os.path.getsize(path),
            "sha256": writer.hexdigest,
        }
        return self._places.keep(entry, path)

    def forget(self) -> None:
        """Let go of the staged records: they are not needed for checking."""
        self._files.forget()

    def check(self, written: WrittenShard) -> str:
        """Read a shard back: checksums, the number of records, their content, the schema and its constraints.

        If changes were applied, all records are decoded and compared with the schema. If not, each is
        proven by its digest to be the record that was encoded under the schema, and a part is decoded as well.
        Return the fingerprint of its records.
        """
        with self._places.opened(written.entry) as path:
            try:
                return self._check(written.shard, path)
            except RecordsmithError as error:
                self._places.remove(written.shard.file)  # so that it is written again
                error.advice = "The disk or the memory may be failing. Resume to write the file again."
                raise

    def _check(self, shard: Shard, path: str) -> Fingerprint:
        found = 0
        fingerprints = [Fingerprint.total([])]
        for number, (frames, offsets) in enumerate(self._read_back(path)):
            rows = len(offsets) - 1
            if not self._verbatim and (self._changes or number % _DECODED == 0):
                self._check_schema(path, found, frames, offsets if self._changes else offsets[:_DECODED_ROWS])
            whole = _core.digest_frames(frames, offsets, [])
            fingerprints.append(Fingerprint.of(whole))
            if not self._changes:
                expected = shard.order.digests(shard.first + found, min(shard.first + found + rows, shard.last))
                actual = _core.digest_frames(frames, offsets, self._ignored) if self._ignored else whole
                if len(expected) != rows or not np.array_equal(actual, expected):
                    raise _wrong(path, found, "its content is not that of the staged record")
            found += rows
        if found != shard.last - shard.first:
            raise _wrong(path, found, f"{found} records instead of {shard.last - shard.first}")
        return Fingerprint.total(fingerprints)

    def _check_schema(self, path: str, first: int, frames: Any, offsets: Any) -> None:
        columns = self._decoded(self.final_schema, frames[: int(offsets[-1])], offsets)
        for name, broken in self.final_schema.violations(columns).items():
            raise _wrong(path, first + broken[0].row, f"{broken[0].found} in {name!r}, not {broken[0].expected}")

    def _batches_before(self, order: SplitOrder, stage: int) -> Callable[[], Iterable[dict[str, Any]]]:
        def batches() -> Iterator[dict[str, Any]]:
            whole = Shard("", order, 0, order.rows)
            for frames, offsets in self._in_order(whole):
                yield self._changed(self._decoded(self._schema, frames, offsets), stage)

        return batches

    def _in_order(self, shard: Shard) -> Iterator[tuple[npt.NDArray[np.uint8], Uint64s]]:
        """Give the records of a shard in their order, in pieces that fit in memory."""
        buckets = self._buckets.get(shard.order.split)
        if buckets is None:
            for numbers, entries in _blocks(shard):
                yield self._frames(numbers, entries)
            return
        for number in range(shard.first // buckets.rows, (shard.last - 1) // buckets.rows + 1):
            start = number * buckets.rows
            first, last = max(shard.first, start) - start, min(shard.last, start + buckets.rows) - start
            bucket = buckets.open(number)
            sizes = bucket.lengths(first, last) + np.uint64(FRAMING_BYTES)
            for a, b in _pieces(sizes):
                offsets = np.concatenate([[0], np.cumsum(sizes[a:b])]).astype(np.uint64)
                yield bucket.frames(first + a, first + b), offsets

    def has_buckets(self, split: str) -> bool:
        """Say whether the records of a split are read from buckets."""
        return split in self._buckets

    def fill_buckets(self, staging: Staging, orders: Iterable[SplitOrder], *, workers: int) -> None:
        """Prepare shuffled splits that are too large for reading records at random places."""
        for order in orders:
            buckets = fill_buckets(staging, order, workers=workers)
            if buckets is not None:
                self._buckets[order.split] = buckets

    def deal_buckets(self, staging: Staging, orders: Iterable[SplitOrder], each: Each) -> None:
        """Do the same on many machines."""
        for order in orders:
            buckets = deal_buckets(staging, order, each)
            if buckets is not None:
                self._buckets[order.split] = buckets

    def _changed(self, columns: dict[str, Any], stages: int) -> dict[str, Any]:
        for change in self._changes[:stages]:
            columns = change.transform(columns)
        return columns

    def _frames(self, numbers: Uint64s, entries: Any) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint64]]:
        lengths = entries["length"].astype(np.uint64)
        try:
            frames = self._files.frames(entries, numbers)
        except RecordsmithError as error:
            if error.path is not None and error.path.startswith(self._staged):
                raise _damaged(error) from error
            raise
        if self._is_large:
            self._files.forget()  # pages that were read count as this process's memory
        return frames, np.concatenate([[0], np.cumsum(lengths + np.uint64(FRAMING_BYTES))]).astype(np.uint64)

    @staticmethod
    def _decoded(schema: Schema, frames: Any, offsets: Any) -> dict[str, Any]:
        return schema.assemble(_core.decode_frames(compile_plan(schema), frames, offsets))

    def _read_back(self, path: str) -> Iterator[tuple[Any, Any]]:
        stream = _core.RecordStream(path, self._compression or "none", verify=True)
        while (block := stream.next_frames(_READ_BACK_BYTES)) is not None:
            yield block


def _blocks(shard: Shard) -> Iterator[tuple[Uint64s, Any]]:
    """Give the staged rows of a shard and their keys, in blocks of records that fit in memory."""
    for start in range(shard.first, shard.last, _BLOCK_ROWS):
        numbers, entries = shard.order.located(start, min(start + _BLOCK_ROWS, shard.last))
        for first, last in _pieces(entries["length"].astype(np.uint64) + np.uint64(FRAMING_BYTES)):
            yield numbers[first:last], entries[first:last]


def _pieces(sizes: npt.NDArray[np.uint64]) -> Iterator[tuple[int, int]]:
    """Cut a run of records into pieces of about the block size; a larger record is a piece by itself."""
    ends = np.cumsum(sizes, dtype=np.uint64)
    first = 0
    while first < len(sizes):
        start = int(ends[first - 1]) if first else 0
        last = int(np.searchsorted(ends, np.uint64(start + _BLOCK_BYTES), side="right"))
        last = min(max(first + 1, last), first + _BLOCK_ROWS)
        yield first, last
        first = last


def _damaged(error: RecordsmithError) -> RecordsmithError:
    return RecordsmithError(
        "A staged record is damaged.",
        path=error.path,
        offset=error.offset,
        found=error.problem,
        advice=advise("Continue with {resume}: damaged files are found and made again.", resume=True),
    )


def _wrong(path: str, record: int, what: str) -> RecordsmithError:
    return RecordsmithError(
        "The data that was read back differs from the data that was written.",
        path=path,
        record=record,
        found=what,
    )
