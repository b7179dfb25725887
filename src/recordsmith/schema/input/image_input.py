"""Converts columns of images of any kind to encoded bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.columns import ByteColumn
from recordsmith.errors import EncodeError, advise
from recordsmith.images import ImageError, encode_image
from recordsmith.schema.input.casting import describe_value
from recordsmith.schema.input.encoded_input import NOT_ENCODED, encoded_rows, stored_bytes, wrong_value
from recordsmith.schema.input.foreign import comes_from

__all__ = ["encoded_images"]

Shape = tuple[int | None, int | None, int | None]
Array = npt.NDArray[Any]

_LOSSLESS_MODES = {  # what a PIL image of each mode may become without losing anything
    "1": ("L", "RGB", "RGBA"),
    "L": ("L", "RGB", "RGBA"),
    "P": ("RGB", "RGBA"),
    "RGB": ("RGB", "RGBA"),
    "RGBA": ("RGBA",),
    "LA": ("RGBA",),
    "PA": ("RGBA",),
    "La": ("RGBA",),
    "RGBa": ("RGBA",),
}
_MODE_OF_CHANNELS = {1: "L", 3: "RGB", 4: "RGBA"}
_FREE_MODE = {"1": "L", "L": "L", "P": "RGB", "RGB": "RGB", "CMYK": "RGB", "YCbCr": "RGB", "HSV": "RGB", "LAB": "RGB"}


def encoded_images(
    values: Any, *, shape: Shape, encoding: str | None, cast: bool, floats: bool = False
) -> list[Any] | ByteColumn:
    """Return a column of images as encoded bytes, with None for absent rows; bytes are not looked at."""
    if floats:  # their bytes are the four channels of a PNG
        shape = (*shape[:2], 4)

    def encode(value: Any, row: int) -> Any:
        return _encoded(_float_channels(value) if floats else value, row, shape, encoding, cast=cast)

    return encoded_rows(values, encode, _not_an_image)


def _encoded(value: Any, row: int, shape: Shape, encoding: str | None, *, cast: bool) -> Any:
    stored = stored_bytes(value, row, "An image")
    if stored is not NOT_ENCODED:
        return stored
    if isinstance(value, np.ndarray) and value.ndim == 0 and isinstance(value.item(), bytes):
        return value.item()
    if comes_from(value, "PIL") and hasattr(value, "mode"):
        pixels = _pil_pixels(value, row, shape[2], cast=cast)
    elif hasattr(value, "__array__") and not isinstance(value, np.generic):
        pixels = np.asarray(value)
    else:
        raise _not_an_image(value, row)
    _check_pixels(pixels, row, shape)
    try:
        return encode_image(pixels, encoding or "png")
    except ImageError as error:
        raise EncodeError(
            f"The pixels cannot be encoded as {(encoding or 'png').upper()}: {error}",
            row=row,
            found=describe_value(pixels),
            expected=f"pixels that a {(encoding or 'png').upper()} can hold",
            advice="Give pixels that the encoding can hold, or declare another encoding.",
        ) from None


def _float_channels(value: Any) -> Any:
    if not isinstance(value, np.ndarray) or value.dtype != np.float32 or value.ndim not in (2, 3):
        return value
    return np.ascontiguousarray(value).view(np.uint8).reshape(*value.shape[:2], -1)


def _pil_pixels(image: Any, row: int, channels: int | None, *, cast: bool) -> Array:
    wanted = _FREE_MODE.get(image.mode, "RGBA") if channels is None else _MODE_OF_CHANNELS[channels]
    if image.mode == "P" and "transparency" in image.info:
        allowed: tuple[str, ...] = ("RGBA",)
        wanted = "RGBA" if channels is None else wanted
    else:
        allowed = _LOSSLESS_MODES.get(image.mode, ())
    if wanted not in allowed and not cast:
        if image.mode == "I;16" and channels in (None, 1):
            return np.asarray(image)
        raise EncodeError(
            "Converting a PIL image to the feature's channels would lose information.",
            row=row,
            found=f"a PIL image of mode {image.mode!r}, {image.width}×{image.height}",
            expected=f"{wanted} ({_channel_words(channels)})",
            advice=advise(
                f"Convert it yourself with image.convert({wanted!r}), or allow the loss with {{cast}}.", cast=True
            ),
        )
    return np.asarray(image if image.mode == wanted else image.convert(wanted))


def _check_pixels(pixels: Array, row: int, shape: Shape) -> None:
    if pixels.dtype not in (np.uint8, np.uint16):
        advice = "Scale it to 0..255 and round it, for example (array * 255).round().astype('uint8')."
        if pixels.dtype.kind in "biu":
            advice = "Give array.astype('uint8') if its values are from 0 to 255."
        raise EncodeError(
            "The pixels of an image must be uint8.",
            row=row,
            found=describe_value(pixels),
            expected="uint8, or uint16 for PNG",
            advice=advice,
        )
    sizes = (*pixels.shape, 1) if pixels.ndim == 2 else pixels.shape
    fits = len(sizes) == 3 and all(want in (None, size) for size, want in zip(sizes, shape, strict=True))
    if not fits or sizes[2] not in (1, 3, 4):
        first = pixels.ndim == 3 and pixels.shape[0] in (1, 3, 4) and pixels.shape[2] not in (1, 3, 4)
        advice = "Give the pixels in the declared shape, or declare another shape."
        if first:
            advice = "The channels seem to be first: move them last with array.transpose(1, 2, 0)."
        elif pixels.ndim == 2 and shape[2] == 3:
            advice = "Declare channels=1 for grey images, or give np.stack([array] * 3, axis=-1)."
        raise EncodeError(
            "The pixels have the wrong shape.",
            row=row,
            found=f"shape {pixels.shape}",
            expected=f"(height, width, channels) of {shape}, where None is any size",
            advice=advice,
        )


def _channel_words(channels: int | None) -> str:
    return "any number of channels" if channels is None else f"{channels} channel{'s' if channels > 1 else ''}"


def _not_an_image(value: Any, row: int) -> EncodeError:
    return wrong_value(
        value,
        row,
        medium="an image",
        expected="encoded bytes, a path, a uint8 array or a PIL image",
        advice="Give encoded bytes, a pathlib.Path of a file, a uint8 array or a PIL image.",
    )
