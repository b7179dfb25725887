"""Images of shapes in class folders, with faults that people have in theirs.

    photos/circle/…      480 images
    photos/square/…      480
    photos/triangle/…     24, so that the classes are unequal
    photos/Circle/…        4 circles whose folder is written otherwise: a class of its own, by mistake

One image is cut in half, and one of the circles lies there twice under two names.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.images.png import png_bytes

__all__ = ["Planted", "draw_images"]

SIZE = 24
COUNTS = {"circle": 480, "square": 480, "triangle": 24}
MISSPELT = 4
COLOURS = ((220, 50, 47), (80, 160, 40), (38, 100, 220), (230, 180, 20))

Pixels = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Planted:
    """What was planted, to be found again."""

    images: int
    cut: str
    copy: str
    misspelt: str


def draw_images(folder: str, *, seed: int = 7) -> Planted:
    """Draw the images into class folders, and plant the faults.

    >>> import tempfile
    >>> draw_images(tempfile.mkdtemp() + "/photos").images
    989
    """
    random = np.random.default_rng(seed)
    written = 0
    for shape, count in COUNTS.items():
        os.makedirs(os.path.join(folder, shape))
        for number in range(count):
            _write(os.path.join(folder, shape, f"{number:03}.png"), png_bytes(_drawn(shape, random)))
            written += 1
    misspelt = os.path.join(folder, "Circle")
    os.makedirs(misspelt)
    for number in range(MISSPELT):
        _write(os.path.join(misspelt, f"{number:03}.png"), png_bytes(_drawn("circle", random)))
        written += 1
    cut = os.path.join(folder, "square", "007.png")
    with open(cut, "rb") as file:
        whole = file.read()
    _write(cut, whole[: len(whole) // 2])
    copy = os.path.join(folder, "circle", "again.png")
    shutil.copyfile(os.path.join(folder, "circle", "003.png"), copy)
    return Planted(written + 1, cut, copy, "Circle")


def _drawn(shape: str, random: np.random.Generator) -> Pixels:
    """Draw a shape on a grey ground, with noise over both."""
    y, x = np.mgrid[:SIZE, :SIZE] + 0.5
    radius, turn = random.uniform(5, 8.5), np.deg2rad(random.uniform(-15, 15))
    centre: Any = random.uniform(9.5, 14.5, 2)
    across = ((x - centre[0]) * np.cos(turn) + (y - centre[1]) * np.sin(turn)) / radius
    down = ((y - centre[1]) * np.cos(turn) - (x - centre[0]) * np.sin(turn)) / radius
    if shape == "circle":
        inside = across**2 + down**2 < 1
    elif shape == "square":
        inside = np.maximum(abs(across), abs(down)) < 0.89
    else:
        inside = (down < 0.8) & (abs(across) < (down + 1.2) * 0.65)
    image = np.full((SIZE, SIZE, 3), random.integers(90, 130), np.float64)
    image[inside] = COLOURS[random.integers(len(COLOURS))]
    return np.clip(image + random.normal(0, 12, image.shape), 0, 255).astype(np.uint8)


def _write(path: str, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)
