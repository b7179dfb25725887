"""COCO: one JSON file with the boxes, outlines and keypoints of all images.

annotations/instances_train2017.json      train2017/000000000009.jpg
annotations/instances_val2017.json        val2017/000000000139.jpg
train/_annotations.coco.json              train/1.jpg                    as Roboflow exports it
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from recordsmith.errors import PipelineError, list_names
from recordsmith.formats.detection.naming import NamingName, naming_of, unique_names
from recordsmith.formats.detection.objects import (
    AnnotatedImage,
    AnnotationError,
    ImageObjects,
    checked_number,
    checked_numbers,
)
from recordsmith.formats.detection.segments import mask_of_polygons, mask_of_runs
from recordsmith.formats.detection.source import AnnotatedSource, Found, Settings, list_images
from recordsmith.formats.images.annotated_folders import head_and_tail, is_annotation_json
from recordsmith.formats.images.image_lookup import ImageLookup
from recordsmith.formats.images.listing import FoundFile, Listing, file_in, readable_name
from recordsmith.formats.images.options import is_decoded, preparation_of
from recordsmith.records.shards import split_in_name
from recordsmith.wording.numbers import count_text

__all__ = ["coco"]

PathLike = str | os.PathLike[str]

_NOT_BOXES = ("captions", "image_info", "panoptic", "stuff")
_MOST_CLASSES = 100_000


def coco(  # noqa: PLR0913 - each is a setting of its own
    path: PathLike,
    *,
    image_folder: PathLike | None = None,
    masks: bool = True,
    names: NamingName = "tf",
    clip: bool = False,
    size: tuple[int, int] | None = None,
    channels: int | None = None,
    encoding: str | None = None,
    quality: int = 95,
    orient: bool = True,
    check: Literal["decode", "header"] = "decode",
) -> CocoSource:
    """Read images with COCO annotations: boxes, classes, areas, crowd flags, masks and keypoints.

    Existing splits, such as instances_train2017.json and instances_val2017.json, are kept. An image without
    annotations has no boxes. An annotation whose image is missing is rejected.

    Args:
        path: a JSON file of annotations, or a folder with such files and the images.
        image_folder: the folder of the images; None: the folder that `path` is in, or is.
        masks: store the outline of each object (polygons or run lengths) as a mask. Polygons need the extra
            "detection".
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
    return CocoSource(
        os.fspath(path), settings, folder=None if image_folder is None else os.fspath(image_folder), masks=masks
    )


class CocoSource(AnnotatedSource):
    """What `coco` returns. The annotations are read when they are first needed."""

    kind: ClassVar[str] = "coco"

    def __init__(self, path: str, settings: Settings, *, folder: str | None, masks: bool) -> None:
        super().__init__(path, settings)
        self._folder = folder
        self._masks = masks

    def _find(self) -> Found:
        is_json = self._path.lower().endswith(".json")
        root = self._folder or (_folder_around(self._path) if is_json else self._path)
        listing, remarks = list_images(root)
        left_out: list[str] = []
        if is_json:
            files = [file_in(os.path.dirname(self._path), os.path.basename(self._path))]
        else:
            files, left_out = _chosen(_annotation_files(listing))
        if not files:
            raise PipelineError("The folder has no JSON file of COCO annotations.", path=self._path)
        documents = [(file, _Document.read(file)) for file in files]
        splits = _splits([file.name for file in files])
        categories = _categories([document for _, document in documents])
        lookup = ImageLookup(listing)
        rows: list[AnnotatedImage] = []
        used: set[str] = set()
        fields: Counter[str] = Counter()
        points: set[int] = set()
        for (file, document), split in zip(documents, splits, strict=True):
            for row in document.rows(file, lookup, split):
                rows.append(row)
                if row.file is not None:
                    used.add(row.file.name)
            fields.update(document.fields())
            points |= document.point_counts()
        if len(points) > 1:
            raise PipelineError(
                "Objects have different numbers of keypoints.", path=self._path, found=list_names(map(str, points))
            )
        wanted = tuple(what for what in ("area", "crowd") if fields[what])
        wanted += ("masks",) if self._masks and fields["masks"] else ()
        wanted += ("keypoints", "visibility") if points else ()
        keypoints = max(points, default=0)
        numbers = {category: number for number, category in enumerate(categories)}
        if left_out:
            remarks.append(f"These annotations were not read: {list_names(left_out, 4)}. Pass one of them to read it.")
        unused = sum(one.name not in used for one in listing.files)
        if unused:
            remarks.append(f"{count_text(unused, 'image')} without an entry in the annotations: left out.")
        return Found(
            rows,
            unique_names(categories.values()),
            CocoReader(numbers, wanted, keypoints),
            wanted,
            keypoints,
            files,
            remarks,
            {
                "annotations": [readable_name(file.name) for file in files],
                "category_ids": list(categories),
                "masks": self._masks,
                "keypoint_names": next((names for _, one in documents if (names := one.keypoint_names())), []),
            },
        )


@dataclass(frozen=True, slots=True)
class CocoReader:
    """Reads the annotations of one image."""

    numbers: dict[int, int]
    fields: tuple[str, ...]
    keypoints: int

    def __call__(self, image: AnnotatedImage, height: int, width: int) -> ImageObjects:
        """Return the objects of an image."""
        objects = ImageObjects()
        for annotation in image.annotation or ():
            if not isinstance(annotation, dict):
                raise AnnotationError(f"An annotation is not an object: {str(annotation)[:60]}.")
            left, top, across, down = checked_numbers(annotation.get("bbox"), "The bbox", 4)
            category = annotation.get("category_id")
            if isinstance(category, bool) or not isinstance(category, int) or category not in self.numbers:
                raise AnnotationError(f"There is no category {str(category)[:60]}.")
            box = (top / height, left / width, (top + down) / height, (left + across) / width)
            objects.add(box, self.numbers[category], **self._more(annotation, height, width))
        return objects

    def _more(self, annotation: dict[str, Any], height: int, width: int) -> dict[str, Any]:
        more: dict[str, Any] = {}
        if "area" in self.fields:
            more["area"] = checked_number(annotation.get("area"), "The area")
        if "crowd" in self.fields:
            more["crowd"] = int(checked_number(annotation.get("iscrowd", 0), "iscrowd"))
        if "masks" in self.fields:
            outline = annotation.get("segmentation") or []
            as_polygons = isinstance(outline, list)
            more["masks"] = (mask_of_polygons if as_polygons else mask_of_runs)(outline, height, width)
        if "keypoints" in self.fields:
            flat = annotation.get("keypoints") or [0] * (3 * self.keypoints)
            points = checked_numbers(flat, "keypoints", 3 * self.keypoints)
            more["keypoints"] = [(y / height, x / width) for x, y in zip(points[::3], points[1::3], strict=True)]
            more["visibility"] = [int(one) for one in points[2::3]]
        return more


@dataclass(frozen=True, slots=True)
class _Document:
    """One JSON file of annotations."""

    path: str
    content: Mapping[str, Any]

    @classmethod
    def read(cls, file: FoundFile) -> _Document:
        try:
            with open(file.path, "rb") as opened:
                content = json.loads(opened.read())
        except OSError as error:
            raise PipelineError(f"The annotations cannot be read: {error.strerror}.", path=file.path) from None
        except (ValueError, RecursionError) as error:
            raise PipelineError(f"The annotations are not valid JSON: {str(error)[:200]}.", path=file.path) from None
        if not isinstance(content, dict) or not all(isinstance(content.get(key), list) for key in ("images",)):
            raise PipelineError(
                "This is not a file of COCO annotations.",
                path=file.path,
                expected='an object with lists "images", "annotations" and "categories"',
            )
        for key in ("annotations", "categories"):
            if not isinstance(content.setdefault(key, []), list):
                raise PipelineError(f"{key!r} is not a list.", path=file.path, found=str(content[key])[:60])
        annotations = content["annotations"]
        if annotations and all(isinstance(one, dict) and "bbox" not in one for one in annotations[:100]):
            raise PipelineError(
                "The annotations of this file have no boxes.",
                path=file.path,
                found=list_names(map(str, annotations[0])),
                expected="annotations with a bbox, such as those of instances_*.json",
                advice="Captions can be read with json, and passed to rs.make as rows.",
            )
        return cls(file.path, content)

    def _annotations(self) -> Iterator[dict[str, Any]]:
        return (one for one in self.content["annotations"] if isinstance(one, dict))

    def fields(self) -> set[str]:
        named = {
            what
            for key, what in (("area", "area"), ("iscrowd", "crowd"))
            if any(key in one for one in self._annotations())
        }
        return named | ({"masks"} if any(one.get("segmentation") for one in self._annotations()) else set())

    def point_counts(self) -> set[int]:
        lists = (one.get("keypoints") for one in self._annotations())
        return {len(points) // 3 for points in lists if isinstance(points, list) and points}

    def keypoint_names(self) -> list[str]:
        for category in self.content["categories"]:
            if isinstance(category, dict) and isinstance(category.get("keypoints"), list):
                return [str(name) for name in category["keypoints"]]
        return []

    def rows(self, file: FoundFile, lookup: ImageLookup, split: str | None) -> Iterator[AnnotatedImage]:
        """Give the images in the order of the file, and then the annotations that belong to none."""
        place = readable_name(file.path)
        of_image: dict[Any, list[Any]] = {}
        for annotation in self.content["annotations"]:
            key = annotation.get("image_id") if isinstance(annotation, dict) else None
            of_image.setdefault(key if isinstance(key, (int, str)) else None, []).append(annotation)
        seen: set[Any] = set()
        for image in self.content["images"]:
            entry = image if isinstance(image, dict) else {}
            key, name = entry.get("id"), entry.get("file_name")
            where = f"{place}, image {str(key)[:40]}"
            if not isinstance(key, (int, str)) or not isinstance(name, str):
                yield AnnotatedImage(None, split=split, problem="The image has no id or no file_name.", place=where)
                continue
            if key in seen:
                yield AnnotatedImage(None, split=split, problem="Two images have this id.", place=where)
                continue
            seen.add(key)
            found, problem = lookup.find(name, near=file.name, split=split)
            yield AnnotatedImage(
                found,
                of_image.pop(key, None),
                split=split,
                problem=problem,
                place=f"{where} ({readable_name(name)[:200]})" if problem else "",
                source_id=str(key)[:200],
                size=_declared_size(entry),
            )
        for key, orphans in of_image.items():
            yield AnnotatedImage(
                None,
                split=split,
                problem=f"{count_text(len(orphans), 'annotation')} with an image_id that no image has.",
                place=f"{place}, image_id {str(key)[:40]}",
            )


def _declared_size(entry: Mapping[str, Any]) -> tuple[int, int] | None:
    sides = entry.get("height"), entry.get("width")
    whole = [side for side in sides if isinstance(side, int) and not isinstance(side, bool) and side > 0]
    return (whole[0], whole[1]) if len(whole) == 2 else None


def _categories(documents: Iterable[_Document]) -> dict[int, str]:
    """Return the names of all categories by their ids, sorted by id."""
    found: dict[int, str] = {}
    for document in documents:
        for category in document.content["categories"]:
            key = category.get("id") if isinstance(category, dict) else None
            if isinstance(key, bool) or not isinstance(key, int):
                raise PipelineError(
                    "The id of a category must be a number.", path=document.path, found=str(category)[:100]
                )
            name = str(category.get("name") or key)
            if found.setdefault(key, name) != name:
                raise PipelineError(
                    f"The category {key} has two names.", path=document.path, found=f"{found[key]!r} and {name!r}"
                )
    if not found:
        found = {
            one["category_id"]: str(one["category_id"])
            for document in documents
            for one in document._annotations()  # noqa: SLF001 - of this module
            if isinstance(one.get("category_id"), int) and not isinstance(one["category_id"], bool)
        }
    if len(found) > _MOST_CLASSES:
        raise PipelineError("There are too many categories.", found=f"{len(found):,}", expected=f"{_MOST_CLASSES:,}")
    return dict(sorted(found.items()))


def _annotation_files(listing: Listing) -> list[FoundFile]:
    found = []
    for name in listing.ignored:
        path = os.path.join(listing.root, name)
        if name.lower().endswith(".json") and is_annotation_json(head_and_tail(path)) == "COCO":
            found.append(file_in(listing.root, name))
    return found


def _chosen(files: list[FoundFile]) -> tuple[list[FoundFile], list[str]]:
    """Choose one file for each split: that with the objects, if others have captions or keypoints of the same."""
    with_boxes = [file for file in files if not os.path.basename(file.name).lower().startswith(_NOT_BOXES)]
    groups: dict[str | None, list[FoundFile]] = {}
    for file in with_boxes or files:
        groups.setdefault(_split_of(file.name), []).append(file)
    chosen = []
    for split, group in groups.items():
        objects = [file for file in group if "instances" in os.path.basename(file.name).lower()]
        if len(group) > 1 and len(objects) != 1:
            raise PipelineError(
                "Several files annotate the same images." if split is None else f"Several files are for {split!r}.",
                found=list_names(file.name for file in group),
                advice="Pass one of them as the source, and the folder of the images with image_folder=.",
            )
        chosen += objects if len(group) > 1 else group
    return chosen, [file.name for file in files if file not in chosen]


def _splits(names: list[str]) -> list[str | None]:
    found = [_split_of(name) for name in names]
    return found if len(names) > 1 and None not in found else [None] * len(names)


def _split_of(name: str) -> str | None:
    """Find a split in the name of a file, else in those of the folders that it is in, the nearest first."""
    return next((split for part in reversed(name.split("/")) if (split := split_in_name(part)) is not None), None)


def _folder_around(path: str) -> str:
    folder = os.path.dirname(path) or "."
    return os.path.dirname(folder) or "." if os.path.basename(folder).lower() == "annotations" else folder
