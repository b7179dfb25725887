"""Bytes that were read as another type than they were written as.

`tf.io.decode_raw(x, tf.float32)` of pixels, or of float64 or int64 numbers, raises nothing: it gives numbers whose
exponents are spread over everything that a float can hold, or that are smaller than any normal number. Read as whole
numbers, floats show their sign and exponent in the same byte of every value.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.doctor.diagnose.observing.batch import Values

__all__ = ["bits_of"]

Array = npt.NDArray[Any]
_LOOKED_AT = 200_000
_ENOUGH = 64


def bits_of(parts: list[Values]) -> str:
    """Say what a column's values seem to be really; empty where nothing speaks for another type.

    >>> pixels = np.random.default_rng(0).integers(0, 256, (8, 256)).astype(np.uint8)
    >>> bits_of([np.frombuffer(pixels.tobytes(), np.float32).reshape(8, -1)])
    'bytes, such as pixels, read as float32'
    >>> bits_of([pixels.astype(np.float32) / 255])
    ''
    """
    dense = [part for part in parts if isinstance(part, np.ndarray)]
    if not dense or any(part.dtype != dense[0].dtype for part in dense):
        return ""
    flat = np.concatenate([part.ravel() for part in dense])[:_LOOKED_AT]
    if flat.size < _ENOUGH:
        return ""
    kind = flat.dtype.kind
    if kind == "f":
        return _as_floats(flat)
    if kind in "iu" and flat.dtype.itemsize >= 4:
        return _as_whole_numbers(flat)
    if flat.dtype == np.uint8 and all(part.ndim >= 2 and part[0].size % 4 == 0 for part in dense):
        return _as_bytes(flat)
    return ""


def _as_floats(flat: Array) -> str:
    nonzero = flat[(flat != 0) & np.isfinite(flat)]
    if nonzero.size < _ENOUGH // 4:
        return ""
    name = flat.dtype.name
    size = np.abs(nonzero)
    tiny = float((size < np.finfo(flat.dtype).tiny).mean())
    if tiny > 0.5:
        return f"whole numbers, such as int64 or int32, read as {name}"
    if flat.dtype == np.float16:
        return ""
    if flat.dtype == np.float32 and _are_halves(flat):
        return "float64 numbers read as float32"
    far = float(((size > 1e20) | (size < 1e-20)).mean())
    if far < 0.1:
        return ""
    if flat.dtype == np.float32:
        words = flat.size // 2 * 2
        pairs = flat[:words].reshape(-1, 2)
        ordinary = [_ordinary(pairs[:, place]) for place in (0, 1)]
        if max(ordinary) > 0.95 and min(ordinary) < 0.75:
            return "float64 numbers read as float32"
    return f"bytes, such as pixels, read as {name}"


def _are_halves(flat: Array) -> bool:
    """Whether every second value is the lower half of a float64 that was a float32 before: only 3 bits of it vary."""
    lower, upper = np.ascontiguousarray(flat[: flat.size // 2 * 2]).view(np.uint32).reshape(-1, 2).T
    if (lower & 0x1FFF_FFFF).any() or not (lower == 0x2000_0000).any():
        return False
    return len(np.unique(lower)) > 3 and len(np.unique(upper)) > 8


def _ordinary(values: Array) -> float:
    """Return the share of values that are finite and of an ordinary size."""
    size = np.abs(values)
    return float((np.isfinite(values) & ((values == 0) | ((size > 1e-6) & (size < 1e6)))).mean())


def _as_whole_numbers(flat: Array) -> str:
    floats = np.ascontiguousarray(flat).view(np.float32 if flat.dtype.itemsize == 4 else np.float64)
    wide = np.abs(flat.astype(np.float64))
    large = 2.0**24 if flat.dtype.itemsize == 4 else 2.0**53
    nonzero = wide > 0
    if not nonzero.any() or float((wide[nonzero] > large).mean()) < 0.9:
        return ""
    if len(np.unique(flat)) < 8 or _ordinary(floats) < 0.98:
        return ""
    return f"{floats.dtype.name} numbers read as {flat.dtype.name}"


def _as_bytes(flat: Array) -> str:
    """Tell numbers of 4 or 8 bytes read byte by byte: the byte of the exponent hardly varies, the others do."""
    for size, name in ((8, "int64"), (4, "int32")):
        count = flat.size // size
        lanes = flat[: count * size].reshape(count, size)
        if (lanes[:, size // 2 :] == 0).mean() > 0.99 and len(np.unique(lanes[:, 0])) > 1 and (lanes[:, 0] > 0).any():
            return f"{name} numbers read as uint8" if (lanes[:, 0] > 0).mean() > 0.2 else ""
    count = flat.size // 4
    lanes = flat[: count * 4].reshape(count, 4)
    top = lanes[:, 3]
    exponents = float(np.isin(top & 0x7F, (0x00, 0x3A, 0x3B, 0x3C, 0x3D, 0x3E, 0x3F, 0x40, 0x41)).mean())
    varied = [len(np.unique(lanes[:, place])) for place in range(4)]
    if exponents > 0.99 and (top > 0).mean() > 0.5 and varied[3] <= 18 and varied[0] > 64 and varied[1] > 64:
        return "float32 numbers read as uint8"
    return ""
