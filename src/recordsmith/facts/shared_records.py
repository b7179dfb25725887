"""How many records two sets of files have in common, by their content."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass

from recordsmith import _core
from recordsmith.facts.from_core.schema_mismatches import expectations_of
from recordsmith.facts.from_core.survey_places import FilePlaces
from recordsmith.facts.value_facts import Place
from recordsmith.storage.ranged.opening import file_size
from recordsmith.workers.progress_display import OnPhase
from recordsmith.workers.threads import default_workers

__all__ = ["SharedRecords", "shared_records"]

_UNIT_BYTES = 16 << 20
_DIGESTS_IN_MEMORY = 4 << 20
_SECOND = 1


@dataclass(frozen=True, slots=True)
class SharedRecords:
    """Different contents of records, in two sets of files.

    Records are compared by 64 bits of XXH3 over their payloads, without the features that only say where a record
    comes from.

    Attributes:
        both: how many different records both have.
        only_first, only_second: how many different records only one has.
        repeated_first, repeated_second: how many records repeat an earlier one of the same side.
        examples: some that both have: a place in the first and a place in the second.
    """

    both: int
    only_first: int
    only_second: int
    repeated_first: int = 0
    repeated_second: int = 0
    examples: tuple[tuple[Place, Place], ...] = ()


def shared_records(
    first: Sequence[str], second: Sequence[str], *, left_out: Sequence[str] = (), progress: OnPhase | None = None
) -> SharedRecords:
    """Compare the records of two sets of files in one pass, in bounded memory; damaged records do not count.

    >>> import recordsmith as rs, tempfile
    >>> paths = [tempfile.mkdtemp() + name for name in ("/a.tfrecord", "/b.tfrecord")]
    >>> for path, numbers in zip(paths, ((1, 2, 2, 3), (3, 4))):
    ...     with rs.RecordWriter(path) as writer:
    ...         for number in numbers:
    ...             writer.write_example({"n": number})
    >>> found = shared_records(paths[:1], paths[1:])
    >>> found.both, found.only_first, found.only_second, found.repeated_first
    (1, 2, 1, 1)
    """
    files = [*first, *second]
    in_all = sum(map(file_size, files))
    counted = _core.survey(
        [_core.SurveyFile(file, int(place >= len(first))) for place, file in enumerate(files)],
        expectations_of(None),
        provenance=list(left_out),
        options=_core.SurveyOptions(
            threads=default_workers(),
            records_per_file=None,
            unit_bytes=_UNIT_BYTES,
            digests_in_memory=_DIGESTS_IN_MEMORY,
            temporary_folder=tempfile.gettempdir(),
            frames_only=False,
        ),
        progress=lambda done: None if progress is None else progress("comparing records", min(done, in_all), in_all),
    )
    found = counted.duplicates
    within = [*found.within, 0, 0]
    records = [
        sum(file.records for file in part) for part in (counted.files[: len(first)], counted.files[len(first) :])
    ]
    both = next(iter(found.across.values()), 0)
    places = FilePlaces(files)
    examples = []
    for group in found.groups:
        mine = next((one for one in group.records if one[0] < len(first)), None)
        theirs = next((one for one in group.records if one[0] >= len(first)), None)
        if _SECOND in group.splits and mine is not None and theirs is not None:
            examples.append((places.place_of((*mine, None)), places.place_of((*theirs, None))))
    return SharedRecords(
        both=both,
        only_first=records[0] - within[0] - both,
        only_second=records[1] - within[1] - both,
        repeated_first=within[0],
        repeated_second=within[1],
        examples=tuple(examples),
    )
