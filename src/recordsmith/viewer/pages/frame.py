"""The frame around all pages of the viewer: the head with its links, the help, and a page with one message."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol
from urllib.parse import urlencode

from recordsmith.viewer.data.examination import Examination
from recordsmith.viewer.data.likeness import Likeness
from recordsmith.viewer.data.opened import OpenedDataset
from recordsmith.viewer.data.program import ProgramReport
from recordsmith.viewer.pages.values import ValueRenderer, address
from recordsmith.wording.markup import Child, Markup, element
from recordsmith.wording.visible_text import clipped

__all__ = ["Viewed", "message_page", "whole_page"]

_HELP = (
    ("/", "write a filter"),
    ("s", "search in text"),
    ("g", "go to a record"),
    ("arrows", "move between records"),
    ("Enter", "open the record"),
    ("← →", "previous and next record, on the page of a record"),
    ("u", "from a record back to the grid"),
    ("f", "show or hide the features"),
    ("?", "this list"),
)


class Viewed(Protocol):
    """One of the datasets that the viewer has open."""

    @property
    def number(self) -> int:
        """Its number on the server."""

    @property
    def base(self) -> str:
        """Where its pages are."""

    @property
    def dataset(self) -> OpenedDataset:
        """Its records."""

    @property
    def examination(self) -> Examination:
        """What is known about it."""

    @property
    def program(self) -> ProgramReport | None:
        """The program that is shown next to it."""

    @property
    def renderer(self) -> ValueRenderer:
        """Renders its values."""

    @property
    def likeness(self) -> Likeness:
        """Its near-duplicates."""

    @property
    def has_batches(self) -> bool:
        """Whether a chain over it is shown too."""


def whole_page(
    title: str, *content: Child, viewed: Viewed | None, every: Sequence[Viewed], here: str = "", **attributes: Any
) -> str:
    """Return a page with the head that all have."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", f"{clipped(title, 100)} · Recordsmith"),
        [
            element("link", rel="stylesheet", href=f"/static/{name}")
            for name in ("theme.css", "report.css", "viewer.css")
        ],
        element("link", rel="icon", href="/static/icon.png", type="image/png"),
        element("script", src="/static/viewer.js", type="module"),
    )
    body = element("body", _top(viewed, every, here), content, _help(), **attributes)
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def _top(viewed: Viewed | None, every: Sequence[Viewed], here: str) -> Markup:
    links = []
    if viewed is not None:
        report = viewed.examination.report
        count = None if report is None else f" {len(report.findings):,}"
        pages = [
            ("records", "Records", viewed.base + "/", None),
            ("findings", "Findings", viewed.base + "/findings", count),
            ("facts", "Overview", viewed.base + "/facts", None),
        ]
        if viewed.program is not None:
            program = viewed.program.report
            found = None if program is None else f" {len(program.findings):,}"
            pages.append(("program", "Program", viewed.base + "/program", found))
        if viewed.has_batches:
            pages.insert(0, ("batches", "Batches", "/batches", None))
        splits = [] if viewed.dataset.split else list(viewed.dataset.layout.splits)
        if len(every) > 1 or len(splits) > 1:
            sides = ("0", "1") if len(every) > 1 else tuple(f"0:{split}" for split in splits[:2])
            pages.append(("compare", "Compare", "/compare?" + urlencode({"a": sides[0], "b": sides[1]}), None))
        links = [
            element(
                "a",
                words,
                element("b", more, id=f"{key}-count") if key in ("findings", "program") else None,
                href=address(url),
                aria_current="page" if key == here else None,
            )
            for key, words, url, more in pages
        ]
    name: Child = (
        ""
        if viewed is None
        else element("bdi", clipped(viewed.dataset.name, 90), class_="dataset", title=clipped(viewed.dataset.name, 400))
    )
    if len(every) > 1 and viewed is not None:
        options = [
            element("option", clipped(one.dataset.name, 80), value=address(one.base + "/"), selected=one is viewed)
            for one in every
        ]
        name = element("select", options, class_="dataset", id="datasets", aria_label="Dataset")
    return element(
        "header",
        element("a", "Recordsmith", href="/", class_="brand"),
        name,
        element("nav", links, aria_label="Pages"),
        element("button", "?", type="button", id="help-button", aria_label="Keyboard help"),
        element("button", "Dark", type="button", id="theme", aria_label="Change between light and dark"),
        class_="strip top-bar",
    )


def _help() -> Markup:
    rows = [element("tr", element("th", element("kbd", key)), element("td", words)) for key, words in _HELP]
    return element(
        "dialog",
        element("h2", "Keyboard"),
        element("table", rows),
        element("form", element("button", "Close", value="close"), method="dialog"),
        id="help",
        aria_label="Keyboard help",
    )


def message_page(title: str, text: str, *, every: Sequence[Viewed]) -> str:
    """Return a page with one message."""
    return whole_page(
        title,
        element(
            "main",
            element("h1", title),
            element("p", text, class_="note"),
            element("a", "Back to the records", href="/"),
            class_="document",
        ),
        viewed=None,
        every=every,
        class_="app plain",
        data_page="message",
    )
