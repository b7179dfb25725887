"""Pseudo-random numbers that depend on a seed and a row alone, on every machine and in any order of work.

Every random choice of `make` (which split, which rows are repeated, which order) is made by sorting rows by such a
number. No generator is advanced from row to row, so nothing depends on how the work was divided.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["Uint64s", "priorities", "stream_key"]

Uint64s: TypeAlias = npt.NDArray[np.uint64]

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


@lru_cache(maxsize=1024)
def stream_key(seed: int, purpose: str) -> int:
    """Return the 64-bit key of one kind of choice, so that the choices of one seed have nothing to do with each other.

    >>> stream_key(0, "split") != stream_key(0, "order") != stream_key(1, "order")
    True
    """
    digest = hashlib.blake2b(f"{seed}/{purpose}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def priorities(keys: Uint64s, stream: int) -> Uint64s:
    """Return a uniform 64-bit number for each key: splitmix64, twice, so that neither key nor stream shows through.

    Different keys never get the same number.

    >>> numbers = priorities(np.arange(5, dtype=np.uint64), stream_key(0, "order"))
    >>> len(np.unique(numbers)), numbers.dtype
    (5, dtype('uint64'))
    """
    with np.errstate(over="ignore"):
        return _mixed(_mixed(keys.astype(np.uint64, copy=False)) ^ np.uint64(stream))


def _mixed(numbers: Uint64s) -> Uint64s:
    """One step of splitmix64: a permutation of the 64-bit numbers."""
    mixed = numbers + _STEP
    mixed = (mixed ^ (mixed >> np.uint64(30))) * _FIRST
    mixed = (mixed ^ (mixed >> np.uint64(27))) * _SECOND
    return mixed ^ (mixed >> np.uint64(31))
