"""The order in which features are shown."""

from __future__ import annotations

from recordsmith.facts.dataset_facts import DatasetFacts, FeatureFacts

__all__ = ["features_in_order"]


def features_in_order(facts: DatasetFacts) -> list[FeatureFacts]:
    """Return the features as the schema declares them, then the others by name.

    >>> from recordsmith.schema import Scalar, Schema
    >>> features = tuple(FeatureFacts(name, False, 1, 0) for name in ("b", "a", "y", "x"))
    >>> schema = Schema({"x": Scalar("int64"), "y": Scalar("int64")})
    >>> [one.name for one in features_in_order(DatasetFacts((), (), 1, 1, schema=schema, features=features))]
    ['x', 'y', 'a', 'b']
    """
    declared = {name: number for number, name in enumerate(facts.schema or ())}
    return sorted(facts.features, key=lambda one: (declared.get(one.name, len(declared)), one.name, one.in_steps))
