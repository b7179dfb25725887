"""Reads image headers: format, size, channels and orientation from the first bytes."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from recordsmith.images.exif import read_orientation

__all__ = ["FORMATS", "ImageHeader", "read_header"]

FORMATS = ("jpeg", "png", "webp", "bmp", "gif")

_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_EXIF_PREFIX = b"Exif\0\0"
# Per colour type of a PNG: grey, colour, palette, grey with alpha, colour with alpha.
_PNG_CHANNELS = {0: 1, 2: 3, 3: 3, 4: 2, 6: 4}


@dataclass(frozen=True, slots=True)
class ImageHeader:
    """What an image's header says.

    Attributes:
        format: one of FORMATS.
        height, width: as stored, before the orientation is applied.
        channels: what it decodes to when no number is asked for: 1 grey, 2 grey and alpha, 3 colour, 4 colour and
            alpha; 0 where the header is cut before it says so.
        orientation: the EXIF orientation, 1 to 8. From 5 on, height and width change places.
        bits: bits per channel.
        plain: stored in a way that every decoder understands. JPEGs in CMYK and BMPs with a palette are not: they
            decode to RGB here, and elsewhere to something else or not at all.

    >>> ImageHeader("png", 24, 32, 3).upright
    (24, 32)
    >>> ImageHeader("jpeg", 24, 32, 3, orientation=6).upright
    (32, 24)
    """

    format: str
    height: int
    width: int
    channels: int = 0
    orientation: int = 1
    bits: int = 8
    plain: bool = True

    @property
    def upright(self) -> tuple[int, int]:
        """The height and width once the orientation is applied."""
        return (self.width, self.height) if self.orientation > 4 else (self.height, self.width)

    @property
    def format_name(self) -> str:
        """The format as people write it: JPEG, WebP."""
        return "WebP" if self.format == "webp" else self.format.upper()

    @property
    def title(self) -> str:
        """The format and size in words, as messages say them.

        >>> ImageHeader("jpeg", 375, 500, 3).title
        'JPEG of 500×375'
        """
        return f"{self.format_name} of {self.width}×{self.height}"


def read_header(data: bytes) -> ImageHeader | None:
    """Tell a JPEG, PNG, WebP, BMP or GIF image from its bytes; None for anything else, or a header that is cut.

    The first part of a file is enough if it contains the header. Nothing is decoded.

    >>> read_header(b"GIF89a" + bytes([32, 0, 24, 0, 0, 0, 0]))
    ImageHeader(format='gif', height=24, width=32, channels=3, orientation=1, bits=8, plain=True)
    >>> read_header(b"plain text") is None
    True
    """
    try:
        if data.startswith(b"\xff\xd8\xff"):
            return _jpeg(data)
        if data.startswith(_PNG_SIGNATURE) and data[12:16] == b"IHDR":
            return _png(data)
        if data.startswith((b"GIF87a", b"GIF89a")):
            width, height = struct.unpack_from("<HH", data, 6)
            return ImageHeader("gif", height, width, 3)
        if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
            return _webp(data)
        if data.startswith(b"BM") and len(data) >= 26:
            return _bmp(data)
    except struct.error:  # the header ends early
        return None
    return None


def _jpeg(data: bytes) -> ImageHeader | None:
    """Walk over the segments to the one that starts a frame, which has the size; EXIF comes before it."""
    at = 2
    orientation = 1
    while data[at : at + 1] == b"\xff":
        marker = data[at + 1] if at + 1 < len(data) else 0
        if marker == 0xFF:  # padding
            at += 1
        elif marker in (0x01, *range(0xD0, 0xD8)):  # markers without a length
            at += 2
        elif 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            bits, height, width = struct.unpack_from(">BHH", data, at + 4)
            components = data[at + 9] if at + 9 < len(data) else 0
            channels = 3 if components == 4 else components
            return ImageHeader("jpeg", height, width, channels, orientation, bits, plain=components != 4)
        elif marker in (0x00, 0xD9, 0xDA):  # the end, or the pixels, before any size
            return None
        else:
            (length,) = struct.unpack_from(">H", data, at + 2)
            if marker == 0xE1 and data[at + 4 : at + 10] == _EXIF_PREFIX:
                orientation = read_orientation(data[at + 10 : at + 2 + length])
            at += 2 + max(2, length)
    return None


def _png(data: bytes) -> ImageHeader:
    width, height = struct.unpack_from(">II", data, 16)
    if len(data) < 26:
        return ImageHeader("png", height, width)
    bits, colour_type = data[24], data[25]
    channels = _PNG_CHANNELS.get(colour_type, 0)
    orientation = 1
    at = 33
    while at + 8 <= len(data):
        (length,) = struct.unpack_from(">I", data, at)
        kind = data[at + 4 : at + 8]
        if kind == b"tRNS" and colour_type == 3:  # entries of the palette are transparent
            channels = 4
        elif kind == b"eXIf":
            orientation = read_orientation(data[at + 8 : at + 8 + length])
        at += 12 + length
    return ImageHeader("png", height, width, channels, orientation, 16 if bits == 16 else 8)


def _webp(data: bytes) -> ImageHeader | None:
    kind = data[12:16]
    if kind == b"VP8 " and data[23:26] == b"\x9d\x01\x2a":
        width, height = struct.unpack_from("<HH", data, 26)
        return ImageHeader("webp", height & 0x3FFF, width & 0x3FFF, 3)
    if kind == b"VP8L" and data[20:21] == b"\x2f":
        (bits,) = struct.unpack_from("<I", data, 21)
        return ImageHeader("webp", (bits >> 14 & 0x3FFF) + 1, (bits & 0x3FFF) + 1, 4 if bits >> 28 & 1 else 3)
    if kind == b"VP8X":
        low_width, high_width, low_height, high_height = struct.unpack_from("<HBHB", data, 24)
        height, width = (low_height | high_height << 16) + 1, (low_width | high_width << 16) + 1
        return ImageHeader("webp", height, width, 4 if data[20] & 0x10 else 3, _webp_orientation(data))
    return None


def _webp_orientation(data: bytes) -> int:
    at = 12
    while at + 8 <= len(data):
        (length,) = struct.unpack_from("<I", data, at + 4)
        if data[at : at + 4] == b"EXIF":
            return read_orientation(data[at + 8 : at + 8 + length].removeprefix(_EXIF_PREFIX))
        at += 8 + length + length % 2
    return 1


def _bmp(data: bytes) -> ImageHeader | None:
    (header,) = struct.unpack_from("<I", data, 14)
    if header == 12:  # the oldest form
        width, height = struct.unpack_from("<HH", data, 18)
        bits = data[24]
        channels = _bmp_palette_channels(data, 26, 1 << bits, 3) if bits <= 8 else 3
        return ImageHeader("bmp", height, width, channels, plain=False)
    if header not in (40, 52, 56, 64, 108, 124):
        return None  # text that begins with BM
    width, height = struct.unpack_from("<ii", data, 18)
    height = abs(height)  # a negative height means rows from the top
    if len(data) < 50:
        return ImageHeader("bmp", height, width)
    bits, compression = struct.unpack_from("<HI", data, 28)
    if bits <= 8:
        (used,) = struct.unpack_from("<I", data, 46)
        channels = _bmp_palette_channels(data, 14 + header, used or 1 << bits, 4)
        return ImageHeader("bmp", height, width, channels, plain=bits == 8 and channels == 1 and not compression)
    return ImageHeader("bmp", height, width, 4 if bits == 32 and compression else 3, plain=bits in (24, 32))


def _bmp_palette_channels(data: bytes, start: int, entries: int, size: int) -> int:
    """A palette without any colour in it makes a grey image."""
    palette = data[start : start + min(entries, 256) * size]
    blue, green, red = (palette[channel::size] for channel in range(3))
    return 1 if blue == green == red else 3
