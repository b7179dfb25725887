"""What all augmentations share: random numbers that belong to one record, and one way to be written down."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from recordsmith.errors import PipelineError
from recordsmith.keyed_random import Uint64s, priorities, stream_key

__all__ = ["Augmentation", "Image", "Points", "Random", "RandomStream", "check_number", "random_keys"]

Image: TypeAlias = npt.NDArray[Any]
Points: TypeAlias = npt.NDArray[np.float64]

_MASK = (1 << 64) - 1


class Random(Protocol):
    """A source of random numbers: anything with `random()`, such as `numpy.random.default_rng(0)`."""

    def random(self) -> float:
        """Return a uniform number from 0 up to 1."""
        ...


class RandomStream:
    """The random numbers of one record: a counter, mixed. Nothing else advances it.

    >>> RandomStream(7).random() == RandomStream(7).random() != RandomStream(8).random()
    True
    """

    __slots__ = ("_state",)

    def __init__(self, key: int) -> None:
        self._state = key & _MASK

    def random(self) -> float:
        """Return the next uniform number from 0 up to 1."""
        # splitmix64 in Python's own numbers: for one number at a time that is faster than through numpy
        self._state = (self._state + 0x9E3779B97F4A7C15) & _MASK
        mixed = self._state
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK
        return ((mixed ^ (mixed >> 31)) >> 11) * 2.0**-53


def random_keys(seed: int, purpose: str, *, records: npt.NDArray[np.int64], epochs: npt.NDArray[np.int64]) -> Uint64s:
    """Return the key of each record's random numbers, which depends on the seed, the purpose, the epoch and the record.

    >>> records = np.arange(4)
    >>> keys = random_keys(0, "flip", records=records, epochs=np.zeros(4, np.int64))
    >>> len({*keys.tolist(), *random_keys(0, "flip", records=records, epochs=np.ones(4, np.int64)).tolist()})
    8
    """
    keys = np.empty(len(records), np.uint64)
    numbers = records.astype(np.uint64)
    for epoch in np.unique(epochs).tolist():
        mine = epochs == epoch
        keys[mine] = priorities(numbers[mine], stream_key(seed, f"{purpose}/{epoch}"))
    return keys


@dataclass(frozen=True)
class Augmentation(ABC):
    """A random change to an image.

    Attributes:
        places: whether the change moves pixels to other places: "kept" if not, or "moved" as `move_points`
            and `change_mask` compute. With "unknown", the default of your own augmentations, images with boxes
            or masks are an error.
    """

    places: ClassVar[Literal["kept", "moved", "unknown"]] = "unknown"

    @property
    def name(self) -> str:
        """Its name, as it is written in `rs.augment`."""
        return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in type(self).__name__)[1:]

    def settings(self) -> dict[str, Any]:
        """Return what it is, JSON-ready.

        >>> from recordsmith.augment import brightness
        >>> brightness(0.2).settings()
        {'name': 'brightness', 'most': 0.2}
        """
        return {"name": self.name, **asdict(self)}

    @abstractmethod
    def draw(self, rng: Random) -> Any:
        """Draw what is to happen, as `change` takes it. How many numbers are drawn never depends on their values."""

    @abstractmethod
    def change(self, image: Image, drawn: Any) -> Image:
        """Do to an image what was drawn. The image given stays as it is."""

    def move_points(self, points: Points, drawn: Any, size: tuple[int, int]) -> Points:  # noqa: ARG002 - most move none
        """Return where points of an image are after what was drawn.

        Args:
            points: y and x on the last axis, from 0 at the top and left edges to 1 at the bottom and right ones.
            drawn: what `draw` returned.
            size: the height and width of the image.
        """
        return points

    def change_mask(self, mask: Image, drawn: Any) -> Image:
        """Do to a mask (height, width, 1) what was drawn, without values that it does not have."""
        return mask if self.places == "kept" else self.change(mask, drawn)

    def apply(self, image: Image, rng: Random) -> Image:
        """Return the image after a random change.

        Args:
            image: (height, width, channels), uint8 from 0 to 255 or floats from 0 to 1. The result is of the same kind,
                and no value leaves that range.
            rng: the source of random numbers.

        >>> from recordsmith.augment import flip_up_down
        >>> flip_up_down(p=1).apply(np.array([[[1]], [[2]]], np.uint8), RandomStream(0)).tolist()
        [[[2]], [[1]]]
        """
        return self.change(image, self.draw(rng))


def check_number(what: str, number: Any, *, least: float, most: float) -> None:
    """Refuse what is not a number in a range."""
    good = isinstance(number, (int, float, np.integer, np.floating)) and not isinstance(number, bool)
    if not good or not least <= number <= most:
        limit = f"at least {least:g}" if most == np.inf else f"from {least:g} to {most:g}"
        raise PipelineError(f"{what} must be a number, {limit}.", found=repr(number))
