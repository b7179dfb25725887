"""YOLO: a text file for each image, with a line for each object, and a YAML file with the classes and splits.

images/train/1.jpg    labels/train/1.txt       the last folder "images" of the path becomes "labels"
train/images/1.jpg    train/labels/1.txt
1.jpg                 1.txt                    side by side

0 0.5 0.5 0.2 0.1                              class, centre (x, y), width, height, relative to the image
0 0.1 0.1 0.9 0.1 0.5 0.9                      class, outline (x, y, x, y, ...)
0 0.5 0.5 0.2 0.1 0.4 0.5 2 ...                class, box, keypoints: (x, y) or (x, y, visible), with kpt_shape
"""

from __future__ import annotations

import math
import os
import posixpath
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from recordsmith.errors import list_names
from recordsmith.formats.detection.naming import NamingName, naming_of, unique_names
from recordsmith.formats.detection.objects import AnnotatedImage, AnnotationError, ImageObjects
from recordsmith.formats.detection.segments import mask_of_polygons
from recordsmith.formats.detection.source import AnnotatedSource, Found, Settings, list_images
from recordsmith.formats.detection.yolo_yaml import (
    NAMES_FILES,
    class_names,
    keypoint_shape,
    read_yaml,
    split_lists,
    yaml_names,
)
from recordsmith.formats.images.folder_layout import splits_of
from recordsmith.formats.images.image_files import contents_of
from recordsmith.formats.images.listed_splits import listed_splits
from recordsmith.formats.images.listing import FoundFile, Listing, file_in, readable_name
from recordsmith.formats.images.options import is_decoded, preparation_of
from recordsmith.wording.numbers import count_text

__all__ = ["yolo"]

PathLike = str | os.PathLike[str]

_MOST_LABELS = 16 << 20
_MOST_CLASSES = 100_000


def yolo(  # noqa: PLR0913 - each is a setting of its own
    path: PathLike,
    *,
    masks: bool = True,
    names: NamingName = "tf",
    clip: bool = False,
    size: tuple[int, int] | None = None,
    channels: int | None = None,
    encoding: str | None = None,
    quality: int = 95,
    orient: bool = True,
    check: Literal["decode", "header"] = "decode",
) -> YoloSource:
    """Read images with YOLO annotations: boxes or outlines, classes and keypoints.

    The splits of the YAML file, or those of folders such as train and val, are kept. An image without a text file, or
    with an empty one, has no boxes. A text file whose image is missing is rejected.

    Args:
        path: the folder, or its YAML file (data.yaml).
        masks: store outlines as masks too, besides the boxes around them. This needs the extra "detection".
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
    settings = Settings(naming_of(names), preparation, is_decoded(check), clip)
    return YoloSource(os.fspath(path), settings, masks=masks)


class YoloSource(AnnotatedSource):
    """What `yolo` returns. Only the lines of text files with outlines are looked at before the images are loaded."""

    kind: ClassVar[str] = "yolo"

    def __init__(self, path: str, settings: Settings, *, masks: bool) -> None:
        super().__init__(path, settings)
        self._masks = masks

    def _find(self) -> Found:
        is_yaml = self._path.lower().endswith((".yaml", ".yml"))
        root = (os.path.dirname(self._path) or ".") if is_yaml else self._path
        listing, remarks = list_images(root)
        yaml = os.path.basename(self._path) if is_yaml else next(iter(yaml_names(listing)), None)
        config = {} if yaml is None else read_yaml(os.path.join(root, yaml))
        lists = split_lists(config, listing, yaml)
        labels = {name: file_in(listing.root, name) for name in listing.ignored if _is_label_name(name)}
        by_folder = _folder_splits(listing)
        if not lists.splits and not by_folder:
            listed = listed_splits(listing.root, [file.name for file in listing.files], listing.ignored)
            lists = replace(lists, splits=listed.splits, files=listed.lists)
        for name in lists.files:
            labels.pop(name, None)
        beside = {
            file.name: next((one for one in _label_names(file.name) if one in labels), None) for file in listing.files
        }
        by_stem: dict[str, list[str]] = {}
        for name in labels.keys() - beside.values():
            by_stem.setdefault(os.path.splitext(posixpath.basename(name))[0], []).append(name)
        splits = lists.splits or by_folder
        rows, used, left_out = [], set(), 0
        for image in listing.files:
            its = beside[image.name]
            if its is None:  # in a folder of another name
                named = by_stem.get(os.path.splitext(posixpath.basename(image.name))[0], [])
                its = named[0] if len(named) == 1 else None
            used |= set() if its is None else {its}
            if lists.splits and image.name not in splits:
                left_out += 1
                continue
            label = None if its is None else labels[its]
            found = label if label is not None and label.size else None
            place = "" if label is None else readable_name(label.path)
            rows.append(AnnotatedImage(image, found, splits.get(image.name), None, place, readable_name(image.name)))
        for name in sorted(labels.keys() - used):
            if _is_beside_labels(name, used):
                place = readable_name(labels[name].path)
                split = next((row.split for row in rows if row.split is not None), None)
                rows.append(AnnotatedImage(None, split=split, problem="The image is missing.", place=place))
        points, dims = keypoint_shape(config, yaml)
        facts = _LineFacts.of([row.annotation for row in rows if row.annotation is not None], points * dims)
        classes = class_names(config, listing, yaml) or [str(number) for number in range(facts.classes)]
        fields: tuple[str, ...] = ("keypoints", "visibility") if points else ()
        if self._masks and facts.outlines and not points:
            fields = ("masks",)
        remarks += lists.remarks
        if left_out:
            remarks.append(
                f"{count_text(left_out, 'image')} in no split of {yaml or list_names(lists.files, 4)}: left out."
            )
        annotations = [row.annotation for row in rows if row.annotation is not None]
        reader = YoloReader(len(classes), points, dims, "masks" in fields)
        described = {"yaml": yaml, "masks": self._masks}
        return Found(rows, unique_names(classes), reader, fields, points, annotations, remarks, described)


@dataclass(frozen=True, slots=True)
class YoloReader:
    """Reads the text file of one image."""

    classes: int
    points: int
    dims: int
    masks: bool

    def __call__(self, image: AnnotatedImage, height: int, width: int) -> ImageObjects:
        """Return the objects of an image."""
        objects = ImageObjects()
        if image.annotation is None:
            return objects
        for line, words in _lines(next(contents_of([image.annotation]))):
            numbers = _numbers(words, line)
            label = int(numbers[0])
            if label != numbers[0] or not 0 <= label < self.classes:
                raise AnnotationError(f"Line {line}: there is no class {words[0][:40]}; there are {self.classes}.")
            self._add(objects, label, numbers[1:], line, (height, width))
        return objects

    def _add(self, objects: ImageObjects, label: int, numbers: list[float], line: int, size: tuple[int, int]) -> None:
        if len(numbers) == 4 + self.points * self.dims:
            points = [numbers[4 + at : 4 + at + self.dims] for at in range(0, self.points * self.dims, self.dims or 1)]
            more: dict[str, Any] = {}
            if self.points:
                more["keypoints"] = [(point[1], point[0]) for point in points]
                more["visibility"] = [int(point[2]) if self.dims == 3 else 2 for point in points]
            if self.masks:
                more["masks"] = mask_of_polygons([_corners(numbers, size)], *size)
            objects.add(_box(*numbers[:4]), label, **more)
        elif not self.points and len(numbers) >= 6 and len(numbers) % 2 == 0:
            across, down = numbers[::2], numbers[1::2]
            more = {}
            if self.masks:
                outline = [
                    side * scale
                    for x, y in zip(across, down, strict=True)
                    for side, scale in ((x, size[1]), (y, size[0]))
                ]
                more["masks"] = mask_of_polygons([outline], *size)
            objects.add((min(down), min(across), max(down), max(across)), label, **more)
        else:
            expected = f"a class and {4 + self.points * self.dims} numbers"
            raise AnnotationError(f"Line {line}: {len(numbers) + 1} numbers, instead of {expected}.")


def _box(x: float, y: float, width: float, height: float) -> tuple[float, float, float, float]:
    return y - height / 2, x - width / 2, y + height / 2, x + width / 2


def _corners(numbers: Sequence[float], size: tuple[int, int]) -> list[float]:
    """Return a box as an outline in pixels, for files in which only some objects have one."""
    top, left, bottom, right = _box(*numbers[:4])
    (height, width) = size
    return [
        left * width,
        top * height,
        right * width,
        top * height,
        right * width,
        bottom * height,
        left * width,
        bottom * height,
    ]


def _lines(data: bytes | Exception) -> Iterator[tuple[int, list[str]]]:
    """Give the numbers of lines, and their words."""
    if isinstance(data, OSError):
        raise AnnotationError(f"It cannot be read: {data.strerror}.")
    if isinstance(data, Exception):
        raise data
    if len(data) > _MOST_LABELS:
        raise AnnotationError(f"The text file is larger than {_MOST_LABELS >> 20} MB.")
    for number, line in enumerate(data.decode("utf-8-sig", "replace").splitlines(), 1):
        words = line.split()
        if words:
            yield number, words


def _numbers(words: Sequence[str], line: int) -> list[float]:
    try:
        numbers = [float(word) for word in words]
    except ValueError:
        raise AnnotationError(f"Line {line} has something that is not a number: {' '.join(words)[:60]!r}.") from None
    if not all(map(math.isfinite, numbers)) or max(map(abs, numbers)) > 1e9:
        raise AnnotationError(f"Line {line} has a number that is not finite or too large.")
    return numbers


@dataclass(frozen=True, slots=True)
class _LineFacts:
    """What all text files say together."""

    classes: int
    outlines: bool

    @classmethod
    def of(cls, files: Sequence[FoundFile], keypoints: int) -> _LineFacts:
        most, outlines = 0, False
        for data in contents_of(files):
            try:
                for line, words in _lines(data):
                    numbers = _numbers(words, line)
                    most = max(most, int(numbers[0]) + 1)
                    outlines |= not keypoints and len(numbers) > 6
            except AnnotationError:
                continue  # it is rejected when it is loaded
        return cls(max(1, min(most, _MOST_CLASSES)), outlines)


def _folder_splits(listing: Listing) -> dict[str, str]:
    """Return the splits that folders are, outside or inside of the folder of all images."""
    names = [file.name for file in listing.files]
    found = splits_of([name.removeprefix("images/") for name in names])
    return {name: split for name, split in zip(names, found, strict=True) if split is not None}


def _label_names(image: str) -> Iterator[str]:
    """Give the names that the text file of an image may have."""
    stem = os.path.splitext(image)[0]
    head, found, tail = f"/{stem}".rpartition("/images/")
    if found:
        yield f"{head}/labels/{tail}.txt".removeprefix("/")
    yield f"labels/{stem}.txt"
    yield f"{stem}.txt"


def _is_label_name(name: str) -> bool:
    return name.lower().endswith(".txt") and os.path.basename(name).lower() not in NAMES_FILES


def _is_beside_labels(name: str, used: set[str]) -> bool:
    """Whether a text file is in a folder of labels, and not a README."""
    folder = posixpath.dirname(name)
    return "labels" in folder.split("/") or (folder and any(posixpath.dirname(one) == folder for one in used)) is True
