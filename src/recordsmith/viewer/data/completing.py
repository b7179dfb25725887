"""What may come next in the filter box: features, classes, functions and words of the `--where` language."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import islice

from recordsmith.query.where_parsing import FUNCTIONS
from recordsmith.viewer.data.examination import Examination
from recordsmith.viewer.data.opened import OpenedDataset

__all__ = ["completions"]

_MOST = 12
_MANY = 1_000  # words that fit
_MOST_WORDS = 2_000_000  # that are looked at
_WORDS = ("and", "or", "not", "in", "not in", "is missing", "is not missing")
_VALUE = re.compile(r"(?:`([^`]*)`|([\w/.\-]+))\s*(?:==|!=|in|not\s+in)\s*[\[(]?(?:\s*'[^']*'\s*,)*\s*'([^']*)$")
_NAME = re.compile(r"(?:`([^`]*)|([\w/.\-]*))$")
_PLAIN = re.compile(r"[^\W\d][\w/.]*")


def completions(text: str, dataset: OpenedDataset, examination: Examination) -> tuple[int, list[tuple[str, str]]]:
    """Return where the unfinished word begins, and what may stand there: (text, what it is)."""
    value = _VALUE.search(text)
    if value is not None:
        name = value[1] if value[1] is not None else value[2]
        begun = value[3]
        found = _near(begun, _values(name, dataset, examination))
        return len(text) - len(begun), [(one + "'", "value") for one in found if "'" not in one]
    word = _NAME.search(text)
    if text.count("'") % 2 or text.count('"') % 2 or word is None:
        return len(text), []
    begun = word[1] if word[1] is not None else word[2]
    start = word.start()
    names = [(_written(name), "feature") for name in _near(begun, (one.name for one in dataset.features))]
    rest = [(f"{one}(", "function") for one in FUNCTIONS] + [(one, "word") for one in _WORDS]
    fitting = [pair for pair in rest if begun and pair[0].startswith(begun)]
    return start, [*names, *fitting][:_MOST]


def _written(name: str) -> str:
    return name if _PLAIN.fullmatch(name) and name not in _WORDS else f"`{name}`"


def _near(begun: str, words: Iterable[str]) -> list[str]:
    """Return words that begin like this, then those that contain it; of very many, the first ones that fit."""
    folded = begun.casefold()
    beginning: list[str] = []
    containing: list[str] = []
    for word in islice(words, _MOST_WORDS):
        known = word.casefold()
        if folded in known and "`" not in word:
            (beginning if known.startswith(folded) else containing).append(word)
            if len(beginning) > _MANY:
                break
    return [*sorted(beginning, key=len), *sorted(containing[:_MANY], key=len)][:_MOST]


def _values(name: str, dataset: OpenedDataset, examination: Examination) -> Sequence[str]:
    names = dataset.class_names(name)
    if names:
        return names
    facts = examination.feature(name)
    known = () if facts is None else facts.categories or facts.frequent
    return [one.value.decode(errors="replace") for one in known if isinstance(one.value, bytes)]
