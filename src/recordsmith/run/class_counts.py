"""How many records of each class there are in a split."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from recordsmith.run.staging import Staging
from recordsmith.schema import Feature, Label

__all__ = ["class_names", "count_classes"]


def class_names(values: list[Any], feature: Feature) -> list[str]:
    """Return the names of classes; a value that is not a class of the feature is its own name.

    >>> class_names([1, 7], Label(["cat", "dog"]))
    ['dog', '7']
    """
    known = feature.names if isinstance(feature, Label) else ()
    return [known[value] if known and 0 <= value < len(known) else str(value) for value in values]


def count_classes(staging: Staging, feature: Feature, chosen: Callable[[int, int], Any]) -> dict[str, int]:
    """Count the classes of the rows that are written, by name; a row that is written twice counts twice.

    Args:
        staging: the staged rows.
        feature: the label.
        chosen: how often each of the rows from one number up to another is written.
    """
    names = class_names(staging.classes, feature)
    counts = np.zeros(len(names) + 1, np.int64)
    first = 0
    for keys in staging.key_blocks():
        copies = chosen(first, first + len(keys))
        counts += np.bincount(keys["class"] + 1, weights=copies, minlength=len(counts)).astype(np.int64)
        first += len(keys)
    by_name = dict.fromkeys(feature.names if isinstance(feature, Label) else sorted(names), 0)
    for name, count in zip(names, counts[1:].tolist(), strict=True):
        by_name[name] = by_name.get(name, 0) + count
    return by_name
