"""Reads payloads by number from several files, some of which may be damaged."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from recordsmith import _core
from recordsmith.dataset.layout import DatasetLayout
from recordsmith.dataset.stored import StoredDataset
from recordsmith.errors import RecordsmithError
from recordsmith.records.index import load_index
from recordsmith.records.reader import RecordReader
from recordsmith.storage.ranged.opening import file_size, is_ranged

__all__ = ["DatasetPayloads", "FileOverview", "StoredPayload", "refuse_pipe", "survey_files"]


@dataclass(frozen=True, slots=True)
class FileOverview:
    """One file of a dataset.

    Attributes:
        path: the file.
        bytes: its size on disk.
        compression: None, "gzip" or "zlib".
        records: how many records it has, up to the damage if it is damaged.
        damaged: it cannot be read to its end.
    """

    path: str
    bytes: int
    compression: str | None
    records: int
    damaged: bool = False


@dataclass(frozen=True, slots=True)
class StoredPayload:
    """One record's payload, and where it comes from.

    Attributes:
        number: the record's number in the dataset.
        path: its file.
        number_in_file: its number there.
        payload: its bytes.
    """

    number: int
    path: str
    number_in_file: int
    payload: bytes


def refuse_pipe(path: str) -> None:
    """Refuse what can be read only once: looking at records by number reads more than once."""
    if not is_ranged(path) and not stat.S_ISREG(os.stat(path).st_mode):
        raise RecordsmithError(
            "A dataset cannot be opened from a pipe or a device, which can be read only once.",
            path=path,
            expected="a file",
            advice="Save the data to a file first, or read it with RecordReader.",
        )


def survey_files(
    layout: DatasetLayout, problems: list[RecordsmithError], on_file: Callable[[int], object]
) -> list[FileOverview]:
    """Index every file; what is wrong with one is added to `problems`, and its records before that count."""
    files = []
    for path in layout.files:
        refuse_pipe(path)
        size = file_size(path)
        try:
            index = load_index(path)
        except RecordsmithError as error:
            problems.append(error)
            found = _core.detect_compression(path)
            files.append(FileOverview(path, size, _name_of(found), error.record or 0, damaged=True))
        else:
            files.append(FileOverview(path, size, _name_of(index.compression), index.records))
        on_file(size)
    return files


class DatasetPayloads:
    """Reads payloads by number; errors go to `problems` and their records are left out."""

    def __init__(self, files: Sequence[FileOverview], problems: list[RecordsmithError]) -> None:
        self._files = files
        self._problems = problems
        self._starts = np.cumsum([0, *(file.records for file in files)])

    @property
    def files(self) -> Sequence[FileOverview]:
        """The files, in reading order."""
        return self._files

    @property
    def records(self) -> int:
        """How many records can be read."""
        return int(self._starts[-1])

    def sample(self, *, records: int, bytes_in_all: int) -> list[StoredPayload]:
        """Return some records: spread evenly, or the first ones where files can only be read from their start."""
        if any(file.compression for file in self._files):
            return self._first(records, bytes_in_all)
        size = sum(file.bytes for file in self._files)
        fitting = bytes_in_all * self.records // max(1, size)
        wanted = min(self.records, records, max(1, fitting))
        return self.read(
            np.unique(np.linspace(0, self.records - 1, wanted).astype(np.int64)).tolist() if wanted else []
        )

    def read(self, numbers: Iterable[int]) -> list[StoredPayload]:
        """Return the records with these numbers, in this order."""
        asked: dict[int, list[int]] = {}
        order = list(numbers)
        for number in order:
            asked.setdefault(int(np.searchsorted(self._starts, number, side="right")) - 1, []).append(number)
        found: dict[int, StoredPayload] = {}
        for position, wanted in asked.items():
            start = int(self._starts[position])
            for number, payload in self._from_file(self._files[position], [number - start for number in wanted]):
                found[start + number] = StoredPayload(start + number, self._files[position].path, number, payload)
        return [found[number] for number in order if number in found]

    def _from_file(self, file: FileOverview, numbers: list[int]) -> list[tuple[int, bytes]]:
        if file.damaged or file.compression:
            return self._in_order(file, set(numbers))
        dataset = StoredDataset(DatasetLayout((file.path,)))
        try:
            return list(zip(numbers, dataset.raw(numbers), strict=True))
        except (RecordsmithError, IndexError):  # an IndexError if the file has become shorter meanwhile
            return [found for number in numbers for found in self._single(dataset, number)]

    def _single(self, dataset: StoredDataset, number: int) -> list[tuple[int, bytes]]:
        try:
            return [(number, dataset.raw(number))]
        except RecordsmithError as error:
            self._problems.append(error)
        except IndexError as error:
            self._problems.append(
                RecordsmithError("The file changed while it was being read.", path=dataset.files[0], found=str(error))
            )
        return []

    def _in_order(self, file: FileOverview, numbers: set[int]) -> list[tuple[int, bytes]]:
        found = []
        try:
            with RecordReader(file.path) as reader:
                for number, payload in enumerate(islice(reader, max(numbers) + 1)):
                    if number in numbers:
                        found.append((number, payload))
        except RecordsmithError as error:
            self._problems.append(error)
        return found

    def _first(self, records: int, bytes_in_all: int) -> list[StoredPayload]:
        found: list[StoredPayload] = []
        for position, file in enumerate(self._files):
            try:
                with RecordReader(file.path) as reader:
                    for number, payload in enumerate(islice(reader, file.records)):
                        if len(found) == records or bytes_in_all <= 0:
                            return found
                        bytes_in_all -= len(payload)
                        found.append(StoredPayload(int(self._starts[position]) + number, file.path, number, payload))
            except RecordsmithError as error:
                self._problems.append(error)
        return found


def _name_of(compression: str) -> str | None:
    return None if compression == "none" else compression
