"""Image: one encoded image per record, stored unchanged or encoded from pixels."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from recordsmith.columns import ByteColumn
from recordsmith.errors import EncodeError, SchemaError
from recordsmith.images import FORMATS, read_header
from recordsmith.schema.features.constraints import Violation
from recordsmith.schema.features.feature import Feature
from recordsmith.schema.features.strings import Bytes
from recordsmith.schema.input.image_input import encoded_images

if TYPE_CHECKING:
    from recordsmith.schema.plan import ColumnParts, Parts, PlanColumn

__all__ = ["Image"]

_BYTES = {optional: Bytes(optional=optional) for optional in (False, True)}
_CHANNELS = (1, 3, 4)


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Image(Feature):
    """An image, stored encoded and read as its bytes.

    Write the bytes of an encoded image or the path of a file, which are stored unchanged, or a uint8 array or a PIL
    image, which is encoded. The header of encoded bytes must match `height`, `width` and `encoding`.

    Args:
        height: the height in pixels; None if it varies.
        width: the width in pixels; None if it varies.
        channels: the channels after decoding: 1 grey, 3 RGB, 4 RGBA; None if it varies. Arrays must have this number;
            encoded images may have another, and are converted when they are decoded.
        encoding: "jpeg", "png", "webp", "bmp" or "gif"; None allows all of them, and encodes arrays as PNG.
        optional: records may lack it; absent rows are read as None.
        default: the bytes for records without it.
        description: a sentence for readers of the schema.

    >>> Image(channels=3, encoding="jpeg")
    Image(encoding='jpeg')
    >>> Image(480, 640).shape
    (480, 640, 3)
    """

    type_name: ClassVar[str] = "image"

    height: int | None = field(default=None, kw_only=True)
    width: int | None = field(default=None, kw_only=True)
    channels: int | None = field(default=3, kw_only=True)
    encoding: str | None = field(default=None, kw_only=True)

    def __init__(
        self,
        height: int | None = None,
        width: int | None = None,
        *,
        channels: int | None = 3,
        encoding: str | None = None,
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
        self._set(
            height=None if height is None else height.__index__(),
            width=None if width is None else width.__index__(),
            channels=channels,
            encoding=encoding,
        )
        self._set_common(optional=optional, default=default, description=description)

    @property
    def shape(self) -> tuple[int | None, int | None, int | None]:
        """The height, width and channels of the decoded image, None for what varies."""
        return self.height, self.width, self.channels

    def plan(self, name: str) -> tuple[PlanColumn, ...]:
        """Return the one stored feature that holds the encoded image."""
        return Bytes(optional=self.optional, default=self.default).plan(name)

    def assemble(self, parts: Sequence[Parts]) -> ByteColumn:
        """Return a ByteColumn of encoded images."""
        column = _BYTES[self.optional].assemble(parts)
        assert isinstance(column, ByteColumn)  # noqa: S101 - for the type checker: one string a row
        return column

    def row(self, column: Any, index: int) -> Any:
        """Return the bytes of one row's image; None if it is absent."""
        return column[index]

    def column_to_parts(self, values: Any, rows: int | None = None, *, cast: bool = False) -> tuple[ColumnParts, ...]:
        """Return what the core writes for a column of images; a list of bytes is passed on as it is."""
        encoded = encoded_images(values, shape=self.shape, encoding=self.encoding, cast=cast)
        parts = _BYTES[self.optional].column_to_parts(encoded, rows)
        stored, offsets, present = parts[0][:3]
        strings = stored if offsets is None else ByteColumn.unchecked(stored, offsets)
        for row, data in enumerate(strings):
            if present is None or present[row]:
                self._check(data, row)
        return parts

    def violations(self, column: Any) -> list[Violation]:
        """List the rows of a column whose headers disagree with the declaration."""
        found = ((row, None if data is None else self.mismatch(data)) for row, data in enumerate(column))
        return [Violation(row, "image", *wrong) for row, wrong in found if wrong is not None]

    def mismatch(self, data: bytes) -> tuple[str, str] | None:
        """Say what an image's header shows against the declaration: (found, expected); None if it agrees.

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

    def _check(self, data: bytes, row: int) -> None:
        wrong = self.mismatch(data)
        if wrong is not None:
            raise EncodeError(
                "An image does not match the declared feature.",
                row=row,
                found=wrong[0],
                expected=wrong[1],
                advice="Convert the image, or change the feature so that it matches all images.",
            )

    def _canonical(self, value: Any, *, cast: bool) -> bytes:
        strings, _, _ = self.column_to_parts([value], 1, cast=cast)[0][:3]
        return bytes(strings[0])

    def _checked_default(self, default: Any) -> Any:
        return self.value_to_canonical(default)

    def _setting_to_json(self, name: str) -> Any:
        return base64.b64encode(self.default).decode() if name == "default" else super()._setting_to_json(name)

    @classmethod
    def _setting_from_json(cls, name: str, value: Any, settings: Mapping[str, Any]) -> Any:
        if name != "default":
            return super()._setting_from_json(name, value, settings)
        try:
            return base64.b64decode(value, validate=True)
        except (binascii.Error, TypeError, ValueError):
            raise SchemaError("The default of an image must be base64.", found=value) from None
