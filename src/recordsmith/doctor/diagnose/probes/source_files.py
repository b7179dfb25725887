"""The files that a pipeline reads: looked at with recordsmith's own reader, where what arrives is wrong."""

from __future__ import annotations

from recordsmith.dataset.inference import take_census
from recordsmith.doctor.diagnose.observing.observations import SourceFacts
from recordsmith.errors import RecordsmithError
from recordsmith.records.file_signatures import describe_content
from recordsmith.records.reader import RecordReader

__all__ = ["look_at_files"]

_MOST_FILES = 16
_RECORDS = 200
_MOST_BYTES = 1 << 30  # read to look for damage, of all files together


def look_at_files(files: tuple[str, ...], expected_compression: str | None) -> SourceFacts | None:
    """Return what is wrong with the first file that has something wrong; else what the first file is.

    >>> look_at_files((), None) is None
    True
    """
    first: SourceFacts | None = None
    left = _MOST_BYTES
    for path in files[:_MOST_FILES]:
        facts, left = _look(path, len(files), expected_compression, left)
        first = facts if first is None else first
        differs = expected_compression is not None and facts.compression != expected_compression
        if facts.damage or facts.looks_like or differs:
            return facts
    return first


def _look(path: str, files: int, expected: str | None, left: int) -> tuple[SourceFacts, int]:
    content = describe_content(path)
    compression = content.compression or "none"
    damage = ""
    try:
        for record in RecordReader(path):
            left -= len(record)
            if left < 0:
                break
    except (RecordsmithError, OSError) as error:
        damage = str(error).splitlines()[0]
        where = getattr(error, "offset", None)
        damage += f" It is at byte {where:,}." if isinstance(where, int) else ""
    try:
        census = take_census([path], records_per_file=_RECORDS, stop_at_damage=True)
    except (RecordsmithError, OSError):
        return SourceFacts(path, files, compression, expected, damage, content.looks_like), left
    looks_like = content.looks_like if damage and not census.records and not content.compression else ""
    names = tuple(one.key for one in census.features if one.in_steps)
    return SourceFacts(path, files, compression, expected, damage, looks_like, census.payload, names), left
