"""Marks features as required if every record has them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recordsmith.schema.schema import Schema

__all__ = ["with_required"]


def with_required(schema: Schema, names: Iterable[str]) -> Schema:
    """Return a schema in which some features are required; those that have a default keep it.

    >>> from recordsmith.schema import Label, Schema
    >>> with_required(Schema({"label": Label(["cat", "dog"], optional=True)}), ["label"])["label"]
    Label(['cat', 'dog'])
    """
    document = schema.to_json()
    for name in names:
        document["features"][name].pop("optional", None)
    return type(schema).from_json(document)
