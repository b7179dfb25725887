"""Parses sizes such as 128MB."""

from __future__ import annotations

import re

from recordsmith.errors import RecordsmithError

__all__ = ["parse_size"]

_UNITS = {"": 1, "b": 1, "kb": 1000, "mb": 1000**2, "gb": 1000**3, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30}


def parse_size(given: int | str) -> int:
    """Read a size in bytes, such as "128MB", "1 GiB" or a number.

    >>> parse_size("128MB"), parse_size("1 GiB"), parse_size(1000)
    (128000000, 1073741824, 1000)
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]*)\s*", str(given))
    unit = None if match is None else _UNITS.get(match[2].lower())
    size = 0 if match is None or unit is None else int(float(match[1]) * unit)
    if size < 1:
        raise RecordsmithError("The size cannot be parsed.", found=repr(given), expected="a size such as 128MB or 1GiB")
    return size
