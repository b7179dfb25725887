"""Pictures told by their first bytes: which format, and how large."""

from __future__ import annotations

import struct
from dataclasses import dataclass

__all__ = ["ImageHeader", "read_image_header"]


@dataclass(frozen=True, slots=True)
class ImageHeader:
    """What a picture's header says.

    >>> ImageHeader("PNG", 32, 24)
    ImageHeader(format='PNG', width=32, height=24)
    """

    format: str
    width: int
    height: int


def read_image_header(data: bytes) -> ImageHeader | None:
    """Tell a JPEG, PNG, GIF, WebP or BMP picture from its header; None for anything else, or a header that is cut.

    >>> read_image_header(b"GIF89a" + bytes([32, 0, 24, 0, 0, 0, 0]))
    ImageHeader(format='GIF', width=32, height=24)
    >>> read_image_header(b"plain text") is None
    True
    """
    try:
        if data.startswith(b"\xff\xd8\xff"):
            return _jpeg(data)
        if data.startswith(b"\x89PNG\r\n\x1a\n") and data[12:16] == b"IHDR":
            return ImageHeader("PNG", *struct.unpack_from(">II", data, 16))
        if data.startswith((b"GIF87a", b"GIF89a")):
            return ImageHeader("GIF", *struct.unpack_from("<HH", data, 6))
        if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
            return _webp(data)
        if data.startswith(b"BM") and len(data) >= 26:
            return _bmp(data)
    except struct.error:  # the header ends early
        return None
    return None


def _jpeg(data: bytes) -> ImageHeader | None:
    """Walk over the segments to the one that starts a frame, which has the size."""
    at = 2
    while data[at : at + 1] == b"\xff":
        marker = data[at + 1] if at + 1 < len(data) else 0
        if marker == 0xFF:  # padding
            at += 1
        elif marker in (0x01, *range(0xD0, 0xD8)):  # markers without a length
            at += 2
        elif 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack_from(">HH", data, at + 5)
            return ImageHeader("JPEG", width, height)
        elif marker in (0x00, 0xD9, 0xDA):  # the end, or the pixels, before any size
            return None
        else:
            (length,) = struct.unpack_from(">H", data, at + 2)
            at += 2 + max(2, length)
    return None


def _webp(data: bytes) -> ImageHeader | None:
    kind = data[12:16]
    if kind == b"VP8 " and data[23:26] == b"\x9d\x01\x2a":
        width, height = struct.unpack_from("<HH", data, 26)
        return ImageHeader("WebP", width & 0x3FFF, height & 0x3FFF)
    if kind == b"VP8L" and data[20:21] == b"\x2f":
        (bits,) = struct.unpack_from("<I", data, 21)
        return ImageHeader("WebP", (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
    if kind == b"VP8X":
        low_width, high_width, low_height, high_height = struct.unpack_from("<HBHB", data, 24)
        return ImageHeader("WebP", (low_width | high_width << 16) + 1, (low_height | high_height << 16) + 1)
    return None


def _bmp(data: bytes) -> ImageHeader | None:
    (header,) = struct.unpack_from("<I", data, 14)
    if header == 12:  # the oldest form
        return ImageHeader("BMP", *struct.unpack_from("<HH", data, 18))
    if header not in (40, 52, 56, 64, 108, 124):
        return None  # text that begins with BM
    width, height = struct.unpack_from("<ii", data, 18)
    return ImageHeader("BMP", width, abs(height))  # a negative height means rows from the top
