"""Class weights for imbalanced classes."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TypeVar

__all__ = ["class_weights"]

Class = TypeVar("Class", bound=Hashable)


def class_weights(counts: Mapping[Class, int]) -> dict[Class, float]:
    """Return a weight for each class, as scikit-learn's "balanced" and for Keras' `class_weight=`.

    A class that is half as frequent as the average has twice the weight. Classes without rows have no weight.

    >>> class_weights({"cat": 300, "dog": 100})
    {'cat': 0.6666666666666666, 'dog': 2.0}
    """
    there = {name: int(count) for name, count in counts.items() if count > 0}
    rows = sum(there.values())
    return {name: rows / (len(there) * count) for name, count in there.items()}
