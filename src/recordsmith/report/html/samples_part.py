"""Some records as HTML."""

from __future__ import annotations

import os
from collections.abc import Sequence

from recordsmith.facts.row_decoding import RowOverview
from recordsmith.images import read_header
from recordsmith.report.html.markup import Markup, element
from recordsmith.report.html.pictures import thumbnail
from recordsmith.report.html.values import value_markup
from recordsmith.visible_text import clipped

__all__ = ["samples_part"]

_MOST_VALUES = 40


def samples_part(rows: Sequence[RowOverview]) -> Markup:
    """Return a card for each record.

    >>> samples_part([RowOverview(0, "a.tfrecord", 0, b"hello", "text", None)]).count("<article")
    1
    """
    return element("div", [_row(row) for row in rows], class_="samples")


def _row(row: RowOverview) -> Markup:
    values = {**(row.features or {}), **(row.steps or {})}
    pictures = [
        thumbnail(value, caption=clipped(name, 60))
        for name, value in values.items()
        if isinstance(value, bytes) and read_header(value) is not None
    ][:1]
    first = next(
        (name for name, value in values.items() if isinstance(value, bytes) and read_header(value) is not None), None
    )
    return element(
        "article",
        element("div", pictures, class_="shot") if pictures else None,
        element(
            "header",
            element("h3", f"record {row.number_in_file:,}"),
            element("small", element("bdi", clipped(os.path.basename(row.path), 80)), title=clipped(row.path, 300)),
        ),
        element("dl", [_value(name, value, first) for name, value in list(values.items())[:_MOST_VALUES]])
        if values
        else element("pre", clipped(row.payload.decode(errors="backslashreplace"), 400) or f"{row.kind} record"),
        class_="sample",
    )


def _value(name: str, value: object, shown_already: str | None) -> Markup:
    if name == shown_already and isinstance(value, bytes):
        header = read_header(value)
        about = "" if header is None else f"{header.format_name} {header.width}×{header.height}, {len(value):,} bytes"
        shown = element("small", about)
    else:
        shown = value_markup(value)
    return element("div", element("dt", element("bdi", clipped(name, 80))), element("dd", shown))
