"""Descriptions with something wrong in them, made at random from ones that are right."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

HUGE = "9" * 400
VALUES: list[Any] = [
    *(None, True, False, 0, 1, -1, 2**31, 2**32, 2**63 - 1, 2**63, 2**64, 10**30, -(10**30), 1.5, -0.0, 1e308),
    *("", ".", "..", "../outside", "/tmp/outside", "a/b", "a\\b", "a\0b", "x" * 300, "\x1b]0;T\x07", "\u202e", "é"),
    *("\ud800", "train", "test", "3000000000", "-1", "{SPLIT:>3000000000}", "{SPLIT.__class__}", "{", "{}", HUGE),
    *("recordsmith.json", "int64", "bytes", "label", "tensor", "nan", "n\nn", "int128", "float8", ".hidden", "-rf"),
    *([], {}, [[]], [{}], [None], ["a"], [1, 2], [10**18] * 3, [1] * 100, {"": {}}, {"a": 1}, {"type": "steps"}),
]
DEEP = 5_000


def mutated(document: Any, rng: random.Random) -> str:
    """Return the text of a description with one to three things wrong in it."""
    changed = copy.deepcopy(document)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        changed = _with_one_change(changed, rng)
    text = json.dumps(changed)
    return _spoiled(text, rng) if rng.random() < 0.15 else text


def _with_one_change(document: Any, rng: random.Random) -> Any:
    places = list(_places(document, ()))
    if not places:
        return rng.choice(VALUES)
    holder, key = rng.choice(places)
    kind = rng.randrange(8)
    if kind == 0:
        del holder[key]
    elif kind == 1 and isinstance(holder, dict):
        holder[str(rng.choice([value for value in VALUES if isinstance(value, str)]))] = holder.pop(key)
    elif kind == 2 and isinstance(holder, list):
        holder.extend([copy.deepcopy(holder[key])] * rng.choice([1, 3, 50]))
    elif kind == 3:
        holder[key] = [holder[key]]
    elif kind == 4:
        holder[key] = {"a": holder[key]}
    elif kind == 5:
        other, name = rng.choice(places)
        holder[key] = copy.deepcopy(other[name]) if name in other or isinstance(other, list) else None
    else:
        holder[key] = copy.deepcopy(rng.choice(VALUES))
    return document


def _places(value: Any, above: tuple[Any, ...]) -> Any:
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in entries:
        yield value, key
        yield from _places(inner, (*above, key))


def _spoiled(text: str, rng: random.Random) -> str:
    place = rng.randrange(len(text) + 1)
    return rng.choice(
        [
            text[:place],
            text[:place] + rng.choice('{}[],:"\\0\x00é') + text[place:],
            text.replace(": ", ": NaN, ", 1),
            text.replace("{", '{"a": 1, "a": 2, ', 1),
            text.replace(": {", ': {"name": "x", "name": "y", ', 1),
            text.replace(": ", ": " + "[" * DEEP + "]" * DEEP + ', "more": ', 1),
            text.replace(": ", ": 1e400, ", 1),
            text.replace(": ", f": {HUGE * 20}, ", 1),
            text.replace(": ", ": -Infinity, ", 1),
            text[place:] + text[:place],
            "\ufeff" + text,
            "[" * 100_000,
            "",
        ]
    )
