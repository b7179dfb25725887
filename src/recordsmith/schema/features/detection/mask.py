"""Mask and Masks: images whose pixels are classes, and one mask for each object of an image."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from recordsmith.schema.features.image import Image
from recordsmith.schema.features.label import Label
from recordsmith.schema.features.strings import Bytes

if TYPE_CHECKING:
    from recordsmith.schema.plan import ColumnParts

__all__ = ["Mask", "Masks"]

_PNG = Image(channels=1, encoding="png")


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Mask(Image):
    """The class of each pixel of an image, stored as a PNG with one channel.

    It is written and read like an Image. `.images(size=..., augment=...)` decodes it with its image, resizes it with
    the nearest neighbour, so that no new classes appear, and moves it as the image is moved.

    Args:
        names: the names of the classes in the order of the pixel values; None if they are not known.
        optional: records may lack it; absent rows are read as None.
        default: the bytes for records without it.
        description: a sentence for readers of the schema.

    >>> Mask(["background", "cat"])
    Mask(['background', 'cat'])
    >>> Mask().shape
    (None, None, 1)
    """

    type_name: ClassVar[str] = "mask"

    names: tuple[str, ...] | None = None  # type: ignore[assignment] # a feature may have no names

    def __init__(
        self,
        names: Sequence[str] | None = None,
        *,
        optional: bool = False,
        default: Any = None,
        description: str = "",
    ) -> None:
        self._set(names=None if names is None else Label(names).names)
        super().__init__(channels=1, encoding="png", optional=optional, default=default, description=description)

    def _settings(self) -> list[str]:
        return [name for name in super()._settings() if name not in ("channels", "encoding")]

    def _shown_setting(self, name: str) -> str:
        return repr(list(self.names or ())) if name == "names" else super()._shown_setting(name)


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Masks(Bytes):
    """The mask of each object of an image: PNGs with one channel, in which the pixels of the object are not 0.

    Write a list of encoded PNGs, or of uint8 arrays of the size of the image. It is read as a list of bytes, and stored
    as the TensorFlow Object Detection API does it in `image/object/mask`.

    Args:
        optional: records may lack it; absent rows are read as None.
        default: the value for records without it.
        description: a sentence for readers of the schema.

    >>> Masks().shape
    (None,)
    """

    type_name: ClassVar[str] = "masks"

    def __init__(self, *, optional: bool = False, default: Any = None, description: str = "") -> None:
        super().__init__((None,), optional=optional, default=default, description=description)

    def column_to_parts(self, values: Any, rows: int | None = None, *, cast: bool = False) -> tuple[ColumnParts, ...]:
        """Return what the core writes for a column of lists of masks."""
        if isinstance(values, (list, tuple)):
            values = [_encoded(row) for row in values]
        return super().column_to_parts(values, rows, cast=cast)

    def _canonical(self, value: Any, *, cast: bool) -> Any:
        return super()._canonical(_encoded(value), cast=cast)

    def _settings(self) -> list[str]:
        return [name for name in super()._settings() if name != "shape"]


def _encoded(row: Any) -> Any:
    """Return the arrays of a row as PNGs; bytes stay as they are."""
    if not isinstance(row, (list, tuple, np.ndarray)) or not any(isinstance(one, np.ndarray) for one in row):
        return row
    return [_PNG.value_to_canonical(one) if isinstance(one, np.ndarray) else one for one in row]
