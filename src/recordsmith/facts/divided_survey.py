"""A survey by several machines, which see the files under the same paths; the facts are those of one machine.

    this process     plans the units of the files (16 MB of a plain file, or a whole compressed one)
    other machines   survey some units each, and send what they counted: up to about 50 bytes for each record
    this process     merges that in the order of the files, as it does with its own threads

What order matters for (sketches, first places, runs of labels) depends on the units and their order, and not on who
surveys them. A unit whose file a machine does not see as this process does is surveyed here.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from recordsmith import _core
from recordsmith.facts.from_core.schema_mismatches import expectations_of
from recordsmith.schema import Schema

__all__ = ["Machines", "SurveyWay", "divided_survey"]

T = TypeVar("T")
R = TypeVar("R")

_UNIT_BYTES = 16 << 20  # what one thread takes at a time of a plain file
_DIGESTS_IN_MEMORY = 4 << 20
_MOST_BYTES = 64 << 20  # of the files, that a machine takes at a time
_MOST_TASKS = 64  # of a small dataset


class Machines(Protocol):
    """Other machines that do work: an engine of `recordsmith.run`."""

    def begin(self, plan: str, source: Sequence[str]) -> None:
        """Take what they must see."""

    def in_order(self, work: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """Do the same work on several items, and give the results in the order of the items."""


@dataclass(frozen=True)
class SurveyWay:
    """How records are surveyed.

    Attributes:
        schema: what the records should hold.
        provenance: the features that only say where a record comes from.
        records: look at no more than so many records of each file; None: at all.
        frames_only: look at files, frames and checksums alone.
    """

    schema: Schema | None
    provenance: list[str]
    records: int | None
    frames_only: bool

    def options(self, *, threads: int) -> _core.SurveyOptions:
        """Return the options of the core."""
        return _core.SurveyOptions(
            threads=threads,
            records_per_file=self.records,
            unit_bytes=_UNIT_BYTES,
            digests_in_memory=_DIGESTS_IN_MEMORY,
            temporary_folder=tempfile.gettempdir(),
            frames_only=self.frames_only,
        )

    def __call__(self, units: Sequence[bytes]) -> list[bytes]:
        """Survey some units that another machine has planned, and return what was counted in each."""
        expected, options = expectations_of(self.schema), self.options(threads=1)
        return [_core.survey_unit(unit, expected, provenance=self.provenance, options=options) for unit in units]


def divided_survey(
    files: Sequence[tuple[str, int]], way: SurveyWay, machines: Machines, progress: Callable[[int], object]
) -> _core.SurveySummary:
    """Survey files, each with the number of its split; `progress` gets the bytes done."""
    survey = _core.DividedSurvey(
        [_core.SurveyFile(file, split) for file, split in files],
        expectations_of(way.schema),
        provenance=way.provenance,
        options=way.options(threads=1),
    )
    units = survey.plan()
    groups = list(_groups(units))
    done = 0
    for group, counted in zip(
        groups, machines.in_order(way, ([unit.packed for unit in group] for group in groups)), strict=True
    ):
        for tallies in counted:
            survey.add(tallies)
        done += sum(unit.size for unit in group)
        progress(done)
    return survey.finish()


def _groups(units: Sequence[_core.SurveyUnit]) -> Iterator[list[_core.SurveyUnit]]:
    """Cut the units into groups of consecutive ones, each of which is one task."""
    most = min(_MOST_BYTES, sum(unit.size for unit in units) // _MOST_TASKS)
    group: list[_core.SurveyUnit] = []
    held = 0
    for unit in units:
        group.append(unit)
        held += unit.size
        if held >= most:
            yield group
            group, held = [], 0
    if group:
        yield group
