"""Converts the values of every feature type to plain JSON and back, without loss.

Numbers        as they are; floats of 16 and 32 bits with the fewest digits that bring them back
NaN, infinite  "NaN", "Infinity", "-Infinity", which JSON has no numbers for
Complex        [real, imaginary]
Label          the name of the class; a number that is no class stays a number
Bytes, Image   base64
Tensor         nested lists; {"shape": [0, 5]} where they would not show the shape
Sparse         {"indices": [...], "values": [...]}
Packed         {part: value, ...}
Steps          a list of what one step is
"""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.schema import Bytes, Feature, Label, Packed, Scalar, Sequence, Sparse, Steps, Tensor, Text
from recordsmith.schema.features.encoded import EncodedFeature

__all__ = ["compact_json", "plain_column", "plain_value", "restored_value"]

Array = npt.NDArray[Any]

compact_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def plain_value(feature: Feature, value: Any) -> Any:
    """Return one value, as `Feature.row` gives it, as plain JSON.

    >>> plain_value(Tensor("float32", (None,)), np.array([0.1, np.nan], np.float32))
    [0.1, 'NaN']
    >>> plain_value(Label(["cat", "dog"]), 1), plain_value(Bytes(), b"abc")
    ('dog', 'YWJj')
    """
    if value is None:
        return None
    if isinstance(feature, Scalar):
        return _plain_numbers(np.asarray(value))
    if isinstance(feature, Label):
        return feature.names[value] if 0 <= value < feature.size else int(value)
    if isinstance(feature, Text):
        return value if isinstance(value, str) else [str(one) for one in value]
    if isinstance(feature, (Bytes, EncodedFeature)):
        return _encoded(value) if isinstance(value, bytes) else [_encoded(one) for one in value]
    if isinstance(feature, Tensor):
        array = np.asarray(value)
        if array.size == 0 and sum(size is None for size in feature.shape) > 1:
            return {"shape": list(array.shape)}
        return _plain_numbers(array)
    if isinstance(feature, Sparse):
        return {"indices": value.indices.tolist(), "values": _plain_numbers(np.asarray(value.values))}
    if isinstance(feature, Packed):
        return {name: _plain_numbers(np.asarray(part)) for name, part in value.items()}
    if isinstance(feature, (Steps, Sequence)):
        return [plain_value(feature.feature, step) for step in value]
    raise TypeError(f"no plain form for {type(feature).__name__}")


def restored_value(feature: Feature, plain: Any) -> Any:
    """Return the value that `plain_value` made plain, in a form that the feature takes; a ValueError if it is none.

    >>> restored_value(Bytes(), "YWJj")
    b'abc'
    >>> restored_value(Tensor("float32", (None,)), [0.5, "-Infinity"])
    [0.5, -inf]
    """
    if plain is None:
        return None
    if isinstance(feature, Scalar):
        return _restored_numbers(plain, feature.dtype, ())
    if isinstance(feature, (Bytes, EncodedFeature)):
        return _decoded(plain) if isinstance(plain, str) else [_decoded(one) for one in plain]
    if isinstance(feature, Tensor):
        if isinstance(plain, dict):
            return np.zeros(plain["shape"], feature.dtype)
        return _restored_numbers(plain, feature.dtype, feature.shape)
    if isinstance(feature, Sparse):
        return plain["indices"], _restored_words(plain["values"])
    if isinstance(feature, Packed):
        return {
            name: _restored_numbers(plain[name], np.dtype(dtype), shape)
            for name, (dtype, shape) in feature.parts.items()
        }
    if isinstance(feature, (Steps, Sequence)):
        return [restored_value(feature.feature, step) for step in plain]
    return plain


def plain_column(feature: Feature, column: Any, rows: int) -> list[Any]:
    """Return all rows of a column as plain JSON.

    >>> plain_column(Scalar("int64", optional=True), np.ma.array([1, 2], mask=[False, True]), 2)
    [1, None]
    """
    if isinstance(feature, Scalar) and isinstance(column, np.ndarray):
        values: list[Any] = _plain_numbers(np.ma.getdata(column))
        for row in np.flatnonzero(np.ma.getmaskarray(column)).tolist():
            values[row] = None
        return values
    return [plain_value(feature, feature.row(column, row)) for row in range(rows)]


def _plain_numbers(array: Array) -> Any:
    kind = array.dtype.kind
    if kind == "c":
        return _plain_numbers(np.stack([array.real, array.imag], axis=-1))
    if kind != "f":
        return array.tolist()
    doubles = array.astype(np.float64)
    if array.dtype.itemsize < doubles.dtype.itemsize:
        with np.errstate(over="ignore"):
            short = array.astype(str).astype(np.float64)  # as few digits as bring the value back
            doubles = np.where(short.astype(array.dtype) == array, short, doubles)
    if np.isfinite(doubles).all():
        return doubles.tolist()
    return _with_words(doubles.tolist())


def _with_words(plain: Any) -> Any:
    if isinstance(plain, list):
        return [_with_words(one) for one in plain]
    if plain != plain:  # noqa: PLR0124 - NaN
        return "NaN"
    return "Infinity" if plain == float("inf") else "-Infinity" if plain == -float("inf") else plain


def _restored_words(plain: Any) -> Any:
    if isinstance(plain, list):
        if not any(isinstance(one, (str, list)) for one in plain):
            return plain
        return [_restored_words(one) for one in plain]
    return float(plain) if isinstance(plain, str) else plain


def _restored_numbers(plain: Any, dtype: np.dtype[Any], declared: tuple[int | None, ...]) -> Any:
    numbers = _restored_words(plain)
    if dtype.kind != "c":
        return numbers
    shape = _shape(numbers, declared)
    pairs = np.asarray(numbers, np.float32 if dtype.itemsize == 8 else np.float64).reshape(*shape, 2)
    return np.ascontiguousarray(pairs).view(dtype)[..., 0]


def _shape(nested: Any, declared: tuple[int | None, ...]) -> tuple[int, ...]:
    """Return the shape of nested lists; inside an empty list, only the declared sizes are known."""
    shape: list[int] = []
    for size in declared:
        shape.append((size or 0) if nested is None else len(nested))
        nested = nested[0] if nested else None
    return tuple(shape)


def _encoded(value: bytes) -> str:
    return base64.b64encode(value).decode("ascii")


def _decoded(plain: Any) -> bytes:
    if not isinstance(plain, str):
        raise ValueError(f"It is {type(plain).__name__}, not base64.")  # noqa: TRY004 - about the data
    try:
        return base64.b64decode(plain, validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("It is not base64.") from None
