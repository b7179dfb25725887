"""Changes of colour, with the meaning that they have in tf.image; values are kept in their range."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from recordsmith import _core
from recordsmith.augment.augmentation import Augmentation, Image, Random, check_number
from recordsmith.errors import PipelineError

__all__ = ["Brightness", "Contrast", "Saturation"]

Floats = npt.NDArray[np.float32]


class _ColourChange(Augmentation):
    """A change of values, done in floats from 0 to 1."""

    places: ClassVar[Literal["kept", "moved", "unknown"]] = "kept"

    @abstractmethod
    def change_floats(self, floats: Floats, drawn: float) -> None:
        """Change the image in place, and keep it from 0 to 1."""

    def change(self, image: Image, drawn: Any) -> Image:
        """Do to an image what was drawn."""
        if image.dtype == np.uint8:
            floats = image.astype(np.float32) / np.float32(255)
        else:
            floats = np.array(image, np.float32, order="C")
        self.change_floats(floats, drawn)
        if image.dtype == np.uint8:
            rounded: Image = np.rint(floats * 255).astype(np.uint8)
            return rounded
        return floats.astype(image.dtype, copy=False)


@dataclass(frozen=True)
class Brightness(_ColourChange):
    """Adds a random number to all values, as `tf.image.adjust_brightness` does.

    Args:
        most: the maximum change, as a fraction of the value range. The change is between -most and most.

    >>> from recordsmith.augment import brightness
    >>> brightness(0.2).change(np.full((1, 1, 3), 250, np.uint8), 0.1).tolist()
    [[[255, 255, 255]]]
    """

    most: float = 0.2

    def __post_init__(self) -> None:
        check_number("The maximum change of brightness", self.most, least=0, most=1)

    def draw(self, rng: Random) -> float:
        """Draw how much is added, as a part of the range."""
        return self.most * (2 * rng.random() - 1)

    def change_floats(self, floats: Floats, drawn: float) -> None:
        """Add, and keep from 0 to 1."""
        floats += np.float32(drawn)
        np.clip(floats, 0, 1, out=floats)


@dataclass(frozen=True)
class Contrast(_ColourChange):
    """Moves all values away from the mean of their channel, or towards it, as `tf.image.adjust_contrast`.

    Args:
        least: the smallest factor; factors below 1 reduce the contrast.
        most: the largest factor.

    >>> from recordsmith.augment import contrast
    >>> contrast(0.5, 2).change(np.array([[[100], [110]]], np.uint8), 2.0).tolist()
    [[[95], [115]]]
    """

    least: float = 0.8
    most: float = 1.2

    def __post_init__(self) -> None:
        _check_factors("contrast", self.least, self.most)

    def draw(self, rng: Random) -> float:
        """Draw the factor."""
        return self.least + (self.most - self.least) * rng.random()

    def change_floats(self, floats: Floats, drawn: float) -> None:
        """Stretch around the mean of each channel, and keep from 0 to 1."""
        _core.adjust_contrast(floats, drawn)


@dataclass(frozen=True)
class Saturation(_ColourChange):
    """Makes colours stronger or greyer, as `tf.image.adjust_saturation`. Grey images do not change.

    Args:
        least: the smallest factor; 0 gives a grey image.
        most: the largest factor.

    >>> from recordsmith.augment import saturation
    >>> saturation().change(np.array([[[200, 100, 100]]], np.uint8), 0.5).tolist()
    [[[200, 150, 150]]]
    """

    least: float = 0.8
    most: float = 1.2

    def __post_init__(self) -> None:
        _check_factors("saturation", self.least, self.most)

    def draw(self, rng: Random) -> float:
        """Draw the factor."""
        return self.least + (self.most - self.least) * rng.random()

    def change_floats(self, floats: Floats, drawn: float) -> None:
        """Scale the saturation of each pixel in HSV, where hue and value stay."""
        _core.adjust_saturation(floats, drawn)


def _check_factors(what: str, least: float, most: float) -> None:
    check_number(f"The smallest factor of the {what}", least, least=0, most=np.inf)
    check_number(f"The largest factor of the {what}", most, least=0, most=np.inf)
    if least > most:
        raise PipelineError(f"The smallest factor of the {what} is above the largest.", found=f"{least:g} and {most:g}")
