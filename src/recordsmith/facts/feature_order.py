"""The order in which features are shown, and the parts of features with several parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from recordsmith.facts.dataset_facts import DatasetFacts
from recordsmith.facts.value_facts import FeatureFacts

__all__ = ["features_in_order", "with_parts"]


def features_in_order(facts: DatasetFacts) -> list[FeatureFacts]:
    """Return the features as the schema declares them, then the others by name; each followed by its parts.

    >>> from recordsmith.schema import Scalar, Schema
    >>> features = tuple(FeatureFacts(name, False, 1, 0) for name in ("b", "a", "y", "x"))
    >>> schema = Schema({"x": Scalar("int64"), "y": Scalar("int64")})
    >>> [one.name for one in features_in_order(DatasetFacts((), (), 1, 1, schema=schema, features=features))]
    ['x', 'y', 'a', 'b']
    """
    declared = {name: number for number, name in enumerate(facts.schema or ())}
    known = sorted(facts.features, key=lambda one: (declared.get(one.name, len(declared)), one.name, one.in_steps))
    return [one for feature in known for one in (feature, *feature.parts)]


def with_parts(features: Iterable[FeatureFacts]) -> Iterator[FeatureFacts]:
    """Give features, and those that hold several parts as these parts."""
    for feature in features:
        yield from feature.parts or (feature,)
