"""Images in folders, or listed in a CSV file, as the rows of a dataset."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

from recordsmith.errors import PipelineError
from recordsmith.formats.images.annotated_folders import refuse_annotated, refuse_listed, unread_texts
from recordsmith.formats.images.folder_layout import LayoutName, check_layout_name, layout_of, splits_of
from recordsmith.formats.images.image_files import ImageFiles, contents_of, prepared_image
from recordsmith.formats.images.labels import (
    Labelled,
    Labelling,
    class_folder_warnings,
    labels_from_csv,
    labels_from_folders,
    without_labels,
)
from recordsmith.formats.images.listing import Listing, list_files, list_folder, readable_name
from recordsmith.formats.images.options import describe_preparation, is_decoded, preparation_of
from recordsmith.formats.images.warnings import kept_image_warnings
from recordsmith.formats.source import Chunk, Loaded, Reject, Source
from recordsmith.images import ImageError, Preparation
from recordsmith.schema import Feature, Label, Schema, Text
from recordsmith.storage.ranged.opening import is_ranged
from recordsmith.storage.ranged.requests import RemoteReadError

__all__ = ["images"]

PathLike = str | os.PathLike[str]

_CHUNK_FILES = 64
_CHUNK_BYTES = 8 << 20
_CHUNK_PIXELS = 32 << 20  # of images that are resized: they may become larger than their files
_SHOWN_NAMES = 20


def images(  # noqa: PLR0913 - each is a setting of its own
    folder: PathLike | Sequence[PathLike],
    *,
    labels: PathLike | None = None,
    classes: Sequence[str] | None = None,
    size: tuple[int, int] | None = None,
    channels: int | None = None,
    encoding: str | None = None,
    quality: int = 95,
    orient: bool = True,
    check: Literal["decode", "header"] = "decode",
    recursive: bool = True,
    layout: LayoutName = "auto",
    strip: bool = False,
    image: str = "image",
    label: str | None = "label",
    filename: str | None = "filename",
) -> ImageSource:
    """Read the images of a folder: JPEG, PNG, WebP, BMP and GIF, detected by their content.

    Images are stored unchanged unless an option asks for a conversion. Images that cannot be decoded are rejected, with
    the reason. Files that do not look like images are left out, and `describe` counts them.

    Args:
        folder: a folder whose subfolders are classes, or splits that contain classes; or files and globs.
        labels: a CSV file with the columns `filename` and `label`, instead of class folders.
        classes: the class names in the order of their numbers; None uses the names that were found, sorted.
        size: resize images to this height and width.
        channels: convert images to this number of channels: 1, 3 or 4. Transparent pixels become white.
        encoding: convert images to this format: jpeg, png, webp or bmp.
        quality: the quality of converted JPEG and WebP images.
        orient: rotate images as their EXIF orientation says, and encode them again, because most readers ignore it.
            False keeps them unchanged.
        check: "decode" decodes every image to find damage; "header" only reads the headers.
        recursive: also use images in folders inside the class folders.
        layout: the meaning of the folders. "classes": the first level are classes, whatever their names. "splits": the
            first level are splits, the second classes. "flat": none, and there are no labels. "auto" detects it from
            names and contents; other layouts, such as that of YOLO, are an error.
        strip: remove white space around the names of class folders, so that "cat" and "cat " are the same class.
        image: the name of the feature with the image.
        label: the name of the feature with the label; None leaves it out.
        filename: the name of the feature with the path relative to the folder; None leaves it out.

    >>> import tempfile, numpy as np, recordsmith.images as codec
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("cat", "dog"):
    ...         os.mkdir(os.path.join(folder, name))
    ...         with open(os.path.join(folder, name, "1.png"), "wb") as file:
    ...             _ = file.write(codec.encode_image(np.zeros((8, 8, 3), np.uint8), "png"))
    ...     source = images(folder)
    ...     source.schema()["label"].names, [chunk.load().columns["filename"] for chunk in source.chunks()]
    (('cat', 'dog'), [['cat/1.png', 'dog/1.png']])
    """
    names = [name for name in (image, label, filename) if name is not None]
    if len(set(names)) < len(names):
        raise PipelineError("Two features have the same name.", found=", ".join(names))
    check_layout_name(layout)
    preparation = preparation_of(size=size, channels=channels, encoding=encoding, quality=quality, orient=orient)
    paths = [os.fspath(folder)] if isinstance(folder, (str, os.PathLike)) else [os.fspath(path) for path in folder]
    return ImageSource(
        paths,
        labels=None if labels is None else os.fspath(labels),
        classes=None if classes is None else tuple(classes),
        preparation=preparation,
        decode=is_decoded(check),
        recursive=recursive,
        layout=layout,
        strip=strip,
        features=_Names(image, label, filename),
    )


@dataclass(frozen=True, slots=True)
class _Names:
    """What the features are called."""

    image: str
    label: str | None
    filename: str | None


class ImageSource(Source):
    """What `images` returns. The folder is listed when that is first needed, and images are looked at for the schema.

    Attributes:
        label: the feature with the label, if the images have one.
        provenance: the feature with the file's name.
    """

    kind: ClassVar[str] = "images"

    def __init__(  # noqa: PLR0913 - each is a setting of its own
        self,
        paths: list[str],
        *,
        labels: str | None,
        classes: tuple[str, ...] | None,
        preparation: Preparation,
        decode: bool,
        recursive: bool,
        layout: LayoutName,
        strip: bool,
        features: _Names,
    ) -> None:
        self._paths = paths
        self._labels = labels
        self._classes = classes
        self._asked = preparation
        self._decode = decode
        self._recursive = recursive
        self._layout: LayoutName = layout
        self._strip = strip
        self._dropping = False
        self._remarks: list[str] = []
        self._features = features
        self.provenance = () if features.filename is None else (features.filename,)

    @property
    def label(self) -> str | None:  # type: ignore[override]
        """The feature with the label; None if the images have none."""
        return None if self._labelling.classes is None else self._features.label

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits, where the folders are some."""
        return self._labelling.splits

    def split_of(self, chunk: Chunk) -> str | None:
        """Return the split of the images of a chunk."""
        return chunk.split if isinstance(chunk, ImageChunk) else None

    def drop_unlabelled(self) -> None:
        """Leave out images that are in no class folder."""
        self._dropping = True
        self.__dict__.pop("_labelling", None)

    @property
    def unlabelled(self) -> int:  # type: ignore[override]
        """How many images are left out because they are in no class folder."""
        return self._labelling.dropped

    @property
    def size_bytes(self) -> int:
        """The size of all images' files."""
        return sum(file.size for file in self._listing.files)

    @property
    def row_count(self) -> int:
        """How many rows there are, those included that will be rejected."""
        return len(self._labelling.rows)

    def schema(self) -> Schema:
        """Return the schema: the image, and where there are any the label and the file's name."""
        features: dict[str, Feature] = {self._features.image: self._image_files.feature()}
        if self.label is not None:
            features[self.label] = Label(list(self._labelling.classes or ()))
        if self._features.filename is not None:
            features[self._features.filename] = Text(description="the path of the image, relative to the source folder")
        return Schema(features)

    def chunks(self) -> Iterator[Chunk]:
        """Give the images in groups of up to 64 files or 8 MB, in the order of their names."""
        rows: list[Labelled] = []
        size = start = 0
        height, width = self._asked.size or (0, 0)
        most = min(_CHUNK_FILES, _CHUNK_PIXELS // max(1, height * width * self._image_files.channels))
        for row in self._labelling.rows:
            added = 0 if row.file is None else row.file.size
            if rows and (len(rows) >= most or size + added > _CHUNK_BYTES or row.split != rows[-1].split):
                yield self._chunk(rows, start, size)
                start, size, rows = start + len(rows), 0, []
            rows.append(row)
            size += added
        if rows:
            yield self._chunk(rows, start, size)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What TensorFlow would make of images that stay as they are, where that is not what they show."""
        kept = Counter(
            {
                header: count
                for header, count in self._image_files.headers.items()
                if self._image_files.preparation.keeps(header)
            }
        )
        found = kept_image_warnings(kept, self._image_files.channels)
        classes = self._labelling.classes or ()
        if len(classes) == 1 and self._labels is None:
            found += (f"All images are in one class folder, so they have the same label: {classes[0]!r}.",)
        return (*self._remarks, *found)

    def describe(self) -> dict[str, Any]:
        """Return what the source is: its options, what was found, and a digest over names, sizes and times."""
        digest = hashlib.sha256()
        for file in self._listing.files:
            digest.update(f"{readable_name(file.name)}\0{file.size}\0{file.modified}\n".encode())
        ignored = self._listing.ignored
        return {
            "kind": self.kind,
            "paths": [readable_name(path) for path in self._paths],
            "labels": None if self._labels is None else _file_facts(self._labels),
            "classes": None if self._classes is None else list(self._classes),
            "features": [self._features.image, self._features.label, self._features.filename],
            **describe_preparation(self._asked),
            "check": "decode" if self._decode else "header",
            "recursive": self._recursive,
            "layout": self._layout,
            "strip": self._strip,
            "files": len(self._listing.files),
            "bytes": self.size_bytes,
            "digest": digest.hexdigest(),
            "headers": {
                "read": self._image_files.headers.total(),
                **{
                    name: sum(count for header, count in self._image_files.headers.items() if header.format == name)
                    for name in sorted({header.format for header in self._image_files.headers})
                },
                "turned": sum(count for header, count in self._image_files.headers.items() if header.orientation != 1),
            },
            "ignored": len(ignored),
            "ignored_names": ignored[:_SHOWN_NAMES],
        }

    @property
    def _is_folder(self) -> bool:
        return len(self._paths) == 1 and (is_ranged(self._paths[0]) or os.path.isdir(self._paths[0]))

    @cached_property
    def _listing(self) -> Listing:
        if not self._is_folder:
            listing = list_files(self._paths)
        else:
            deep = self._features.label is not None and self._labels is None
            try:
                listing = list_folder(self._paths[0], None if self._recursive else 1 + deep)
            except OSError as error:
                raise PipelineError(f"The folder cannot be listed: {error.strerror}.", path=error.filename) from None
        if not listing.files:
            ignored = listing.ignored
            raise PipelineError(
                "No images were found.",
                path=self._paths[0] if self._paths else None,
                found=f"{len(ignored)} other files" if ignored else "no files",
                expected="JPEG, PNG, WebP, BMP or GIF images in folders named after their class",
            )
        return listing

    @cached_property
    def _labelling(self) -> Labelling:
        listing = self._listing
        names = [file.name for file in listing.files]
        if self._features.label is None or self._labels is not None or not self._is_folder:
            found = (
                without_labels(listing)
                if self._labels is None
                else labels_from_csv(listing, self._labels, self._classes)
            )
            return self._in_splits(found.in_splits(dict(zip(listing.files, splits_of(names), strict=True))))
        layout = layout_of(names, self._layout, listing.root)
        if self._layout == "auto":
            remark = refuse_annotated(listing, layout.classes)
            self._remarks = [*unread_texts(listing, "images")] if remark is None else [remark]
            if not layout.labelled:
                refuse_listed(listing)
        if self._strip:
            layout = replace(layout, classes=[None if name is None else name.strip() for name in layout.classes])
        found = labels_from_folders(listing, self._classes, layout, drop_unlabelled=self._dropping)
        if self._classes is None and self._layout == "auto":
            self._remarks += class_folder_warnings(found)
        return self._in_splits(found) if self._layout == "auto" else found

    def _in_splits(self, found: Labelling) -> Labelling:
        if not self._is_folder:
            return found
        listed, said = found.in_listed_splits(self._listing)
        self._remarks += said
        return listed

    @cached_property
    def _image_files(self) -> ImageFiles:
        return ImageFiles.of(self._listing.files, self._asked, self._listing.root)

    def _chunk(self, rows: list[Labelled], start: int, size: int) -> ImageChunk:
        features = self._features if self.label is not None else replace(self._features, label=None)
        return ImageChunk(rows, start, self._image_files.preparation, features, self._decode, size)


@dataclass(frozen=True, slots=True)
class ImageChunk(Chunk):
    """Some images, to be read, checked and prepared one after the other."""

    rows: list[Labelled]
    start: int
    preparation: Preparation
    features: _Names
    decode: bool
    source_bytes: int

    @property
    def split(self) -> str | None:
        """The split of the images."""
        return self.rows[0].split

    def load(self) -> Loaded:
        """Read the images; those that cannot be read or decoded, or have no label, are rejects."""
        encoded: list[bytes] = []
        loaded: list[Labelled] = []
        rejects: list[Reject] = []
        contents = contents_of([row.file for row in self.rows if row.problem is None and row.file is not None])
        for number, row in enumerate(self.rows, self.start):
            if row.problem is not None:
                rejects.append(Reject(row.place or _place(row), number, self.features.label, row.problem))
                continue
            try:
                encoded.append(self._image(next(contents)))
            except RemoteReadError:
                raise  # it says nothing about the image
            except (ImageError, OSError) as error:
                reason = f"It cannot be read: {error.strerror}." if isinstance(error, OSError) else str(error)
                rejects.append(Reject(_place(row), number, self.features.image, reason))
            else:
                loaded.append(row)
        columns: dict[str, Any] = {self.features.image: encoded}
        if self.features.label is not None:
            columns[self.features.label] = [row.label for row in loaded]
        if self.features.filename is not None:
            columns[self.features.filename] = [readable_name(row.file.name) for row in loaded if row.file is not None]
        return Loaded(columns, len(loaded), _Places(loaded), rejects)

    def _image(self, data: bytes | Exception) -> bytes:
        if isinstance(data, Exception):
            raise data
        return prepared_image(data, self.preparation, decode=self.decode)


@dataclass(frozen=True, slots=True)
class _Places:
    """The files of the rows that were loaded."""

    rows: list[Labelled]

    def of(self, row: int) -> str:
        return _place(self.rows[row])


def _place(row: Labelled) -> str:
    return "" if row.file is None else readable_name(row.file.path)


def _file_facts(path: str) -> dict[str, Any]:
    status = os.stat(path)
    return {"path": path, "size": status.st_size, "mtime_ns": status.st_mtime_ns}
