"""How rules speak of inputs, targets and shapes, and what they consider images."""

from __future__ import annotations

import math

from recordsmith.doctor.diagnose.observing.observations import ColumnFacts
from recordsmith.rules import Location

__all__ = ["are_pixels", "at", "begin", "image_like", "shape_text"]

_PIXEL_TYPES = ("uint8", "float32", "float64", "float16")


def begin(column: ColumnFacts) -> str:
    """Return what to call an input or target at the beginning of a sentence.

    >>> begin(ColumnFacts("", "input", "float32", (4,), 32))
    'The input'
    """
    return column.shown[0].upper() + column.shown[1:]


def at(column: ColumnFacts) -> Location:
    """Return the place of a finding about an input or target.

    >>> print(at(ColumnFacts("x", "input", "float32", (4,), 32)))
    feature 'x'
    """
    return Location(feature=column.name or column.role)


def shape_text(shape: tuple[int | None, ...]) -> str:
    """Return a shape as Python writes it.

    >>> shape_text((None, 3)), shape_text((3,)), shape_text(())
    ('(None, 3)', '(3,)', '()')
    """
    return f"({', '.join(str(side) for side in shape)}{',' if len(shape) == 1 else ''})"


def image_like(column: ColumnFacts) -> bool:
    """Whether rows are images, or vectors as long as an image that was made flat.

    >>> image_like(ColumnFacts("", "input", "float32", (784,), 32))
    True
    """
    if column.image is not None:
        return True
    if len(column.shape) != 1 or not column.shape[0] or column.shape[0] < 256 or column.dtype not in _PIXEL_TYPES:
        return False
    return any(side.is_integer() for side in (math.sqrt(column.shape[0]), math.sqrt(column.shape[0] / 3)))


def are_pixels(column: ColumnFacts) -> bool:
    """Whether rows are images with values from 0 to 255, or a part of that.

    >>> are_pixels(ColumnFacts("", "input", "float32", (784,), 32, min=0.0, max=254.0))
    True
    """
    if not image_like(column) or column.min is None or column.max is None:
        return False
    return column.min >= 0 and column.max <= 255.5
