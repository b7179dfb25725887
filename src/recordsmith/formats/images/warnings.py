"""What is worth knowing about pictures that keep their bytes: where TensorFlow shows something else than they do."""

from __future__ import annotations

from collections import Counter

from recordsmith.images import ImageHeader

__all__ = ["kept_picture_warnings"]


def kept_picture_warnings(headers: Counter[ImageHeader], channels: int) -> tuple[str, ...]:
    """Say what TensorFlow does with the pictures that have these headers, if it is not what one expects.

    >>> kept_picture_warnings(Counter([ImageHeader("jpeg", 24, 32, 3)]), 3)
    ()
    >>> print(*kept_picture_warnings(Counter([ImageHeader("gif", 24, 32, 3)]), 3))
    1 of the pictures is GIF or WebP: TensorFlow Datasets cannot read them, and tf.image.decode_image only with
    expand_animations=False. encoding="png" converts them.
    """
    moving = sum(count for header, count in headers.items() if header.format in ("gif", "webp"))
    palettes = sum(count for header, count in headers.items() if header.format == "bmp" and not header.plain)
    alphas = sum(count for header, count in headers.items() if header.channels in (2, 4) and channels in (1, 3))
    warnings = []
    if moving:
        warnings.append(
            f"{_of_the_pictures(moving)} GIF or WebP: TensorFlow Datasets cannot read them, and tf.image.decode_image "
            'only with expand_animations=False. encoding="png" converts them.'
        )
    if palettes:
        warnings.append(
            f"{_of_the_pictures(palettes)} BMP with a palette, which TensorFlow shows wrongly or not at all. "
            'encoding="png" converts them.'
        )
    if alphas:
        warnings.append(
            f"{_of_the_pictures(alphas)} partly transparent, but not all are: TensorFlow shows what is hidden there. "
            f"channels={channels} puts them on white."
        )
    return tuple(warnings)


def _of_the_pictures(count: int) -> str:
    return f"{count:,} of the pictures {'is' if count == 1 else 'are'}"
