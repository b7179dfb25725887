"""Images, sounds and videos of records, as answers for a browser.

What a value is, is decided by its first bytes and never by a name in the data. Images are decoded here, within the
limits of `recordsmith.images`, at a reduced scale where the format allows it, and sent as new images: the browser never
gets the bytes of a stored image, except where OpenCV is missing. SVG and HTML are neither images nor pages here: such
bytes can only be downloaded.
"""

from __future__ import annotations

import math
import struct
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.errors import MissingExtraError
from recordsmith.images import ImageError, read_header
from recordsmith.images.channels import to_channels
from recordsmith.images.codec import decode_stored, encode_stored, header_of, opencv, turned
from recordsmith.images.png import png_bytes
from recordsmith.viewer.data.class_colours import PALETTE

__all__ = [
    "Media",
    "MediaCache",
    "heat_map",
    "mask_image",
    "playable",
    "raw_pixels",
    "square_side",
    "thumbnail",
    "wave_file",
]

_KEPT_BYTES = 64 << 20
_UNDECODED_BYTES = 4 << 20  # of an image that is sent as it is, without OpenCV
_HEAT = np.array([(16, 24, 64), (32, 80, 148), (38, 146, 160), (128, 196, 112), (250, 226, 96)], np.float64)
_MOST_SAMPLES = 20_000_000  # of a sound that is made from numbers
_LARGEST_SIDE = 1024  # pixels of a heat map


@dataclass(frozen=True, slots=True)
class Media:
    """Bytes and the type that they are sent as."""

    kind: str
    data: bytes


class MediaCache:
    """Keeps what was made, up to a number of bytes; what was used longest ago goes first. Threads share it."""

    def __init__(self, limit: int = _KEPT_BYTES) -> None:
        self._limit = limit
        self._kept: OrderedDict[object, Media] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    @property
    def bytes(self) -> int:
        """How many bytes are kept."""
        return self._bytes

    def get(self, key: object, make: Callable[[], Media]) -> Media:
        """Return what is kept under a key, or make it."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        made = make()
        with self._lock:
            if key not in self._kept and len(made.data) <= self._limit // 4:
                self._kept[key] = made
                self._bytes += len(made.data)
                while self._bytes > self._limit:
                    self._bytes -= len(self._kept.popitem(last=False)[1].data)
        return made


def thumbnail(data: bytes, side: int) -> Media:
    """Return a smaller version of an image, whose longer side is at most `side`; raises an ImageError."""
    header = header_of(data)
    try:
        cv2 = opencv()
    except MissingExtraError as missing:
        if len(data) > _UNDECODED_BYTES:
            raise ImageError(f"Showing large images needs OpenCV: {missing.advice}") from None
        return Media(f"image/{header.format}", data)
    longer = max(header.height, header.width)
    reduction = 1
    if header.format == "jpeg":
        reduction = max((step for step in (1, 2, 4, 8) if longer // step >= side), default=1)
    pixels = turned(cv2, decode_stored(data, header, reduction=reduction), header.orientation)
    if pixels.dtype == np.uint16:
        pixels = (pixels >> 8).astype(np.uint8)
    factor = side / max(pixels.shape[:2])
    if factor < 1:
        size = (max(1, round(pixels.shape[1] * factor)), max(1, round(pixels.shape[0] * factor)))
        channels = pixels.shape[2]
        pixels = np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)).reshape(size[1], size[0], channels)
    if pixels.shape[2] in (2, 4):
        return Media("image/png", encode_stored(cv2, to_channels(cv2, pixels, 4), "png", 95))
    if max(pixels.shape[:2]) <= 64:  # few pixels, each of which can be seen
        return Media("image/png", encode_stored(cv2, pixels, "png", 95))
    return Media("image/jpeg", encode_stored(cv2, pixels, "jpeg", 86))


def playable(data: bytes) -> str | None:
    """Return the media type of a sound or a video, by its first bytes; None for anything else.

    >>> playable(b"RIFF....WAVEfmt "), playable(b"<svg onload=x>")
    ('audio/wav', None)
    """
    if data[:4] == b"RIFF" and data[8:12] == b"WAVE":
        return "audio/wav"
    for start, kind in ((b"fLaC", "audio/flac"), (b"OggS", "audio/ogg"), (b"ID3", "audio/mpeg")):
        if data.startswith(start):
            return kind
    if data[4:8] == b"ftyp":
        return "video/mp4"
    return "video/webm" if data.startswith(b"\x1a\x45\xdf\xa3") else None


def wave_file(samples: npt.NDArray[Any], rate: int) -> Media:
    """Return numbers as a sound of 16 bits; floats from -1 to 1, or scaled to that where they are larger."""
    values = np.nan_to_num(np.asarray(samples).reshape(-1)[:_MOST_SAMPLES].astype(np.float32))
    loudest = float(np.abs(values).max(initial=0.0))
    pcm = (values / max(1.0, loudest) * 32767).astype("<i2").tobytes()
    head = struct.pack(
        "<4sI4s4sIHHIIHH4sI",
        b"RIFF",
        36 + len(pcm),
        b"WAVE",
        b"fmt ",
        16,
        1,
        1,
        rate,
        2 * rate,
        2,
        16,
        b"data",
        len(pcm),
    )
    return Media("audio/wav", head + pcm)


def square_side(size: int) -> int | None:
    """Return the side of a square of so many values, if they are likely to be one: 784 is 28×28.

    >>> square_side(784), square_side(100), square_side(785)
    (28, None, None)
    """
    side = round(size**0.5)
    return side if side * side == size and side >= 16 else None


def raw_pixels(values: Mapping[str, Any], name: str) -> npt.NDArray[np.uint8] | None:
    """Return bytes as an array, if a feature next to them gives their shape: image/encoded and image/shape.

    >>> raw_pixels({"image/encoded": bytes(12), "image/shape": np.array([3, 4])}, "image/encoded").shape
    (3, 4)
    """
    value = values.get(name)
    if not isinstance(value, bytes):
        return None
    for key in (f"{name.rpartition('/')[0]}/shape".lstrip("/"), f"{name}/shape", f"{name}_shape"):
        shape = values.get(key)
        if isinstance(shape, np.ndarray) and shape.dtype.kind in "iu" and 2 <= shape.size <= 4:
            sizes = [int(one) for one in shape.reshape(-1)]
            if min(sizes) > 0 and math.prod(sizes) == len(value):
                return np.frombuffer(value, np.uint8).reshape(sizes)
    return None


def heat_map(values: npt.NDArray[Any]) -> Media | None:
    """Return numbers as an image: as they are where they are bytes of an image, else from dark to bright."""
    array = np.asarray(values)
    if array.dtype.kind not in "biuf" or not array.size:
        return None
    while array.ndim > 3 and array.shape[0]:
        array = array[0]
    if array.ndim == 3 and array.shape[2] not in (1, 3, 4):
        array = array[:, :, 0]
    if array.ndim == 1:
        side = square_side(array.size)
        array = array.reshape(side, side) if side else array[None, :]
    step = -(-max(array.shape[:2]) // _LARGEST_SIDE)
    array = array[::step, ::step]
    if array.dtype == np.uint8 and array.ndim == 3 and array.shape[2] != 1:
        return Media("image/png", png_bytes(array))
    grey = array[:, :, :3].mean(axis=2) if array.ndim == 3 and array.shape[2] != 1 else array.reshape(array.shape[:2])
    return Media("image/png", png_bytes(_coloured(grey.astype(np.float64))))


def _coloured(values: npt.NDArray[np.float64]) -> npt.NDArray[np.uint8]:
    finite = np.isfinite(values)
    low = float(values[finite].min()) if finite.any() else 0.0
    high = float(values[finite].max()) if finite.any() else 1.0
    share = np.where(finite, (values - low) / ((high - low) or 1.0), 0.0) * (len(_HEAT) - 1)
    below = np.clip(share.astype(np.int64), 0, len(_HEAT) - 2)
    part = (share - below)[..., None]
    colours = _HEAT[below] * (1 - part) + _HEAT[below + 1] * part
    colours[~finite] = (200, 60, 60)
    return np.asarray(np.rint(colours), np.uint8)


def mask_image(classes: npt.NDArray[Any]) -> Media:
    """Return a map of classes as colours to lay over an image; 0 is transparent."""
    flat = np.asarray(classes)
    flat = flat.reshape(flat.shape[0], flat.shape[1], -1)[:, :, 0]
    step = -(-max(flat.shape) // _LARGEST_SIDE)
    flat = flat[::step, ::step].astype(np.int64)
    pixels = np.zeros((*flat.shape, 4), np.uint8)
    there = flat != 0
    pixels[there, :3] = np.array(PALETTE, np.uint8)[flat[there] % len(PALETTE)]
    pixels[there, 3] = 130
    return Media("image/png", png_bytes(pixels))


def is_image(value: object) -> bool:
    """Whether a value is an encoded image, by its first bytes."""
    return isinstance(value, bytes) and read_header(value) is not None
