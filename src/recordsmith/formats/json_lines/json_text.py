"""Parses untrusted JSON within limits: bounded nesting, and no rounded numbers."""

from __future__ import annotations

import json
from typing import Any

from recordsmith import _core
from recordsmith.formats.tables.exact_numbers import exact_number, whole_number

__all__ = ["DEEPEST", "exact_json", "parse_json", "too_deep"]

DEEPEST = 64  # lists and objects within each other; numpy has arrays of at most 64 dimensions


def too_deep(text: bytes) -> bool:
    """Say whether lists and objects are nested deeper than is read.

    >>> too_deep(b"[[1]]"), too_deep(b"[" * 100)
    (False, True)
    """
    return _core.json_depth(text) > DEEPEST


def exact_json(text: bytes) -> Any:
    """Parse a JSON text, or raise a ValueError in words. A number that no float holds becomes a Decimal.

    >>> exact_json(b'{"a": [1, 1e400]}')
    {'a': [1, Decimal('1E+400')]}
    >>> exact_json(b"[" * 100)
    Traceback (most recent call last):
    ValueError: lists and objects are nested more than 64 levels deep
    """
    if too_deep(text):
        raise ValueError(f"lists and objects are nested more than {DEEPEST} levels deep")
    return json.loads(text, parse_float=exact_number, parse_int=whole_number)


def parse_json(text: str | bytes) -> Any:
    """Parse a JSON text in which every number must fit a float or an int, or raise a ValueError in words.

    >>> parse_json("[1.5, 1e400]")
    Traceback (most recent call last):
    ValueError: the number 1e400 does not fit in a float64
    """
    data = text.encode(errors="surrogatepass") if isinstance(text, str) else text
    if too_deep(data):
        raise ValueError(f"lists and objects are nested more than {DEEPEST} levels deep")
    return json.loads(text, parse_float=_float)


def _float(text: str) -> float:
    number = exact_number(text)
    if not isinstance(number, float):
        raise ValueError(f"the number {text[:40]} does not fit in a float64")  # noqa: TRY004 - about the data
    return number
