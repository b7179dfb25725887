"""Records chosen by their numbers: those of `rs.open(paths)`, counted from 0 over all files in their order.

The viewer writes such numbers to a file, one a line.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.copying.frames import Frames, frames_of
from recordsmith.dataset import DatasetLayout
from recordsmith.dataset.stored import StoredDataset
from recordsmith.errors import RecordsmithError
from recordsmith.formats.source import Chunk
from recordsmith.making.sources.tfrecord_files import IndexedChunk

__all__ = ["ChosenRecords", "Numbers", "choose_records"]

Int64s = npt.NDArray[np.int64]
Numbers = str | os.PathLike[str] | Iterable[int] | npt.NDArray[np.integer[Any]]

_BLOCK = 1 << 20  # bytes of a file of numbers that are read at once
_LINES = re.compile(rb"(?:[0-9]{0,18}\r?\n)*")
_LONGEST = 40  # bytes of a line


@dataclass(frozen=True)
class ChosenRecords:
    """Which records of some files are copied.

    Attributes:
        numbers: their numbers over all files, ascending, each once.
        starts: the number of the first record of each file.
    """

    numbers: Int64s
    starts: dict[str, int]

    def describe(self) -> dict[str, Any]:
        """Return what says whether another choice is the same one, JSON-ready."""
        return {"count": len(self.numbers), "sha256": hashlib.sha256(self.numbers.tobytes()).hexdigest()}

    def frames_of(self, chunk: Chunk) -> tuple[Frames, int]:
        """Read the chosen records of a chunk, and count the others; a chunk without chosen ones is not read."""
        if isinstance(chunk, IndexedChunk):
            path, count = chunk.file.path, len(chunk.offsets) - 1
            if not self._among(path, range(chunk.first, chunk.first + count)).any():
                empty = np.zeros(1, np.uint64)
                return Frames(path, np.empty(0, np.uint8), empty, (), starts=empty[:0]), count
        frames = frames_of(chunk)
        mask = self._among(frames.path, frames.numbers)
        refused = [one for one in frames.rejects if one.row is None]
        numbered = [one for one in frames.rejects if one.row is not None]
        wanted = self._among(frames.path, [one.row for one in numbered if one.row is not None])
        rejects = [*refused, *(one for one, kept in zip(numbered, wanted.tolist(), strict=True) if kept)]
        others = int((~mask).sum()) + len(frames.rejects) - len(rejects)
        return replace(frames.chosen(mask), rejects=rejects), others

    def _among(self, path: str, in_file: Sequence[int]) -> npt.NDArray[np.bool_]:
        wanted = np.asarray(in_file, np.int64) + self.starts[path]
        places = np.minimum(np.searchsorted(self.numbers, wanted), len(self.numbers) - 1)
        return np.asarray(self.numbers[places] == wanted)


def choose_records(given: Numbers, files: Sequence[str]) -> ChosenRecords:
    """Return the records that some numbers stand for.

    Args:
        given: the numbers, or a file that has one a line.
        files: the files, whose records are counted one after the other. None may be damaged.
    """
    path = os.fsdecode(given) if isinstance(given, (str, os.PathLike)) else None
    numbers = np.unique(_given(given) if path is None else _read(path))
    if not len(numbers):
        raise RecordsmithError("The list of record numbers is empty.", path=path)
    indexes = StoredDataset(DatasetLayout(tuple(files))).places().indexes
    starts = np.cumsum([0, *(index.records for index in indexes)])
    if numbers[0] < 0 or numbers[-1] >= starts[-1]:
        wrong = numbers[0] if numbers[0] < 0 else numbers[-1]
        raise RecordsmithError(
            f"There is no record {wrong:,}.",
            path=path,
            expected=f"numbers from 0 to {starts[-1] - 1:,}",
            advice="Give the paths and the split that the numbers were made for.",
        )
    return ChosenRecords(numbers, dict(zip(files, starts.tolist(), strict=False)))


def _given(numbers: Any) -> Int64s:
    array = np.asarray(numbers if isinstance(numbers, np.ndarray) else list(numbers))
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise RecordsmithError(
            "records must be record numbers, or the path of a file with one number per line.",
            found=f"values of type {array.dtype}" if array.ndim == 1 else f"an array of shape {array.shape}",
        )
    return array.astype(np.int64)


def _read(path: str) -> Int64s:
    """Read a file with one number per line."""
    parts = [np.empty(0, np.int64)]
    line, rest = 1, b""
    with open(path, "rb") as file:
        while block := file.read(_BLOCK):
            text = rest + block
            end = text.rfind(b"\n") + 1
            parts.append(_numbers(text[:end], path, line))
            line += text.count(b"\n")
            rest = text[end:]
            if len(rest) > _LONGEST:
                break
    parts.append(_numbers(rest + b"\n", path, line))
    return np.concatenate(parts)


def _numbers(lines: bytes, path: str, first: int) -> Int64s:
    if _LINES.fullmatch(lines) is None:
        number, text = next(
            (first + number, one)
            for number, one in enumerate(lines.split(b"\n"))
            if _LINES.fullmatch(one + b"\n") is None
        )
        raise RecordsmithError(
            f"Line {number:,} is not a record number.",
            path=path,
            found=repr(text[:40].decode(errors="backslashreplace")),
            expected="one number per line, such as 17",
        )
    return np.array(lines.split(), np.bytes_).astype(np.int64)
