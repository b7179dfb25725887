"""What the headers of many image files say together, and the content of each file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from recordsmith.errors import PipelineError
from recordsmith.formats.images.listing import FoundFile, readable_name
from recordsmith.images import ImageHeader, Preparation, check_image, read_header
from recordsmith.schema import Image
from recordsmith.storage.objects.interruptible import interruptible_in_order
from recordsmith.storage.ranged.listed_files import read_files, read_start
from recordsmith.storage.ranged.opening import is_ranged
from recordsmith.storage.ranged.requests import RemoteReadError
from recordsmith.wording.numbers import count_text

__all__ = ["ImageFiles", "contents_of", "header_of_file", "prepared_image"]

_MOST_HEADERS = 4096  # that are read to learn what the images are
_HEADER_BYTES = 32 << 10  # enough for nearly all headers
_LONG_HEADER_BYTES = 1 << 20  # some have thumbnails and colour profiles before the size


@dataclass(frozen=True, slots=True)
class ImageFiles:
    """How the images of a source are stored, known from what was asked for and from their headers.

    Attributes:
        headers: the headers of all images, or of as many as it takes, spread over the whole.
        preparation: what was asked for, and where all images have one encoding also that.
        channels: what decoding is to give: grey if all images are, with alpha if all have it.
    """

    headers: Counter[ImageHeader]
    preparation: Preparation
    channels: int

    @classmethod
    def of(cls, files: Sequence[FoundFile], asked: Preparation, root: str) -> ImageFiles:
        """Look at files, or raise a PipelineError if none of them is an image."""
        headers = _headers(files, root)
        encodings = {asked.encoding_of(header) for header in headers}
        preparation = replace(asked, encoding=encodings.pop()) if len(encodings) == 1 else asked
        return cls(headers, preparation, _channels(asked, headers, preparation.encoding))

    def feature(self) -> Image:
        """Return the feature of the images."""
        height, width = self.preparation.size or (None, None)
        return Image(height, width, channels=self.channels, encoding=self.preparation.encoding)


def prepared_image(data: bytes, preparation: Preparation, *, decode: bool) -> bytes:
    """Return an image as it is to be stored; if it stays as it is, it is decoded for the sake of its errors."""
    prepared = preparation.prepare(data)
    if prepared is data and decode:
        check_image(data)
    return prepared


def contents_of(files: Sequence[FoundFile]) -> Iterator[bytes | Exception]:
    """Give the content of each file, or why it cannot be read; remote ones many at a time."""
    if files and is_ranged(files[0].path):
        yield from read_files((file.path, file.size, file.modified) for file in files)
        return
    for file in files:
        try:
            with open(file.path, "rb", buffering=0) as opened:
                yield opened.read()
        except OSError as error:
            yield error


def header_of_file(file: FoundFile) -> ImageHeader | None:
    """Return the header of an image file; None if it has none, or cannot be read."""
    try:
        if is_ranged(file.path):
            return read_header(read_start(file.path, file.size, _HEADER_BYTES))
        with open(file.path, "rb", buffering=0) as opened:
            data = opened.read(_HEADER_BYTES)
            header = read_header(data)
            if header is None and file.size > len(data) and data.startswith(b"\xff\xd8\xff"):
                opened.seek(0)
                header = read_header(opened.read(_LONG_HEADER_BYTES))
            return header
    except RemoteReadError:
        raise
    except OSError:
        return None


def _headers(files: Sequence[FoundFile], root: str) -> Counter[ImageHeader]:
    step = max(1, -(-len(files) // _MOST_HEADERS))
    looked_at = files[::step]
    if files and is_ranged(files[0].path):
        found: Iterable[ImageHeader | None] = interruptible_in_order(header_of_file, looked_at, at_once=32)
    else:
        found = map(header_of_file, looked_at)
    headers = Counter(header for header in found if header is not None)
    if not headers:
        such = f" such as {readable_name(files[0].name)!r}" if files else ""
        raise PipelineError(
            "None of the files is an image.",
            path=root,
            found=f"{count_text(len(files), 'file')}{such}",
            expected="JPEG, PNG, WebP, BMP or GIF",
        )
    return headers


def _channels(asked: Preparation, headers: Counter[ImageHeader], encoding: str | None) -> int:
    if asked.channels is not None:
        return asked.channels
    found = {header.channels for header in headers}
    if found <= {2, 4} and encoding not in ("jpeg", "gif"):
        return 4
    return 1 if found <= {1, 2} and encoding not in ("webp", "gif") else 3
