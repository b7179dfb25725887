"""Converts the channels of an image. The order is blue, green, red, as in OpenCV."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["composited", "to_channels"]

_BAND = 64  # rows


def composited(pixels: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return an image of 2 or 4 channels without its alpha, as it looks on a white page.

    Leaving the alpha away instead would bring up whatever colour the transparent parts happen to hold.

    >>> composited(np.array([[[0, 0, 0, 255], [0, 0, 0, 0]]], np.uint8)).tolist()
    [[[0, 0, 0], [255, 255, 255]]]
    """
    white = np.iinfo(pixels.dtype).max
    result = np.empty_like(pixels[:, :, :-1], order="C")
    for start in range(0, len(pixels), _BAND):  # the wider numbers of a whole large image would take too much memory
        band = pixels[start : start + _BAND].astype(np.uint32)
        alpha = band[:, :, -1:]
        result[start : start + _BAND] = (band[:, :, :-1] * alpha + white * (white - alpha) + white // 2) // white
    return result


def to_channels(cv2: Any, pixels: npt.NDArray[Any], channels: int) -> npt.NDArray[Any]:
    """Return an image of shape (height, width, n) with 1, 2, 3 or 4 channels.

    >>> import cv2
    >>> to_channels(cv2, np.full((1, 1, 1), 7, np.uint8), 4).tolist()
    [[[7, 7, 7, 255]]]
    """
    found = pixels.shape[2]
    if found == channels:
        return pixels
    if found in (2, 4) and channels in (1, 3):
        pixels = composited(pixels)
        found -= 1
    has_alpha = found in (2, 4)
    alpha = pixels[:, :, -1:] if has_alpha else np.full_like(pixels[:, :, :1], np.iinfo(pixels.dtype).max)
    colour = pixels[:, :, :-1] if has_alpha else pixels
    if channels <= 2 and colour.shape[2] == 3:
        colour = cv2.cvtColor(np.ascontiguousarray(colour), cv2.COLOR_BGR2GRAY)[:, :, None]
    elif channels >= 3 and colour.shape[2] == 1:
        colour = np.repeat(colour, 3, axis=2)
    return np.concatenate([colour, alpha], axis=2) if channels in (2, 4) else colour
