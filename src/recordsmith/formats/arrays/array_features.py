"""The features that arrays become, and the values that these take."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from recordsmith.errors import SchemaError, did_you_mean, list_names
from recordsmith.formats.arrays.stored_arrays import Array, MemberStream, StoredArray
from recordsmith.formats.tables.columns import (
    EXACT_IN_FLOAT32,
    MOST_CLASSES,
    label_feature,
    number_feature,
    stripped,
    too_many_classes,
)
from recordsmith.formats.tables.loading import numbers_are_names
from recordsmith.formats.tables.options import TableOptions
from recordsmith.formats.tables.times import UNITS, duration_feature, short_fraction
from recordsmith.schema import Bytes, Feature, Label, Text

__all__ = ["Column", "blocks", "bytes_per_row", "feature_of", "values_for"]

_BLOCK_BYTES = 8 << 20

Column = Array | StoredArray


def feature_of(name: str, parts: Sequence[Column], options: TableOptions) -> Feature:
    """Return the feature of an array, from its dtype, its shape and what the caller said about it.

    Args:
        name: that of the array.
        parts: the array in each split.
        options: what the caller said.
    """
    column = parts[0]
    _check_same(parts)
    dtype = np.dtype(column.dtype)
    shape = tuple(column.shape[1:])
    hint = options.hint(name)
    if hint == "label" and dtype.kind != "f":
        if shape not in ((), (1,)):
            raise SchemaError("A label must be one value per row.", found=f"an array of shape {column.shape}")
        return _label(parts, strip=options.strip)
    if dtype.kind in "USTOM" or hint in ("text", "bytes"):
        return _strings(parts, shape, hint)
    if dtype.kind == "m" and not shape and np.datetime_data(dtype)[0] in UNITS:
        gaps = any(bool(np.isnat(block).any()) for part in parts for block in blocks(part))
        return duration_feature(np.datetime_data(dtype)[0], optional=gaps)
    if dtype.kind not in "biufc":
        raise SchemaError("Arrays of this dtype cannot be stored in a TFRecord.", found=str(dtype))
    optional = any(isinstance(part, np.ma.MaskedArray) and bool(np.ma.getmaskarray(part).any()) for part in parts)
    if hint is not None and hint != "label":
        return number_feature(np.dtype(hint), shape, optional=optional)
    if dtype.name == "float64":
        if options.floats != "auto":
            dtype = np.dtype(options.floats)
        elif not any(map(_has_large, parts)):
            dtype = np.dtype("float32")
    elif dtype.kind == "f" and dtype.itemsize > 8:
        raise SchemaError("Floats of more than 64 bits cannot be stored.", found=str(dtype))
    return number_feature(dtype.newbyteorder("="), shape, optional=optional)


def values_for(part: Array, feature: Feature, *, strip: bool = False) -> Any:
    """Return a part of an array in a form that the feature takes."""
    if isinstance(feature, Label) and part.ndim == 2:
        part = part.reshape(len(part))
    if part.dtype.kind == "m":
        return np.ma.MaskedArray(part.astype(np.int64), mask=np.isnat(part))
    if part.dtype.kind == "M":
        return [None if np.isnat(value) else short_fraction(str(value)) for value in part]
    if isinstance(feature, Label) and part.dtype.kind in "iu" and numbers_are_names(feature):
        return [str(value) for value in part.tolist()]
    if isinstance(feature, Label) and strip and part.dtype.kind in "OSUT":
        return [value.strip() if isinstance(value, (str, bytes)) else value for value in part.tolist()]
    if isinstance(feature, Label) and part.dtype.kind == "b":
        return part.astype(np.int64)
    return part


def blocks(column: Column) -> Iterator[Array]:
    """Give an array in parts of bounded size."""
    at_once = max(1, _BLOCK_BYTES // max(1, bytes_per_row(column)))
    if isinstance(column, StoredArray) and column.offset is None:
        stream = MemberStream(column)
        for start in range(0, column.shape[0], at_once):
            yield stream.next(min(at_once, column.shape[0] - start))
        return
    for start in range(0, column.shape[0], at_once):
        stop = min(start + at_once, column.shape[0])
        yield column.rows(start, stop) if isinstance(column, StoredArray) else column[start:stop]


def bytes_per_row(column: Column) -> int:
    """Return the size of an entry; of Python objects, a guess."""
    if isinstance(column, StoredArray):
        return column.row_bytes
    return int(column.nbytes // max(1, len(column))) if column.dtype.kind != "O" else 64


def _has_large(column: Column) -> bool:
    for block in blocks(column):
        magnitudes = np.abs(block)
        if bool((magnitudes[np.isfinite(magnitudes)] >= EXACT_IN_FLOAT32).any()):
            return True
    return False


def _check_same(parts: Sequence[Column]) -> None:
    """Refuse an array that is of another kind in another split."""
    kinds = {(np.dtype(part.dtype).kind, np.dtype(part.dtype).itemsize, tuple(part.shape[1:])) for part in parts}
    if len({(kind, 0 if kind in "USO" else size, shape) for kind, size, shape in kinds}) > 1:
        found = [f"{np.dtype(part.dtype)} of shape {tuple(part.shape[1:])}" for part in parts]
        raise SchemaError("The array differs from split to split.", found=", ".join(dict.fromkeys(found)))


def _label(parts: Sequence[Column], *, strip: bool) -> Feature:
    classes: set[str] = set()
    for block in (block for part in parts for block in blocks(part)):
        values = np.unique(block) if block.dtype.kind != "O" else set(block.tolist())
        words = (value.item() if isinstance(value, np.generic) else value for value in values)
        classes |= {word.decode() if isinstance(word, bytes) else str(word) for word in words}
        if len(classes) > MOST_CLASSES:
            raise too_many_classes()
    if np.dtype(parts[0].dtype).kind == "b":
        return Label(["false", "true"])
    return label_feature(stripped(classes) if strip else classes, optional=False)


def _strings(parts: Sequence[Column], shape: tuple[int, ...], hint: str | None) -> Feature:
    dtype = np.dtype(parts[0].dtype)
    if len(shape) > 1:
        raise SchemaError("Strings have at most one dimension.", found=f"an array of shape {parts[0].shape}")
    optional = False
    text = dtype.kind in "UTM"
    if dtype.kind == "O":
        kinds = {type(value) for part in parts for block in blocks(part) for value in block.reshape(-1).tolist()}
        optional = type(None) in kinds
        kinds.discard(type(None))
        text = kinds == {str}
        if not text and kinds != {bytes}:
            names = sorted(kind.__name__ for kind in kinds)
            raise SchemaError(
                "An array of Python objects may hold only str or bytes.",
                found=list_names(names) + did_you_mean(names[0] if names else "", ("str", "bytes")),
                advice="Give rows of different lengths with rs.sources.rows, or pass a schema that declares them.",
            )
    if hint == "text" or (text and hint != "bytes"):
        return Text(shape, optional=optional)
    return Bytes(shape, optional=optional)
