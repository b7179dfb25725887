"""Names of classes that differ in white space alone: found before anything is read, with rows that have them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from recordsmith.errors import SchemaError, advise, list_names
from recordsmith.formats.source import Source
from recordsmith.schema import Label, Schema
from recordsmith.schema.input.conversion import understand_column

__all__ = ["check_label_names"]

_SHOWN_ROWS = 3


def check_label_names(source: Source, schema: Schema) -> list[str]:
    """Refuse classes that differ in white space alone, and return what to say about other names with white space.

    Args:
        source: where the rows come from, to find those that have such a name.
        schema: what was inferred from them.
    """
    remarks = []
    for name, feature in schema.items():
        if not isinstance(feature, Label):
            continue
        odd = [label for label in feature.names if label != label.strip()]
        twins = [label for label in odd if sum(other.strip() == label.strip() for other in feature.names) > 1]
        if twins:
            label = twins[0]
            places = ", ".join(_places(source, name, feature, label)) or "what the map function returns"
            same = [other for other in feature.names if other.strip() == label.strip()]
            raise SchemaError(
                f"Some class names differ only in white space: {list_names(same)}.",
                feature=name,
                found=f"{label!r} in {places}",
                advice=advise(
                    "Correct these rows, or remove the white space around all class names with {strip}.",
                    strip=True,
                ),
            )
        if odd:
            remarks.append(f"Some class names of {name!r} begin or end with white space: {list_names(odd)}.")
    return remarks


def _places(source: Source, name: str, feature: Label, label: str) -> list[str]:
    """Say where the first rows of a class are."""
    found: list[str] = []
    for place in _rows_of(source, name, feature, label):
        found.append(place)
        if len(found) == _SHOWN_ROWS:
            break
    return found


def _rows_of(source: Source, name: str, feature: Label, label: str) -> Iterator[str]:
    number = feature.names.index(label)
    for chunk in source.chunks():
        loaded = chunk.load()
        if name not in loaded.columns:  # a function of the user's makes it
            return
        given, present = understand_column(loaded.columns[name])
        values: Any = given.tolist() if isinstance(given, np.ndarray) else list(given)
        for row, value in enumerate(values):
            if value in (number, label) and (present is None or present[row]):
                yield loaded.places.of(row)
