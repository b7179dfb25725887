"""ImageError: an image cannot be decoded or encoded."""

__all__ = ["ImageError"]


class ImageError(ValueError):
    """An image cannot be decoded or encoded; the text is the reason, and callers add the place.

    >>> from recordsmith.images import decode_image
    >>> try:
    ...     decode_image(b"plain text")
    ... except ImageError as error:
    ...     print(error)
    This is not a JPEG, PNG, WebP, BMP or GIF image: it starts with b'plain text'.
    """
