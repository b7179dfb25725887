"""Words for places and amounts in findings about datasets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypedDict

from recordsmith.facts.value_facts import Place
from recordsmith.rules import Location
from recordsmith.wording.numbers import number_text

__all__ = ["Located", "amount", "first_detail", "listed", "located", "share"]

_PLACES = 5  # places that a finding lists next to the first


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


def amount(value: float | None) -> str:
    """Show a number in few characters.

    >>> amount(3), amount(0.30000001), amount(None)
    ('3', '0.3', '-')
    """
    return "-" if value is None else number_text(value)


def listed(names: Sequence[str], limit: int = 5) -> str:
    """List names, shortened when there are many.

    >>> listed(["a", "b"]), listed(["a", "b", "c"], 1)
    ("'a' and 'b'", "'a' and 2 more")
    """
    shown = [repr(name) for name in names[:limit]]
    if len(names) > limit:
        return f"{', '.join(shown)} and {len(names) - limit} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


class Located(TypedDict):
    """Where a finding is, as arguments of `Rule.finding`."""

    location: Location
    places: tuple[Location, ...]


def located(places: Iterable[Place], feature: str | None = None, *, split: str | None = None) -> Located:
    """Turn places into the location of a finding and a few more: `rule.finding(message, **located(places))`.

    >>> found = located([Place("a.tfrecord", 7), Place("a.tfrecord", 9)], "label")
    >>> print(found["location"], len(found["places"]))
    a.tfrecord, record 7, feature 'label' 1
    """
    found = [Location(place.path, split, place.record, place.offset, feature) for place in places]
    first = found[0] if found else Location(split=split, feature=feature)
    return {"location": first, "places": tuple(found[1 : 1 + _PLACES])}


def first_detail(places: Iterable[Place]) -> str:
    """Return a sentence with the first detail that is known, to append to a message.

    >>> first_detail([Place("a.tfrecord", 7), Place("a.tfrecord", 9, detail="a GIF")])
    ' The first: a GIF.'
    """
    detail = next((place.detail for place in places if place.detail), "")
    return f" The first: {detail}." if detail else ""
