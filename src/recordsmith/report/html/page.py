"""A report as one HTML page that needs nothing else.

The page carries its styles, its few lines of script and its images. What it may load and run is closed by a content
security policy: nothing from outside, no script and no style but the two whose digests it names, images only from
data URIs. Should a text from data ever get through as markup, it would still run nothing and reach nobody.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from importlib.metadata import version
from importlib.resources import files
from itertools import groupby

from recordsmith.report.contents import ReportContents
from recordsmith.report.followed_file import followed_lines
from recordsmith.report.html.dataset_part import figures_part, labels_part, shards_part, splits_part
from recordsmith.report.html.features_part import features_part
from recordsmith.report.html.findings_part import findings_part
from recordsmith.report.html.samples_part import samples_part
from recordsmith.report.html.sections_part import histograms_part, section_part
from recordsmith.report.plain_text import verdict
from recordsmith.report.sections import HistogramSection
from recordsmith.wording.markup import Child, Markup, element
from recordsmith.wording.numbers import count_text
from recordsmith.wording.visible_text import clipped

__all__ = ["report_page"]

_MOST_LINKS = 6  # at the top
_TITLES = {"check": "Check", "compare": "Comparison", "lint": "Code check", "diagnose": "Diagnosis"}


def report_page(report: ReportContents) -> str:
    """Return the page."""
    style, script = _resource("theme.css") + _resource("page.css"), _resource("page.js")
    policy = (
        f"default-src 'none'; img-src data:; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    title = f"{_TITLES[report.kind]} of {clipped(report.subject, 80)}" if report.subject else _TITLES[report.kind]
    parts = list(_parts(report))
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="referrer", content="no-referrer"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", f"{title} · Recordsmith"),
        element("style", Markup(style)),
    )
    body = element(
        "body",
        _top(title, parts),
        element("main", _hero(report), [_section(*part) for part in parts]),
        element("footer", f"Recordsmith {version('recordsmith')}", _pace(report)),
        element("script", Markup(script)),
    )
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


Part = tuple[str, str, str, Child]  # the anchor, the title, what is said next to it, the content


def _parts(report: ReportContents) -> Iterable[Part]:
    yield "findings", "Findings", f"{len(report.findings):,}" if report.findings else "", findings_part(report)
    if report.followed:
        lines = [element("li", clipped(line, 400)) for line in followed_lines(report.followed)]
        yield "followed", "Code", "how far it was followed", element("ul", lines)
    number = 0
    for is_histogram, group in groupby(report.sections, key=lambda one: isinstance(one, HistogramSection)):
        together = list(group)
        if is_histogram and len(together) > 1:
            yield f"section-{number}", "Distributions", "", histograms_part(together)
            number += 1
            continue
        for section in together:
            yield f"section-{number}", clipped(section.title, 120), "", section_part(section)
            number += 1
    facts = report.facts
    if facts is not None:
        if facts.features:
            yield "features", "Features", f"{len(facts.features):,}", features_part(facts)
        if facts.labels:
            yield "labels", "Labels", "share of each class in its split", labels_part(facts.labels)
        yield "files", "Files", f"{len(facts.shards):,}" if facts.shards else "", shards_part(facts)
    if report.samples:
        yield "records", "Records", "some of them", samples_part(report.samples, facts.labels if facts else ())


def _top(title: str, parts: list[Part]) -> Markup:
    fixed = [part for part in parts if not part[0].startswith("section-")]
    shown = parts if len(parts) <= _MOST_LINKS else fixed
    links = [element("a", clipped(heading, 24), href=f"#{anchor}") for anchor, heading, _, _ in shown]
    toggle = element("button", "Dark", type="button", id="theme", aria_label="Change between light and dark")
    return element(
        "header", element("div", element("b", title, class_="title"), element("nav", links), toggle), class_="top"
    )


def _hero(report: ReportContents) -> Markup:
    worst = report.findings[0].severity.value if report.findings else "none"
    state = worst if not report.ok else "none" if worst == "none" else "info"
    facts = report.facts
    return element(
        "section",
        element("h1", element("bdi", clipped(report.subject, 120) or _TITLES[report.kind])),
        element("p", element("span", class_=f"dot {state}"), verdict(report.findings, report.known), class_="verdict"),
        figures_part(facts) if facts is not None else None,
        element("p", f"Only the first {facts.records:,} records were checked.", class_="note")
        if facts is not None and not facts.looked_at_all
        else None,
        element(
            "p", "Only files, record frames and checksums were checked: the selected rules need no more.", class_="note"
        )
        if facts is not None and facts.frames_only
        else None,
        splits_part(facts) if facts is not None else None,
        class_="hero",
    )


def _section(anchor: str, heading: str, beside: str, content: Child) -> Markup:
    search = (
        element("input", type="search", id="search", placeholder="Find a feature", aria_label="Find a feature")
        if anchor == "features"
        else None
    )
    title = element("h2", heading, element("small", beside) if beside else None)
    return element("section", element("div", title, search, class_="heading"), content, id=anchor)


def _pace(report: ReportContents) -> str:
    facts = report.facts
    return (
        f" · {count_text(facts.records, 'record')} in {facts.seconds:.2f} s"
        if facts is not None and facts.seconds
        else ""
    )


def _resource(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
