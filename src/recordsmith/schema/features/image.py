"""Image: one encoded image per record, stored unchanged or encoded from pixels."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from recordsmith.errors import SchemaError
from recordsmith.images import FORMATS, read_header
from recordsmith.schema.features.encoded import EncodedFeature
from recordsmith.schema.input.image_input import encoded_images

__all__ = ["Image"]

_CHANNELS = (1, 3, 4)
_PIXEL_TYPES = ("uint8", "uint16", "float32")


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Image(EncodedFeature):
    """An image, stored encoded and read as its bytes.

    Write the bytes of an encoded image or the path of a file, which are stored unchanged, or a uint8 array or a PIL
    image, which is encoded. The header of encoded bytes must match `height`, `width` and `encoding`.

    Args:
        height: the height in pixels; None if it varies.
        width: the width in pixels; None if it varies.
        channels: the channels after decoding: 1 grey, 3 RGB, 4 RGBA; None if it varies. Arrays must have this number;
            encoded images may have another, and are converted when they are decoded.
        encoding: "jpeg", "png", "webp", "bmp" or "gif"; None allows all of them, and encodes arrays as PNG.
        pixel_type: the dtype of the pixels: "uint8", "uint16" (PNG), or "float32" (one channel, stored as the four
            channels of a PNG, as in TensorFlow Datasets).
        optional: records may lack it; absent rows are read as None.
        default: the bytes for records without it.
        description: a sentence for readers of the schema.

    >>> Image(channels=3, encoding="jpeg")
    Image(encoding='jpeg')
    >>> Image(480, 640).shape
    (480, 640, 3)
    """

    type_name: ClassVar[str] = "image"
    medium: ClassVar[str] = "image"

    height: int | None = field(default=None, kw_only=True)
    width: int | None = field(default=None, kw_only=True)
    channels: int | None = field(default=3, kw_only=True)
    encoding: str | None = field(default=None, kw_only=True)
    pixel_type: str = field(default="uint8", kw_only=True)

    def __init__(
        self,
        height: int | None = None,
        width: int | None = None,
        *,
        channels: int | None = 3,
        encoding: str | None = None,
        pixel_type: str = "uint8",
        optional: bool = False,
        default: Any = None,
        description: str = "",
    ) -> None:
        for name, size in (("height", height), ("width", width)):
            if size is not None and (isinstance(size, bool) or not hasattr(size, "__index__") or size.__index__() < 1):
                raise SchemaError(f"The {name} of an image must be a number of pixels, or None.", found=size)
        if channels is not None and channels not in _CHANNELS:
            raise SchemaError("An image must have 1, 3 or 4 channels, or None if the number varies.", found=channels)
        if encoding is not None and encoding not in FORMATS:
            raise SchemaError("Unknown image encoding.", found=encoding, expected=f"{', '.join(FORMATS)} or None")
        if pixel_type not in _PIXEL_TYPES or (pixel_type != "uint8" and encoding not in (None, "png")):
            raise SchemaError("Unknown type of pixels.", found=pixel_type, expected=", ".join(_PIXEL_TYPES) + " (PNG)")
        if pixel_type == "float32" and channels not in (None, 1):
            raise SchemaError("An image of float32 has one channel.", found=channels, expected=1)
        self._set(
            height=None if height is None else height.__index__(),
            width=None if width is None else width.__index__(),
            channels=channels,
            encoding=encoding,
            pixel_type=pixel_type,
        )
        self._set_common(optional=optional, default=default, description=description)

    @property
    def shape(self) -> tuple[int | None, int | None, int | None]:
        """The height, width and channels of the decoded image, None for what varies."""
        return self.height, self.width, self.channels

    def mismatch(self, data: bytes) -> tuple[str, str] | None:
        """Compare an image's header with the declaration: (found, expected), or None if they agree.

        >>> Image(24, 24).mismatch(b"GIF89a" + bytes([32, 0, 24, 0, 0, 0, 0]))
        ('a GIF of 32×24', '24×24 pixels (width × height)')
        >>> Image().mismatch(b"plain text")
        ("not an image: it starts with b'plain text'", 'an encoded JPEG, PNG, WEBP, BMP or GIF')
        """
        header = read_header(data)
        if header is None:
            formats = [self.encoding] if self.encoding else FORMATS
            names = [name.upper() for name in formats]
            known = " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
            begin = f"it starts with {bytes(data[:12])!r}" if data else "it is empty"
            return f"not an image: {begin}", f"an encoded {known}"
        if self.encoding is not None and header.format != self.encoding:
            return f"a {header.title}", f"a {self.encoding.upper()}"
        if self.height not in (None, header.height) or self.width not in (None, header.width):
            width, height = self.width or "any", self.height or "any"
            return f"a {header.title}", f"{width}×{height} pixels (width × height)"
        return None

    def _encoded(self, values: Any, *, cast: bool) -> Any:
        return encoded_images(
            values, shape=self.shape, encoding=self.encoding, cast=cast, floats=self.pixel_type == "float32"
        )
