"""Reading absent values as absent, also where a schema has a default for them."""

from __future__ import annotations

from collections.abc import Iterable

from recordsmith.schema import Schema

__all__ = ["without_defaults"]


def without_defaults(schema: Schema, names: Iterable[str] | None = None) -> Schema:
    """Return a schema by which records that lack a feature read as lacking it: optional, and without its default.

    >>> from recordsmith.schema import Scalar
    >>> without_defaults(Schema({"x": Scalar("int64", default=3)}))["x"]
    Scalar('int64', optional=True)
    """
    document = schema.to_json()
    for name in schema if names is None else names:
        settings = document["features"][name]
        if settings.pop("default", None) is not None:
            settings["optional"] = True
    return Schema.from_json(document)
