"""Small images of a row's values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recordsmith.errors import MissingExtraError
from recordsmith.images import ImageError, decode_image, read_header
from recordsmith.terminal.values.terminal_graphics import TerminalImage

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["Thumbnails"]

_INDENT = 2
_LEAST_SIDE = 8  # pixels of an array that is taken for an image


@dataclass(frozen=True, slots=True)
class Thumbnails:
    """How images are shown.

    Attributes:
        way: "kitty", "iterm2", "sixel" or "blocks".
        columns, rows: how large one may be, in characters.
    """

    way: str
    columns: int = 32
    rows: int = 10

    def of(self, values: Iterable[Any]) -> list[RenderableType]:
        """Return the images among some values; what cannot be decoded is none."""
        found: list[RenderableType] = []
        for value in values:
            pixels = _pixels(value)
            if pixels is not None:
                found.append(TerminalImage(pixels, self.way, columns=self.columns, rows=self.rows, indent=_INDENT))
        return found


def _pixels(value: Any) -> np.ndarray[Any, Any] | None:
    if isinstance(value, bytes) and read_header(value) is not None:
        try:
            pixels = decode_image(value)
        except (ImageError, MissingExtraError):
            return None
        return np.asarray(pixels >> 8 if pixels.dtype == np.uint16 else pixels, np.uint8)
    if isinstance(value, np.ndarray) and value.dtype == np.uint8 and value.ndim in (2, 3):
        colours = value.shape[2] if value.ndim == 3 else 1
        return value if colours in (1, 3, 4) and min(value.shape[:2]) >= _LEAST_SIDE else None
    return None
