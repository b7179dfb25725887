"""Shows a schema in a notebook."""

from __future__ import annotations

from collections.abc import Mapping

from recordsmith.wording.markup import Markup, element

__all__ = ["schema_html"]


def schema_html(features: Mapping[str, object], descriptions: Mapping[str, str]) -> Markup:
    """Return a table of features; names and descriptions are data, and cannot become markup.

    >>> schema_html({"<b>": "Text()"}, {}).partition("<tbody>")[2]
    '<tr><td>&lt;b&gt;</td><td><code>Text()</code></td></tr></tbody></table>'
    """
    described = any(descriptions.values())
    head = ["feature", "type", *(["description"] if described else [])]
    rows = [
        [name, element("code", str(feature)), *([descriptions.get(name, "")] if described else [])]
        for name, feature in features.items()
    ]
    return element(
        "table",
        element("thead", element("tr", [element("th", word) for word in head])),
        element("tbody", [element("tr", [element("td", cell) for cell in row]) for row in rows]),
    )
