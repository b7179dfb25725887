"""Images inside the page, small, as data URIs.

The data decoded here is not trusted. OpenCV decodes it, within the bounds that
`recordsmith.images` sets, and the page gets new bytes; where OpenCV is missing, small images go in as they are, and a
browser, which meets hostile images every day, decodes them. SVG, which may hold scripts, is never an image here.
"""

from __future__ import annotations

import base64
import contextlib
from typing import Any

import numpy as np

from recordsmith.errors import MissingExtraError
from recordsmith.images import ImageError, decode_image, read_header
from recordsmith.images.codec import opencv
from recordsmith.images.png import png_bytes
from recordsmith.wording.markup import Markup, element

__all__ = ["image_element", "pixels_uri", "thumbnail"]

_SIDE = 160  # pixels of a thumbnail's longer side
_AS_IT_IS = 64 << 10  # bytes of an image that goes in without OpenCV


def thumbnail(data: bytes, *, caption: str = "") -> Markup | None:
    """Return a small version of an encoded image; None if the bytes are not an image."""
    header = read_header(data)
    if header is None:
        return None
    with contextlib.suppress(ImageError):
        try:
            return image_element(_png_uri(_shrunk(decode_image(data))), caption)
        except MissingExtraError:
            if len(data) <= _AS_IT_IS:
                return image_element(f"data:image/{header.format};base64,{base64.b64encode(data).decode()}", caption)
            return None
    return element("span", "cannot be decoded", class_="broken")


def pixels_uri(pixels: np.ndarray[Any, Any]) -> str | None:
    """Return pixels as a data URI, scaled from black to white unless they are uint8; None if they are no image."""
    if pixels.ndim == 2:
        pixels = pixels[:, :, None]
    if pixels.ndim != 3 or pixels.shape[2] not in (1, 3, 4) or not pixels.size or pixels.dtype.kind not in "biuf":
        return None
    return _png_uri(_shrunk_plainly(_stretched(pixels)))


def image_element(uri: str, caption: str) -> Markup:
    """Return an img element."""
    return element(
        "img", src=Markup(uri), alt=caption or "image", loading="lazy"
    )  # the URI is ours, and must not be cut


def _stretched(pixels: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if pixels.dtype == np.uint8:
        return pixels
    values = pixels.astype(np.float64)
    finite = np.isfinite(values)
    low = values[finite].min() if finite.any() else 0.0
    high = values[finite].max() if finite.any() else 1.0
    scaled = np.where(finite, (values - low) / ((high - low) or 1.0), 0.0)
    return np.asarray(np.rint(scaled * 255), np.uint8)


def _shrunk(pixels: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Resize decoded pixels by areas, which keeps fine structures from flickering."""
    height, width = pixels.shape[:2]
    factor = _SIDE / max(height, width)
    if factor >= 1:
        return pixels
    size = (max(1, round(width * factor)), max(1, round(height * factor)))
    smaller = opencv().resize(pixels, size, interpolation=opencv().INTER_AREA)
    return np.asarray(smaller).reshape(size[1], size[0], pixels.shape[2])


def _shrunk_plainly(pixels: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Leave out rows and columns: without OpenCV, and so that what a model sees is shown pixel by pixel."""
    step = -(-max(pixels.shape[:2]) // (2 * _SIDE))
    return pixels[::step, ::step]


def _png_uri(pixels: np.ndarray[Any, Any]) -> str:
    if pixels.shape[2] == 2:  # grey and alpha
        pixels = pixels[:, :, :1]
    if pixels.dtype == np.uint16:
        pixels = pixels >> 8
    return f"data:image/png;base64,{base64.b64encode(png_bytes(pixels)).decode()}"
