"""HTML built from elements, in which text is always escaped.

A plain `str` is text, and is escaped both as a child and as an attribute. Only `Markup` is inserted as it is. Escaping
therefore cannot be forgotten, which is why there is no template language here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

from recordsmith.wording.visible_text import clipped

__all__ = ["Child", "Markup", "element", "joined", "shown", "with_code"]

_WITHOUT_END = frozenset({"br", "img", "input", "link", "meta"})
_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9-]*")
_LONGEST = 2_000  # characters of one text that come from data


class Markup(str):
    """Text that is already HTML.

    >>> Markup("<b>")
    '<b>'
    """

    __slots__ = ()


Child = str | Markup | None | Iterable["Child"]


def element(tag: str, /, *children: Child, **attributes: str | float | bool | None) -> Markup:
    """Return an element.

    An attribute that is None or False is left out, and one that is True has no value. `class_` means class; in other
    names, an underscore becomes a hyphen: `data_name` is data-name.

    >>> element("a", "1 < 2", class_="x", data_name='"', hidden=True, title=None)
    '<a class="x" data-name="&quot;" hidden>1 &lt; 2</a>'
    >>> element("p", ["a", element("br"), None])
    '<p>a<br></p>'
    """
    parts = [tag]
    for key, value in attributes.items():
        attribute = key.rstrip("_").replace("_", "-")
        if not _NAME.fullmatch(attribute):
            raise ValueError(f"{attribute!r} is not an attribute name.")
        if value is True:
            parts.append(attribute)
        elif value is not None and value is not False:
            parts.append(f'{attribute}="{_attribute(value)}"')
    start = " ".join(parts)
    inner = joined(children)
    if tag in _WITHOUT_END and not inner:
        return Markup(f"<{start}>")
    return Markup(f"<{start}>{inner}</{tag}>")


def _attribute(value: str | float) -> str:
    if isinstance(value, Markup):
        return value
    return escape(shown(value) if isinstance(value, str) else f"{value:g}")


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
    r"""Return text with escapes for invisible characters and those that change the direction of writing.

    Line ends are kept, and long text is cut.

    >>> shown("a\x00\n\u202eb")
    'a\\x00\n\\u202eb'
    """
    lines = text[: _LONGEST + 1].split("\n")
    return "\n".join(clipped(line, _LONGEST) for line in lines) + ("…" if len(text) > _LONGEST else "")


def with_code(text: str) -> Markup:
    """Return a sentence in which the parts between backticks are code.

    >>> with_code("Call `a < b` first.")
    'Call <code>a &lt; b</code> first.'
    """
    parts = text.split("`")
    whole = len(parts) % 2 == 1  # otherwise a backtick has no partner, and all of them are shown as they are
    return joined([element("code", part) if n % 2 else part for n, part in enumerate(parts)] if whole else text)
