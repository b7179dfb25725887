"""One value of a row in full: every number of a list, every character of a text, all that an image's header says."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.console import Group, RenderableType
from rich.text import Text

from recordsmith.columns import SparseRow
from recordsmith.images import read_header
from recordsmith.schema import Feature
from recordsmith.terminal.values.class_names import named_class
from recordsmith.terminal.values.hex_dump import hex_dump
from recordsmith.wording.numbers import bytes_text, count_text, number_text
from recordsmith.wording.visible_text import printable

__all__ = ["full_value"]

_MOST_NUMBERS = 1_000
_MOST_CHARACTERS = 20_000
_MOST_BYTES = 512
_MOST_ENTRIES = 200


def full_value(value: Any, feature: Feature | None, width: int) -> RenderableType:
    """Lay out a value.

    >>> from rich.console import Console
    >>> Console(width=60).print(full_value(np.arange(4), None, 60))
    4 values, 0..3, mean 1.5
    [0, 1, 2, 3]
    """
    match value:
        case None:
            return Text("absent", "dim")
        case str():
            return _text(value)
        case bytes():
            return _bytes(value)
        case np.ndarray():
            return _array(value, width)
        case SparseRow():
            return _sparse(value)
        case list():
            return _list(value, feature, width)
        case dict():
            parts = [
                Group(Text(f"{printable(name)}:", "bold"), full_value(part, None, width))
                for name, part in value.items()
            ]
            return Group(*parts)
    plain = value.item() if isinstance(value, np.generic) else value
    exact = repr(plain) if isinstance(plain, float) and not isinstance(value, np.float32) else str(value)
    return named_class(value, feature, width) or Text(exact, "cyan")


def _text(value: str) -> Text:
    shown = printable(value[:_MOST_CHARACTERS])
    text = Text().append(f'"{shown}"', "green")
    more = len(value) - _MOST_CHARACTERS
    return text.append(f" and {count_text(more, 'more character')}", "dim") if more > 0 else text


def _bytes(value: bytes) -> RenderableType:
    header = read_header(value)
    if header is not None:
        channels = {0: "", 1: ", grey", 2: ", grey with alpha", 3: ", colour", 4: ", colour with alpha"}
        facts = f"{header.format_name} {header.width}×{header.height}{channels.get(header.channels, '')}"
        turned = f", to be turned (orientation {header.orientation})" if header.orientation > 1 else ""
        return Text(f"{facts}, {header.bits} bits{turned}, {bytes_text(len(value))}", "magenta")
    try:
        decoded = value.decode()
    except UnicodeDecodeError:
        decoded = "\0"
    if value and "\0" not in decoded and len(decoded) <= _MOST_CHARACTERS:
        return Text().append("b", "magenta").append_text(_text(decoded))
    lines = hex_dump(value, _MOST_BYTES) or ["no bytes"]
    return Group(Text(bytes_text(len(value)), "dim"), Text("\n".join(lines), "magenta", no_wrap=True))


def _array(value: np.ndarray[Any, Any], width: int) -> RenderableType:
    flat = value.reshape(-1)
    if not flat.size:
        return Text("no values", "dim")
    shape = "×".join(map(str, value.shape)) + f" {value.dtype}" if value.ndim > 1 else count_text(flat.size, "value")
    note = shape
    if value.dtype.kind in "iuf":
        finite = flat[np.isfinite(flat)]
        if finite.size:
            note += f", {number_text(finite.min().item())}..{number_text(finite.max().item())}"
            note += f", mean {number_text(float(finite.mean(dtype=np.float64)))}"
        if finite.size < flat.size:
            note += f", {count_text(int(flat.size - finite.size), 'value')} NaN or infinite"
    whole = flat.size <= _MOST_NUMBERS
    shown = value if whole else flat[:_MOST_NUMBERS]
    numbers = np.array2string(shown, max_line_width=max(20, width - 2), threshold=_MOST_NUMBERS + 1, separator=", ")
    more = [] if whole else [Text(f"and {flat.size - _MOST_NUMBERS:,} more, which --format json has", "dim")]
    return Group(Text(note, "dim"), Text(numbers, "cyan"), *more)


def _sparse(value: SparseRow) -> RenderableType:
    pairs = zip(value.indices.tolist(), value.values.tolist(), strict=True)
    shown = ", ".join(f"{index}: {number_text(number)}" for index, number in list(pairs)[:_MOST_NUMBERS])
    more = len(value.indices) - _MOST_NUMBERS
    parts: list[RenderableType] = [Text(f"{len(value.indices):,} in all", "dim"), Text(f"{{{shown}}}", "cyan")]
    return Group(*parts, *([Text(f"and {more:,} more, which --format json has", "dim")] if more > 0 else []))


def _list(value: list[Any], feature: Feature | None, width: int) -> RenderableType:
    if not value:
        return Text("empty", "dim")
    parts: list[RenderableType] = []
    for number, entry in enumerate(value[:_MOST_ENTRIES]):
        shown = full_value(entry, feature, width - 4)
        label = Text(f"{number}: ", "dim")
        parts.append(label.append_text(shown) if isinstance(shown, Text) else Group(label, shown))
    if len(value) > _MOST_ENTRIES:
        parts.append(Text(f"and {len(value) - _MOST_ENTRIES:,} more, which --format json has", "dim"))
    return Group(*parts)
