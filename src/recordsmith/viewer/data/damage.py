"""The readable records of a damaged file, before and after what is broken: those that `recordsmith repair` keeps."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

import numpy as np

from recordsmith.errors import RecordsmithError
from recordsmith.repairing.damaged_file import DamagedFile, look_at
from recordsmith.repairing.repair_result import Gap, Loss
from recordsmith.storage.ranged.opening import file_size, is_ranged
from recordsmith.wording.numbers import bytes_text

__all__ = ["Break", "RecoveredFile"]

_LARGEST_FILE = 20 << 30  # bytes; of a larger one, only the records before the damage are shown
_LARGEST_INFLATED = 2 << 30  # bytes on disk that a damaged compressed file may take while the viewer runs

_AFTER = attrgetter("after")


@dataclass(frozen=True, slots=True)
class Break:
    """A place where a file is broken.

    Attributes:
        path: the file.
        where: the bytes that cannot be read, as text.
        reason: what is wrong, as text.
        after: how many readable records of the file are before it.
        lost: how many records were there, if that is known or can be estimated.
    """

    path: str
    where: str
    reason: str
    after: int
    lost: int


class RecoveredFile:
    """What can be read of a damaged file.

    Attributes:
        path: the file.
        records: how many records can be read.
        breaks: where it is broken.
    """

    def __init__(self, path: str, file: DamagedFile, stack: contextlib.ExitStack) -> None:
        self.path = path
        self._file = file
        self._stack = stack
        self._places = np.array(list(file.kept_places()), np.int64).reshape(-1, 3)
        self.records = len(self._places)
        kind = "decompressed bytes" if file.compression else "bytes"
        breaks = [self._joined(list(losses), kind, after) for after, losses in groupby(file.losses(), _AFTER)]
        breaks += [self._joined([gap], "compressed bytes", self._before(gap.inflated_at)) for gap in file.gaps]
        self.breaks = tuple(sorted(breaks, key=_AFTER))

    def _joined(self, parts: Sequence[Loss | Gap], kind: str, after: int) -> Break:
        """Say as one what is wrong between two readable records."""
        begin, end = parts[0].begin, parts[-1].end
        words = list(dict.fromkeys(one.message for one in parts))
        reason = words[0] if len(words) == 1 else f"{words[0]}, and there is more damage after it"
        where = f"{kind} {begin:,} to {end:,} ({bytes_text(end - begin)})"
        return Break(self.path, where, reason, after, sum(one.records for one in parts))

    @classmethod
    def of(cls, path: str) -> RecoveredFile | None:
        """Look for the readable records of a file; None if that takes too much time or space."""
        stack = contextlib.ExitStack()
        try:
            if not is_ranged(path) and file_size(path) <= _LARGEST_FILE:
                return cls(path, stack.enter_context(look_at(path, limit=_LARGEST_INFLATED)), stack)
        except (RecordsmithError, OSError):
            stack.close()  # what is wrong, the indexing has said
        return None

    def close(self) -> None:
        """Remove what was decompressed."""
        self._stack.close()

    def place(self, number: int) -> tuple[int, int]:
        """Return the offset and the size on disk of a record."""
        begin, data_begin, size = map(int, self._places[number])
        return begin, data_begin + size + 4 - begin

    def number_at(self, offset: int) -> int | None:
        """Return the record that begins at an offset."""
        number = self._before(offset)
        return number if number < self.records and self._places[number, 0] == offset else None

    def payload(self, number: int) -> bytes:
        """Read a record."""
        return self._file.payload(*map(int, self._places[number, 1:]))

    def payloads(self) -> Iterator[bytes]:
        """Read all records."""
        for number in range(self.records):
            yield self.payload(number)

    def break_beside(self, number: int) -> tuple[Break | None, Break | None]:
        """Return where the file is broken directly before a record, and directly after it."""
        before = next((one for one in self.breaks if one.after == number), None)
        return before, next((one for one in self.breaks if one.after == number + 1), None)

    def _before(self, offset: int) -> int:
        return int(np.searchsorted(self._places[:, 0], offset))
