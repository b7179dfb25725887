"""Some records of each chunk are decoded and compared with the rows that they were encoded from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from recordsmith import _core
from recordsmith.errors import RecordsmithError
from recordsmith.making.chunk_rows import ChunkRows, shown
from recordsmith.run.staging.encoded_chunk import EncodedChunk
from recordsmith.schema import Schema
from recordsmith.schema.native import compile_plan

__all__ = ["check_round_trip"]

_CHECKED_ROWS = 3  # of each chunk


def check_round_trip(
    schema: Schema, encoded: EncodedChunk, rows: ChunkRows, kept: list[int] | None, *, cast: bool
) -> None:
    """Decode some records and compare them with their rows, value by value."""
    count = encoded.rows
    sample = sorted({0, count // 2, count - 1})[:_CHECKED_ROWS] if count else []
    for number in sample:
        part = encoded.offsets[number : number + 2]
        decoded = schema.assemble(_core.decode_frames(compile_plan(schema), encoded.frames, np.ascontiguousarray(part)))
        place = number if kept is None else kept[number]
        given = rows.mapping(place)
        for name, feature in schema.items():
            stored = feature.row(decoded[name], 0)
            if not _same(feature, given.get(name), stored, cast=cast):
                raise RecordsmithError(
                    "A record does not decode to the values that were encoded. This is a bug in recordsmith.",
                    path=rows.places.of(place if rows.mappings is None else rows.origins[place]),
                    feature=name,
                    found=shown(stored),
                    expected=shown(given.get(name)),
                    advice="Please report it, with the schema and the value.",
                )


def _same(feature: Any, given: Any, stored: Any, *, cast: bool) -> bool:
    canonical = feature.value_to_canonical(given, cast=cast)
    if canonical is None:  # absent: reads as None or as the default
        expected = None if feature.default is None else feature.value_to_canonical(feature.default)
        return stored is None if expected is None else _equal(feature.value_to_canonical(stored), expected)
    return stored is not None and _equal(feature.value_to_canonical(stored), canonical)


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(_equal, one, other))
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.dtype == other.dtype and one.tobytes() == other.tobytes()
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_equal(one[key], other[key]) for key in one)
    return bool(one == other)
