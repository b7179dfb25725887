"""The order in which classes are listed."""

from __future__ import annotations

from recordsmith.facts.dataset_facts import LabelFacts

__all__ = ["classes_in_order"]


def classes_in_order(label: LabelFacts) -> list[str]:
    """Return the classes as they are declared, by number where they are numbers, else by name.

    >>> classes_in_order(LabelFacts("label", False, (), {"": {"10": 3, "9": 4}}))
    ['9', '10']
    >>> classes_in_order(LabelFacts("label", True, ("dog", "cat"), {"": {"cat": 3}}))
    ['dog', 'cat']
    """
    classes = list(label.classes)
    if label.names:
        return classes
    try:
        return sorted(classes, key=float)
    except ValueError:
        return sorted(classes)
