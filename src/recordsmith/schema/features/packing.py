"""Numbers whose bytes are compressed, or cut to bfloat16, as TensorFlow Datasets stores some."""

from __future__ import annotations

import zlib
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.columns.offset_column import offsets_of
from recordsmith.errors import EncodeError, SchemaMismatchError
from recordsmith.schema.input.casting import cast_exactly

__all__ = ["packed", "unpacked"]

_MOST_BYTES = 1 << 30  # of a row of any length


def packed(row: npt.NDArray[Any], how: str, number: int, cast: Any) -> bytes:
    """Return the numbers of a row as they are stored; a loss has to be asked for."""
    if how == "zlib":
        return zlib.compress(row.tobytes())
    bits = np.ascontiguousarray(row, np.float32).reshape(-1).view(np.uint32)
    if cast is cast_exactly and (bits & np.uint32(0xFFFF)).any():
        raise EncodeError(
            "A float32 does not fit into bfloat16 without loss.",
            row=number,
            found=float(row.reshape(-1)[int(np.argmax((bits & np.uint32(0xFFFF)) != 0))]),
            advice="Round the values first, or allow the loss with cast=True.",
        )
    # To the nearest, and of two to the even one; NaN stays what it is.
    rounded = bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    kept = np.where(np.isnan(row.reshape(-1)), bits | np.uint32(0x400000), rounded) >> np.uint32(16)
    return kept.astype(np.uint16).tobytes()


def unpacked(
    data: npt.NDArray[np.uint8],
    offsets: npt.NDArray[np.int64],
    how: str,
    size: int | None,
    present: npt.NDArray[np.bool_] | None,
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Return the bytes of all rows as they were before, and where each begins; absent rows become zeros."""
    rows = []
    for row, (begin, end) in enumerate(pairwise(offsets.tolist())):
        if present is not None and not present[row]:
            rows.append(bytes(size or 0))
            continue
        stored = data[begin:end].tobytes()
        found = _inflated(stored, row, size) if how == "zlib" else _widened(stored, row)
        if size not in (None, len(found)):
            raise SchemaMismatchError(
                f"Row {row} of the batch does not match the feature's shape.",
                row=row,
                found=f"{len(found)} bytes",
                expected=f"{size} bytes",
            )
        rows.append(found)
    return np.frombuffer(bytearray(b"".join(rows)), np.uint8), offsets_of([len(row) for row in rows])


def _inflated(stored: bytes, row: int, size: int | None) -> bytes:
    limit = _MOST_BYTES if size is None else size
    stream = zlib.decompressobj()
    try:
        found = stream.decompress(stored, limit + 1)
    except zlib.error as error:
        raise SchemaMismatchError(
            f"Row {row} of the batch is not compressed with zlib.", row=row, found=str(error)
        ) from None
    if len(found) > limit or not stream.eof:
        words = f"more than {limit:,} bytes" if len(found) > limit else f"{len(found):,} bytes, which end too early"
        raise SchemaMismatchError(f"Row {row} of the batch does not match the feature's shape.", row=row, found=words)
    return found


def _widened(stored: bytes, row: int) -> bytes:
    if len(stored) % 2:
        raise SchemaMismatchError(
            f"Row {row} of the batch does not match the feature's shape.",
            row=row,
            found=f"{len(stored)} bytes",
            expected="a multiple of 2, for bfloat16",
        )
    return (np.frombuffer(stored, np.uint16).astype(np.uint32) << np.uint32(16)).tobytes()
