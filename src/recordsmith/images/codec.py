"""Decodes and encodes images with OpenCV, with a defined result for every colour mode."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.errors import import_extra
from recordsmith.images.channels import to_channels
from recordsmith.images.header import FORMATS, ImageHeader, read_header
from recordsmith.images.image_error import ImageError
from recordsmith.images.limits import check_pixels, decodable_bytes
from recordsmith.workers.forking import ForkSafeLock

__all__ = ["ImageError", "check_image", "decode_image", "encode_image"]

Pixels = npt.NDArray[Any]

_MANY_PIXELS = 16_000_000
_one_large_image = ForkSafeLock(threading.RLock)

_CHANNELS = {"jpeg": (1, 3), "png": (1, 3, 4), "webp": (3, 4), "bmp": (1, 3, 4), "gif": (3,)}  # that each can hold


@cache
def opencv() -> Any:
    """Import OpenCV; where nobody else uses it, keep it from printing what our own errors say, and to one thread."""
    users_own = "cv2" in sys.modules or "OPENCV_LOG_LEVEL" in os.environ
    cv2 = import_extra("cv2", "opencv", purpose="Decoding and encoding images")
    if not users_own:
        cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)
        cv2.setNumThreads(1)  # images are worked on side by side already
    return cv2


def can_hold(encoding: str, channels: int) -> bool:
    """Whether an image in this encoding can have so many channels."""
    return channels in _CHANNELS[encoding]


def room_for(header: ImageHeader) -> AbstractContextManager[Any]:
    """Hold this while an image's pixels are in memory: only one thread at a time has those of a large image."""
    return _one_large_image if header.height * header.width > _MANY_PIXELS else nullcontext()


def header_of(data: bytes) -> ImageHeader:
    """Return the header of an image, or say why these bytes are none that can be decoded.

    >>> header_of(b"")
    Traceback (most recent call last):
    recordsmith.images.image_error.ImageError: The image has no bytes.
    """
    header = read_header(data)
    if header is None:
        if not data:
            raise ImageError("The image has no bytes.")
        raise ImageError(f"This is not a JPEG, PNG, WebP, BMP or GIF image: it starts with {bytes(data[:12])!r}.")
    if not header.height or not header.width:
        raise ImageError(f"The {header.title} has no pixels.")
    check_pixels(header.title, header.height, header.width)
    return header


def decode_stored(data: bytes, header: ImageHeader, *, reduction: int = 1) -> Pixels:
    """Decode to (height, width, n) in OpenCV's blue, green, red, as stored: not turned, with its own channels.

    A JPEG can be decoded to 1/2, 1/4 or 1/8 of its size, which takes less time and memory.
    """
    cv2 = opencv()
    # Only UNCHANGED keeps alpha and 16 bits; where there is neither, asking for colour saves a look at the channels.
    flags = cv2.IMREAD_COLOR | cv2.IMREAD_IGNORE_ORIENTATION if header.channels == 3 else cv2.IMREAD_UNCHANGED
    if header.bits > 8:
        flags = cv2.IMREAD_UNCHANGED
    if reduction > 1:
        kind = "GRAYSCALE" if header.channels == 1 else "COLOR"
        flags = getattr(cv2, f"IMREAD_REDUCED_{kind}_{reduction}") | cv2.IMREAD_IGNORE_ORIENTATION
    return to_channels(cv2, _decoded(data, header, flags), header.channels)


def check_image(data: bytes) -> None:
    """Decode an image for the sake of its errors: cut, damaged or empty ones raise an ImageError.

    All of the data are gone through, yet a JPEG's pixels are only made at an eighth of the size, which is several
    times faster. Damage that still decodes to a whole image (changed bytes inside a JPEG's data) is not seen.

    >>> data = encode_image(np.zeros((64, 64, 3), np.uint8), "jpeg")
    >>> check_image(data)
    >>> check_image(data[:-20])
    Traceback (most recent call last):
    recordsmith.images.image_error.ImageError: The JPEG of 64×64 cannot be decoded: it is incomplete or damaged.
    """
    header = header_of(data)
    if header.format == "jpeg":
        decode_grey(data, header, reduction=8)
    else:
        _decoded(data, header, opencv().IMREAD_UNCHANGED)


def decode_grey(data: bytes, header: ImageHeader, *, reduction: int = 1) -> Pixels:
    """Decode to (height, width, 1), 8 bits and not turned; a JPEG also to an eighth of its size.

    >>> data = encode_image(np.zeros((64, 64, 3), np.uint8), "jpeg")
    >>> decode_grey(data, header_of(data), reduction=8).shape
    (8, 8, 1)
    """
    cv2 = opencv()
    size = cv2.IMREAD_REDUCED_GRAYSCALE_8 if reduction == 8 else cv2.IMREAD_GRAYSCALE
    return _decoded(data, header, size | cv2.IMREAD_IGNORE_ORIENTATION)


def decode_image(data: bytes, *, channels: int | None = None, orient: bool = True) -> Pixels:
    """Decode an image to an array of shape (height, width, channels), RGB or RGBA.

    Args:
        data: the bytes of a JPEG, PNG, WebP, BMP or GIF (of which the first frame counts).
        channels: 1, 3 or 4; None for what the image has (2 for grey with alpha). Where alpha goes, it is as if the
            image were on white. CMYK becomes RGB. A single colour that a PNG without alpha calls transparent stays.
        orient: turn the image as its EXIF orientation says.

    Returns:
        uint8, or uint16 for a PNG of 16 bits.

    >>> decode_image(encode_image(np.full((2, 3), 200, np.uint8), "png"), channels=3).shape
    (2, 3, 3)
    """
    if channels not in (None, 1, 2, 3, 4):
        raise ValueError(f"channels must be 1, 2, 3 or 4, not {channels!r}")
    cv2 = opencv()
    header = header_of(data)
    pixels = decode_stored(data, header)
    if channels is not None:
        pixels = to_channels(cv2, pixels, channels)
    if orient:
        pixels = turned(cv2, pixels, header.orientation)
    return np.ascontiguousarray(_other_order(cv2, pixels))


def encode_image(array: npt.ArrayLike, encoding: str, *, quality: int = 95) -> bytes:
    """Encode an array as an image.

    Args:
        array: (height, width) or (height, width, channels), RGB or RGBA; uint8, for PNG also uint16.
        encoding: jpeg, png, webp or bmp. A GIF would keep 256 colours at most, and is not made.
        quality: of JPEG and WebP, 1 to 100.

    >>> read_header(encode_image(np.zeros((24, 32, 3), np.uint8), "jpeg")).title
    'JPEG of 32×24'
    """
    pixels = np.asarray(array)
    if encoding not in FORMATS:
        raise ImageError(f"Unknown encoding {encoding!r}. Use one of {', '.join(FORMATS)}.")
    if pixels.ndim == 2:
        pixels = pixels[:, :, None]
    if pixels.ndim != 3 or 0 in pixels.shape:
        raise ImageError(f"An image must have the shape (height, width, channels), not {pixels.shape}.")
    if pixels.dtype != np.uint8 and not (pixels.dtype == np.uint16 and encoding == "png"):
        expected = "uint8 or uint16" if encoding == "png" else "uint8"
        raise ImageError(f"A {encoding} image needs {expected} pixels, not {pixels.dtype}.")
    if not can_hold(encoding, pixels.shape[2]):
        possible = " or ".join(map(str, _CHANNELS[encoding]))
        raise ImageError(f"A {encoding} image must have {possible} channels, not {pixels.shape[2]}.")
    cv2 = opencv()
    return encode_stored(cv2, np.ascontiguousarray(_other_order(cv2, pixels)), encoding, quality)


def encode_stored(cv2: Any, pixels: Pixels, encoding: str, quality: int) -> bytes:
    """Encode pixels that are in OpenCV's order and known to fit the encoding."""
    if encoding == "gif":
        raise ImageError(
            "Encoding as gif is not supported, because it has at most 256 colours. Use png, which keeps all colours."
        )
    options = []
    if encoding == "jpeg":
        options = [cv2.IMWRITE_JPEG_QUALITY, quality]
    elif encoding == "webp":
        options = [cv2.IMWRITE_WEBP_QUALITY, quality]
    try:
        done, encoded = cv2.imencode("." + encoding, pixels, options)
    except cv2.error as error:
        raise ImageError(f"OpenCV cannot encode this as {encoding}: {_reason(error)}") from None
    if not done:
        raise ImageError(f"OpenCV cannot encode this as {encoding}.")
    result: bytes = encoded.tobytes()
    return result


def turned(cv2: Any, pixels: Pixels, orientation: int) -> Pixels:
    """Return an image the way up that its EXIF orientation says.

    >>> turned(opencv(), np.array([[[1], [2]]], np.uint8), 6)[:, :, 0].tolist()
    [[1], [2]]
    >>> turned(opencv(), np.array([[[1], [2]]], np.uint8), 3)[:, :, 0].tolist()
    [[2, 1]]
    """
    if orientation > 4:
        pixels = cv2.transpose(pixels)
        pixels = pixels.reshape(*pixels.shape[:2], -1)
    # How the two axes are mirrored after that: 0 top to bottom, 1 left to right, -1 both.
    mirror = {2: 1, 3: -1, 4: 0, 6: 1, 7: -1, 8: 0}.get(orientation)
    if mirror is not None:
        pixels = cv2.flip(pixels, mirror)
    return pixels.reshape(*pixels.shape[:2], -1)


def _decoded(data: bytes, header: ImageHeader, flags: int) -> Pixels:
    cv2 = opencv()
    reason = "it is incomplete or damaged"
    pixels = None
    with room_for(header):
        try:
            pixels = cv2.imdecode(np.frombuffer(decodable_bytes(data, header), np.uint8), flags)
        except cv2.error as error:
            if error.code == cv2.Error.StsNoMem:
                raise MemoryError(f"Not enough memory to decode a {header.title}.") from None
            reason = _reason(error)
    if pixels is None:
        raise ImageError(f"The {header.title} cannot be decoded: {reason}.")
    array: Pixels = pixels.reshape(*pixels.shape[:2], -1)
    return array


def _other_order(cv2: Any, pixels: Pixels) -> Pixels:
    """Change between RGB and BGR."""
    if pixels.shape[2] < 3:
        return pixels
    kind = cv2.COLOR_BGR2RGB if pixels.shape[2] == 3 else cv2.COLOR_BGRA2RGBA
    swapped: Pixels = cv2.cvtColor(np.ascontiguousarray(pixels), kind)
    return swapped


def _reason(error: Any) -> str:
    return str(getattr(error, "err", None) or error).strip().rstrip(".")
