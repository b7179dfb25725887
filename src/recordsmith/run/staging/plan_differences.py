"""What differs between the plan of an unfinished run and the one that is to continue it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from recordsmith.errors import RecordsmithError

__all__ = ["check_plan", "differences"]

_SHOWN = 6
_LONGEST = 80


def differences(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Say which entries of two plans differ.

    >>> differences({"options": {"seed": 1, "name": "a"}}, {"options": {"seed": 2, "name": "a"}})
    ['options.seed was 1 and is 2']
    """
    found = list(_differences(old, json.loads(json.dumps(new)), ""))
    return found if len(found) <= _SHOWN else [*found[:_SHOWN], "and more"]


def check_plan(found: dict[str, Any], plan: dict[str, Any], place: str, advice: str) -> None:
    """Raise unless an unfinished run was begun with the same plan."""
    changed = differences(found, plan)
    if changed:
        raise RecordsmithError(
            "The unfinished run was started with other options.",
            path=place,
            found="; ".join(changed),
            advice=advice,
        )


def _differences(old: dict[str, Any], new: dict[str, Any], at: str) -> Iterator[str]:
    for name in [*old, *(name for name in new if name not in old)]:
        before, after = old.get(name), new.get(name)
        if isinstance(before, dict) and isinstance(after, dict):
            yield from _differences(before, after, f"{at}{name}.")
        elif before != after:
            yield f"{at}{name} was {_short(before)} and is {_short(after)}"


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "..."
