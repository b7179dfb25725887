"""Warnings about images that are stored unchanged, but that TensorFlow decodes differently."""

from __future__ import annotations

from collections import Counter

from recordsmith.images import ImageHeader

__all__ = ["kept_image_warnings"]


def kept_image_warnings(headers: Counter[ImageHeader], channels: int) -> tuple[str, ...]:
    """Say what TensorFlow does with the images that have these headers, if it is not what one expects.

    >>> kept_image_warnings(Counter([ImageHeader("jpeg", 24, 32, 3)]), 3)
    ()
    >>> print(*kept_image_warnings(Counter([ImageHeader("gif", 24, 32, 3)]), 3))
    1 of the images is GIF or WebP: TensorFlow Datasets cannot read them, and tf.image.decode_image needs
    expand_animations=False. encoding="png" converts them.
    """
    moving = sum(count for header, count in headers.items() if header.format in ("gif", "webp"))
    palettes = sum(count for header, count in headers.items() if header.format == "bmp" and not header.plain)
    alphas = sum(count for header, count in headers.items() if header.channels in (2, 4) and channels in (1, 3))
    warnings = []
    if moving:
        warnings.append(
            f"{_of_the_images(moving)} GIF or WebP: TensorFlow Datasets cannot read them, and tf.image.decode_image "
            'needs expand_animations=False. encoding="png" converts them.'
        )
    if palettes:
        warnings.append(
            f"{_of_the_images(palettes)} BMP with a palette, which TensorFlow decodes wrongly or not at all. "
            'encoding="png" converts them.'
        )
    if alphas:
        warnings.append(
            f"{_of_the_images(alphas)} partly transparent, and others are not: TensorFlow ignores the transparency. "
            f"channels={channels} puts them on a white background."
        )
    return tuple(warnings)


def _of_the_images(count: int) -> str:
    return f"{count:,} of the images {'is' if count == 1 else 'are'}"
