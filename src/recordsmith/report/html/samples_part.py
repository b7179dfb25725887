"""Some records as HTML."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from recordsmith.dataset.row_decoding import RowOverview
from recordsmith.display.images import thumbnail
from recordsmith.display.values import value_markup
from recordsmith.facts.dataset_facts import LabelFacts
from recordsmith.images import read_header
from recordsmith.wording.markup import Markup, element
from recordsmith.wording.numbers import count_text
from recordsmith.wording.visible_text import clipped

__all__ = ["samples_part"]

_MOST_VALUES = 40


def samples_part(rows: Sequence[RowOverview], labels: Sequence[LabelFacts] = ()) -> Markup:
    """Return a card for each record; the labels give classes their names."""
    names = {label.feature: label.names for label in labels}
    return element("div", [_row(row, names) for row in rows], class_="samples")


def _row(row: RowOverview, names: Mapping[str, tuple[str, ...]]) -> Markup:
    values = {**(row.features or {}), **(row.steps or {})}
    first = next((name for name, value in values.items() if _is_image(value)), None)
    shown = [] if first is None else [thumbnail(values[first], caption=clipped(first, 60))]
    return element(
        "article",
        element("div", shown, class_="shot") if shown else None,
        element(
            "header",
            element("h3", f"record {row.number_in_file:,}"),
            element("small", element("bdi", clipped(os.path.basename(row.path), 80)), title=clipped(row.path, 300)),
        ),
        element(
            "dl",
            [
                _value(name, value, names.get(name, ()), shown_already=name == first)
                for name, value in list(values.items())[:_MOST_VALUES]
            ],
        )
        if values
        else element("pre", clipped(row.payload.decode(errors="backslashreplace"), 400) or f"{row.kind} record"),
        class_="sample",
    )


def _value(name: str, value: Any, names: tuple[str, ...], *, shown_already: bool) -> Markup:
    header = read_header(value) if shown_already else None
    if header is not None:
        shown = element(
            "small", f"{header.format_name} {header.width}×{header.height}, {count_text(len(value), 'byte')}"
        )
    elif isinstance(value, (int, np.integer)) and 0 <= value < len(names):
        number = element("small", f" class {value}") if names[value] != str(value) else None
        shown = element("span", element("bdi", clipped(names[value], 80)), number)
    else:
        shown = value_markup(value)
    return element("div", element("dt", element("bdi", clipped(name, 80))), element("dd", shown))


def _is_image(value: Any) -> bool:
    return isinstance(value, bytes) and read_header(value) is not None
