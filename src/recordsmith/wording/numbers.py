"""Formats numbers and sizes for people."""

from __future__ import annotations

import math

__all__ = ["bytes_text", "count_text", "number_text"]

_UNITS = ("KB", "MB", "GB", "TB", "PB")


def count_text(count: int, noun: str, plural: str | None = None) -> str:
    """Count things: every counted noun in a message comes from here.

    >>> count_text(1, "record"), count_text(12345, "file"), count_text(2, "class", "classes")
    ('1 record', '12,345 files', '2 classes')
    """
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def bytes_text(count: int) -> str:
    """Tell a size in units of a thousand, as disks and networks do.

    >>> bytes_text(1), bytes_text(999), bytes_text(80_213), bytes_text(999_999)
    ('1 byte', '999 bytes', '80.2 KB', '1.00 MB')
    """
    if count < 1000:
        return count_text(count, "byte")
    size = float(count)
    for unit in _UNITS:
        size /= 1000
        if size < 999.5 or unit == _UNITS[-1]:
            break
    digits = 2 if size < 9.995 else 1 if size < 99.95 else 0
    return f"{size:.{digits}f} {unit}"


def number_text(value: complex) -> str:
    """Show a number in few characters.

    >>> number_text(3), number_text(17031841900), number_text(0.30000001), number_text(1.5e-9), number_text(2.0)
    ('3', '17031841900', '0.3', '1.5e-09', '2')
    """
    if isinstance(value, complex):
        return f"{value:.4g}"
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return f"{value:.4g}" if isinstance(value, float) else str(int(value))
