"""The keys of staged records: one entry of fixed size for each, by which records are divided and ordered."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.records.index import FRAMING_BYTES
from recordsmith.run.staging.encoded_chunk import Classes, EncodedChunk

__all__ = ["KEY", "class_codes", "key_entries"]

KEY = np.dtype(
    [
        ("offset", "<u8"),
        ("length", "<u4"),
        ("class", "<i4"),  # of the label
        ("digest", "<u8"),
        ("group", "<u8"),
        ("content", "<u8"),  # the digest of all but the label
        ("stratum", "<i4"),  # the class that is to have the same share in every split
        ("split", "<u4"),  # the place of the split that it came from, where splits are kept
    ]
)


def key_entries(chunk: EncodedChunk, start: int, classes: list[Any], strata: list[Any]) -> npt.NDArray[Any]:
    """Return the keys of a chunk whose records begin at an offset; classes that are new are added to the lists."""
    keys = np.zeros(chunk.rows, KEY)
    keys["offset"] = chunk.offsets[:-1] + np.uint64(start) if chunk.places is None else chunk.places
    keys["length"] = np.diff(chunk.offsets) - np.uint64(FRAMING_BYTES)
    keys["digest"] = chunk.digests
    keys["content"] = chunk.contents
    keys["split"] = chunk.split
    keys["class"] = class_codes(chunk.classes, classes)
    keys["stratum"] = class_codes(chunk.strata, strata)
    if chunk.groups is not None:
        keys["group"] = chunk.groups
    return keys


def class_codes(given: Classes, known: list[Any]) -> npt.NDArray[np.int32]:
    """Return the numbers of classes among all that are known; those that are new are added.

    >>> known = ["cat"]
    >>> class_codes(Classes(["dog", "cat"], np.array([0, 1, -1], np.int32)), known).tolist(), known
    ([1, 0, -1], ['cat', 'dog'])
    """
    numbers = {value: number for number, value in enumerate(known)}
    for value in given.values:
        if value not in numbers:
            numbers[value] = len(known)
            known.append(value)
    codes = np.array([numbers[value] for value in given.values] + [-1], np.int32)
    return codes[given.code_of]  # -1 takes the last entry, which is -1
