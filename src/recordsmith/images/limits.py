"""Limits the work and memory of decoding an image: a small file can claim to be a very large image.

The number of pixels has a limit that can be set. What else a file can repeat at the cost of a few bytes is bounded here
before a decoder sees it: the scans of a JPEG, each of which goes over all pixels, and compressed text in a PNG.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from recordsmith.errors import RecordsmithError
from recordsmith.images.header import ImageHeader
from recordsmith.images.image_error import ImageError

__all__ = ["check_pixels", "decodable_bytes", "most_pixels"]

_SETTING = "RECORDSMITH_MAX_IMAGE_PIXELS"
_USUAL_PIXELS = 100_000_000
_OPENCV_PIXELS = 1 << 30  # its own limit

_FEWEST_SCANS, _MOST_SCANS = 32, 500  # encoders make 3 to 18 of them
_SCANNED_PIXELS = 1_600_000_000  # over all scans
_LOOKED_AT = 20  # so many times the limit are looked at, for sound scans among them

_PNG_HEADER = 33
_TEXT = (b"zTXt", b"iTXt", b"tEXt")
_MOST_TEXT = 64 << 10  # bytes of a PNG's text, which may be compressed, that a decoder gets to see

_MARKER = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]")  # but for those inside of a scan's data
_START_OF_SCAN = b"\xda"
_WITHOUT_LENGTH = (b"\xd8", b"\xd9")


def most_pixels() -> int:
    """Return how many pixels an image may have: 100 million, or what RECORDSMITH_MAX_IMAGE_PIXELS says."""
    setting = os.environ.get(_SETTING)
    if setting is None:
        return _USUAL_PIXELS
    if not setting.isdecimal() or not 1 <= int(setting) <= _OPENCV_PIXELS:
        raise RecordsmithError(
            f"The environment variable {_SETTING} must be a number of pixels.",
            found=repr(setting),
            expected=f"an integer from 1 to {_OPENCV_PIXELS:,}, such as 200000000",
        )
    return int(setting)


def check_pixels(title: str, height: int, width: int) -> None:
    """Raise an ImageError about an image that has too many pixels.

    >>> check_pixels("PNG of 50000×50000", 50_000, 50_000)
    Traceback (most recent call last):
    recordsmith.images.image_error.ImageError: The PNG of 50000×50000 has 2,500,000,000 pixels. The limit is \
100,000,000: set RECORDSMITH_MAX_IMAGE_PIXELS to decode larger ones.
    """
    limit = most_pixels()
    if height * width > limit:
        raise ImageError(
            f"The {title} has {height * width:,} pixels. The limit is {limit:,}: set {_SETTING} to decode larger ones."
        )


def decodable_bytes(data: bytes, header: ImageHeader) -> bytes:
    """Return the bytes to decode an image from: nearly always those given.

    >>> data = b"GIF89a" + bytes([32, 0, 24, 0, 0, 0, 0])
    >>> decodable_bytes(data, ImageHeader("gif", 24, 32)) is data
    True
    """
    if header.format == "jpeg":
        return _with_bounded_scans(data, header)
    if header.format == "png":
        return _without_much_text(data)
    return data


def _with_bounded_scans(data: bytes, header: ImageHeader) -> bytes:
    """Refuse a JPEG of too many scans; those that contradict the scans before them are not counted, but left out."""
    pixels = header.height * header.width
    limit = max(_FEWEST_SCANS, min(_MOST_SCANS, _SCANNED_PIXELS // max(1, pixels)))
    found = data.count(b"\xff\xda")
    if found <= limit:
        return data
    if found <= _LOOKED_AT * limit:
        order = _ScanOrder()
        kept = [data[begin:end] for begin, end, scan in _segments(data) if scan is None or order.continues_with(scan)]
        if order.scans <= limit:
            return b"".join(kept)
        found = order.scans
    raise ImageError(f"The {header.title} has {found:,} scans. The limit for its size is {limit}.")


def _segments(data: bytes) -> Iterator[tuple[int, int, bytes | None]]:
    """Give the begin and end of a JPEG's parts, and of a scan (with its data) the header."""
    at = 0
    while at < len(data):
        marker = data[at + 1 : at + 2]
        length = 0 if marker in _WITHOUT_LENGTH else int.from_bytes(data[at + 2 : at + 4], "big")
        following = _MARKER.search(data, at + 2 + length)
        end = len(data) if following is None else following.start()
        yield at, end, data[at + 4 : at + 2 + length] if marker == _START_OF_SCAN else None
        at = end


class _ScanOrder:
    """Which bits of which coefficients the scans of a JPEG have brought so far; each bit comes once."""

    def __init__(self) -> None:
        self.scans = 0
        self._missing_bits: dict[tuple[int, int], int] = {}

    def continues_with(self, scan: bytes) -> bool:
        count = scan[0] if scan else 0
        if len(scan) < 4 + 2 * count:
            return False
        first, last, bits = scan[1 + 2 * count : 4 + 2 * count]
        high, low = bits >> 4, bits & 15
        places = [(scan[1 + 2 * n], place) for n in range(min(4, count)) for place in range(first, min(64, last + 1))]
        expected = high or None  # None: nothing of the coefficient has come yet
        if (
            not places
            or (high and low != high - 1)
            or {self._missing_bits.get(place) for place in places} != {expected}
        ):
            return False
        self._missing_bits.update(dict.fromkeys(places, low))
        self.scans += 1
        return True


def _without_much_text(data: bytes) -> bytes:
    """Leave the compressed text of a PNG out where there is much of it: decoders inflate it, though nobody asked."""
    chunks = list(_chunks(data))
    if sum(end - begin for kind, begin, end in chunks if kind in _TEXT) <= _MOST_TEXT:
        return data
    kept = [data[begin:end] for kind, begin, end in chunks if kind not in _TEXT]
    return b"".join([data[:_PNG_HEADER], *kept])


def _chunks(data: bytes) -> Iterator[tuple[bytes, int, int]]:
    at = _PNG_HEADER
    while at < len(data):
        length = int.from_bytes(data[at : at + 4], "big")
        end = min(len(data), at + 12 + length)
        yield data[at + 4 : at + 8], at, end
        at = end
