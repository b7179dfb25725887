"""Records as they are stored in the files, a chunk at a time: whole frames, verified and not decoded."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith import _core
from recordsmith.errors import ChangedFileError, RecordsmithError, advise
from recordsmith.formats.source import Chunk, Reject
from recordsmith.keyed_random import Uint64s
from recordsmith.making.sources.tfrecord_files import CarriedChunk, IndexedChunk
from recordsmith.query.where import Where
from recordsmith.records.index import FRAMING_BYTES
from recordsmith.schema import Schema
from recordsmith.schema.native import compile_plan

__all__ = ["Frames", "frames_of", "rejected_error"]


@dataclass(slots=True)
class Frames:
    """Some records of one file.

    Attributes:
        path: the file.
        data: the frames, one after the other.
        offsets: where each begins, and last where the last one ends.
        numbers: which records of the file they are.
        rejects: records that could not be read.
        starts: where each begins in the file, if it can be read there again.
    """

    path: str
    data: npt.NDArray[np.uint8]
    offsets: Uint64s
    numbers: Sequence[int]
    rejects: list[Reject] = field(default_factory=list)
    starts: Uint64s | None = None

    @property
    def rows(self) -> int:
        """How many records there are."""
        return len(self.offsets) - 1

    def of(self, row: int) -> str:
        """Say where a row came from, such as "data.tfrecord, record 17"."""
        return f"{self.path}, record {self.numbers[row]}"

    def chosen(self, mask: npt.NDArray[np.bool_]) -> Frames:
        """Return the records for which a mask holds."""
        if mask.all():
            return self
        places = np.flatnonzero(mask)
        sink = _core.RecordSink()
        sink.append_chosen(self.data, self.offsets, places)
        numbers = tuple(self.numbers[place] for place in places.tolist())
        starts = None if self.starts is None else self.starts[places]
        return Frames(self.path, *sink.take(), numbers, self.rejects, starts)

    def decoded(self, schema: Schema) -> dict[str, Any]:
        """Decode some features of all records."""
        return schema.assemble(_core.decode_frames(compile_plan(schema), self.data, self.offsets))

    def fitting(self, schema: Schema) -> tuple[Frames, dict[str, Any]]:
        """Decode some features, and refuse the records that do not have them as the schema says."""
        try:
            return self, self.decoded(schema)
        except RecordsmithError:
            pass
        sound = np.ones(self.rows, np.bool_)
        plan = compile_plan(schema)
        for row in range(self.rows):
            one = np.ascontiguousarray(self.offsets[row : row + 2])
            try:
                schema.assemble(_core.decode_frames(plan, self.data, one))
            except RecordsmithError as error:
                sound[row] = False
                self.rejects.append(reject_of(self.of(row), self.numbers[row], error))
        kept = self.chosen(sound)
        return kept, kept.decoded(schema)

    def meeting(self, condition: Where | None, schema: Schema | None) -> tuple[Frames, int]:
        """Return the records that meet a condition, and how many do not; `schema` has the features that it looks at."""
        if condition is None or schema is None:
            return self, 0
        frames, columns = self.fitting(schema)
        with frames.placed():
            mask = condition.mask(columns, frames.rows)
        return frames.chosen(mask), int(len(mask) - mask.sum())

    @contextlib.contextmanager
    def placed(self) -> Iterator[None]:
        """Say of an error about a row which record of which file it is."""
        try:
            yield
        except RecordsmithError as error:
            if error.row is not None:
                error.path, error.record, error.row = self.path, self.numbers[error.row], None
            raise


def frames_of(chunk: Chunk) -> Frames:
    """Read a chunk of TFRecords; checksums are verified, and damaged records are rejected."""
    if isinstance(chunk, CarriedChunk):
        sink = _core.RecordSink()
        for payload in chunk.payloads:
            sink.append(payload)
        return Frames(chunk.path, *sink.take(), chunk.numbers, list(chunk.rejects))
    if not isinstance(chunk, IndexedChunk):
        raise TypeError(f"not a chunk of TFRecords: {type(chunk).__name__}")
    path = chunk.file.path
    files = chunk.open()
    count = len(chunk.offsets) - 1
    lengths = np.diff(chunk.offsets) - np.uint64(FRAMING_BYTES)
    starts, file_numbers = np.ascontiguousarray(chunk.offsets[:-1]), np.zeros(count, np.uint32)
    in_file = np.arange(chunk.first, chunk.first + count, dtype=np.uint64)
    numbers = range(chunk.first, chunk.first + count)
    try:
        data = files.frames(file_numbers, starts, lengths, in_file, verify=True)
        return Frames(path, data, chunk.offsets - chunk.offsets[0], numbers, starts=starts)
    except ChangedFileError:
        raise  # no matter of some bad records
    except RecordsmithError:
        pass
    sink, kept, rejects = _core.RecordSink(), [], []
    for row, number in enumerate(numbers):
        one = slice(row, row + 1)
        try:
            (payload,) = files.read(file_numbers[one], starts[one], lengths[one], in_file[one], True)
        except RecordsmithError as error:
            rejects.append(reject_of(f"{path}, record {number}", number, error))
            continue
        sink.append(payload)
        kept.append(number)
    return Frames(path, *sink.take(), kept, rejects, starts[np.array(kept, np.int64) - chunk.first])


def reject_of(place: str, number: int, error: RecordsmithError) -> Reject:
    """Describe why a record is rejected."""
    found = "" if error.found is None else f" Found: {error.found}."
    return Reject(place, number, error.feature, f"{error.problem}{found}")


def rejected_error(reject: Reject) -> RecordsmithError:
    """Return the error for a record that cannot be copied, where none may be left out."""
    return RecordsmithError(
        reject.reason,
        path=reject.source,
        feature=reject.feature,
        found=reject.value,
        advice=advise(
            "Leave out damaged records with {on_error}, which counts them, or repair the file with "
            "`recordsmith repair`.",
            on_error="skip",
        ),
    )
