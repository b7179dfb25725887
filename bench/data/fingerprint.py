"""A fingerprint of columns that does not depend on the order of the records.

It tells whether two engines delivered the same values: for each feature the number of values, and the sum of their bit
patterns modulo 2**64, which is exact for floats too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bench.data.datasets import Columns

Fingerprint = dict[str, list[int]]

_WRAP = 2**64
_BITS = {1: np.uint8, 4: np.uint32, 8: np.uint64}


def fingerprint(columns: Columns) -> Fingerprint:
    """The fingerprint of some records' columns."""
    return {name: [int(column.values.size), _bit_sum(column.values)] for name, column in columns.items()}


def add(left: Fingerprint, right: Fingerprint) -> Fingerprint:
    """The fingerprint of both sets of records together."""
    if not left:
        return right
    return {name: [left[name][0] + right[name][0], (left[name][1] + right[name][1]) % _WRAP] for name in left}


def difference(found: Fingerprint, expected: Fingerprint) -> str | None:
    """What differs, in words; None where nothing does."""
    if found.keys() != expected.keys():
        return f"features {sorted(found)} instead of {sorted(expected)}"
    for name, (count, total) in expected.items():
        if found[name][0] != count:
            return f"feature {name!r} has {found[name][0]:,} values instead of {count:,}"
        if found[name][1] != total:
            return f"feature {name!r} has other values than were written"
    return None


def _bit_sum(values: NDArray[Any]) -> int:
    flat = np.ascontiguousarray(values).reshape(-1)
    return int(flat.view(_BITS[flat.dtype.itemsize]).sum(dtype=np.uint64))
