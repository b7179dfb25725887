"""Encoded images to the arrays of a batch: decoded, cropped, resized and changed, each image by itself.

The usual JPEG goes from its bytes to its place in the batch in one call of the core, which leaves out the pixels that
the resize does not look at. Other images are decoded by OpenCV, and all of them with RECORDSMITH_JPEG=library in the
environment. What comes after is the same for both:

    decode ─► crop ─► resize ─► flips, brightness ─► scale, layout ─► batch         one call of the core
                             └► anything else, in floats from 0 to 1 ─► batch      for other augmentations
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith import _core
from recordsmith.augment import Augmentation, Brightness, Crop, FlipLeftRight, FlipUpDown, RandomStream, random_keys
from recordsmith.images import ImageError, decode_image, read_header
from recordsmith.images.limits import most_pixels
from recordsmith.loader.engine.encoded_values import encoded_bytes, undecodable
from recordsmith.loader.engine.row_access import ImageValues
from recordsmith.loader.row_memory import MemoryPart, RowMemory

__all__ = ["ImageWork"]

Pixels = npt.NDArray[Any]
Int64s = npt.NDArray[np.int64]
Part = tuple[int, int, int, int]

_DECODABLE, _WITH_EXIF = 0, 1  # what the core's decoder says of a JPEG
_of_this_thread = threading.local()


@dataclass(frozen=True)
class ImageWork:
    """What is to become of images.

    Attributes:
        size: the height and width of the result; None leaves each image as large as it is.
        scale: what values from 0 to 255 are multiplied by; None leaves them.
        augment: random changes.
        channels: 1, 3 or 4.
        planar: channels come first.
        dtype: uint8 or float32.
        seed: of the random numbers.
        dense: results are known to have one shape, so that a batch is one array.
        stored: the dtype of the stored pixels; others than uint8 are decoded exactly, and only scaled.

    >>> from recordsmith.images import encode_image
    >>> jpeg = encode_image(np.full((20, 30, 3), 100, np.uint8), "jpeg")
    >>> work = ImageWork(size=(8, 8), scale=0.01, dtype=np.dtype("float32"))
    >>> work.column([jpeg, jpeg], records=np.arange(2), epochs=np.zeros(2, np.int64), feature="image").shape
    (2, 8, 8, 3)
    """

    size: tuple[int, int] | None = None
    scale: float | None = None
    augment: tuple[Augmentation, ...] = ()
    channels: int = 3
    planar: bool = False
    dtype: np.dtype[Any] = np.dtype("uint8")  # noqa: RUF009 - dtypes do not change
    seed: int = 0
    dense: bool = True
    stored: str = "uint8"

    @cached_property
    def _crops(self) -> tuple[int, ...]:
        return tuple(place for place, change in enumerate(self.augment) if isinstance(change, Crop))

    @cached_property
    def _at_once(self) -> bool:
        """Whether the core does all of it: flips in any number, and the brightness once."""
        others = [change for change in self.augment if not isinstance(change, (Crop, FlipLeftRight, FlipUpDown))]
        return len(others) <= 1 and all(isinstance(change, Brightness) for change in others)

    def column(
        self, column: Any, *, records: Int64s, epochs: Int64s, feature: str, memory: MemoryPart | None = None
    ) -> Pixels | ImageValues:
        """Return the images of a column of encoded ones: one array, or a list where sizes may differ."""
        draws = self.draws(records, epochs, feature)
        batch: Pixels | None = None
        images = ImageValues()
        if self.dense and self.size is not None:
            memory = memory or RowMemory(len(records)).at(0)
            batch = memory.array(feature, len(records), self._shape(*self.size), self.dtype)
        for row in range(len(records)):
            try:
                data = encoded_bytes(column, row, "image", ImageError)
                images.append(self._image(data, draws[row], None if batch is None else batch[row]))
            except ImageError as error:
                raise undecodable(error, feature, int(records[row])) from None
        if batch is not None:
            return batch
        if self.dense and len({image.shape for image in images}) == 1:
            return np.stack(images)
        return images

    def draws(self, records: Int64s, epochs: Int64s, feature: str) -> list[list[Any]]:
        """Return for each row what is drawn for each augmentation."""
        keys = [
            random_keys(self.seed, f"images/{feature}/{place}/{change.name}", records=records, epochs=epochs).tolist()
            for place, change in enumerate(self.augment)
        ]
        return [
            [change.draw(RandomStream(keys[place][row])) for place, change in enumerate(self.augment)]
            for row in range(len(records))
        ]

    def _shape(self, height: int, width: int) -> tuple[int, int, int]:
        return (self.channels, height, width) if self.planar else (height, width, self.channels)

    def _exact(self, data: bytes) -> Pixels:
        """Return pixels of more than 8 bits."""
        floats = self.stored == "float32"
        pixels: Pixels = decode_image(data, channels=4 if floats else self.channels)
        if floats:
            if pixels.dtype != np.uint8:
                raise ImageError("A float32 image is stored as a PNG of four 8-bit channels, and this one has 16 bits.")
            pixels = np.ascontiguousarray(pixels).view(np.float32)
        elif pixels.dtype == np.uint8:
            pixels = pixels.astype(np.uint16) * np.uint16(257)
        if self.scale is not None:
            pixels = pixels * np.float32(self.scale)
        return np.ascontiguousarray(pixels.transpose(2, 0, 1) if self.planar else pixels, self.dtype)

    def _image(self, data: npt.NDArray[np.uint8], drawn: Sequence[Any], target: Pixels | None) -> Pixels:
        if self.stored != "uint8":
            return self._exact(data.tobytes())
        if self.channels == 3 and os.environ.get("RECORDSMITH_JPEG") != "library":
            decoder = _decoder()
            support = decoder.open(data)
            is_usual = support == _DECODABLE or (support == _WITH_EXIF and _is_upright(data))
            if is_usual and decoder.height * decoder.width <= most_pixels():
                part = self.part(decoder.height, decoder.width, drawn)
                result = self._target(part, target)
                if self._filled(decoder.fill, result, part, drawn):
                    return result
        pixels = decode_image(data.tobytes(), channels=self.channels)
        if pixels.dtype != np.uint8:
            pixels = ((pixels.astype(np.uint32) + 128) // 257).astype(np.uint8)
        part = self.part(pixels.shape[0], pixels.shape[1], drawn)
        result = self._target(part, target)
        self._filled(lambda to, **how: _core.fill_image(pixels, to, **how), result, part, drawn)
        return result

    def part(self, height: int, width: int, drawn: Sequence[Any]) -> Part:
        """Return which part of an image is left by what was drawn: top, left, height, width."""
        top, left = 0, 0
        for place in self._crops:
            crop = self.augment[place]
            assert isinstance(crop, Crop)  # noqa: S101 - for the type checker
            further_down, further_right, height, width = crop.window(height, width, drawn[place])
            top, left = top + further_down, left + further_right
        return top, left, height, width

    def _target(self, part: Part, target: Pixels | None) -> Pixels:
        return np.empty(self._shape(*(self.size or part[2:])), self.dtype) if target is None else target

    def _filled(self, fill: Any, target: Pixels, part: Part, drawn: Sequence[Any]) -> bool:
        """Have the target filled, and say whether that worked."""
        scale = 1.0 if self.scale is None else self.scale
        if self._at_once:
            left_right = up_down = False
            added = 0.0
            for change, value in zip(self.augment, drawn, strict=True):
                left_right ^= isinstance(change, FlipLeftRight) and value
                up_down ^= isinstance(change, FlipUpDown) and value
                added += 255 * value if isinstance(change, Brightness) else 0.0
            how = {"planar": self.planar, "flips": (left_right, up_down), "added": added, "scale": scale}
            return fill(target, part=part, **how) is not False
        pixels: Pixels = np.empty((*(self.size or part[2:]), self.channels), np.float32)
        if fill(pixels, part=part, planar=False, flips=(False, False), added=0.0, scale=1 / 255) is False:
            return False
        for change, value in zip(self.augment, drawn, strict=True):
            if not isinstance(change, Crop):
                pixels = change.change(pixels, value)
        if self.planar:
            pixels = pixels.transpose(2, 0, 1)
        if self.dtype == np.uint8:
            np.rint(pixels * np.float32(255), out=target, casting="unsafe")
        else:
            np.multiply(pixels, np.float32(255 * scale), out=target)
        return True


def _decoder() -> _core.JpegDecoder:
    """The decoder of this thread, which keeps its memory from image to image."""
    if not hasattr(_of_this_thread, "decoder"):
        _of_this_thread.decoder = _core.JpegDecoder()
    decoder: _core.JpegDecoder = _of_this_thread.decoder
    return decoder


def _is_upright(data: npt.NDArray[np.uint8]) -> bool:
    header = read_header(data.tobytes())
    return header is not None and header.orientation == 1
