"""Values in a few characters: text quoted, arrays by their first numbers and their range, images by their size.

What comes out is safe to print: control characters are shown as escapes, so that no record can steer the terminal.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from rich.text import Text

from recordsmith.columns import SparseRow
from recordsmith.images.header import read_header
from recordsmith.wording.numbers import bytes_text, count_text, number_text
from recordsmith.wording.visible_text import middle_left_out, printable, quoted

__all__ = ["middle_left_out", "printable", "quoted", "short_value", "summary_of_values"]

_ABSENT = "absent"
_STYLES = {"number": "cyan", "text": "green", "bytes": "magenta", "note": "dim"}
_ARRAY_NUMBERS = 8  # numbers of an array that are shown at most
_LIST_ENTRIES = 4  # strings or steps that are shown at most
_EXAMPLES = 8  # different values that a summary shows at most


def short_value(value: Any, width: int = 60) -> Text:
    """Show one value of a row in about `width` characters.

    >>> short_value("cat").plain, short_value(np.float32(0.25)).plain, short_value(None).plain
    ('"cat"', '0.25', 'absent')
    >>> short_value(np.arange(784)).plain
    '[0, 1, 2, 3, 4, 5, 6, 7, …] 784 values, 0..783'
    >>> short_value(np.zeros((28, 28), np.uint8)).plain
    '28×28 uint8, all 0'
    >>> short_value(b"GIF89a" + bytes([32, 0, 24, 0, 0, 0, 0])).plain
    'GIF 32×24, 13 bytes'
    >>> short_value([b"a", b"b"]).plain
    '[b"a", b"b"]'
    >>> short_value(SparseRow(np.array([3, 17]), np.array([0.25, 0.5]))).plain
    '{3: 0.25, 17: 0.5}'
    >>> short_value({"pixels": np.zeros((8, 8), np.uint8), "label": np.int64(3)}).plain
    'pixels 8×8 uint8, all 0, label 3'
    """
    match value:
        case None:
            return Text(_ABSENT, "dim")
        case str():
            return Text(quoted(value, width), _STYLES["text"])
        case bytes():
            return Text(_short_bytes(value, width), _STYLES["bytes"])
        case np.ndarray():
            return _short_array(value, width)
        case list():
            return _short_list(value, width)
        case SparseRow():
            return _short_sparse(value, width)
        case dict():
            return _short_parts(value, width)
    return Text(number_text(value.item() if isinstance(value, np.generic) else value), _STYLES["number"])


def summary_of_values(values: Sequence[Any], width: int = 120) -> Text:
    """Show what values a feature takes: the range of numbers, then different examples.

    >>> summary_of_values([np.int64(3), np.int64(1), np.int64(3)]).plain
    '1..3  3, 1'
    >>> summary_of_values(["cat", "dog", "cat"]).plain
    '"cat", "dog"'
    >>> summary_of_values([np.array([1.0, 2.0]), np.array([0.5])]).plain
    '0.5..2  [1, 2]; [0.5]'
    >>> summary_of_values([[np.float32(1), np.float32(2)], [np.float32(3)]]).plain
    '1..2 steps, 1..3  1, 2'
    """
    if not values:
        return Text()
    notes = []
    if all(map(_are_steps, values)):
        lengths = [len(steps) for steps in values]
        notes.append(f"{_span(min(lengths), max(lengths))} steps")
        examples = [_first_steps(steps, 40) for steps in values if steps][:1]
    else:
        examples = _different(values, width)
    numbers = [np.asarray(number).reshape(-1) for number in _numbers_in(values)]
    known = np.concatenate(numbers) if numbers else np.empty(0)
    if known.size > 1 and known.dtype.kind != "c":
        notes.append(_range_text(known))
        if notes[-1].startswith("all ") and len(examples) == 1:
            examples = []  # the note has said it
    summary = Text().append(", ".join(notes), _STYLES["note"])
    if notes and examples:
        summary.append("  ")
    separator = "; " if any(", " in example.plain for example in examples) else ", "
    return summary.append_text(Text(separator).join(examples))


def _different(values: Sequence[Any], width: int) -> list[Text]:
    """Show the first values that look different, as many as there is room for."""
    shown: dict[str, Text] = {}
    for value in values:
        text = _short_array(value, 40, ranged=False) if isinstance(value, np.ndarray) else short_value(value, 40)
        shown.setdefault(text.plain, text)
        if len(shown) == _EXAMPLES or sum(map(len, shown)) > width:
            break
    return list(shown.values())


def _are_steps(value: Any) -> bool:
    return isinstance(value, list) and not all(isinstance(entry, (str, bytes)) for entry in value)


def _numbers_in(values: Iterable[Any]) -> Iterable[Any]:
    for value in values:
        if isinstance(value, list):
            yield from _numbers_in(value)
        elif isinstance(value, (np.ndarray, np.number, np.bool_)):
            yield value


def _span(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}..{high}"


def _range_text(numbers: np.ndarray[Any, Any]) -> str:
    """Tell the least and the greatest number, and how many are not numbers."""
    if numbers.dtype.kind == "c":
        return ""
    missing = np.isnan(numbers) if numbers.dtype.kind == "f" else np.zeros(len(numbers), np.bool_)
    there = numbers[~missing]
    nans = f"{missing.sum():,} NaN" if missing.any() else ""
    if not there.size:
        return nans
    low, high = there.min().item(), there.max().item()
    # Compared as shown: 0.30000001..0.30000002 says nothing.
    first, last = number_text(low), number_text(high)
    found = f"{first}..{last}" if first != last else f"all {first}"
    return f"{found}, {nans}" if nans else found


def _short_array(array: np.ndarray[Any, Any], width: int, *, ranged: bool = True) -> Text:
    flat = array.reshape(-1)
    if array.ndim > 1:
        text = Text().append("×".join(map(str, array.shape)) + f" {array.dtype}", _STYLES["number"])
        return text.append(f", {_range_text(flat)}", _STYLES["note"]) if ranged and flat.size else text
    shown = [number_text(number) for number in flat[:_ARRAY_NUMBERS].tolist()]
    if len(shown) == flat.size and len(", ".join(shown)) + 2 <= max(width, 12):
        return Text(f"[{', '.join(shown)}]", _STYLES["number"])
    while len(shown) > 1 and len(", ".join(shown)) + 5 > width - (24 if ranged else 0):  # the rest is for the range
        shown.pop()
    text = Text().append(f"[{', '.join(shown)}, …]", _STYLES["number"])
    return text.append(f" {count_text(flat.size, 'value')}, {_range_text(flat)}", _STYLES["note"]) if ranged else text


def _short_list(values: list[Any], width: int) -> Text:
    """Show several strings, or the steps of a sequence."""
    if not values:
        return Text("[]", "dim")
    if _are_steps(values):
        note = f"{count_text(len(values), 'step')}  "
        return Text().append(note, _STYLES["note"]).append_text(_first_steps(values, max(12, width - len(note))))
    entries = [short_value(value, max(12, width // 2)) for value in values[:_LIST_ENTRIES]]
    text = Text("[").append_text(Text(", ").join(entries))
    if len(values) == len(entries):
        return text.append("]")
    return text.append(", …]").append(f" {len(values):,} in all", _STYLES["note"])


def _short_sparse(row: SparseRow, width: int) -> Text:
    """Show the first entries of a sparse vector, and how many there are."""
    shown = [
        f"{index}: {number_text(value)}"
        for index, value in zip(
            row.indices[:_ARRAY_NUMBERS].tolist(), row.values[:_ARRAY_NUMBERS].tolist(), strict=True
        )
    ]
    while len(shown) > 1 and len(", ".join(shown)) + 5 > width - 16:  # the rest is for the number of entries
        shown.pop()
    if len(shown) == len(row.indices):
        return Text(f"{{{', '.join(shown)}}}", _STYLES["number"])
    note = f" {len(row.indices):,} entries"
    return Text().append(f"{{{', '.join(shown)}, …}}", _STYLES["number"]).append(note, _STYLES["note"])


def _short_parts(row: dict[str, Any], width: int) -> Text:
    """Show the parts of a packed row by name."""
    room = max(12, width // max(1, len(row)) - 8)
    return Text(", ").join(
        Text(f"{printable(name)} ").append_text(short_value(part, room)) for name, part in row.items()
    )


def _first_steps(steps: list[Any], width: int) -> Text:
    """Show as many steps as there is room for."""
    shown: list[Text] = []
    for step in steps:
        text = _short_array(step, width, ranged=False) if isinstance(step, np.ndarray) else short_value(step, width)
        if shown and sum(len(entry) + 2 for entry in shown) + len(text) > width:
            break
        shown.append(text)
    return Text(", ").join(shown).append(", …" if len(shown) < len(steps) else "")


def _short_bytes(value: bytes, width: int) -> str:
    image = read_header(value)
    if image is not None:
        return f"{image.format_name} {image.width}×{image.height}, {bytes_text(len(value))}"
    if not value:
        return 'b""'
    try:
        text = value[: width * 4].decode()
    except UnicodeDecodeError:
        text = "\0"
    if text.isprintable():
        return "b" + quoted(text, width - 1)
    room = max(4, (width - 14) // 3)
    shown = value[:room].hex(" ")
    return f"{bytes_text(len(value))}: {shown}{' …' if len(value) > room else ''}"
