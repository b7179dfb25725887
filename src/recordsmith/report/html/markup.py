"""HTML put together from elements, in which text is always escaped.

A plain `str` is text, and becomes `&lt;` and the like wherever it stands: as a child, or as an attribute. Only `Markup`
passes as it is, and only `element` and the constants of this package make any. A forgotten call of an escaping function
is thereby not a hole but impossible; that is why there is no template language here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

from recordsmith.wording.visible_text import clipped

__all__ = ["Child", "Markup", "element", "joined", "shown", "with_code"]

_WITHOUT_END = frozenset({"br", "img", "meta", "input"})
_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9-]*")
_LONGEST = 2_000  # characters of one text that come from data


class Markup(str):
    """Text that is HTML already.

    >>> Markup("<b>")
    '<b>'
    """

    __slots__ = ()


Child = str | Markup | None | Iterable["Child"]


def element(tag: str, /, *children: Child, **attributes: str | float | bool | None) -> Markup:
    """Return an element.

    An attribute that is None or False is left out, True stands alone; `class_` means class, and a line below in any
    other name is a hyphen.

    >>> element("a", "1 < 2", class_="x", data_name='"', hidden=True, title=None)
    '<a class="x" data-name="&quot;" hidden>1 &lt; 2</a>'
    >>> element("p", ["a", element("br"), None])
    '<p>a<br></p>'
    """
    parts = [tag]
    for key, value in attributes.items():
        attribute = key.rstrip("_").replace("_", "-")
        if not _NAME.fullmatch(attribute):
            raise ValueError(f"{attribute!r} is no attribute.")
        if value is True:
            parts.append(attribute)
        elif value is not None and value is not False:
            parts.append(f'{attribute}="{escape(shown(str(value)) if isinstance(value, str) else f"{value:g}")}"')
    start = " ".join(parts)
    inner = joined(children)
    if tag in _WITHOUT_END and not inner:
        return Markup(f"<{start}>")
    return Markup(f"<{start}>{inner}</{tag}>")


def joined(children: Child) -> Markup:
    """Return several children one after the other.

    >>> joined(["a < b", Markup("<br>")])
    'a &lt; b<br>'
    """
    if children is None:
        return Markup("")
    if isinstance(children, Markup):
        return children
    if isinstance(children, str):
        return Markup(escape(shown(children)))
    return Markup("".join(map(joined, children)))


def shown(text: str) -> str:
    r"""Return text in which everything that does not show, or turns the line around, is an escape; cut if it is long.

    Lines stay lines.

    >>> shown("a\x00\n\u202eb")
    'a\\x00\n\\u202eb'
    """
    lines = text[: _LONGEST + 1].split("\n")
    return "\n".join(clipped(line, _LONGEST) for line in lines) + ("…" if len(text) > _LONGEST else "")


def with_code(text: str) -> Markup:
    """Return a sentence of ours in which what stands between backticks is code.

    >>> with_code("Call `a < b` first.")
    'Call <code>a &lt; b</code> first.'
    """
    parts = text.split("`")
    whole = len(parts) % 2 == 1  # else one of them has no partner, and all stand for themselves
    return joined([element("code", part) if n % 2 else part for n, part in enumerate(parts)] if whole else text)
