"""Rows by their content: the same number for the same values, also after the usual scalings were undone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.doctor.diagnose.observing.image_measuring import channels_first
from recordsmith.images import decode_image
from recordsmith.images.header import read_header

__all__ = [
    "colour_signature",
    "content_numbers",
    "content_when_swapped",
    "image_signature",
    "steps_between_bytes",
    "stored_pixels",
]

Array = npt.NDArray[Any]
_SIDE = 16
_CLOSE = 0.02


def content_numbers(row: Any) -> Iterator[tuple[str, int]]:
    """Yield what was undone, and a number for the content then.

    >>> pixels = np.array([[0, 51], [102, 255]], np.uint8)
    >>> as_stored = dict(content_numbers(pixels))["as it is"]
    >>> dict(content_numbers(pixels.astype(np.float32) / 255))["divided by 255"] == as_stored
    True
    """
    array = np.asarray(row)
    if array.dtype.kind in "OSU":
        values = tuple(value.encode() if isinstance(value, str) else value for value in array.ravel().tolist())
        yield "as it is", hash(values)
        return
    if channels_first(array.shape):
        array = np.moveaxis(array, 0, 2)
    flat = array.ravel()
    if flat.dtype.kind in "iub":
        yield "as it is", _whole(flat)
        if flat.size > 1 and flat[-1] == 0:
            yield "padded with 0", _whole(np.trim_zeros(flat, "b"))
        return
    yield from _of_floats(flat)


def content_when_swapped(row: Any) -> Iterator[tuple[str, int]]:
    """Yield the same for a colour image whose red and blue are in each other's place; nothing for other rows.

    >>> image = np.arange(192, dtype=np.uint8).reshape(8, 8, 3)
    >>> dict(content_when_swapped(image[..., ::-1])).popitem()[1] == dict(content_numbers(image))["as it is"]
    True
    """
    array = np.asarray(row)
    if array.dtype.kind in "uif" and channels_first(array.shape):
        array = np.moveaxis(array, 0, 2)
    if array.dtype.kind in "uif" and array.ndim == 3 and array.shape[2] == 3:
        for change, key in content_numbers(array[..., ::-1]):
            yield f"red and blue swapped, {change}", key


def steps_between_bytes(row: Any) -> tuple[int, int, int, int] | None:
    """Return a number for the steps from pixel to pixel, and the first, least and greatest pixel.

    Steps are counted around the end of a byte: a number that is added to all pixels, wrapping or not, leaves them as
    they are. None where values are no bytes, nor bytes that were divided by 255.

    >>> pixels = np.array([[0, 100], [200, 250]], np.uint8)
    >>> steps_between_bytes(pixels)[0] == steps_between_bytes(pixels + np.uint8(200))[0]
    True
    """
    array = np.asarray(row)
    if array.dtype.kind not in "uif" or array.ndim < 2:
        return None
    if channels_first(array.shape):
        array = np.moveaxis(array, 0, 2)
    flat = array.ravel().astype(np.float64)
    if flat.size and flat.min() >= 0 and flat.max() <= 1.0001:
        flat = flat * 255
    if not flat.size or flat.min() < 0 or flat.max() > 255.5 or np.abs(flat - np.round(flat)).max() > _CLOSE:
        return None
    whole = np.round(flat).astype(np.uint8)
    return hash(np.diff(whole).tobytes()), int(whole[0]), int(whole.min()), int(whole.max())


def _of_floats(flat: Array) -> Iterator[tuple[str, int]]:
    if not np.isfinite(flat).all():
        yield "as it is", hash(np.ascontiguousarray(flat, np.float32).tobytes())
        return
    wide = flat.astype(np.float64)
    low, high = (float(wide.min()), float(wide.max())) if wide.size else (0.0, 0.0)
    if (wide == np.round(wide)).all():
        yield "as it is", _whole(wide)
    else:
        yield "as it is", hash(np.ascontiguousarray(flat, np.float32).tobytes())
    if low < -1.001 or high > 1.001:
        return
    changes = {"scaled to -1 to 1": (wide + 1) * 127.5}
    if low >= 0:
        changes = {"divided by 255": wide * 255, "divided by 256": wide * 256, "divided by 255 twice": wide * 65025}
    for name, undone in changes.items():
        if (np.abs(undone - np.round(undone)) < _CLOSE).all() and undone.max(initial=0) < 255.5:
            yield name, _whole(undone)


def _whole(values: Array) -> int:
    return hash(np.round(values).astype(np.int64).tobytes())


def stored_pixels(data: Any) -> Array | None:
    """Return the pixels of a stored image, RGB; None if these bytes are none."""
    if not isinstance(data, bytes) or read_header(data) is None:
        return None
    try:
        return decode_image(data)
    except ValueError:
        return None


def image_signature(image: Array) -> npt.NDArray[np.float32] | None:
    """Return an image shrunk to 16×16 grey values of mean 0 and length 1, whatever its brightness and contrast.

    >>> image_signature(np.arange(32 * 32).reshape(32, 32, 1)).shape
    (256,)
    >>> image_signature(np.zeros((32, 32, 3))) is None
    True
    """
    grey = image.astype(np.float32).mean(axis=2)
    if not np.isfinite(grey).all():
        return None
    small = _means(_means(grey, axis=0), axis=1).ravel()
    small = small - small.mean()
    length = float(np.linalg.norm(small))
    if length < 1e-6 * max(1.0, float(np.abs(grey).max())):
        return None
    return np.asarray(small / length, np.float32)


def colour_signature(image: Array) -> npt.NDArray[np.float32] | None:
    """Return where an image is rather red and where rather blue, shrunk to 16×16 values of mean 0 and length 1.

    Red and blue swapped, it is the negative. None where the image has hardly any colour.

    >>> image = np.random.default_rng(0).integers(0, 255, (32, 32, 3))
    >>> bool(np.allclose(colour_signature(image), -colour_signature(image[..., ::-1])))
    True
    >>> colour_signature(np.ones((32, 32, 3))) is None
    True
    """
    if image.ndim != 3 or image.shape[2] != 3:
        return None
    wide = image.astype(np.float32)
    if not np.isfinite(wide).all():
        return None
    small = [_means(_means(wide[..., channel], axis=0), axis=1).ravel() for channel in (0, 2)]
    apart = small[0] - small[1]
    apart = apart - apart.mean()
    length = float(np.linalg.norm(apart))
    contrast = max(float(np.linalg.norm(one - one.mean())) for one in small)
    return np.asarray(apart / length, np.float32) if length > 0.1 * contrast > 0 else None


def _means(values: Array, axis: int) -> Array:
    """Return the means over 16 equal stretches of an axis; cells that are cut count by their share."""
    size = values.shape[axis]
    edges = np.linspace(0, size, _SIDE + 1)
    start = np.zeros_like(np.take(values, [0], axis))
    total = np.concatenate([start, np.cumsum(values, axis=axis, dtype=np.float64)], axis=axis)
    whole = np.minimum(edges.astype(int), size - 1)
    shape = [1, 1]
    shape[axis] = -1
    part = (edges - whole).reshape(shape)
    at = np.take(total, whole, axis) + part * np.take(values, whole, axis)
    return np.asarray(np.diff(at, axis=axis) * (_SIDE / size))
