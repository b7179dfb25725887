"""Records in the grid: as cards and as rows of a table. The server renders them by ranges, as the page scrolls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from recordsmith.images import read_header
from recordsmith.query.overview import FeatureOverview
from recordsmith.schema import Image, Label, Text
from recordsmith.viewer.data.media import playable, raw_pixels
from recordsmith.viewer.data.opened import OpenedDataset
from recordsmith.viewer.data.shown_record import ShownRecord
from recordsmith.viewer.pages.value_text import one_line
from recordsmith.viewer.pages.values import ValueRenderer, address
from recordsmith.wording.markup import Markup, element
from recordsmith.wording.numbers import bytes_text
from recordsmith.wording.visible_text import clipped

__all__ = ["GridShape", "card", "grid_shape", "small_cells", "table_columns", "table_row"]

_MOST_LINES = {"s": 0, "": 4, "l": 6}
_MOST_COLUMNS = 14
_SIDES = {"s": 256, "": 384, "l": 768}


@dataclass(frozen=True, slots=True)
class GridShape:
    """How large the cells of the grid are, in pixels; all have the same height, so that any place can be reached.

    Attributes:
        width: the least width of a card; 0 for a row of a table.
        height: of a card or row.
    """

    width: int
    height: int


def grid_shape(sample: Sequence[ShownRecord], layout: str, size: str) -> GridShape:
    """Choose the size of the cells by what the first records contain."""
    if layout == "table":
        return GridShape(0, 44)
    visual = any(_is_shown(record) for record in sample)
    wide = {"s": 150, "": 230, "l": 380}[size]
    if visual:
        return GridShape(wide, {"s": 158, "": 276, "l": 470}[size])
    return GridShape(wide + 60, {"s": 120, "": 208, "l": 320}[size])


def has_visuals(sample: Sequence[ShownRecord]) -> bool:
    """Whether records are better seen as cards than as rows: images, sounds, drawings, long texts."""
    for record in sample:
        if record.row is None or record.row.features is None:
            return True
        if _is_shown(record) or any(isinstance(one, str) and len(one) > 120 for one in record.values.values()):
            return True
    return False


def _is_shown(record: ShownRecord) -> bool:
    values = record.values
    return any(_is_visual(value) or raw_pixels(values, name) is not None for name, value in values.items())


def _is_visual(value: Any) -> bool:
    if isinstance(value, bytes):
        return read_header(value) is not None or playable(value) is not None
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        return value.size >= 64
    if isinstance(value, (list, np.ndarray)) and len(value):
        return isinstance(value[0], bytes) and read_header(value[0]) is not None
    return False


def card(
    record: ShownRecord,
    position: int,
    link: str,
    renderer: ValueRenderer,
    dataset: OpenedDataset,
    size: str,
    findings: int,
) -> Markup:
    """Return one card."""
    values = record.values
    found = None if record.row is None else renderer.preview(record.number, values, _SIDES[size])
    labels = _labels(values, dataset)
    told = (frozenset() if found is None else found.told) | {name for name, _ in labels}
    lines = [
        element(
            "span",
            element("i", clipped(name.rpartition("/")[2] or name, 24)),
            " ",
            element("bdi", one_line(value, dataset.value_names(name), 90)),
            title=clipped(name, 200),
        )
        for name, value in [(name, value) for name, value in values.items() if name not in told][: _MOST_LINES[size]]
    ]
    body = found.markup if found is not None else _unseen(record)
    flag = _flag(findings)
    return element(
        "a",
        element("span", body, class_="view") if body is not None else None,
        element(
            "span",
            element("span", f"{record.number:,}", class_="number"),
            flag,
            [
                element(
                    "span",
                    element("bdi", text),
                    class_=f"chip c{dataset.colours.of(name, text)}",
                    title=clipped(name, 100),
                )
                for name, text in labels[:3]
            ],
            class_="head",
        ),
        element("span", lines, class_="lines") if lines else None,
        href=address(link),
        class_="cell" if record.error is None else "cell unreadable",
        data_at=position,
        aria_label=_label(record, labels),
    )


def _flag(findings: int) -> Markup | None:
    said = f"{findings} finding{'s' if findings != 1 else ''}"
    return element("span", "!", class_="flag", title=said, aria_label=said) if findings else None


def _label(record: ShownRecord, labels: Sequence[tuple[str, str]]) -> str:
    words = ", ".join(text for _, text in labels[:3])
    return f"Record {record.number:,}" + (f": {words}" if words else "")


def _labels(values: Mapping[str, Any], dataset: OpenedDataset) -> list[tuple[str, str]]:
    """Return the classes of a record: of declared labels, or of features with the names that labels usually have."""
    found = []
    for name, value in values.items():
        last = name.rpartition("/")[2].lower()
        declared = isinstance(dataset.types.get(name), Label)
        usual = last in ("label", "class", "category", "target", "synset") or name.endswith("class/text")
        single = isinstance(value, (int, float, str, np.generic)) or (isinstance(value, bytes) and len(value) < 80)
        if (declared or usual) and single:
            found.append((name, one_line(value, dataset.class_names(name), 40)))
    words = [pair for pair in found if not pair[1].isdecimal()]
    by_text = {text: name for name, text in reversed(words or found)}  # a number says less than the name next to it
    return [(name, text) for text, name in reversed(by_text.items())]


def _unseen(record: ShownRecord) -> Markup | None:
    """Return what is shown of a record without anything to look at."""
    if record.error is not None:
        return element("span", clipped(record.error, 200), class_="broken")
    if record.row is None or record.row.features is None:
        payload = b"" if record.row is None else record.row.payload
        kind = "" if record.row is None else record.row.kind
        text = payload[:600].decode(errors="replace") if kind == "text" else None
        shown = element("bdi", clipped(text, 500)) if text is not None else element("code", payload[:64].hex(" "))
        said = f"{kind.replace('_', ' ')}, {bytes_text(len(payload))}"
        return element("span", shown, element("small", said, class_="frames"), class_="excerpt")
    return None


def table_columns(dataset: OpenedDataset) -> list[FeatureOverview]:
    """Return the features that a table shows: the first ones, labels and images before the others."""
    ranked = sorted(dataset.features, key=lambda one: not isinstance(one.feature, (Label, Image)))
    return ranked[:_MOST_COLUMNS]


def table_row(
    record: ShownRecord, position: int, link: str, renderer: ValueRenderer, dataset: OpenedDataset, findings: int
) -> Markup:
    """Return one row of the table."""
    cells = [element("span", f"{record.number:,} ", _flag(findings), class_="number")]
    for feature in table_columns(dataset):
        value = record.values.get(feature.name)
        cells.append(
            element("span", _cell(record.number, feature, value, renderer, dataset), title=clipped(feature.name, 80))
        )
    if record.error is not None:
        cells = [cells[0], element("span", clipped(record.error, 300), class_="broken")]
    elif record.row is None or record.row.features is None:
        cells = [cells[0], element("span", _unseen(record))]
    return element(
        "a", cells, href=address(link), class_="cell row", data_at=position, aria_label=f"Record {record.number:,}"
    )


def _cell(number: int, feature: FeatureOverview, value: Any, renderer: ValueRenderer, dataset: OpenedDataset) -> Markup:
    if value is None:
        return element("span", "-", class_="absent")
    if isinstance(value, bytes) and read_header(value) is not None:
        return element(
            "img", src=renderer.media_url(number, feature.name, kind="image", side=96), alt="", loading="lazy"
        )
    text = one_line(value, dataset.value_names(feature.name), 60)
    numeric = isinstance(value, (int, float, np.number)) and not dataset.class_names(feature.name)
    return element("bdi", text, class_="numeric" if numeric else "words" if isinstance(feature.feature, Text) else None)


def small_cells(dataset: OpenedDataset, shown: Sequence[tuple[int, str]], renderer: ValueRenderer) -> Markup:
    """Show some records small, each with a link."""
    rows = {one.number: one for one in dataset.read([number for number, _ in shown])}
    cells = []
    for number, link in shown:
        one = rows.get(number)
        found = None if one is None or one.row is None else renderer.preview(number, one.values, 256)
        cells.append(
            element(
                "a",
                None if found is None else element("span", found.markup, class_="view"),
                element("span", f"{number:,}", class_="number"),
                href=address(link),
                class_="cell near",
                aria_label=f"Record {number:,}",
            )
        )
    return element("div", cells, class_="neighbours")
