"""What the readers of scans have in common: an array with its exact values, bounded, and some facts next to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["Scan", "ScanError", "ScanShape", "check_size"]

_MOST_BYTES = 1 << 30  # of the pixels of a file: a record has at most 2 GiB
_KINDS = "biufc"


class ScanError(Exception):
    """What is wrong with a file, in one sentence."""


@dataclass(frozen=True, slots=True)
class ScanShape:
    """What the header of a file says: the shape and the dtype of its pixels."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]


@dataclass(frozen=True, slots=True)
class Scan:
    """The content of a file.

    Attributes:
        pixels: the values as they are stored.
        facts: other values by feature name; None for what the file does not say.
    """

    pixels: npt.NDArray[Any]
    facts: dict[str, Any] = field(default_factory=dict)


def check_size(shape: tuple[int, ...], dtype: np.dtype[Any]) -> ScanShape:
    """Return a shape that a file claims, or refuse it before memory is taken for it.

    >>> import numpy as np
    >>> check_size((50_000, 50_000), np.dtype("uint16"))
    Traceback (most recent call last):
    recordsmith.formats.scans.scan.ScanError: It says that it has 50000×50000 values of uint16: 5,000,000,000 bytes. ...
    """
    if not shape or any(size < 1 for size in shape) or len(shape) > 8:
        raise ScanError(f"It has no pixels, or its sizes are wrong: {'×'.join(map(str, shape[:12])) or 'none'}.")
    native = dtype.newbyteorder("=")
    if native.kind not in _KINDS or native.name in ("float128", "complex256"):
        raise ScanError(f"Its pixels are of the dtype {dtype}, which cannot be stored.")
    size = prod(shape) * native.itemsize
    if size > _MOST_BYTES:
        words = "×".join(map(str, shape))
        raise ScanError(
            f"It says that it has {words} values of {native}: {size:,} bytes. The limit is {_MOST_BYTES:,}."
        )
    return ScanShape(tuple(int(one) for one in shape), native)
