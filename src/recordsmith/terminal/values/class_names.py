"""Classes by number and name."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.text import Text

from recordsmith.schema import Feature, Label, Steps
from recordsmith.wording.visible_text import quoted

__all__ = ["class_name", "named_class"]


def class_name(value: Any, feature: Feature | None) -> str | None:
    """Return the name of a class; None if the feature is not a label, or has no such class.

    >>> class_name(np.int64(1), Label(["cat", "dog"])), class_name(7, Label(["cat", "dog"])), class_name(1, None)
    ('dog', None, None)
    """
    inner = feature.feature if isinstance(feature, Steps) else feature
    if isinstance(inner, Label) and isinstance(value, (int, np.integer)) and 0 <= value < inner.size:
        return inner.label_of(int(value))
    return None


def named_class(value: Any, feature: Feature | None, width: int = 40) -> Text | None:
    """Show a class with its name; None where there is no name besides the number.

    >>> named_class(np.int64(1), Label(["cat", "dog"])).plain
    '1 "dog"'
    """
    name = class_name(value, feature)
    if name is None or name == str(value):
        return None
    return Text().append(f"{value} ", "cyan").append(quoted(name, width), "green")
