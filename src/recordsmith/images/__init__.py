"""Images as bytes: their headers, and decoding, encoding and resizing through OpenCV."""

from recordsmith.images.codec import check_image, decode_image, encode_image
from recordsmith.images.header import FORMATS, ImageHeader, read_header
from recordsmith.images.image_error import ImageError
from recordsmith.images.preparation import Preparation

__all__ = [
    "FORMATS",
    "ImageError",
    "ImageHeader",
    "Preparation",
    "check_image",
    "decode_image",
    "encode_image",
    "read_header",
]
