"""Masks next to images: the class of each pixel is in another image of the same name and size."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from recordsmith.errors import PipelineError, list_names
from recordsmith.formats.detection.naming import NamingName, naming_of
from recordsmith.formats.detection.objects import AnnotatedImage, AnnotationError, ImageObjects
from recordsmith.formats.detection.segments import index_png, png_of_mask
from recordsmith.formats.detection.source import OF_IMAGE, AnnotatedSource, Found, Settings
from recordsmith.formats.images.folder_layout import splits_of
from recordsmith.formats.images.image_files import contents_of
from recordsmith.formats.images.listed_splits import listed_splits
from recordsmith.formats.images.listing import FoundFile, list_folder, readable_name
from recordsmith.formats.images.mask_pairs import find_mask_pairs
from recordsmith.formats.images.options import is_decoded, preparation_of
from recordsmith.images import ImageError, check_image, decode_image, read_header
from recordsmith.wording.numbers import count_text

__all__ = ["masks"]

PathLike = str | os.PathLike[str]
Colour = tuple[int, int, int]

_SHOWN_COLOURS = 12


def masks(  # noqa: PLR0913 - each is a setting of its own
    folder: PathLike,
    *,
    classes: Sequence[str] | None = None,
    colours: Mapping[str, Colour] | None = None,
    names: NamingName = "tf",
    size: tuple[int, int] | None = None,
    channels: int | None = None,
    encoding: str | None = None,
    quality: int = 95,
    orient: bool = True,
    check: Literal["decode", "header"] = "decode",
) -> MaskSource:
    """Read images and the mask of each, whose pixels are classes.

    Masks are stored as PNGs with one channel. For a mask with a palette, the palette indices are the classes.
    Splits that are folders are kept. An image without a mask, and a mask without an image, are rejected.

    Args:
        folder: a folder with images and masks: two folders with the same names inside, or 1.jpg and 1_mask.png.
        classes: the names of the classes in the order of the pixel values.
        colours: the colour (red, green, blue) of each class, for masks with colours; classes are numbered in this
            order.
        names: the names of the features: "tf" image/encoded and image/segmentation/class/encoded, as the TensorFlow
            Model Garden has them; "tfds" image and segmentation_mask.
        size: resize images to this height and width; masks take the nearest pixel.
        channels: convert images to this number of channels: 1, 3 or 4.
        encoding: convert images to this format: jpeg, png, webp or bmp.
        quality: the quality of converted JPEG and WebP images.
        orient: rotate images as their EXIF orientation says, and encode them again.
        check: "decode" decodes every image and mask to find damage; "header" only reads the headers.
    """
    preparation = preparation_of(size=size, channels=channels, encoding=encoding, quality=quality, orient=orient)
    settings = Settings(naming_of(names), preparation, is_decoded(check))
    known = None if colours is None else {name: _checked_colour(name, colour) for name, colour in colours.items()}
    return MaskSource(os.fspath(folder), settings, classes=classes, colours=known)


class MaskSource(AnnotatedSource):
    """What `masks` returns."""

    kind: ClassVar[str] = "masks"

    def __init__(
        self,
        path: str,
        settings: Settings,
        *,
        classes: Sequence[str] | None,
        colours: dict[str, Colour] | None,
    ) -> None:
        super().__init__(path, settings)
        self._classes = [*colours] if colours is not None else [*(classes or ())]
        self._colours = None if colours is None else tuple(colours.values())

    @property
    def _columns(self) -> tuple[str, ...]:
        return (*OF_IMAGE, "semantic")

    def _find(self) -> Found:
        listing = list_folder(self._path)
        pairs = find_mask_pairs(listing.files)
        if pairs is None:
            raise PipelineError(
                "No masks were found next to the images.",
                path=self._path,
                expected="images/1.jpg and masks/1.png, or 1.jpg and 1_mask.png",
            )
        names = list(pairs.images)
        splits = splits_of([pairs.names[name] for name in names])
        listed = listed_splits(listing.root, names, listing.ignored, "segmentation")
        if listed.splits:
            names = [name for name in names if name in listed.splits]
            splits = [listed.splits[name] for name in names]
        rows = []
        lossy = 0
        for name, split in zip(names, splits, strict=True):
            found = pairs.masks[name]
            problem = None if len(found) == 1 else "It has no mask." if not found else "It has several masks."
            mask = found[0] if found else None
            lossy += mask is not None and mask.name.lower().endswith((".jpg", ".jpeg"))
            rows.append(AnnotatedImage(pairs.images[name], mask, split, problem))
        default = next((split for split in splits if split is not None), None)
        for mask in pairs.alone:
            place = readable_name(mask.path)
            rows.append(AnnotatedImage(None, split=default, problem="The image of this mask is missing.", place=place))
        remarks = []
        left_out = len(pairs.images) - len(names)
        if left_out:
            lists = list_names(listed.lists, 4)
            remarks.append(f"{count_text(left_out, 'image')} in no list of a split ({lists}): left out.")
        if lossy:
            remarks.append(f"{count_text(lossy, 'mask')} in JPEG, which changes the classes of pixels at edges.")
        used = [mask for found in pairs.masks.values() for mask in found]
        reader = MaskReader(self._colours, self._settings.preparation.size, self._settings.decode)
        if self._colours is None and used:
            _refuse_colours(used[0])
        colours = None if self._colours is None else [list(colour) for colour in self._colours]
        return Found(rows, self._classes, reader, annotations=used, remarks=remarks, facts={"colours": colours})


@dataclass(frozen=True, slots=True)
class MaskReader:
    """Reads the mask of one image."""

    colours: tuple[Colour, ...] | None
    size: tuple[int, int] | None
    decode: bool

    def __call__(self, image: AnnotatedImage, height: int, width: int) -> ImageObjects:  # noqa: ARG002 - as all readers
        """Return the mask of an image."""
        mask: FoundFile = image.annotation
        data = next(contents_of([mask]))
        if isinstance(data, OSError):
            raise AnnotationError(f"The mask {mask.name} cannot be read: {data.strerror}.")
        if isinstance(data, Exception):
            raise data
        try:
            png = self._png(data)
            header = read_header(data)
        except ImageError as error:
            raise AnnotationError(f"The mask {mask.name}: {error}") from None
        return ImageObjects(size=None if header is None else header.upright, mask=png)

    def _png(self, data: bytes) -> bytes:
        """Return a mask as a PNG with one channel."""
        header = read_header(data)
        if self.colours is not None:
            return png_of_mask(self._numbered(decode_image(data, channels=3)), self.size)
        plain = index_png(data)
        if header is not None and header.format == "png" and (header.channels == 1 or plain is not data):
            if self.size is None:
                if self.decode:
                    check_image(plain)
                return plain
            return png_of_mask(decode_image(plain, channels=1)[:, :, 0], self.size)
        pixels = decode_image(plain, channels=3)
        if (pixels != pixels[:, :, :1]).any():
            raise ImageError(
                "It has colours instead of class numbers. Name them with colours={'road': (128, 64, 128), ...}."
            )
        return png_of_mask(pixels[:, :, 0], self.size)

    def _numbered(self, pixels: Any) -> Any:
        """Return the number of each pixel's colour."""
        codes = pixels.astype(np.uint32) @ np.array([1 << 16, 1 << 8, 1], np.uint32)
        known = np.array([(red << 16) + (green << 8) + blue for red, green, blue in self.colours or ()], np.uint32)
        order = np.argsort(known)
        place = np.minimum(np.searchsorted(known[order], codes), len(known) - 1)
        if (known[order][place] != codes).any():
            wrong = int(codes[known[order][place] != codes][0])
            raise ImageError(f"It has the colour {(wrong >> 16, wrong >> 8 & 255, wrong & 255)}, which is not a class.")
        return order[place].astype(np.uint8)


def _refuse_colours(mask: FoundFile) -> None:
    """Refuse masks with colours by the first one, with the colours that it has."""
    data = next(contents_of([mask]))
    try:
        pixels = None if isinstance(data, Exception) or index_png(data) is not data else decode_image(data, channels=3)
    except ImageError:
        return  # it is rejected with the reason when it is read
    if pixels is None or (pixels == pixels[:, :, :1]).all():
        return
    found = [tuple(map(int, colour)) for colour in np.unique(pixels.reshape(-1, 3), axis=0)[:_SHOWN_COLOURS]]
    raise PipelineError(
        "The masks have colours instead of class numbers.",
        path=readable_name(mask.path),
        found=list_names(map(str, found), _SHOWN_COLOURS),
        advice=f"Name the colours: rs.sources.masks(folder, colours={{'background': {found[0]}, ...}}).",
    )


def _checked_colour(name: str, colour: Any) -> Colour:
    values = tuple(colour) if isinstance(colour, (tuple, list)) else ()
    if len(values) != 3 or not all(isinstance(one, int) and 0 <= one <= 255 for one in values):
        raise PipelineError(
            f"The colour of {name!r} is not red, green and blue from 0 to 255.", found=repr(colour)[:60]
        )
    return values
