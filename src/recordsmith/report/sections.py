"""Sections: what a report shows besides findings and facts, as plain data that every renderer understands.

`diagnose` shows with them what a model would really see: images as they arrive, values before and after.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from recordsmith.facts.value_facts import Histogram

if TYPE_CHECKING:
    import numpy as np

__all__ = ["GridImage", "HistogramSection", "ImageGrid", "Section", "TableSection", "TextSection"]


@dataclass(frozen=True, slots=True, eq=False)
class GridImage:
    """An image.

    Attributes:
        pixels: an array of shape (height, width), (height, width, 1), (height, width, 3) in the order red, green,
            blue, or (height, width, 4). uint8 is shown as it is; anything else is stretched so that its least finite
            value is black and its greatest white, and the caption says so.
        caption: what is shown below it, such as its label.
        note: more about it, in small print.
    """

    pixels: np.ndarray[Any, Any]
    caption: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class ImageGrid:
    """Images side by side."""

    title: str
    images: tuple[GridImage, ...]
    text: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON has it: what is said of the images, without their pixels."""
        return {
            "type": "images",
            "title": self.title,
            "text": self.text,
            "images": [
                {
                    "caption": image.caption,
                    "note": image.note,
                    "shape": list(image.pixels.shape),
                    "dtype": str(image.pixels.dtype),
                }
                for image in self.images
            ],
        }


@dataclass(frozen=True, slots=True)
class HistogramSection:
    """One or several histograms, by name: of a feature as stored, and as it arrives."""

    title: str
    histograms: dict[str, Histogram]
    text: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {
            "type": "histograms",
            "title": self.title,
            "text": self.text,
            "histograms": [
                {"name": name, "edges": list(one.edges), "counts": list(one.counts)}
                for name, one in self.histograms.items()
            ],
        }


@dataclass(frozen=True, slots=True)
class TableSection:
    """A table; each row has one cell for each column: a text, a number, or None for an empty cell."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | int | float | None, ...], ...]
    text: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {
            "type": "table",
            "title": self.title,
            "text": self.text,
            "columns": list(self.columns),
            "rows": [list(row) for row in self.rows],
        }


@dataclass(frozen=True, slots=True)
class TextSection:
    """A text: paragraphs with an empty line between them, or code, which keeps its lines."""

    title: str
    text: str
    code: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {"type": "text", "title": self.title, "text": self.text, "code": self.code}


Section = ImageGrid | HistogramSection | TableSection | TextSection
