"""Converts dates, times and durations of tables to ISO 8601 text, or to integers in a given unit.

timestamp, date     since 1970-01-01T00:00:00 UTC; one without a zone counts as UTC
time                since midnight
duration            its length

No digit is lost: what a unit does not hold is refused, row by row. The same time has the same text from every source
that has a type for times: zeros at the end of a fraction are not written.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from recordsmith.errors import import_extra
from recordsmith.schema import Scalar

__all__ = ["UNITS", "duration_feature", "iso_text", "short_fraction", "time_feature", "time_numbers"]

UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
"""The units of time columns, and how many of them are in a second."""

_WORDS = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
_ISO = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?\s*(Z|[+-]\d\d:?\d\d)?)?", re.IGNORECASE
)
_EPOCH = dt.date(1970, 1, 1).toordinal()

Refuse = Callable[[int, str, Any], None]


def time_feature(kind: Any, unit: str, *, optional: bool) -> Scalar:
    """Return the feature of times or durations as numbers of a unit, which its description names.

    >>> import pyarrow
    >>> time_feature(pyarrow.duration("ms"), "ms", optional=False).description
    'duration in milliseconds'
    """
    types = import_extra("pyarrow", "arrow", purpose="Reading tables").types
    if types.is_duration(kind):
        return duration_feature(unit, optional=optional)
    since = "midnight" if types.is_time(kind) else "1970-01-01T00:00:00 UTC"
    return Scalar("int64", optional=optional, description=f"{_WORDS[unit]} since {since}")


def duration_feature(unit: str, *, optional: bool) -> Scalar:
    """Return the feature of durations as numbers of a unit."""
    return Scalar("int64", optional=optional, description=f"duration in {_WORDS[unit]}")


def iso_text(array: Any) -> Any:
    """Return dates and times as ISO 8601 text, with their zone and all digits that say something.

    The same time has the same text, whatever the unit of its column.

    >>> import pyarrow
    >>> iso_text(pyarrow.array([0, 250]).cast(pyarrow.timestamp("ms", "Europe/Berlin"))).to_pylist()
    ['1970-01-01T01:00:00+01:00', '1970-01-01T01:00:00.25+01:00']
    """
    arrow = import_extra("pyarrow", "arrow", purpose="Reading tables")
    compute = import_extra("pyarrow.compute", "arrow", purpose="Reading tables")
    text = array.cast(arrow.string())
    if not (arrow.types.is_timestamp(array.type) or arrow.types.is_time(array.type)):
        return text
    text = compute.replace_substring_regex(text, r"(:\d\d)\.0+($|[^0-9])", r"\1\2")
    text = compute.replace_substring_regex(text, r"(\.\d*[1-9])0+($|[^0-9])", r"\1\2")
    text = compute.replace_substring(text, " ", "T", max_replacements=1)
    return compute.replace_substring_regex(text, r"([+-]\d\d)(\d\d)$", r"\1:\2")


def short_fraction(text: str) -> str:
    """Return the text of a time without zeros at the end of its seconds.

    >>> short_fraction("2020-09-13T12:26:40.500000"), short_fraction("12:26:40.000"), short_fraction("2020-01-10")
    ('2020-09-13T12:26:40.5', '12:26:40', '2020-01-10')
    """
    head, point, digits = text.rpartition(".")
    return f"{head}.{digits}".rstrip("0").rstrip(".") if point else text


def time_numbers(array: Any, unit: str, refuse: Refuse) -> Any:
    """Return an Arrow column of times, or of ISO texts, as whole numbers of a unit.

    >>> import pyarrow
    >>> time_numbers(pyarrow.array(["1970-01-02", "1970-01-01T01:00:00+01:00"]), "ms", print).to_pylist()
    [86400000, 0]
    """
    arrow = import_extra("pyarrow", "arrow", purpose="Reading tables")
    types, kind = arrow.types, array.type
    there = array.is_valid().to_numpy(zero_copy_only=False)
    if types.is_temporal(kind):
        ticks, seconds = _ticks(array, kind, types)
        numbers = _scaled(ticks, UNITS[unit] * seconds[0], seconds[1])
    else:
        numbers = [_number_of_text(text, UNITS[unit]) if text is not None else None for text in array.to_pylist()]
    for row in np.flatnonzero(there).tolist():
        if numbers[row] is None:
            shown = array[row].as_py() if not types.is_temporal(kind) else str(array[row])
            refuse(row, f"This is not a time that can be stored as an integer number of {_WORDS[unit]}.", shown)
    found = [number if is_there else None for number, is_there in zip(numbers, there.tolist(), strict=True)]
    return arrow.array(found, arrow.int64())


def _ticks(array: Any, kind: Any, types: Any) -> tuple[list[int], tuple[int, int]]:
    """Return the numbers in which times are stored, and how many seconds each stands for, as a fraction."""
    arrow = import_extra("pyarrow", "arrow", purpose="Reading tables")
    if types.is_date32(kind):
        return array.cast(arrow.int32()).fill_null(0).to_pylist(), (86_400, 1)
    width = arrow.int32() if types.is_time32(kind) else arrow.int64()
    per_second = 1000 if types.is_date64(kind) else UNITS[kind.unit]
    return array.cast(width).fill_null(0).to_pylist(), (1, per_second)


def _scaled(ticks: list[int], times: int, divided_by: int) -> list[int | None]:
    found: list[int | None] = []
    for tick in ticks:
        number, rest = divmod(tick * times, divided_by)
        found.append(None if rest or not -(2**63) <= number < 2**63 else number)
    return found


def _number_of_text(text: str, per_second: int) -> int | None:
    match = _ISO.fullmatch(text.strip())
    if match is None:
        return None
    date, hour, minute, second, fraction, zone = match.groups()
    try:
        days = dt.date.fromisoformat(date).toordinal() - _EPOCH
        clock = dt.time(int(hour or 0), int(minute or 0), int(second or 0))
    except ValueError:
        return None
    seconds = days * 86_400 + clock.hour * 3600 + clock.minute * 60 + clock.second
    if zone and zone.upper() != "Z":
        offset = int(zone[1:3]) * 3600 + int(zone[-2:]) * 60
        seconds -= offset if zone[0] == "+" else -offset
    digits = fraction or ""
    ticks, rest = divmod(int(digits or 0) * per_second, 10 ** len(digits)) if len(digits) <= 18 else (0, 1)
    number = seconds * per_second + ticks
    return None if rest or not -(2**63) <= number < 2**63 else number
