"""Tables for notebooks: they have no style sheet of ours, so cells carry their few styles."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from recordsmith.wording.markup import Child, Markup, element

__all__ = ["note", "table"]

_CELL = "text-align:left;vertical-align:top;padding:3px 12px 3px 0;max-width:420px;overflow-wrap:anywhere"


def table(head: Sequence[Child], rows: Iterable[Sequence[Child]]) -> Markup:
    """Return a table. Plain text is data, and cannot become markup.

    >>> table(["n"], [["<b>"]]).partition("<tbody>")[2].count("&lt;b&gt;")
    1
    """
    return element(
        "table",
        element("thead", element("tr", [element("th", word, style=_CELL) for word in head])),
        element("tbody", [element("tr", [element("td", cell, style=_CELL) for cell in row]) for row in rows]),
        style="border-collapse:collapse",
    )


def note(*text: Child) -> Markup:
    """Return a line of small text.

    >>> note("1 < 2")
    '<p style="opacity:.75;margin:4px 0">1 &lt; 2</p>'
    """
    return element("p", *text, style="opacity:.75;margin:4px 0")
