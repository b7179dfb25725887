"""Reads numpy's file format without trusting the header: no code is run, and no memory is allocated for it."""

from __future__ import annotations

import io
import struct
import tokenize
from dataclasses import dataclass
from math import prod
from typing import IO, Any

import numpy as np
import numpy.typing as npt

__all__ = ["NpyHeader", "array_of_bytes", "read_header"]

_MOST_EMPTY_ROWS = 1_000_000
_LARGEST_ROW = 2**31 - 1  # bytes: no record holds more
_MOST_DIMENSIONS = 32


@dataclass(frozen=True, slots=True)
class NpyHeader:
    """What the header of a `.npy` array says.

    Attributes:
        dtype: the type of the values.
        shape: the first size is the number of rows.
        fortran: the first index varies fastest.
    """

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    fortran: bool

    @property
    def size(self) -> int:
        """How many bytes the values take."""
        return self.dtype.itemsize * prod(self.shape)


def read_header(stream: IO[bytes]) -> NpyHeader:
    """Read a header up to where the values begin, or raise a ValueError that says what is wrong with it.

    >>> stream = io.BytesIO()
    >>> np.save(stream, np.zeros((3, 2)))
    >>> _ = stream.seek(0)
    >>> read_header(stream).shape
    (3, 2)
    >>> read_header(io.BytesIO(b"PK"))
    Traceback (most recent call last):
    ValueError: This is not a complete array in numpy's format.
    """
    try:
        version = np.lib.format.read_magic(stream)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, fortran, dtype = read(stream)
        header = NpyHeader(dtype, tuple(int(size) for size in shape), bool(fortran))
    except (
        *(ValueError, TypeError, SyntaxError, OverflowError, EOFError, AttributeError, IndexError, KeyError),
        *(RecursionError, MemoryError, struct.error, tokenize.TokenError),
    ) as error:
        if "Object arrays" in str(error):
            raise ValueError(_OBJECTS) from None
        raise ValueError("This is not a complete array in numpy's format.") from None
    if header.dtype.hasobject:
        raise ValueError(_OBJECTS)
    row_bytes = header.dtype.itemsize * prod(header.shape[1:])
    if min(header.shape, default=0) < 0 or len(header.shape) > _MOST_DIMENSIONS or row_bytes > _LARGEST_ROW:
        raise ValueError(f"The header has an impossible shape: {_short(header.shape)} of {header.dtype}.")
    if header.shape and not row_bytes and header.shape[0] > _MOST_EMPTY_ROWS:
        raise ValueError(f"The header has a shape without any values: {_short(header.shape)} of {header.dtype}.")
    return header


_OBJECTS = "The array contains Python objects. Reading them needs pickle, which could run code from the file."


def array_of_bytes(data: bytes) -> npt.NDArray[Any]:
    """Return the array in the bytes of a `.npy` file, or raise a ValueError that says what is wrong with them.

    >>> stream = io.BytesIO()
    >>> np.save(stream, np.arange(3))
    >>> array_of_bytes(stream.getvalue()).tolist()
    [0, 1, 2]
    """
    stream = io.BytesIO(data)
    header = read_header(stream)
    start = stream.tell()
    if len(data) - start != header.size:
        raise ValueError(f"The array has {len(data) - start} bytes, but its header says {header.size}.")
    flat: npt.NDArray[Any] = np.frombuffer(data, header.dtype, prod(header.shape), start)
    return flat.reshape(header.shape, order="F" if header.fortran else "C")


def _short(shape: tuple[int, ...]) -> str:
    text = str(shape)
    return text if len(text) <= 60 else f"{text[:57]}..."
