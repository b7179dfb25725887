"""The feature type of each member extension, and the values in the bytes of members."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from recordsmith.formats.arrays.npy_format import array_of_bytes
from recordsmith.images import Preparation, check_image, read_header
from recordsmith.schema import Bytes, Feature, Image, Label, Scalar, Tensor, Text

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["Reading", "feature_of", "value_of"]

_IMAGES = ("image", "jpg", "jpeg", "png", "webp", "bmp", "gif")
_TEXTS = ("txt", "text", "transcript", "json", "jsn", "jsonl", "html", "caption")
_NUMBERS = ("label", "cls", "cls2", "index", "inx", "id", "count")


@dataclass(frozen=True, slots=True)
class Reading:
    """How a feature is read from the bytes of a member.

    Attributes:
        kind: image, text, number, array or bytes.
        feature: what it is in the schema.
        preparation: what is done to images.
        decode: whether images that stay as they are get decoded for the sake of their errors.
    """

    kind: str
    feature: Feature
    preparation: Preparation
    decode: bool


def feature_of(
    name: str, contents: Sequence[bytes], *, optional: bool, classes: Sequence[str] | None, preparation: Preparation
) -> tuple[str, Feature]:
    """Tell from some contents of a feature how it is read, and what it is.

    >>> feature_of("label", [b"3", b"5"], optional=False, classes=None, preparation=Preparation())
    ('number', Scalar('int64'))
    """
    last = name.rpartition(".")[2]
    if last in _IMAGES:
        return "image", _image(contents, preparation, optional=optional)
    whole_numbers = last in _NUMBERS and all(_is_integer(content) for content in contents)
    if name == "label" and classes is not None:
        return "number" if whole_numbers else "text", Label(list(classes), optional=optional)
    if whole_numbers:
        return "number", Scalar("int64", optional=optional)
    if last in (*_TEXTS, *_NUMBERS):
        return "text", Text(optional=optional)
    if last == "npy" and (feature := _tensor(contents, optional=optional)) is not None:
        return "array", feature
    return "bytes", Bytes(optional=optional)


def value_of(data: bytes, reading: Reading) -> Any:
    """Return the value that a member holds, or raise a ValueError with the reason why it holds none.

    >>> value_of(b" 7 ", Reading("number", Scalar("int64"), Preparation(), True))
    7
    """
    if reading.kind == "image":
        prepared = reading.preparation.prepare(data)
        if prepared is data and reading.decode:
            check_image(data)
        return prepared
    if reading.kind == "number":
        if not _is_integer(data):
            raise ValueError(f"It contains {data[:40]!r}, not an integer.")
        return int(data)
    if reading.kind == "text":
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            raise ValueError(
                f"It is not UTF-8 text: byte 0x{data[error.start]:02x} at position {error.start}."
            ) from None
        return text.strip() if isinstance(reading.feature, Label) else text
    if reading.kind == "array":
        return _fitting(array_of_bytes(data), reading.feature)
    return data


def _image(contents: Sequence[bytes], preparation: Preparation, *, optional: bool) -> Image:
    headers = [header for content in contents if (header := read_header(content)) is not None]
    encodings = {preparation.encoding_of(header) for header in headers}
    grey = bool(headers) and all(header.channels == 1 for header in headers)
    height, width = preparation.size or (None, None)
    channels = preparation.channels or (1 if grey else 3)
    return Image(
        height, width, channels=channels, encoding=encodings.pop() if len(encodings) == 1 else None, optional=optional
    )


def _tensor(contents: Sequence[bytes], *, optional: bool) -> Tensor | None:
    arrays = []
    for content in contents:
        try:
            arrays.append(array_of_bytes(content))
        except ValueError:
            continue
    if not arrays or len({(array.dtype.newbyteorder("="), array.ndim) for array in arrays}) > 1:
        return None
    sizes = [{array.shape[axis] for array in arrays} for axis in range(arrays[0].ndim)]
    shape = tuple(size.pop() if len(size) == 1 else None for size in sizes)
    try:
        return Tensor(arrays[0].dtype.newbyteorder("="), shape, optional=optional)
    except ValueError:  # a dtype that records cannot hold
        return None


def _fitting(array: npt.NDArray[Any], feature: Feature) -> npt.NDArray[Any]:
    assert isinstance(feature, Tensor)  # noqa: S101 - for the type checker
    fits = len(array.shape) == len(feature.shape) and all(
        want in (None, size) for size, want in zip(array.shape, feature.shape, strict=True)
    )
    if not fits or array.dtype.newbyteorder("=") != feature.dtype:
        raise ValueError(f"It is {array.dtype} of shape {array.shape}, not {feature.dtype} of {feature.shape}.")
    return array


def _is_integer(data: bytes) -> bool:
    text = data.strip()
    return text.removeprefix(b"-").isdigit() and len(text) <= 20 and -(2**63) <= int(text) < 2**63
