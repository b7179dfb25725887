"""Finds the image that an annotation names, among the images of a folder and never outside of it."""

from __future__ import annotations

import os
import posixpath

from recordsmith.formats.images.listing import FoundFile, Listing
from recordsmith.records.shards import split_in_name

__all__ = ["ImageLookup"]


class ImageLookup:
    """The images of a folder, by the names that annotations use for them.

    >>> files = [FoundFile("", name, 1, 1) for name in ("train2017/1.jpg", "val2017/1.jpg", "val2017/2.jpg")]
    >>> lookup = ImageLookup(Listing("coco", files))
    >>> lookup.find("1.jpg", near="annotations/instances_val2017.json", split="val")[0].name
    'val2017/1.jpg'
    >>> lookup.find("../1.jpg")
    (None, 'The path of the image leaves the folder.')
    """

    def __init__(self, listing: Listing) -> None:
        self._exact = {file.name: file for file in listing.files}
        self._by_base: dict[str, list[FoundFile]] = {}
        self._by_stem: dict[str, list[FoundFile]] = {}
        for file in listing.files:
            base = file.name.rpartition("/")[2]
            self._by_base.setdefault(base, []).append(file)
            self._by_stem.setdefault(os.path.splitext(base)[0], []).append(file)

    def find(self, name: str, *, near: str = "", split: str | None = None) -> tuple[FoundFile | None, str | None]:
        """Return the image that a name stands for, or why there is none.

        Args:
            name: what the annotation says; relative to the folder, to that of the annotation, or to any other below.
            near: the file of the annotation.
            split: the split of the annotation, for images of the same name.
        """
        plain = posixpath.normpath(name.replace("\\", "/"))
        if plain.startswith(("../", "/")) or plain in ("..", ".") or "\0" in plain:
            return None, "The path of the image leaves the folder."
        beside = posixpath.normpath(posixpath.join(posixpath.dirname(near), plain))
        for exact in (beside, plain):
            if exact in self._exact:
                return self._exact[exact], None
        found = [file for file in self._by_base.get(plain.rpartition("/")[2], ()) if file.name.endswith(f"/{plain}")]
        return _only(found, near, split)

    def of_stem(self, stem: str, *, near: str = "", split: str | None = None) -> FoundFile | None:
        """Return the image with this name before its suffix; None if there is none, or several."""
        return _only(self._by_stem.get(stem, []), near, split)[0]


def _only(found: list[FoundFile], near: str, split: str | None) -> tuple[FoundFile | None, str | None]:
    if not found:
        return None, "The image is missing."
    if len(found) > 1:
        same = [file for file in found if _is_in_split(file, split)] or [
            file for file in found if _group_of(file.name) == _group_of(near)
        ]
        found = same or found
    if len(found) > 1:
        return None, f"Several images have this name, such as {found[0].name} and {found[1].name}."
    return found[0], None


def _is_in_split(file: FoundFile, split: str | None) -> bool:
    return split is not None and any(split_in_name(part) == split for part in file.name.split("/")[:-1])


def _group_of(name: str) -> str:
    """Return the folder around that of a file: VOC2007 of VOC2007/JPEGImages/1.jpg and of VOC2007/Annotations/1.xml."""
    return posixpath.dirname(posixpath.dirname(name))
