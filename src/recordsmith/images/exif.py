"""Reads the orientation of an image from its EXIF data."""

from __future__ import annotations

import struct

__all__ = ["read_orientation"]

_ORIENTATION_TAG = 0x0112
_SHORT = 3


def read_orientation(tiff: bytes) -> int:
    """Return the orientation that EXIF data holds, 1 to 8; 1, upright, where it holds none or makes no sense.

    Args:
        tiff: the EXIF data from its byte order mark on.

    >>> read_orientation(b"II*" + bytes([0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0]))
    6
    >>> read_orientation(b"nothing of the kind")
    1
    """
    order = {b"II*\0": "<", b"MM\0*": ">"}.get(tiff[:4])
    if order is None:
        return 1
    try:
        (directory,) = struct.unpack_from(order + "I", tiff, 4)
        (entries,) = struct.unpack_from(order + "H", tiff, directory)
        for entry in range(entries):
            at = directory + 2 + 12 * entry
            tag, kind, count = struct.unpack_from(order + "HHI", tiff, at)
            if tag == _ORIENTATION_TAG:
                (value,) = struct.unpack_from(order + "H", tiff, at + 8)
                return int(value) if kind == _SHORT and count == 1 and 1 <= value <= 8 else 1
    except struct.error:  # an offset that leads outside
        pass
    return 1
