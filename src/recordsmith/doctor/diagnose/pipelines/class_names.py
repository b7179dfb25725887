"""The names of classes, as datasets of different libraries store them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["class_names_of"]

_DEEPEST = 4


def class_names_of(thing: Any) -> tuple[str, ...]:
    """Return the names of the classes by their numbers; nothing where the object does not know them.

    >>> class Folder:
    ...     class_to_idx = {"dog": 1, "cat": 0}
    >>> class_names_of(Folder())
    ('cat', 'dog')
    """
    for _ in range(_DEEPEST):
        for attribute in ("class_to_idx", "class_indices"):
            numbers = getattr(thing, attribute, None)
            if isinstance(numbers, Mapping) and sorted(map(str, numbers.values())) == sorted(
                map(str, range(len(numbers)))
            ):
                return tuple(str(name) for name in sorted(numbers, key=lambda name: int(numbers[name])))
        for attribute in ("class_names", "classes"):
            names = getattr(thing, attribute, None)
            if isinstance(names, (list, tuple)) and names and all(isinstance(name, str) for name in names):
                return tuple(names)
        thing = getattr(thing, "dataset", None)  # a Subset, or a DataLoader
        if thing is None:
            break
    return ()
