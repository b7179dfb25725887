"""Facts and evidence as values that JSON can represent."""

from __future__ import annotations

import base64
import dataclasses
import math
from collections.abc import Mapping
from enum import Enum
from typing import Any

import numpy as np

from recordsmith.facts.dataset_facts import DatasetFacts
from recordsmith.schema import Schema
from recordsmith.wording.visible_text import without_surrogates

__all__ = ["facts_json", "plain_value"]

# The manifest is next to the files anyway. The same data gives the same JSON, however long it takes.
_LEFT_OUT = {"manifest", "seconds"}


def facts_json(facts: DatasetFacts) -> dict[str, Any]:
    """Return facts as JSON-ready values: attributes by their names, nested as they are."""
    return {
        field.name: plain_value(getattr(facts, field.name))
        for field in dataclasses.fields(facts)
        if field.name not in _LEFT_OUT
    }


def plain_value(value: Any) -> Any:
    r"""Turn a value into JSON-ready ones.

    Bytes become text where they are UTF-8, otherwise an object with their number and base64. NaN and infinities, which
    JSON lacks, become the strings "NaN", "Infinity" and "-Infinity". A key that is a pair, such as two splits, is
    joined with a comma.

    >>> plain_value((1, math.inf, b"cat", b"\xff"))
    [1, 'Infinity', 'cat', {'bytes': 1, 'base64': '/w=='}]
    >>> plain_value({("train", "test"): 3, 0.5: 1})
    {'train, test': 3, '0.5': 1}
    """
    match value:
        case Enum():
            return value.value
        case None | bool() | int():
            return value
        case str():
            return without_surrogates(value)
        case float():
            return value if math.isfinite(value) else _named(value)
        case bytes():
            return _bytes(value)
        case np.generic() | np.ndarray() | Schema():
            return plain_value(value.to_json() if isinstance(value, Schema) else value.tolist())
        case Mapping():
            return {_key(key): plain_value(one) for key, one in value.items()}
        case list() | tuple() | set() | frozenset():
            return [plain_value(one) for one in value]
    if dataclasses.is_dataclass(value):
        return {field.name: plain_value(getattr(value, field.name)) for field in dataclasses.fields(value)}
    return without_surrogates(str(value))


def _named(value: float) -> str:
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _key(key: Any) -> str:
    return ", ".join(map(without_surrogates, map(str, key))) if isinstance(key, tuple) else without_surrogates(str(key))


def _bytes(value: bytes) -> str | dict[str, Any]:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return {"bytes": len(value), "base64": base64.b64encode(value[:1024]).decode()}
