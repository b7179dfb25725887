"""Values as text: in one line, and bytes as hexadecimal numbers."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from recordsmith.columns import SparseRow
from recordsmith.images import read_header
from recordsmith.wording.markup import Markup, element
from recordsmith.wording.numbers import bytes_text, count_text, number_text
from recordsmith.wording.visible_text import clipped

__all__ = ["as_text", "hex_dump", "one_line"]

_LONGEST_LINE = 120


def one_line(value: Any, names: Sequence[str] = (), width: int = _LONGEST_LINE) -> str:
    r"""Return a value in a few words.

    >>> one_line(np.int64(1), ["cat", "dog"]), one_line(np.arange(3.0)), one_line(b"\xff\x00")
    ('dog', '0, 1, 2', 'ff 00 · 2 bytes')
    """
    match value:
        case None:
            return "absent"
        case str():
            return clipped(value, width)
        case bytes():
            return _bytes_line(value, width)
        case np.ndarray():
            return _array_line(value, names, width)
        case SparseRow():
            return f"{count_text(len(value.indices), 'entry', 'entries')}, sparse"
        case list() | tuple():
            if value and all(isinstance(one, bytes) and read_header(one) is not None for one in value[:4]):
                return count_text(len(value), "image")
            return clipped(", ".join(one_line(one, names, width) for one in value[:8]) or "empty", width)
        case dict():
            return clipped(", ".join(f"{key}: {one_line(inner, (), 24)}" for key, inner in value.items()), width)
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, int) and not isinstance(plain, bool) and 0 <= plain < len(names):
        return clipped(names[plain], width)
    return number_text(plain) if isinstance(plain, (int, float, complex)) else clipped(str(plain), width)


def _bytes_line(value: bytes, width: int) -> str:
    header = read_header(value)
    if header is not None:
        return f"{header.format_name} {header.width}×{header.height} · {bytes_text(len(value))}"
    text = as_text(value[: 4 * width])
    if text is not None:
        return clipped(text, width)
    return f"{value[:8].hex(' ')}{' …' if len(value) > 8 else ''} · {bytes_text(len(value))}"


def _array_line(value: np.ndarray[Any, Any], names: Sequence[str], width: int) -> str:
    if not value.size:
        return "empty"
    if value.dtype == object:
        return one_line(value.reshape(-1).tolist(), names, width)
    first = value.reshape(-1)[:8]
    texts = (
        names[one] if names and isinstance(one, int) and 0 <= one < len(names) else number_text(one)
        for one in first.tolist()
    )
    more = " …" if value.size > len(first) else ""
    shape = "×".join(map(str, value.shape))
    beside = f" · {shape}" if value.ndim > 1 or value.size > len(first) else ""
    return clipped(", ".join(texts), max(8, width - len(more) - len(beside))) + more + beside


def as_text(value: bytes) -> str | None:
    """Return bytes as text, if they are; the last character may be cut."""
    try:
        text = value.decode()
    except UnicodeDecodeError as error:
        if error.start < len(value) - 4:
            return None
        text = value[: error.start].decode()
    return text if text and all(char.isprintable() or char in "\n\t\r" for char in text[:400]) else None


def hex_dump(data: bytes, *, lines: int = 32) -> Markup:
    """Return bytes as hexadecimal numbers with the readable characters next to them.

    >>> print(hex_dump(b"<a>", lines=1))
    <pre class="hex">00000000  3c 61 3e                                         &lt;a&gt;</pre>
    """
    rows = []
    for start in range(0, min(len(data), 16 * lines), 16):
        part = data[start : start + 16]
        readable = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in part)
        rows.append(f"{start:08x}  {part.hex(' '):<47}  {readable}")
    return element("pre", Markup(escape("\n".join(rows))), class_="hex")
