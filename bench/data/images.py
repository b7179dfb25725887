"""Textured images as real JPEG files, about as heavy as a photograph of that size."""

from __future__ import annotations

import importlib
import io
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

WIDTH, HEIGHT = 500, 375
QUALITY = 88
# Strength of the grain laid over the colours, from image to image; with QUALITY it sets the size: about 80 KB.
GRAIN = (8.0, 22.0)


def jpeg_images(random: np.random.Generator, count: int) -> list[bytes]:
    """`count` different JPEGs of 500x375 in RGB."""
    image_module: Any = importlib.import_module("PIL.Image")
    # Drawing fresh noise for each image would take longer than encoding it: a large field is drawn once, and each
    # image looks at another window of it.
    grain = random.standard_normal((HEIGHT * 3, WIDTH * 3), dtype=np.float32)
    strengths = random.uniform(*GRAIN, count).astype(np.float32)
    colours = random.integers(30, 226, (count, 6, 8, 3), dtype=np.uint8)
    corners = np.stack([random.integers(0, HEIGHT * 2, count), random.integers(0, WIDTH * 2, count)], axis=1)

    def encode(number: int) -> bytes:
        top, left = corners[number]
        window = grain[top : top + HEIGHT, left : left + WIDTH, None] * strengths[number]
        smooth = image_module.fromarray(colours[number]).resize((WIDTH, HEIGHT), image_module.Resampling.BICUBIC)
        pixels: NDArray[np.uint8] = np.clip(np.asarray(smooth, dtype=np.float32) + window, 0, 255).astype(np.uint8)
        encoded = io.BytesIO()
        image_module.fromarray(pixels).save(encoded, "JPEG", quality=QUALITY)
        return encoded.getvalue()

    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(encode, range(count)))
