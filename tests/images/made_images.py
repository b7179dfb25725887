"""Small images in every colour mode and format, made with Pillow."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from PIL import Image, ImageOps

HEIGHT, WIDTH = 40, 56


def pixels(seed: int = 0, height: int = HEIGHT, width: int = WIDTH) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """A colourful image without sharp edges, which JPEG keeps well."""
    coarse = np.random.default_rng(seed).integers(0, 256, (4, 5, 3), np.uint8)
    return np.array(Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC))


def saved(image: Image.Image, name: str, **options: Any) -> bytes:
    file = io.BytesIO()
    image.save(file, name, **options)
    return file.getvalue()


def colour(seed: int = 0) -> Image.Image:
    return Image.fromarray(pixels(seed))


def with_alpha() -> Image.Image:
    image = colour()
    alpha = np.linspace(0, 255, WIDTH).astype(np.uint8)[None].repeat(HEIGHT, 0)
    image.putalpha(Image.fromarray(alpha))
    return image


def oriented(orientation: int, name: str = "jpeg") -> bytes:
    exif = Image.Exif()
    exif[0x0112] = orientation
    return saved(colour(), name, exif=exif)


def transparent_palette() -> Image.Image:
    image = colour().convert("P", palette=Image.Palette.ADAPTIVE, colors=16)
    image.info["transparency"] = int(np.array(image)[0, 0])
    return image


def wide_grey() -> Image.Image:
    return Image.fromarray(pixels()[:, :, 0].astype(np.uint16) * 257)


def images() -> dict[str, tuple[bytes, int]]:
    """By name: the encoded image, and the channels that it decodes to."""
    grey, two_colours = colour().convert("L"), colour().convert("1")
    palette = colour().convert("P", palette=Image.Palette.ADAPTIVE)
    return {
        "jpeg": (saved(colour(), "jpeg", quality=95), 3),
        "jpeg progressive": (saved(colour(), "jpeg", progressive=True), 3),
        "jpeg 4:4:4": (saved(colour(), "jpeg", subsampling=0), 3),
        "jpeg grey": (saved(grey, "jpeg"), 1),
        "jpeg cmyk": (saved(colour().convert("CMYK"), "jpeg"), 3),
        "png": (saved(colour(), "png"), 3),
        "png alpha": (saved(with_alpha(), "png"), 4),
        "png grey": (saved(grey, "png"), 1),
        "png grey alpha": (saved(with_alpha().convert("LA"), "png"), 2),
        "png 1 bit": (saved(two_colours, "png"), 1),
        "png 16 bits": (saved(wide_grey(), "png"), 1),
        "png palette": (saved(palette, "png"), 3),
        "png palette transparent": (saved(transparent_palette(), "png"), 4),
        "webp": (saved(colour(), "webp"), 3),
        "webp lossless": (saved(colour(), "webp", lossless=True), 3),
        "webp alpha": (saved(with_alpha(), "webp"), 4),
        "webp lossless alpha": (saved(with_alpha(), "webp", lossless=True), 4),
        "bmp": (saved(colour(), "bmp"), 3),
        "bmp grey": (saved(grey, "bmp"), 1),
        "bmp palette": (saved(palette, "bmp"), 3),
        "bmp 1 bit": (saved(two_colours, "bmp"), 1),
        "gif": (saved(palette, "gif"), 3),
        "gif grey": (saved(grey, "gif"), 3),
        "gif animated": (saved(palette, "gif", save_all=True, append_images=[colour(1).convert("P")]), 3),
    }


def as_pillow_shows_it(data: bytes, mode: str = "RGB") -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Decode with Pillow: upright, on white, 8 bits."""
    image = ImageOps.exif_transpose(Image.open(io.BytesIO(data)))
    if image.mode.startswith("I;16"):
        image = Image.fromarray((np.array(image) >> 8).astype(np.uint8))
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        image = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", image.size, (255, 255, 255, 255)), image)
    return np.array(image.convert("RGB").convert(mode))
