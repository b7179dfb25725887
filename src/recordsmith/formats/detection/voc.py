"""Pascal VOC: an XML file with the boxes of each image.

VOC2012/Annotations/2007_000027.xml       VOC2012/JPEGImages/2007_000027.jpg
VOC2012/ImageSets/Main/train.txt          the ids of the images of a split, one a line
train/1.xml                               train/1.jpg                             as Roboflow exports it
"""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from recordsmith.errors import PipelineError, list_names
from recordsmith.formats.detection.naming import NamingName, naming_of
from recordsmith.formats.detection.objects import AnnotatedImage, AnnotationError, ImageObjects
from recordsmith.formats.detection.source import AnnotatedSource, Found, Settings, list_images
from recordsmith.formats.detection.xml_files import parse_xml
from recordsmith.formats.images.folder_layout import splits_of
from recordsmith.formats.images.image_files import contents_of
from recordsmith.formats.images.image_lookup import ImageLookup
from recordsmith.formats.images.listed_splits import listed_splits
from recordsmith.formats.images.listing import FoundFile, file_in, readable_name
from recordsmith.formats.images.options import is_decoded, preparation_of
from recordsmith.wording.numbers import count_text

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

__all__ = ["voc"]

PathLike = str | os.PathLike[str]

_FLAGS = ("difficult", "truncated")
_FLAG_WORDS = {"1": 1, "true": 1, "yes": 1, "0": 0, "false": 0, "no": 0, "unspecified": 0, "": 0}
_NUMBER = re.compile(r"\s*-?[0-9]{1,9}(\.[0-9]{0,17})?\s*")


def voc(  # noqa: PLR0913 - each is a setting of its own
    folder: PathLike,
    *,
    names: NamingName = "tf",
    clip: bool = False,
    size: tuple[int, int] | None = None,
    channels: int | None = None,
    encoding: str | None = None,
    quality: int = 95,
    orient: bool = True,
    check: Literal["decode", "header"] = "decode",
) -> VocSource:
    """Read images with Pascal VOC annotations: boxes, classes, and whether objects are difficult or truncated.

    The splits of ImageSets/Main, or those of folders such as train and val, are kept. Pixels are counted from 1 in VOC:
    a box from 1 to the width covers the whole image. An annotation whose image is missing is rejected; images without
    an annotation are left out.

    Args:
        folder: the folder, with Annotations and JPEGImages, or with images and XML files side by side.
        names: the names of the features: "tf" those of the TensorFlow Object Detection API, "tfds" those of TensorFlow
            Datasets.
        clip: cut boxes off at the edge of their image. Otherwise boxes that are more than 1 % outside are rejected.
        size: resize images to this height and width.
        channels: convert images to this number of channels: 1, 3 or 4.
        encoding: convert images to this format: jpeg, png, webp or bmp.
        quality: the quality of converted JPEG and WebP images.
        orient: rotate images as their EXIF orientation says, and encode them again.
        check: "decode" decodes every image to find damage; "header" only reads the headers.
    """
    preparation = preparation_of(size=size, channels=channels, encoding=encoding, quality=quality, orient=orient)
    return VocSource(os.fspath(folder), Settings(naming_of(names), preparation, is_decoded(check), clip))


class VocSource(AnnotatedSource):
    """What `voc` returns. Annotations are read once for the names of the classes, and again with their image."""

    kind: ClassVar[str] = "voc"

    def _find(self) -> Found:
        listing, remarks = list_images(self._path)
        files = [file_in(listing.root, name) for name in listing.ignored if name.lower().endswith(".xml")]
        if not files:
            raise PipelineError("The folder has no XML annotations.", path=self._path)
        lookup = ImageLookup(listing)
        listed = listed_splits(listing.root, [file.name for file in files], listing.ignored, "main")
        by_folder = dict(zip([file.name for file in files], splits_of([file.name for file in files]), strict=True))
        classes: set[str] = set()
        fields: Counter[str] = Counter()
        rows: list[AnnotatedImage] = []
        unlisted = 0
        for file, data in zip(files, contents_of(files), strict=True):
            split = listed.splits.get(file.name) if listed.splits else by_folder[file.name]
            if listed.splits and split is None:
                unlisted += 1
                continue
            rows.append(_row(file, data, lookup, split, classes, fields))
        used = {row.file.name for row in rows if row.file is not None}
        unused = sum(one.name not in used for one in listing.files) - unlisted
        if unlisted:
            lists = list_names(listed.lists, 4)
            remarks.append(f"{count_text(unlisted, 'image')} in no list of a split ({lists}): left out.")
        if unused > 0:
            remarks.append(f"{count_text(unused, 'image')} without an annotation: left out.")
        ordered = sorted(classes)
        wanted = tuple(what for what in (*_FLAGS, "view") if fields[what])
        if fields["zero"]:
            remarks.append("Some boxes start at pixel 0, so pixels are counted from 0 in all of them, and not from 1.")
        first = 0 if fields["zero"] else 1
        reader = VocReader({name: number for number, name in enumerate(ordered)}, wanted, first)
        return Found(rows, ordered, reader, wanted, annotations=files, remarks=remarks)


def _row(
    file: FoundFile,
    data: bytes | Exception,
    lookup: ImageLookup,
    split: str | None,
    classes: set[str],
    fields: Counter[str],
) -> AnnotatedImage:
    """Return the image of an annotation, and note which classes and fields it has."""
    place = readable_name(file.path)
    try:
        root = _root(data)
    except AnnotationError as error:
        return AnnotatedImage(None, split=split, problem=str(error), place=place)
    for one in root.iter("object"):
        classes.update([_text(one, "name")] if _text(one, "name") else [])
        fields.update(what for what in _FLAGS if one.find(what) is not None)
        fields.update(["view"] if one.find("pose") is not None else [])
        fields.update("zero" for side in ("xmin", "ymin") if (one.findtext(f"bndbox/{side}") or "").strip() == "0")
    stem = os.path.splitext(os.path.basename(file.name))[0]
    problem = None
    image = lookup.of_stem(stem, near=file.name, split=split)
    named = _text(root, "filename")
    if named and (image is None or os.path.splitext(os.path.basename(named))[0] != stem):
        by_name, problem = lookup.find(named, near=file.name, split=split)
        image, problem = (by_name, None) if by_name is not None else (image, None if image else problem)
    if image is None:
        problem = problem or "The image is missing."
    return AnnotatedImage(image, file, split, problem, place, source_id=readable_name(stem)[:200])


@dataclass(frozen=True, slots=True)
class VocReader:
    """Reads the XML file of one image."""

    numbers: dict[str, int]
    fields: tuple[str, ...]
    first_pixel: int

    def __call__(self, image: AnnotatedImage, height: int, width: int) -> ImageObjects:
        """Return the objects of an image."""
        root = _root(next(contents_of([image.annotation])))
        objects = ImageObjects(size=_size(root))
        for one in root.iter("object"):
            name = _text(one, "name")
            if not name:
                raise AnnotationError("An object has no name.")
            if name not in self.numbers:
                raise AnnotationError("The annotation changed while the dataset was being made.")
            box = one.find("bndbox")
            if box is None:
                raise AnnotationError(f"The object {name[:60]!r} has no bndbox.")
            left, top, right, bottom = (_number(box, side) for side in ("xmin", "ymin", "xmax", "ymax"))
            more: dict[str, Any] = {what: _flag(one, what) for what in _FLAGS if what in self.fields}
            if "view" in self.fields:
                more["view"] = _text(one, "pose")
            # In Pascal VOC, the first pixel has the number 1, and the last one belongs to the box.
            start = self.first_pixel
            edges = ((top - start) / height, (left - start) / width, bottom / height, right / width)
            objects.add(edges, self.numbers[name], **more)
        return objects


def _root(data: bytes | Exception) -> Element:
    if isinstance(data, OSError):
        raise AnnotationError(f"It cannot be read: {data.strerror}.")
    if isinstance(data, Exception):
        raise data
    root = parse_xml(data)
    if root.tag != "annotation":
        raise AnnotationError(f"It is not a Pascal VOC annotation: it starts with <{root.tag[:40]}>.")
    return root


def _size(root: Element) -> tuple[int, int] | None:
    size = root.find("size")
    if size is None:
        return None
    sides = [_text(size, side) for side in ("height", "width")]
    height, width = (int(side) if side.isdecimal() and len(side) < 10 else 0 for side in sides)
    return (height, width) if height and width else None


def _text(element: Element, tag: str) -> str:
    return " ".join((element.findtext(tag) or "").split())


def _flag(element: Element, tag: str) -> int:
    """Return 0 or 1; an object without the tag is not difficult, truncated or occluded."""
    text = _text(element, tag).lower()
    if text not in _FLAG_WORDS:
        raise AnnotationError(f"{tag} is neither 0 nor 1: {text[:60]!r}.")
    return _FLAG_WORDS[text]


def _number(box: Element, side: str) -> float:
    text = box.findtext(side) or ""
    if not _NUMBER.fullmatch(text) or not math.isfinite(float(text)):
        raise AnnotationError(f"The {side} of a box is not a number of pixels: {text[:60]!r}.")
    return float(text)
