"""Changes of what is where: mirrored, turned, or a part of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from recordsmith.augment.augmentation import Augmentation, Image, Points, Random, check_number
from recordsmith.errors import PipelineError, did_you_mean, list_names
from recordsmith.images.codec import opencv

__all__ = ["Crop", "FlipLeftRight", "FlipUpDown", "Rotation"]

_BORDERS = {"reflect": "BORDER_REFLECT", "edge": "BORDER_REPLICATE", "black": "BORDER_CONSTANT"}


@dataclass(frozen=True)
class _Flip(Augmentation):
    places: ClassVar[Literal["kept", "moved", "unknown"]] = "moved"
    axis: ClassVar[int]  # of (y, x), that is mirrored

    p: float = 0.5

    def __post_init__(self) -> None:
        check_number("The probability of a flip", self.p, least=0, most=1)

    def draw(self, rng: Random) -> bool:
        """Draw whether it happens."""
        return rng.random() < self.p

    def move_points(self, points: Points, drawn: bool, size: tuple[int, int]) -> Points:  # noqa: ARG002, FBT001 - as all
        """Mirror points, if that was drawn."""
        if not drawn:
            return points
        moved = points.copy()
        moved[..., self.axis] = 1 - moved[..., self.axis]
        return moved


@dataclass(frozen=True)
class FlipLeftRight(_Flip):
    """Mirrors left and right.

    Args:
        p: the probability, from 0 to 1.

    >>> from recordsmith.augment import flip_left_right
    >>> flip_left_right(p=1).change(np.array([[[1], [2]]], np.uint8), True).tolist()
    [[[2], [1]]]
    """

    axis: ClassVar[int] = 1

    def change(self, image: Image, drawn: bool) -> Image:  # noqa: FBT001 - what was drawn
        """Mirror, if that was drawn."""
        return np.ascontiguousarray(image[:, ::-1]) if drawn else image


@dataclass(frozen=True)
class FlipUpDown(_Flip):
    """Mirrors top and bottom.

    Args:
        p: the probability, from 0 to 1.

    >>> from recordsmith.augment import flip_up_down
    >>> flip_up_down()
    FlipUpDown(p=0.5)
    """

    axis: ClassVar[int] = 0

    def change(self, image: Image, drawn: bool) -> Image:  # noqa: FBT001 - what was drawn
        """Mirror, if that was drawn."""
        return np.ascontiguousarray(image[::-1]) if drawn else image


@dataclass(frozen=True)
class Crop(Augmentation):
    """Crops a random part of the image. Loaders crop before they resize, so that no detail is lost.

    Args:
        least: the smallest part of the area that is kept.
        most: the largest part of the area that is kept.
        stretch: how much the part's proportions may differ from the image's, as a factor of at least 1. Resizing the
            parts to one size stretches their content by the same factor.

    >>> from recordsmith.augment import crop, RandomStream
    >>> crop(0.25, 0.25, stretch=1).apply(np.zeros((100, 200, 3), np.uint8), RandomStream(0)).shape
    (50, 100, 3)
    """

    places: ClassVar[Literal["kept", "moved", "unknown"]] = "moved"

    least: float = 0.5
    most: float = 1.0
    stretch: float = 4 / 3

    def __post_init__(self) -> None:
        check_number("The smallest part that is kept", self.least, least=0.001, most=1)
        check_number("The largest part that is kept", self.most, least=0.001, most=1)
        check_number("The factor by which proportions may differ", self.stretch, least=1, most=100)
        if self.least > self.most:
            raise PipelineError(
                "The smallest part that is kept is above the largest.", found=f"{self.least:g} and {self.most:g}"
            )

    def draw(self, rng: Random) -> tuple[float, float, float, float]:
        """Draw the height, the width, and how far down and right the part is, each as a part of what is possible."""
        area = self.least + (self.most - self.least) * rng.random()
        stretch = math.exp(math.log(self.stretch) * (2 * rng.random() - 1))
        # Where a side would be longer than the image, the other one makes up for it.
        height = min(1.0, math.sqrt(area * stretch))
        width = min(1.0, area / height)
        height = min(1.0, area / width)
        return height, width, rng.random(), rng.random()

    def change(self, image: Image, drawn: tuple[float, float, float, float]) -> Image:
        """Return the part that was drawn, as a view of the image."""
        top, left, height, width = self.window(image.shape[0], image.shape[1], drawn)
        return image[top : top + height, left : left + width]

    def move_points(self, points: Points, drawn: tuple[float, float, float, float], size: tuple[int, int]) -> Points:
        """Return where points are in the part that was drawn; those outside of it are below 0 or above 1."""
        top, left, height, width = self.window(*size, drawn)
        moved: Points = (points * np.array(size) - [top, left]) / [height, width]
        return moved

    def window(self, height: int, width: int, drawn: tuple[float, float, float, float]) -> tuple[int, int, int, int]:
        """Return the part that was drawn in pixels: top, left, height, width."""
        part_height = max(1, round(height * drawn[0]))
        part_width = max(1, round(width * drawn[1]))
        top = int((height - part_height + 1) * drawn[2])
        left = int((width - part_width + 1) * drawn[3])
        return top, left, part_height, part_width


@dataclass(frozen=True)
class Rotation(Augmentation):
    """Rotates the image about its centre; the size does not change.

    Args:
        degrees: the maximum angle in either direction.
        border: how the corners are filled: "reflect" mirrors the image at its edge, "edge" repeats the last pixels,
            "black" uses black.

    >>> from recordsmith.augment import rotation
    >>> rotation(90).change(np.array([[[1], [2]], [[3], [4]]], np.uint8), 90.0)[:, :, 0].tolist()
    [[2, 4], [1, 3]]
    """

    places: ClassVar[Literal["kept", "moved", "unknown"]] = "moved"

    degrees: float = 10.0
    border: str = "reflect"

    def __post_init__(self) -> None:
        check_number("The number of degrees", self.degrees, least=0, most=180)
        if self.border not in _BORDERS:
            raise PipelineError(
                f"Unknown border of a rotation.{did_you_mean(str(self.border), _BORDERS)}",
                found=repr(self.border),
                expected=list_names(_BORDERS),
            )

    def draw(self, rng: Random) -> float:
        """Draw how far, in degrees against the clock."""
        return self.degrees * (2 * rng.random() - 1)

    def change(self, image: Image, drawn: float) -> Image:
        """Turn by what was drawn."""
        return self._turned(image, drawn, "INTER_LINEAR")

    def change_mask(self, mask: Image, drawn: float) -> Image:
        """Turn a mask by what was drawn, with the nearest pixels."""
        return self._turned(mask, drawn, "INTER_NEAREST")

    def move_points(self, points: Points, drawn: float, size: tuple[int, int]) -> Points:
        """Turn points about the centre of the image."""
        height, width = size
        turn = math.radians(drawn)
        down, right = (points[..., 0] - 0.5) * height, (points[..., 1] - 0.5) * width
        across = math.cos(turn) * right + math.sin(turn) * down
        along = math.cos(turn) * down - math.sin(turn) * right
        return np.stack([along / height + 0.5, across / width + 0.5], axis=-1)

    def _turned(self, image: Image, drawn: float, how: str) -> Image:
        cv2 = opencv()
        height, width = image.shape[:2]
        matrix = cv2.getRotationMatrix2D(((width - 1) / 2, (height - 1) / 2), drawn, 1.0)
        known = image if image.dtype == np.uint8 else image.astype(np.float32, copy=False)
        turned = cv2.warpAffine(
            np.ascontiguousarray(known),
            matrix,
            (width, height),
            flags=getattr(cv2, how),
            borderMode=getattr(cv2, _BORDERS[self.border]),
        )
        result: Image = turned.reshape(image.shape).astype(image.dtype, copy=False)
        return result
