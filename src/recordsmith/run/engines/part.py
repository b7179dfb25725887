"""One job of a job array, which meets the others only in the staging folder.

Where there is a batch system and no cluster of Ray's, the same command runs once for each part:

    recordsmith make SOURCE -o OUT --part 1/8     reads and encodes its share of the source
    ...                                           in any order, at the same time or not, again after a failure
    recordsmith make SOURCE -o OUT --finish       orders, writes, verifies and publishes

Once all parts were read, a part that is run again writes and verifies its share of the shards, and leaves less to do
for --finish. No part waits for another.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from recordsmith.errors import RecordsmithError, advise
from recordsmith.run.engines.chunk_groups import groups_of
from recordsmith.run.engines.engine import NumberedChunk, StagingWork
from recordsmith.wording.numbers import count_text

__all__ = ["DonePart", "Part", "Shares", "parts_text"]

_WORDS = re.compile(r"\s*([0-9]{1,6})\s*/\s*([0-9]{1,6})\s*")


@dataclass(frozen=True)
class Part:
    """One of several equal shares of a run.

    Attributes:
        number: which one, counted from 1.
        count: how many there are.

    >>> Part.parse("3/8")
    Part(number=3, count=8)
    """

    number: int
    count: int

    @classmethod
    def parse(cls, given: Any) -> Part:
        """Read a part, such as "3/8"."""
        found = _WORDS.fullmatch(given) if isinstance(given, str) else None
        part = None if found is None else cls(int(found[1]), int(found[2]))
        if part is None or part.number < 1 or part.count < 1:
            raise RecordsmithError(
                "A part must be a number and a count, such as 3/8.", found=repr(given), expected='a text such as "3/8"'
            )
        if part.number > part.count:
            raise RecordsmithError(
                f"There is no part {part.number} of {part.count}: {part.number} is more than {part.count}.",
                found=repr(given),
                expected=f"a part from 1/{part.count} to {part.count}/{part.count}",
                advice=advise("Give {part} as the number of the part, a slash, and the number of parts.", part=...),
            )
        return part

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    def share(self, items: list[Any]) -> list[Any]:
        """Return which of some items are this part's.

        >>> Part(2, 3).share(["a", "b", "c", "d", "e"])
        ['b', 'e']
        """
        return items[self.number - 1 :: self.count]


@dataclass(frozen=True)
class DonePart:
    """What a part of a run has done.

    Attributes:
        part: which one, such as "3/8".
        rows: the rows that it has read and encoded.
        rejects: how many rows of its share were rejected.
        missing: the parts that have not been read yet, by number.
        shards: how many shards it has written and verified.
        all_shards: how many shards the dataset has; None if not all parts were read.
        is_published: the dataset is finished already, and there was nothing to do.
    """

    part: str
    rows: int = 0
    rejects: int = 0
    missing: tuple[int, ...] = ()
    shards: int = 0
    all_shards: int | None = None
    is_published: bool = False

    def __str__(self) -> str:
        if self.is_published:
            return f"Part {self.part}: the dataset is finished already."
        done = f"Part {self.part} is done: {count_text(self.rows, 'row')} read"
        if self.rejects:
            done += f", {count_text(self.rejects, 'row')} rejected"
        if self.missing:
            return f"{done}. Not done yet: {parts_text(self.missing)} of {self.part.partition('/')[2]}."
        if self.all_shards is None:
            return f"{done}. All parts have been read."
        return f"{done}, {self.shards} of {count_text(self.all_shards, 'shard')} written. All parts have been read."


class Shares:
    """Which chunks of a source are whose.

    Args:
        count: how many parts there are.
        work: says how large the source is.
    """

    def __init__(self, count: int, work: StagingWork) -> None:
        self._count = count
        self._work = work
        self._ends: list[int] = []  # of the groups, which belong to the parts in turn

    def chunks(self, chunks: Iterable[NumberedChunk], part: Part | None) -> Iterator[NumberedChunk]:
        """Give the chunks of one part, or of none, and remember whose the others are."""
        for number, group in enumerate(groups_of(chunks, self._work, workers=self._count)):
            self._ends.append(group[-1].number + 1)
            if part is not None and number % self._count == part.number - 1:
                yield from group

    def missing(self, has: Callable[[int], bool]) -> tuple[int, ...]:
        """Return the parts, by number, that have a chunk of which `has` says that it is not staged."""
        groups = enumerate(pairwise([0, *self._ends]))
        return tuple(sorted({number % self._count + 1 for number, ends in groups if not all(map(has, range(*ends)))}))


def parts_text(numbers: Iterable[int]) -> str:
    """Say which parts are meant.

    >>> parts_text([3]), parts_text([1, 2, 3, 7, 8])
    ('part 3', 'parts 1-3, 7-8')
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1] = [runs[-1][0], number]
        else:
            runs.append([number])
    one = len(runs) == 1 and len(runs[0]) == 1
    return f"part{'' if one else 's'} {', '.join('-'.join(map(str, run)) for run in runs)}"
