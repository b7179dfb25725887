"""Unpickles arrays, texts, numbers and plain containers, and nothing else: no code of a file is run.

The classes that an array is pickled with are replaced by two of our own, which only remember what they are given. The
unpickler in pure Python is used: the one in C allocates memory for numbers that a file only claims.
"""

from __future__ import annotations

import io
import pickle
from typing import Any

import numpy as np

__all__ = ["unpickled"]

_DTYPES = frozenset("biufSU")


class _DType:
    """Stands for numpy.dtype in a pickle."""

    def __init__(self, name: Any, *_: Any) -> None:
        self.name = name
        self.order: Any = "|"

    def __setstate__(self, state: Any) -> None:
        self.order = state[1]

    def dtype(self) -> np.dtype[Any]:
        """Return the dtype, or raise a ValueError for one that is not plain."""
        found = np.dtype(str(self.name)).newbyteorder("=" if self.order not in ("<", ">") else self.order)
        if found.kind not in _DTYPES or found.hasobject:
            raise ValueError(f"an array of {found}")
        return found


class _Array:
    """Stands for numpy.ndarray in a pickle."""

    def __init__(self, *_: Any) -> None:
        self.state: Any = None

    def __setstate__(self, state: Any) -> None:
        self.state = state

    def array(self) -> np.ndarray[Any, Any]:
        """Return the array."""
        _, shape, dtype, fortran, data = self.state
        raw = data.encode("latin-1") if isinstance(data, str) else data
        if not isinstance(dtype, _DType) or not isinstance(raw, bytes):
            raise ValueError("an array that is not plain")  # noqa: TRY004 - about the data
        return np.frombuffer(raw, dtype.dtype()).reshape(shape, order="F" if fortran else "C")


def _encoded(text: Any, encoding: Any = "latin1", *_: Any) -> bytes:
    """Stand for _codecs.encode, by which old protocols write bytes."""
    if not isinstance(text, str) or encoding != "latin1":
        raise pickle.UnpicklingError("a codec")
    return text.encode("latin-1")


def _from_buffer(data: Any, dtype: Any, shape: Any, order: Any, *_: Any) -> _Array:
    """Stand for numpy._core.numeric._frombuffer, by which protocol 5 writes arrays."""
    found = _Array()
    found.state = (1, shape, dtype, order == "F", bytes(data) if isinstance(data, bytearray) else data)
    return found


_KNOWN: dict[tuple[str, str], Any] = {
    ("numpy", "ndarray"): _Array,
    ("numpy", "dtype"): _DType,
    ("numpy.core.multiarray", "_reconstruct"): _Array,
    ("numpy._core.multiarray", "_reconstruct"): _Array,
    ("numpy.core.numeric", "_frombuffer"): _from_buffer,
    ("numpy._core.numeric", "_frombuffer"): _from_buffer,
    ("_codecs", "encode"): _encoded,
}


class _PlainUnpickler(pickle._Unpickler):  # noqa: SLF001 - the one in pure Python
    def find_class(self, module: str, name: str) -> Any:
        """Return what stands for a class of numpy, or raise for any other."""
        try:
            return _KNOWN[module, name]
        except KeyError:
            raise pickle.UnpicklingError(f"the file asks for {module}.{name}, which is not run") from None


def unpickled(data: bytes) -> Any:
    """Return what a pickle of arrays and plain containers holds, or raise a ValueError that says what is wrong.

    >>> unpickled(pickle.dumps({b"labels": [1, 2]}))
    {'labels': [1, 2]}
    >>> unpickled(pickle.dumps(eval))
    Traceback (most recent call last):
    ValueError: the file asks for builtins.eval, which is not run
    """
    try:
        return _plain(_PlainUnpickler(io.BytesIO(data), encoding="latin-1").load(), 8)
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    except Exception as error:  # noqa: BLE001 - a damaged file leads the unpickler anywhere
        raise ValueError(str(error).partition("\n")[0] or type(error).__name__) from None


def _plain(value: Any, depth: int) -> Any:
    """Return a value with arrays as arrays, and texts instead of bytes."""
    if not depth:
        raise ValueError("it is nested too deep")
    if isinstance(value, _Array):
        return value.array()
    if isinstance(value, dict):
        return {_plain(key, depth - 1): _plain(inner, depth - 1) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner, depth - 1) for inner in value]
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if value is None or isinstance(value, (str, int, float)):
        return value
    raise ValueError(f"a {type(value).__name__}")
