"""Shows a schema in a notebook."""

from __future__ import annotations

from collections.abc import Mapping

from recordsmith.display.tables import table
from recordsmith.wording.markup import Markup, element

__all__ = ["schema_html"]


def schema_html(features: Mapping[str, object], descriptions: Mapping[str, str]) -> Markup:
    """Return a table of features; names and descriptions are data, and cannot become markup.

    >>> schema_html({"<b>": "Text()"}, {}).count("&lt;b&gt;")
    1
    """
    described = any(descriptions.values())
    head = ["feature", "type", *(["description"] if described else [])]
    rows = [
        [name, element("code", str(feature)), *([descriptions.get(name, "")] if described else [])]
        for name, feature in features.items()
    ]
    return table(head, rows)
