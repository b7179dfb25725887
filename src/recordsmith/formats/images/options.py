"""The image options that several sources share."""

from __future__ import annotations

from typing import Any

from recordsmith.errors import PipelineError
from recordsmith.images import Preparation

__all__ = ["describe_preparation", "is_decoded", "preparation_of"]


def preparation_of(
    *, size: Any, channels: int | None, encoding: str | None, quality: int, orient: bool = True
) -> Preparation:
    """Return what is to be done to images, or raise a PipelineError about options that cannot be.

    >>> preparation_of(size=(224, 224), channels=None, encoding=None, quality=95).size
    (224, 224)
    >>> preparation_of(size=224, channels=None, encoding=None, quality=95)
    Traceback (most recent call last):
    recordsmith.errors.PipelineError: The image size must be a height and a width.
      found:    224
      expected: two numbers of pixels, such as (224, 224)
    """
    if encoding == "gif":
        raise PipelineError("Images cannot be converted to GIF, which has at most 256 colours.", found=encoding)
    wanted = None
    if size is not None:
        try:
            height, width = size
            wanted = (height.__index__(), width.__index__())
        except (TypeError, ValueError, AttributeError):
            raise PipelineError(
                "The image size must be a height and a width.",
                found=size,
                expected="two numbers of pixels, such as (224, 224)",
            ) from None
    try:
        return Preparation(wanted, channels, encoding, quality, orient)
    except ValueError as error:
        raise PipelineError(f"The images cannot be converted like this: {error}.") from None


def is_decoded(check: str) -> bool:
    """Whether images that stay as they are get decoded for the sake of their errors."""
    if check not in ("decode", "header"):
        raise PipelineError("Unknown way to check images.", found=check, expected="'decode' or 'header'")
    return check == "decode"


def describe_preparation(preparation: Preparation) -> dict[str, Any]:
    """Return the options as they were given, JSON-ready."""
    return {
        "size": None if preparation.size is None else list(preparation.size),
        "channels": preparation.channels,
        "encoding": preparation.encoding,
        "quality": preparation.quality,
        "orient": preparation.orient,
    }
