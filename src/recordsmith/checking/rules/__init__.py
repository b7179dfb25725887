"""The rules about datasets: F framing, W wire, S schema, V values, D dataset."""

from collections.abc import Iterable
from types import ModuleType

from recordsmith.checking.rules import (
    boxes,
    drift,
    duplicates,
    framing,
    images,
    labels,
    schema,
    shard_sets,
    shard_sizes,
    storage,
    text_indexes,
    texts,
    values,
    wire,
)
from recordsmith.facts.dataset_facts import DatasetFacts
from recordsmith.rules import Rule, RuleSet

__all__ = ["RULES", "look_into_records"]

_FILES_AND_FRAMES = (framing, shard_sets, text_indexes, shard_sizes)
_MODULES = (
    *_FILES_AND_FRAMES,
    wire,
    schema,
    values,
    boxes,
    texts,
    images,
    storage,
    labels,
    duplicates,
    drift,
)


def _rules_of(modules: Iterable[ModuleType]) -> list[Rule[DatasetFacts]]:
    return [one for module in modules for one in vars(module).values() if isinstance(one, Rule)]


RULES: RuleSet[DatasetFacts] = RuleSet(_rules_of(_MODULES))
_ABOUT_RECORDS = {one.code for one in RULES} - {one.code for one in _rules_of(_FILES_AND_FRAMES)}


def look_into_records(rules: Iterable[Rule[DatasetFacts]]) -> bool:
    """Whether some of the rules need more than the files and the frames of the records."""
    return any(one.code in _ABOUT_RECORDS for one in rules)
