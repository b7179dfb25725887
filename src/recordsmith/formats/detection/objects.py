"""The objects of one image as all annotation formats have them, and the checks of numbers from annotation files."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from recordsmith.formats.images.listing import FoundFile

__all__ = ["AnnotatedImage", "AnnotationError", "ImageObjects", "ObjectReader", "checked_number", "checked_numbers"]

Box = tuple[float, float, float, float]


class AnnotationError(ValueError):
    """Why the annotation of one image cannot be used."""


@dataclass(frozen=True, slots=True)
class AnnotatedImage:
    """An image and where its annotation is, or the reason why it cannot be used.

    Attributes:
        file: the image; None for an annotation whose image is missing.
        annotation: the annotation as its reader takes it: a file, or what was read already; None for no objects.
        split: the split that it is in, where there are splits.
        problem: why it is rejected.
        place: where the annotation is, as text.
        source_id: its id in the annotations.
        size: the height and width that the annotation says it has.
    """

    file: FoundFile | None
    annotation: Any = None
    split: str | None = None
    problem: str | None = None
    place: str = ""
    source_id: str = ""
    size: tuple[int, int] | None = None


@dataclass(slots=True)
class ImageObjects:
    """The objects of one image, in lists of the same length.

    Attributes:
        boxes: ymin, xmin, ymax, xmax, relative to the size of the image.
        labels: the numbers of their classes, from 0.
        more: what else is known of each object, by the names of naming.py.
        size: the height and width that the annotation says the image has, if it says so.
        mask: the class of each pixel, as a PNG.
    """

    boxes: list[Box] = field(default_factory=list)
    labels: list[int] = field(default_factory=list)
    more: dict[str, list[Any]] = field(default_factory=dict)
    size: tuple[int, int] | None = None
    mask: bytes | None = None

    def add(self, box: Box, label: int, **more: Any) -> None:
        """Add an object."""
        self.boxes.append(box)
        self.labels.append(label)
        for name, value in more.items():
            self.more.setdefault(name, []).append(value)


class ObjectReader(Protocol):
    """Reads the objects of one image; it is pickled to where the image is loaded."""

    def __call__(self, image: AnnotatedImage, height: int, width: int) -> ImageObjects:
        """Return the objects of an image of this size, or raise an AnnotationError."""


def checked_number(value: Any, what: str) -> float:
    """Return a number from an annotation file, or say what it is instead.

    >>> checked_number(3, "The area"), checked_number(True, "The area")
    Traceback (most recent call last):
    recordsmith.formats.detection.objects.AnnotationError: The area is not a number: True.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise AnnotationError(f"{what} is not a number: {str(value)[:60]}.")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number) or abs(number) > float(np.finfo(np.float32).max):
        raise AnnotationError(f"{what} is not a finite number: {str(value)[:60]}.")
    return number


def checked_numbers(values: Any, what: str, count: int | None = None) -> list[float]:
    """Return a list of numbers, of this length if there is one."""
    if not isinstance(values, Sequence) or isinstance(values, (str, bytes)):
        raise AnnotationError(f"{what} is not a list of numbers: {str(values)[:60]}.")
    if count is not None and len(values) != count:
        raise AnnotationError(f"{what} has {len(values)} numbers instead of {count}.")
    return [checked_number(value, what) for value in values]
