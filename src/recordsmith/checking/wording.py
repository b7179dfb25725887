"""How findings about datasets put places and amounts into words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from recordsmith.facts.dataset_facts import Place
from recordsmith.findings import Location

__all__ = ["amount", "counted", "listed", "locate", "share", "size"]

_PLACES = 5  # places that a finding lists beside the first
_UNITS = ("KB", "MB", "GB", "TB", "PB")


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """Count things.

    >>> counted(1, "record"), counted(12345, "class", "classes")
    ('1 record', '12,345 classes')
    """
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def share(part: int, whole: int) -> str:
    """Say how much of the whole a part is, never rounding to nothing or to everything.

    >>> share(1, 3), share(1, 100_000), share(99_999, 100_000)
    ('33 %', '0.001 %', '99.999 %')
    """
    percent = 100 * part / whole if whole else 0.0
    for digits in range(4):
        if not 0 < part < whole or 10**-digits <= percent <= 100 - 10**-digits:
            return f"{percent:.{digits}f} %"
    return "less than 0.001 %" if percent < 50 else "more than 99.999 %"


def size(count: float) -> str:
    """Tell a size in units of a thousand.

    >>> size(12), size(80_213), size(3_000_000)
    ('12 bytes', '80.2 KB', '3 MB')
    """
    if count < 1000:
        return counted(int(count), "byte")
    power = min(len(_UNITS), int(math.log10(count) // 3))
    return f"{count / 1000**power:.3g} {_UNITS[power - 1]}"


def amount(value: float | None) -> str:
    """Show a number in few characters.

    >>> amount(3), amount(0.30000001), amount(1234567.0), amount(None)
    ('3', '0.3', '1.235e+06', '-')
    """
    if value is None:
        return "-"
    return str(value) if isinstance(value, int) else f"{value:.4g}"


def listed(names: Sequence[str], limit: int = 5) -> str:
    """List names, shortened when there are many.

    >>> listed(["a", "b"]), listed(["a", "b", "c"], 1)
    ("'a' and 'b'", "'a' and 2 more")
    """
    shown = [repr(name) for name in names[:limit]]
    if len(names) > limit:
        return f"{', '.join(shown)} and {len(names) - limit} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def locate(
    places: Iterable[Place], feature: str | None = None, *, split: str | None = None
) -> tuple[Location, tuple[Location, ...]]:
    """Turn places into the location of a finding and a few more.

    >>> first, more = locate([Place("a.tfrecord", 7), Place("a.tfrecord", 9)], "label")
    >>> print(first)
    a.tfrecord, record 7, feature 'label'
    >>> len(more)
    1
    """
    found = [Location(place.path, record=place.record, offset=place.offset, feature=feature) for place in places]
    if not found:
        return Location(split=split, feature=feature), ()
    return found[0], tuple(found[1 : 1 + _PLACES])
