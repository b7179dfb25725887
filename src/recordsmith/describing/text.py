"""A data card as Markdown, and as one page of HTML that needs nothing else and runs nothing."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable

from recordsmith.describing.contents import Block, Code, Heading, Table
from recordsmith.wording.markup import Markup, element

__all__ = ["html_page", "markdown_text"]

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~!])")
_STYLE = """
html { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; margin: 1rem 0; display: block; overflow-x: auto }
th, td { border-bottom: 1px solid #8886; padding: .3rem .7rem; text-align: left; vertical-align: top }
td { overflow-wrap: anywhere; min-width: 4rem }
pre { background: #8882; padding: .7rem; overflow-x: auto }
"""


def markdown_text(blocks: Iterable[Block]) -> str:
    """Return a card as Markdown. What comes from data is text in it, whatever characters it has."""
    return "\n\n".join(_markdown(block) for block in blocks) + "\n"


def _markdown(block: Block) -> str:
    if isinstance(block, Heading):
        return f"{'#' * block.level} {_escaped(block.text)}"
    if isinstance(block, Code):
        fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", block.text))])
        return f"{fence}\n{block.text}\n{fence}"
    if isinstance(block, Table):
        lines = [block.columns, ("---",) * len(block.columns), *block.rows]
        plain = ((cell if number == 1 else _escaped(cell) for cell in line) for number, line in enumerate(lines))
        return "\n".join(f"| {' | '.join(line)} |" for line in plain)
    return "\n".join(_escaped(line) for line in block.text.split("\n"))


def _escaped(text: str) -> str:
    r"""Return text with a backslash before everything that Markdown could take for more.

    >>> print(_escaped("a|b <script> _x_"))
    a\|b \<script\> \_x\_
    """
    return _SPECIAL.sub(r"\\\1", text.replace("\n", " ") if "\n" in text else text)


def html_page(blocks: Iterable[Block]) -> str:
    """Return a card as a page of HTML."""
    every = list(blocks)
    title = next((block.text for block in every if isinstance(block, Heading)), "Dataset")
    digest = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element(
            "meta",
            http_equiv="Content-Security-Policy",
            content=f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'",
        ),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", title),
        element("style", Markup(_STYLE)),
    )
    body = element("body", element("main", [_html(block) for block in every]))
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def _html(block: Block) -> Markup:
    if isinstance(block, Heading):
        return element(f"h{block.level}", block.text)
    if isinstance(block, Code):
        return element("pre", block.text)
    if isinstance(block, Table):
        named = any(block.columns)
        heading = element("thead", element("tr", [element("th", name) for name in block.columns])) if named else None
        rows = [element("tr", [element("td", cell) for cell in row]) for row in block.rows]
        return element("table", heading, element("tbody", rows))
    return element("p", block.text)
