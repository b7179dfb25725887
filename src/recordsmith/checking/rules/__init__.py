"""The rules about datasets: F framing, W wire, S schema, V values, D dataset."""

from recordsmith.checking.rules import (
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
from recordsmith.findings import Rule, RuleSet
from recordsmith.findings.running import rule_failed

__all__ = ["RULES"]

_MODULES = (
    framing,
    shard_sets,
    text_indexes,
    wire,
    schema,
    values,
    texts,
    images,
    storage,
    labels,
    duplicates,
    shard_sizes,
    drift,
)

RULES: RuleSet[DatasetFacts] = RuleSet(
    [*(one for module in _MODULES for one in vars(module).values() if isinstance(one, Rule)), rule_failed]
)
