"""The names of compressions, as recordsmith and TensorFlow spell them."""

from __future__ import annotations

from recordsmith.errors import CompressionError, did_you_mean

__all__ = ["reading_compression", "writing_compression"]

_NAMES = {"none": "none", "": "none", "gzip": "gzip", "gz": "gzip", "zlib": "zlib"}


def reading_compression(name: str | None) -> str:
    """Return the core's name of a compression to read: "auto" stays, None and "" mean none.

    >>> reading_compression("GZIP"), reading_compression(None), reading_compression("auto")
    ('gzip', 'none', 'auto')
    """
    return "auto" if isinstance(name, str) and name.lower() == "auto" else writing_compression(name)


def writing_compression(name: str | None) -> str:
    """Return the core's name of a compression to write.

    >>> writing_compression("bz2")
    Traceback (most recent call last):
    recordsmith.errors.CompressionError: Unknown compression 'bz2'.
      expected: None, 'gzip' or 'zlib'
    """
    known = "none" if name is None else _NAMES.get(name.lower()) if isinstance(name, str) else None
    if known is None:
        raise CompressionError(
            f"Unknown compression {name!r}.{did_you_mean(str(name), ('gzip', 'zlib'))}",
            expected="None, 'gzip' or 'zlib'",
        )
    return known
