"""Images told by their first bytes, as listings show them."""

from __future__ import annotations

from dataclasses import dataclass

from recordsmith.images.header import read_header

__all__ = ["ImageHeader", "read_image_header"]


@dataclass(frozen=True, slots=True)
class ImageHeader:
    """What a listing says of an image: the format's name, and how large it is.

    >>> ImageHeader("PNG", 32, 24)
    ImageHeader(format='PNG', width=32, height=24)
    """

    format: str
    width: int
    height: int


def read_image_header(data: bytes) -> ImageHeader | None:
    """Tell a JPEG, PNG, GIF, WebP or BMP image from its header; None for anything else, or a header that is cut.

    >>> read_image_header(b"GIF89a" + bytes([32, 0, 24, 0, 0, 0, 0]))
    ImageHeader(format='GIF', width=32, height=24)
    >>> read_image_header(b"plain text") is None
    True
    """
    header = read_header(data)
    return None if header is None else ImageHeader(header.format_name, header.width, header.height)
