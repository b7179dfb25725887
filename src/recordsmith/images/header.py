"""What the first bytes of an image say: its format, size, channels and orientation."""

from __future__ import annotations

from dataclasses import dataclass

from recordsmith import _core

__all__ = ["FORMATS", "ImageHeader", "read_header"]

FORMATS = ("jpeg", "png", "webp", "bmp", "gif")


@dataclass(frozen=True, slots=True)
class ImageHeader:
    """What an image's header says.

    Attributes:
        format: one of FORMATS.
        height, width: as stored, before the orientation is applied.
        channels: what it decodes to by default: 1 grey, 2 grey and alpha, 3 colour, 4 colour and alpha; 0 if the header
            is cut before it says so.
        orientation: the EXIF orientation, 1 to 8. Above 4, height and width change places.
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
    """Recognise a JPEG, PNG, WebP, BMP or GIF image by its bytes; None for other data, or a header that is cut.

    The first part of a file is enough, if it contains the header. Nothing is decoded.

    >>> read_header(b"GIF89a" + bytes([32, 0, 24, 0, 0, 0, 0]))
    ImageHeader(format='gif', height=24, width=32, channels=3, orientation=1, bits=8, plain=True)
    >>> read_header(b"plain text") is None
    True
    """
    found = _core.read_image_header(data)
    return None if found is None else ImageHeader(*found)
