"""What the sources of annotated images share: features, chunks, splits, and what is said about them.

A source of this kind finds its images and annotations (`_find`). A chunk then reads some images, reads the objects of
each with the source's ObjectReader, and gives them the names of a naming.
"""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from recordsmith.errors import PipelineError
from recordsmith.formats.detection.naming import Naming
from recordsmith.formats.detection.objects import AnnotatedImage, AnnotationError, ImageObjects, ObjectReader
from recordsmith.formats.detection.segments import png_of_mask
from recordsmith.formats.files.file_splits import in_split_order
from recordsmith.formats.images.image_files import ImageFiles, contents_of, prepared_image
from recordsmith.formats.images.listing import FoundFile, Listing, list_folder, readable_name
from recordsmith.formats.images.mask_pairs import images_and_masks
from recordsmith.formats.images.options import describe_preparation
from recordsmith.formats.images.warnings import kept_image_warnings
from recordsmith.formats.source import Chunk, Loaded, Reject, Source
from recordsmith.images import ImageError, Preparation, read_header
from recordsmith.schema import Schema
from recordsmith.storage.objects import without_secrets
from recordsmith.storage.ranged.opening import is_ranged
from recordsmith.storage.ranged.requests import RemoteReadError
from recordsmith.wording.numbers import count_text

__all__ = ["OF_IMAGE", "AnnotatedSource", "Found", "Settings", "list_images"]

OF_IMAGE = ("format", "height", "width", "filename", "source_id")
_CHUNK_FILES = 64
_CHUNK_BYTES = 8 << 20


@dataclass(frozen=True, slots=True)
class Settings:
    """How annotated images are stored.

    Attributes:
        naming: the names of the features.
        preparation: what is done to the images.
        decode: images that stay as they are get decoded, to find damage.
        clip: boxes are cut off at the edge of their image.
    """

    naming: Naming
    preparation: Preparation
    decode: bool
    clip: bool = False

    def describe(self) -> dict[str, Any]:
        """Return them JSON-ready."""
        return {
            "names": self.naming.name,
            "clip": self.clip,
            **describe_preparation(self.preparation),
            "check": "decode" if self.decode else "header",
        }


@dataclass(slots=True)
class Found:
    """What a source has found.

    Attributes:
        images: all images in order, and annotations without one.
        classes: the names of the classes in the order of their numbers.
        reader: reads the objects of an image.
        fields: what is known of objects besides boxes and labels, by the names of naming.py.
        keypoints: how many points an object has.
        annotations: the annotation files.
        remarks: what should be known about them.
        facts: more for the description, JSON-ready.
    """

    images: list[AnnotatedImage]
    classes: list[str]
    reader: ObjectReader
    fields: tuple[str, ...] = ()
    keypoints: int = 0
    annotations: list[FoundFile] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)

    def in_split_order(self) -> Found:
        """Put the images of a split together, as chunks have rows of one split alone."""
        splits = in_split_order(image.split for image in self.images if image.split is not None)
        places = {split: place for place, split in enumerate(splits)}
        self.images.sort(key=lambda image: places.get(image.split or "", 0))
        return self


class AnnotatedSource(Source):
    """Images with boxes, as the functions `coco`, `voc` and `yolo` return them."""

    def __init__(self, path: str, settings: Settings) -> None:
        self._path = path
        self._settings = settings
        self.provenance = tuple(
            settings.naming.names[what] for what in ("filename", "source_id") if what in settings.naming.names
        )

    @abstractmethod
    def _find(self) -> Found:
        """Find the images and their annotations."""

    @cached_property
    def _found(self) -> Found:
        if is_ranged(self._path):
            raise PipelineError(
                "Annotated images cannot be read from an object store yet.",
                path=without_secrets(self._path),
                advice="Copy the folder to this machine, and pass the copy.",
            )
        found = self._find().in_split_order()
        if not any(image.file is not None for image in found.images):
            reasons = [image.problem for image in found.images if image.problem]
            raise PipelineError(
                "No image with annotations was found.",
                path=self._path,
                found=f"{count_text(len(found.images), 'annotation')}: {reasons[0]}" if reasons else None,
            )
        return found

    @cached_property
    def _image_files(self) -> ImageFiles:
        files = [image.file for image in self._found.images if image.file is not None]
        return ImageFiles.of(files, self._settings.preparation, self._path)

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits that the images are in."""
        return in_split_order(image.split for image in self._found.images if image.split is not None)

    def split_of(self, chunk: Chunk) -> str | None:
        """Return the split of the images of a chunk."""
        return chunk.images[0].split if isinstance(chunk, AnnotatedChunk) else None

    @property
    def size_bytes(self) -> int:
        """The size of all images' files."""
        return sum(image.file.size for image in self._found.images if image.file is not None)

    @property
    def row_count(self) -> int:
        """How many rows there are, those included that will be rejected."""
        return len(self._found.images)

    @property
    def _columns(self) -> tuple[str, ...]:
        """What is stored, by the names of naming.py, after the image."""
        return (*OF_IMAGE, "boxes", "labels", "texts", *self._found.fields)

    def schema(self) -> Schema:
        """Return the schema: the image, its size and name, and lists with an entry for each object."""
        found, naming = self._found, self._settings.naming
        features = naming.features(found.classes, self._columns, found.keypoints)
        return Schema({naming.names["image"]: self._image_files.feature(), **features})

    def chunks(self) -> Iterator[Chunk]:
        """Give the images in groups of up to 64 files or 8 MB, in the order in which they were found."""
        images: list[AnnotatedImage] = []
        size = start = 0
        for image in self._found.images:
            added = 0 if image.file is None else image.file.size
            full = len(images) >= _CHUNK_FILES or size + added > _CHUNK_BYTES
            if images and (full or image.split != images[-1].split):
                yield self._chunk(images, start, size)
                start, size, images = start + len(images), 0, []
            images.append(image)
            size += added
        if images:
            yield self._chunk(images, start, size)

    def _chunk(self, images: list[AnnotatedImage], start: int, size: int) -> AnnotatedChunk:
        found, naming = self._found, self._settings.naming
        columns = tuple(what for what in self._columns if what in naming.names)
        preparation = self._image_files.preparation
        return AnnotatedChunk(
            images,
            start,
            Settings(naming, preparation, self._settings.decode, self._settings.clip),
            found.reader,
            columns,
            tuple(naming.class_names(found.classes)),
            found.keypoints,
            size,
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """What should be known about the annotations, and about images that stay as they are."""
        found = self._found
        remarks = list(found.remarks)
        empty = sum(image.file is not None and image.problem is None and not image.annotation for image in found.images)
        if empty:
            verb = "has" if empty == 1 else "have"
            remarks.append(f"{count_text(empty, 'image')} {verb} no annotation, and {verb} no boxes in the dataset.")
        preparation, headers = self._image_files.preparation, self._image_files.headers
        kept = type(headers)({header: count for header, count in headers.items() if preparation.keeps(header)})
        return (*remarks, *kept_image_warnings(kept, self._image_files.channels))

    def describe(self) -> dict[str, Any]:
        """Return what the source is: its options, what was found, and a digest over names, sizes and times."""
        found = self._found
        files = [image.file for image in found.images if image.file is not None]
        return {
            "kind": self.kind,
            "path": readable_name(self._path),
            **self._settings.describe(),
            "classes": found.classes,
            **found.facts,
            "images": len(files),
            "bytes": self.size_bytes,
            "digest": digest_of([*files, *found.annotations]),
        }


def list_images(folder: str) -> tuple[Listing, list[str]]:
    """List the images of a folder without masks next to them, and say which were left out."""
    listing = list_folder(folder)
    listing.files, masks = images_and_masks(listing.files)
    if not masks:
        return listing, []
    said = f"{count_text(len(masks), 'mask')} not read, such as {readable_name(masks[0].name)}."
    return listing, [f"{said} rs.sources.masks (--kind masks) reads images with masks, without boxes."]


def digest_of(files: Iterable[FoundFile]) -> str:
    """Return a digest over the names, sizes and times of files."""
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{readable_name(file.name)}\0{file.size}\0{file.modified}\n".encode())
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class AnnotatedChunk(Chunk):
    """Some images and their annotations, to be read one after the other."""

    images: list[AnnotatedImage]
    start: int
    settings: Settings
    reader: ObjectReader
    columns: tuple[str, ...]
    classes: tuple[str, ...]
    keypoints: int
    source_bytes: int

    def load(self) -> Loaded:
        """Read the images and their objects; what cannot be read, or does not belong together, is a reject."""
        naming = self.settings.naming
        loaded: list[str] = []
        rejects: list[Reject] = []
        columns: dict[str, list[Any]] = {naming.names[what]: [] for what in ("image", *self.columns)}
        contents = contents_of([image.file for image in self.images if image.problem is None and image.file])
        for number, image in enumerate(self.images, self.start):
            place = image.place or ("" if image.file is None else readable_name(image.file.path))
            if image.problem is not None or image.file is None:
                rejects.append(Reject(place, number, None, image.problem or "There is no image."))
                continue
            try:
                row = self._row(image, next(contents))
            except RemoteReadError:
                raise  # it says nothing about the image
            except AnnotationError as error:
                about = "boxes" if "boxes" in self.columns else "semantic"
                rejects.append(Reject(place, number, naming.names[about], str(error)))
            except (ImageError, OSError) as error:
                reason = f"It cannot be read: {error.strerror}." if isinstance(error, OSError) else str(error)
                rejects.append(Reject(readable_name(image.file.path), number, naming.names["image"], reason))
            else:
                loaded.append(readable_name(image.file.path))
                for name, value in row.items():
                    columns[name].append(value)
        return Loaded(columns, len(loaded), _Places(loaded), rejects)

    def _row(self, image: AnnotatedImage, data: bytes | Exception) -> dict[str, Any]:
        if isinstance(data, Exception):
            raise data
        prepared = prepared_image(data, self.settings.preparation, decode=self.settings.decode)
        before, header = read_header(data), read_header(prepared)
        if before is None or header is None or image.file is None:
            raise ImageError("The image has no header.")
        height, width = before.upright if self.settings.preparation.orient else (before.height, before.width)
        objects = self.reader(image, height, width)
        declared = objects.size or image.size
        if declared is not None and declared != (height, width):
            raise AnnotationError(
                f"The annotation is for an image of {declared[1]}×{declared[0]} pixels, and the image has "
                f"{width}×{height}."
            )
        found: dict[str, Any] = {
            "image": prepared,
            "format": header.format,
            "height": header.upright[0],
            "width": header.upright[1],
            "filename": readable_name(image.file.name),
            "source_id": image.source_id or readable_name(image.file.name),
            **self._of_objects(objects, (header.upright[0] * header.upright[1]) / (height * width)),
        }
        return {self.settings.naming.names[what]: found[what] for what in ("image", *self.columns)}

    def _of_objects(self, objects: ImageObjects, scale: float) -> dict[str, Any]:
        """Return the columns of the objects; `scale` is how many times larger the area of the stored image is."""
        boxes = np.array(objects.boxes, np.float64).reshape(-1, 4)
        if self.settings.clip:
            boxes = np.clip(boxes, 0, 1)
        first = self.settings.naming.first_class
        values: dict[str, Any] = {
            "semantic": objects.mask,
            "boxes": boxes.astype(np.float32),
            "labels": [label + first for label in objects.labels],
            "texts": [self.classes[label + first] for label in objects.labels],
        }
        for what in self.columns:
            if what not in values and what not in OF_IMAGE:
                values[what] = objects.more.get(what, [])
        if "keypoints" in values:
            values["keypoints"] = np.array(values["keypoints"], np.float32).reshape(-1, self.keypoints, 2)
            values["visibility"] = np.array(values["visibility"], np.int64).reshape(-1, self.keypoints)
        if "area" in values:
            values["area"] = (np.array(values["area"], np.float64) * scale).astype(np.float32)
        if "masks" in values:
            values["masks"] = [png_of_mask(mask, self.settings.preparation.size) for mask in values["masks"]]
        return values


@dataclass(frozen=True, slots=True)
class _Places:
    """The files of the rows that were loaded."""

    paths: Sequence[str]

    def of(self, row: int) -> str:
        return self.paths[row]
