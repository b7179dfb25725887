"""Pixels as a PNG file, without OpenCV: reports and terminals show pixels without it too."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np

__all__ = ["png_bytes"]

_COLOUR_TYPES = {1: 0, 3: 2, 4: 6}  # by channels: grey, colour, colour with alpha


def png_bytes(pixels: np.ndarray[Any, Any]) -> bytes:
    """Return uint8 pixels of (height, width, 1, 3 or 4) as a PNG."""
    height, width, channels = pixels.shape
    rows = np.ascontiguousarray(pixels, np.uint8).reshape(height, width * channels)
    raw = np.concatenate([np.zeros((height, 1), np.uint8), rows], axis=1).tobytes()
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, _COLOUR_TYPES[channels], 0, 0, 0)),
        (b"IDAT", zlib.compress(raw)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in chunks
    )
