"""ImageError: an image cannot be decoded or encoded."""

__all__ = ["ImageError"]


class ImageError(ValueError):
    """An image cannot be decoded or encoded; the text is the reason, and callers add the place."""
