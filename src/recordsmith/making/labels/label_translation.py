"""Class numbers of a source in the numbering of another schema: the names decide, never the numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.errors import SchemaError, did_you_mean, list_names
from recordsmith.schema import Label, Schema
from recordsmith.schema.input.conversion import understand_column

__all__ = ["Translations", "label_translations", "translated"]

Translations = Mapping[str, npt.NDArray[np.int64]]
"""By feature: the number in the schema of each number in the source."""


def label_translations(source: Schema, schema: Schema) -> Translations:
    """Return how class numbers of a source become those of a schema, for labels whose names stand in another order.

    >>> source = Schema({"pet": Label(["cat", "dog"])})
    >>> label_translations(source, Schema({"pet": Label(["dog", "cat"])}))["pet"].tolist()
    [1, 0]
    >>> label_translations(source, source)
    {}
    """
    found = {}
    for name, wanted in schema.items():
        given = source.get(name) if name in source else None
        if not isinstance(given, Label) or not isinstance(wanted, Label) or given.names == wanted.names:
            continue
        numbers = {label: number for number, label in enumerate(wanted.names)}
        for label in given.names:
            if label not in numbers:
                raise SchemaError(
                    f"The source has a class {label!r} that the schema does not have."
                    f"{did_you_mean(label, wanted.names)}",
                    feature=name,
                    expected=list_names(wanted.names),
                    advice="Add it to the schema's Label, or leave its rows out of the source.",
                )
        found[name] = np.array([numbers[label] for label in given.names], np.int64)
    return found


def translated(columns: dict[str, Any], translations: Translations) -> dict[str, Any]:
    """Return columns with their class numbers translated; names of classes need no translation.

    >>> translated({"pet": np.array([0, 1, 1])}, {"pet": np.array([1, 0])})["pet"].tolist()
    [1, 0, 0]
    """
    changed = dict(columns)
    for name, table in translations.items():
        if name not in columns:
            continue
        given, present = understand_column(columns[name])
        if isinstance(given, np.ndarray) and given.dtype.kind in "iu" and given.size:
            there = np.ones(len(given), np.bool_) if present is None else present
            inside = there & (given >= 0) & (given < len(table))  # what is outside is refused by the schema
            numbers = np.where(inside, table[np.where(inside, given, 0)], given.astype(np.int64))
            changed[name] = numbers if present is None else np.ma.MaskedArray(numbers, mask=~there)
        elif isinstance(given, list):
            changed[name] = [_one(value, table) for value in given]
    return changed


def _one(value: Any, table: npt.NDArray[np.int64]) -> Any:
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and 0 <= value < len(table):
        return int(table[int(value)])
    return value
