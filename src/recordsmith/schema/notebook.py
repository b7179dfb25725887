"""Shows a schema in a notebook."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

__all__ = ["schema_html"]


def schema_html(features: Mapping[str, object], descriptions: Mapping[str, str]) -> str:
    """Return a table of features; names and descriptions are data, and cannot become markup.

    >>> schema_html({"<b>": "Text()"}, {}).partition("<tbody>")[2]
    '<tr><td>&lt;b&gt;</td><td><code>Text()</code></td></tr></tbody></table>'
    """
    described = any(descriptions.values())
    head = ["feature", "type", *(["description"] if described else [])]
    rows = []
    for name, feature in features.items():
        cells = [escape(name), f"<code>{escape(str(feature))}</code>"]
        cells += [escape(descriptions.get(name, ""))] if described else []
        rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    columns = "".join(f"<th>{word}</th>" for word in head)
    return f"<table><thead><tr>{columns}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
