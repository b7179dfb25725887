"""Values of records as HTML."""

from __future__ import annotations

from typing import Any

import numpy as np

from recordsmith.columns import SparseRow
from recordsmith.display.images import thumbnail
from recordsmith.images import read_header
from recordsmith.wording.markup import Markup, element
from recordsmith.wording.numbers import bytes_text, count_text, number_text
from recordsmith.wording.visible_text import clipped, quoted

__all__ = ["value_markup"]

_MOST_NUMBERS = 12
_MOST_ENTRIES = 4
_LONGEST_TEXT = 300


def value_markup(value: Any) -> Markup:
    """Return a value as HTML; an image is shown.

    >>> value_markup(np.arange(3)), value_markup(None)
    ('<code>0, 1, 2</code>', '<span class="absent">absent</span>')
    """
    match value:
        case None:
            return element("span", "absent", class_="absent")
        case str():
            return element("bdi", clipped(value, _LONGEST_TEXT), class_="text")
        case bytes():
            return _bytes(value)
        case np.ndarray():
            return _array(value)
        case SparseRow():
            shown = zip(value.indices[:_MOST_NUMBERS].tolist(), value.values[:_MOST_NUMBERS].tolist(), strict=True)
            entries = ", ".join(f"{index}: {number_text(number)}" for index, number in shown)
            return element("span", element("code", entries), " ", element("small", f"{len(value.indices):,} in all"))
        case list() | tuple():
            return _list(list(value))
        case dict():
            return element(
                "dl", [[element("dt", clipped(str(k), 60)), element("dd", value_markup(v))] for k, v in value.items()]
            )
    plain = value.item() if isinstance(value, np.generic) else value
    return element("code", number_text(plain) if isinstance(plain, (int, float, complex)) else clipped(str(plain), 60))


def _bytes(value: bytes) -> Markup:
    header = read_header(value)
    if header is not None:
        about = f"{header.format_name} {header.width}×{header.height}, {bytes_text(len(value))}"
        return element("span", thumbnail(value, caption=about), element("small", about), class_="image")
    try:
        text = value[: _LONGEST_TEXT * 4].decode()
    except UnicodeDecodeError:
        text = "\0"
    if text.isprintable():
        return element("code", "b", quoted(text, _LONGEST_TEXT))
    more = " …" if len(value) > 16 else ""
    return element("span", element("code", value[:16].hex(" ") + more), " ", element("small", bytes_text(len(value))))


def _array(value: np.ndarray[Any, Any]) -> Markup:
    flat = value.reshape(-1)
    if value.ndim == 1 and flat.size <= _MOST_NUMBERS:
        return element("code", ", ".join(number_text(number) for number in flat.tolist()) or "no values")
    first = ", ".join(number_text(number) for number in flat[:_MOST_NUMBERS].tolist())
    shape = f"{'×'.join(map(str, value.shape))} {value.dtype}" if value.ndim > 1 else count_text(flat.size, "value")
    return element("span", element("code", f"{first}, …"), " ", element("small", shape))


def _list(values: list[Any]) -> Markup:
    if not values:
        return element("span", "empty", class_="absent")
    more = [element("small", f"{count_text(len(values), 'value')} in all")] if len(values) > _MOST_ENTRIES else []
    return element("span", [value_markup(one) for one in values[:_MOST_ENTRIES]], more, class_="list")
