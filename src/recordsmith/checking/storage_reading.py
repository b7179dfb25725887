"""Estimates how much smaller a feature could be stored, from its facts."""

from __future__ import annotations

import math
from dataclasses import dataclass

from recordsmith.checking.feature_reading import last_word, named_like_images, values_per_record
from recordsmith.facts.dataset_facts import DatasetFacts
from recordsmith.facts.value_facts import FeatureFacts, LengthFacts, NumberFacts
from recordsmith.schema import Image, Tensor

__all__ = ["RawPixels", "float_pixels", "raw_pixels"]

_FEWEST_PIXELS = 64
_HEIGHTS, _WIDTHS = frozenset({"height", "rows", "h"}), frozenset({"width", "cols", "columns", "w"})
_CHANNELS = frozenset({"channels", "channel", "depth", "c"})


@dataclass(frozen=True, slots=True)
class RawPixels:
    """Pixels that are stored as in memory.

    Attributes:
        height, width, channels: their shape.
        bytes_each: how many bytes a channel of a pixel takes.
        how: the evidence, as text.
    """

    height: int
    width: int
    channels: int
    bytes_each: int
    how: str

    @property
    def pixels(self) -> int:
        """How many pixels an image has."""
        return self.height * self.width


def float_pixels(feature: FeatureFacts) -> str | None:
    """Say why the floats of a feature are probably pixels of eight bits; None where they are not.

    That is: 64 or more values a record, and either integers from 0 to 255, or at most 256 different values although
    there are 20 times as many in all.
    """
    numbers = feature.numbers
    if feature.kind != "float" or numbers is None or numbers.min is None or numbers.max is None:
        return None
    if values_per_record(feature) < _FEWEST_PIXELS or numbers.nan or feature.distinct <= 16:
        return None
    if numbers.integral and numbers.min >= 0 and 16 < numbers.max <= 255:
        return "integers from 0 to 255"
    few = feature.distinct_exact and feature.distinct <= 256 and numbers.count >= 20 * feature.distinct
    return f"only {feature.distinct} different values" if few and not numbers.integral else None


def raw_pixels(facts: DatasetFacts, feature: FeatureFacts) -> RawPixels | None:
    """Say which pixels a byte feature holds uncompressed; None if it does not, or if that is unknown.

    It is inferred from the shape that the schema declares (of uint8, or of a feature that is named like an image), from
    features next to it (height, width, channels) whose product is the number of bytes, or, for a feature that is named
    like an image, by a number of bytes that a square image has.
    """
    strings = feature.strings
    if feature.kind != "bytes" or strings is None or feature.images is not None or not strings.lengths.max:
        return None
    if facts.schema is not None and isinstance(facts.schema.get(feature.name), Image):
        return None
    declared = None if facts.schema is None else facts.schema.get(feature.name)
    if isinstance(declared, Tensor):
        # A declared matrix of floats is what it says, unless it is called an image.
        is_image = declared.dtype.name == "uint8" or named_like_images(feature.name)
        return _of_shape(declared.shape, declared.dtype.itemsize) if is_image else None
    if not strings.lengths.fixed:
        return _by_varying_neighbours(facts, strings.lengths) if named_like_images(feature.name) else None
    length = strings.lengths.max
    return _by_neighbours(facts, length) or (_square(length) if named_like_images(feature.name) else None)


def _of_shape(shape: tuple[int | None, ...], itemsize: int) -> RawPixels | None:
    if len(shape) not in (2, 3) or None in shape:
        return None
    height, width, channels = (*shape, 1)[:3]
    if not isinstance(height, int) or not isinstance(width, int) or channels not in (1, 3, 4):
        return None
    if min(height, width) < 8:
        return None
    return RawPixels(height, width, int(channels), itemsize, "its declared shape")


def _by_neighbours(facts: DatasetFacts, length: int) -> RawPixels | None:
    height, width = _constant(facts, _HEIGHTS), _constant(facts, _WIDTHS)
    if not height or not width:
        return None
    known = _constant(facts, _CHANNELS)
    for channels in [known] if known else [1, 3, 4]:
        for bytes_each in (1, 2, 4, 8):
            if height * width * channels * bytes_each == length:
                return RawPixels(height, width, channels, bytes_each, "the size features next to it")
    return None


def _by_varying_neighbours(facts: DatasetFacts, lengths: LengthFacts) -> RawPixels | None:
    """Images of different sizes: the facts do not show each product, only whether all of them are possible."""
    height, width = _numbers(facts, _HEIGHTS), _numbers(facts, _WIDTHS)
    if height is None or width is None:
        return None
    known = _constant(facts, _CHANNELS)
    for channels in [known] if known else [1, 3, 4]:
        for bytes_each in (1, 2, 4, 8):
            unit = channels * bytes_each
            least, most = (height.min or 0) * (width.min or 0) * unit, (height.max or 0) * (width.max or 0) * unit
            mean = (height.mean or 0) * (width.mean or 0) * unit
            if least <= lengths.min and lengths.max <= most and abs(lengths.mean - mean) <= 0.15 * mean:
                return RawPixels(
                    round(height.mean or 0),
                    round(width.mean or 0),
                    channels,
                    bytes_each,
                    "the size features next to it",
                )
    return None


def _numbers(facts: DatasetFacts, names: frozenset[str]) -> NumberFacts | None:
    return next((one.numbers for one in facts.features if last_word(one.name) in names and one.numbers), None)


def _constant(facts: DatasetFacts, names: frozenset[str]) -> int | None:
    for feature in facts.features:
        numbers = feature.numbers
        if last_word(feature.name) in names and numbers is not None and numbers.min == numbers.max:
            return None if numbers.min is None else int(numbers.min)
    return None


def _square(length: int) -> RawPixels | None:
    for bytes_each in (1, 8, 4):
        for channels in (3, 1, 4):
            side = math.isqrt(length // (channels * bytes_each))
            if side >= 16 and side * side * channels * bytes_each == length and not (channels == 1 and side % 4):
                # A quarter of the pixels with four bytes each is as long.
                other = f"; {side // 2}x{side // 2} if floats" if bytes_each == 1 and side % 2 == 0 else ""
                return RawPixels(side, side, channels, bytes_each, f"its name and its number of bytes{other}")
    return None
