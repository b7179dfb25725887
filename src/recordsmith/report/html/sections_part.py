"""Sections of a report as HTML."""

from __future__ import annotations

from collections.abc import Iterable

from recordsmith.display.images import image_element, pixels_uri
from recordsmith.report.html.drawings import histogram
from recordsmith.report.sections import GridImage, HistogramSection, ImageGrid, Section, TableSection, TextSection
from recordsmith.wording.markup import Child, Markup, element, joined
from recordsmith.wording.numbers import number_text
from recordsmith.wording.visible_text import clipped

__all__ = ["histograms_part", "section_part"]

_MOST_ROWS = 500
_MOST_IMAGES = 200


def section_part(section: Section) -> Markup:
    """Return a section, without its title."""
    if isinstance(section, TextSection) and section.code:
        return element("div", element("pre", section.text), class_="section")
    paragraphs = [element("p", part) for part in section.text.split("\n\n") if part.strip()]
    return element("div", paragraphs, _body(section), class_="section")


def histograms_part(sections: Iterable[Section]) -> Markup:
    """Return several sections of histograms side by side, a card for each."""
    cards = [
        element(
            "div",
            element("h3", clipped(section.title, 120)),
            element("p", section.text, class_="declared") if section.text else None,
            [
                [element("p", clipped(name, 80), class_="declared"), histogram(one, name=clipped(name, 60))]
                for name, one in section.histograms.items()
            ],
            class_="card",
        )
        for section in sections
        if isinstance(section, HistogramSection)
    ]
    return element("div", cards, class_="cards")


def _body(section: Section) -> Child:
    match section:
        case ImageGrid():
            return element("div", [_image(one) for one in section.images[:_MOST_IMAGES]], class_="grid")
        case HistogramSection():
            return element(
                "div",
                [
                    element(
                        "div", element("h3", clipped(name, 80)), histogram(one, name=clipped(name, 60)), class_="card"
                    )
                    for name, one in section.histograms.items()
                ],
                class_="cards",
            )
        case TableSection():
            return _table(section)
        case TextSection():
            return None


def _image(one: GridImage) -> Markup:
    uri = pixels_uri(one.pixels)
    shape = "×".join(map(str, one.pixels.shape))
    stretched = "" if one.pixels.dtype == "uint8" else f", {one.pixels.dtype} stretched to black and white"
    return element(
        "figure",
        image_element(uri, clipped(one.caption, 120)) if uri else element("span", "no image", class_="broken"),
        element(
            "figcaption",
            element("b", clipped(one.caption, 120)) if one.caption else None,
            element("small", clipped(one.note, 200)) if one.note else None,
            element("small", shape + stretched),
        ),
    )


def _table(section: TableSection) -> Markup:
    numeric = [
        bool(section.rows) and all(isinstance(row[n], (int, float, type(None))) for row in section.rows)
        for n in range(len(section.columns))
    ]
    head = [
        element("th", clipped(name, 80), class_="number" if is_number else None)
        for name, is_number in zip(section.columns, numeric, strict=True)
    ]
    rows = [
        element(
            "tr",
            [
                element("td", _cell(value), class_="number" if is_number else None)
                for value, is_number in zip(row, numeric, strict=True)
            ],
        )
        for row in section.rows[:_MOST_ROWS]
    ]
    more = len(section.rows) - _MOST_ROWS
    return joined(
        [
            element("div", element("table", element("tr", head), rows, class_="listing"), class_="scroll"),
            element("p", f"{more:,} more rows are in the JSON.", class_="note") if more > 0 else None,
        ]
    )


def _cell(value: str | float | None) -> str:
    return "" if value is None else clipped(value, 400) if isinstance(value, str) else number_text(value)
