"""Labels as a function of the user's gets them: by name, as the source has them, and by number where that is asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from recordsmith.formats.tables.loading import numbers_are_names
from recordsmith.schema import Label, Schema

__all__ = ["ClassName", "named_labels", "with_class_names"]


class ClassName(str):  # noqa: SLOT000 - a number in a slot of a str cannot be
    """The name of a class, of which int() is its number.

    >>> label = ClassName("dog", 1)
    >>> label == "dog", int(label), ["cat", "dog"][label]
    (True, 1, 'dog')
    """

    _number: int

    def __new__(cls, name: str, number: int) -> Self:
        """Make the name of a class that has a number."""
        made = super().__new__(cls, name)
        made._number = number
        return made

    def __int__(self) -> int:
        return self._number

    def __index__(self) -> int:
        return self._number

    def __reduce__(self) -> tuple[Any, ...]:
        return ClassName, (str(self), self._number)


def named_labels(schema: Schema) -> dict[str, Label]:
    """Return the labels of a schema whose classes have names; classes that are numbers stay numbers.

    >>> list(named_labels(Schema({"pet": Label(["cat", "dog"]), "digit": Label(10)})))
    ['pet']
    """
    return {
        name: feature
        for name, feature in schema.items()
        if isinstance(feature, Label) and feature.names != tuple(map(str, range(feature.size)))
    }


def with_class_names(row: dict[str, Any], labels: Mapping[str, Label]) -> dict[str, Any]:
    """Return a row with the names of classes in the place of their numbers.

    >>> with_class_names({"pet": 1, "age": 3}, {"pet": Label(["cat", "dog"])})
    {'pet': 'dog', 'age': 3}
    """
    named = {name: _named(row[name], label) for name, label in labels.items() if name in row}
    return {**row, **named}


def _named(value: Any, label: Label) -> Any:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 0 <= value < label.size:
        return value  # a name already, or nothing
    name = label.names[int(value)]
    # Of "-1" everyone would take int() to be -1.
    return name if numbers_are_names(label) else ClassName(name, int(value))
