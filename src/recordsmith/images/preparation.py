"""Converts encoded images before they are stored: resizing, channels and format, if requested."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from recordsmith import _core
from recordsmith.images.channels import to_channels
from recordsmith.images.codec import Pixels, can_hold, decode_stored, encode_stored, header_of, opencv, room_for, turned
from recordsmith.images.header import FORMATS, ImageHeader

__all__ = ["Preparation"]


@dataclass(frozen=True, slots=True)
class Preparation:
    """How images are to be stored. Those that are so already keep their bytes.

    Args:
        size: the height and width to resize to; None keeps each image's own.
        channels: 1, 3 or 4; None keeps each image's own.
        encoding: jpeg, png, webp, bmp, or gif for images that are so already; None keeps JPEG as JPEG, and makes PNG
            of others that must change.
        quality: the quality of converted JPEG and WebP images.
        orient: turn images the way up that their EXIF orientation says, which most readers of datasets ignore.

    >>> from recordsmith.images import encode_image, read_header
    >>> image = encode_image(np.zeros((48, 64, 3), np.uint8), "jpeg")
    >>> read_header(Preparation(size=(24, 24)).prepare(image)).title
    'JPEG of 24×24'
    >>> Preparation(size=(48, 64), channels=3).prepare(image) is image
    True
    """

    size: tuple[int, int] | None = None
    channels: int | None = None
    encoding: str | None = None
    quality: int = 95
    orient: bool = True

    def __post_init__(self) -> None:
        if self.size is not None and (len(self.size) != 2 or not all(0 < side <= 65_500 for side in self.size)):
            raise ValueError(f"size must be the height and width in pixels, not {self.size!r}")
        if self.channels not in (None, 1, 3, 4):
            raise ValueError(f"channels must be 1, 3 or 4, not {self.channels!r}")
        if self.encoding is not None and self.encoding not in FORMATS:
            raise ValueError(f"encoding must be one of {', '.join(FORMATS)}, not {self.encoding!r}")
        if self.encoding is not None and self.channels is not None and not can_hold(self.encoding, self.channels):
            raise ValueError(f"a {self.encoding} image cannot have {self.channels} channels")
        if not 1 <= self.quality <= 100:
            raise ValueError(f"quality must be from 1 to 100, not {self.quality!r}")

    def keeps(self, header: ImageHeader) -> bool:
        """Whether an image with this header keeps its bytes.

        >>> Preparation(channels=1).keeps(ImageHeader("jpeg", 24, 32, 1))
        True
        >>> Preparation(encoding="png").keeps(ImageHeader("jpeg", 24, 32, 1))
        False
        """
        return (
            (self.size is None or self.size == (header.height, header.width))
            and (self.channels is None or (self.channels == header.channels and header.plain))
            and (self.encoding is None or self.encoding == header.format)
            and (not self.orient or header.orientation == 1)
        )

    def encoding_of(self, header: ImageHeader) -> str:
        """The encoding that an image with this header is stored in.

        >>> Preparation(size=(24, 24)).encoding_of(ImageHeader("webp", 24, 32, 3))
        'png'
        """
        if self.encoding is not None:
            return self.encoding
        return header.format if header.format == "jpeg" or self.keeps(header) else "png"

    def prepare(self, data: bytes) -> bytes:
        """Return the image as it is to be stored: the same object where nothing has to change.

        What has to change is decoded, so damage is found (as an ImageError); what stays is not looked at beyond its
        header, for which there is `check_image`.
        """
        header = header_of(data)
        if self.keeps(header):
            return data
        orientation = header.orientation if self.orient else 1
        with room_for(header):
            pixels = decode_stored(data, header, reduction=_reduction(header, self.size))
            return self._encoded(pixels, self.encoding_of(header), orientation)

    def encode(self, pixels: Pixels) -> bytes:
        """Return the image as it is to be stored, from pixels in OpenCV's order; PNG unless an encoding is given."""
        return self._encoded(pixels, self.encoding or "png", 1)

    def _encoded(self, pixels: Pixels, encoding: str, orientation: int) -> bytes:
        cv2 = opencv()
        pixels = to_channels(cv2, pixels, self.channels or _nearest_channels(pixels.shape[2], encoding))
        if self.size is not None:
            # Turned last, when the image is small.
            height, width = self.size if orientation <= 4 else self.size[::-1]
            pixels = resized(cv2, pixels, height, width)
        pixels = turned(cv2, pixels, orientation)
        if pixels.dtype == np.uint16 and encoding != "png":
            pixels = (pixels >> 8).astype(np.uint8)
        return encode_stored(cv2, pixels, encoding, self.quality)


def resized(cv2: Any, pixels: Pixels, height: int, width: int) -> Pixels:
    """Resize by the mean of the area that a pixel covers where the image shrinks, linearly where it grows.

    >>> resized(opencv(), np.array([[[0], [2], [10], [20]]], np.uint8), 1, 2)[0, :, 0].tolist()
    [1, 15]
    """
    smaller = (min(height, pixels.shape[0]), min(width, pixels.shape[1]))
    if smaller != pixels.shape[:2]:
        if pixels.dtype == np.uint8:
            shrunk = np.empty((*smaller, pixels.shape[2]), np.uint8)
            _core.shrink_by_area(np.ascontiguousarray(pixels), shrunk)  # as INTER_AREA below, in a third of the time
        else:
            shrunk = cv2.resize(pixels, smaller[::-1], interpolation=cv2.INTER_AREA)
        pixels = shrunk
    if smaller != (height, width):
        pixels = cv2.resize(pixels, (width, height), interpolation=cv2.INTER_LINEAR)
    return pixels.reshape(height, width, -1)


def _reduction(header: ImageHeader, size: tuple[int, int] | None) -> int:
    """By how much a JPEG may be decoded smaller: what is left has at least twice as many rows and columns as wanted."""
    if size is None or header.format != "jpeg":
        return 1
    room = min(header.upright[0] // (2 * size[0]), header.upright[1] // (2 * size[1]))
    return max(factor for factor in (1, 2, 4, 8) if factor <= max(1, room))


def _nearest_channels(found: int, encoding: str) -> int:
    """The channels to encode with, where none were asked for: those that the image has, if the encoding can."""
    if can_hold(encoding, found):
        return found
    return 4 if found == 2 and can_hold(encoding, 4) else 3
