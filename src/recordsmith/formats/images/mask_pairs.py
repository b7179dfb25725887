"""Finds images that are masks of others: in a folder of their own, or with a name that says so.

images/1.jpg and masks/1.png       two folders with the same names and sizes
1.jpg and 1_mask.png               the same name with an ending
leftImg8bit/train/aachen/1_leftImg8bit.png and gtFine/train/aachen/1_gtFine_labelIds.png     Cityscapes
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from recordsmith.formats.images.image_files import header_of_file
from recordsmith.formats.images.listing import FoundFile

__all__ = ["MASK_WORDS", "MaskPairs", "find_mask_pairs", "images_and_masks", "words_of"]

_LOOKED_AT = 40  # pairs whose headers are read
_SAME_STEMS = 0.8  # the share of the smaller folder that has a file of the same name in the other
_COMPARED = 5000  # files of a folder that are compared with those of another
_MARKED = 0.2  # the share of files that have the ending of a mask

_CLEAR_MASK_WORDS = {"mask", "masks", "gt", "groundtruth", "segmentation", "segmentations", "trimap", "trimaps"} | {
    "segmentationclass",
    "segmentationobject",
}
MASK_WORDS = _CLEAR_MASK_WORDS | {"label", "labels", "annotation", "annotations", "annot", "target", "targets"}
_IMAGE_WORDS = {"image", "images", "img", "imgs", "jpegimages", "photo", "photos", "rgb", "input", "inputs", "original"}
_MASK_ENDING = re.compile(
    r"([-_. ]?(mask|gt|groundtruth|seg|segmentation|(gtfine_|gtcoarse_)?labelids|trimap)s?(_\d+)?|_leftimg8bit)$",
    re.IGNORECASE,
)
_OTHER_MASKS = re.compile(r"_gt(fine|coarse)_(instanceids|labeltrainids|color)\.png$", re.IGNORECASE)  # of Cityscapes

_Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MaskPairs:
    """Images, and the masks of each.

    Attributes:
        masks: the masks of each image by its name; none for an image without one.
        images: the images by name.
        names: the names of images without the folder that only says that they are images, for finding splits.
        alone: masks without an image.
    """

    masks: dict[str, list[FoundFile]]
    images: dict[str, FoundFile]
    names: dict[str, str]
    alone: list[FoundFile]

    @property
    def first(self) -> tuple[FoundFile, FoundFile]:
        """An image and its mask."""
        name = next(name for name, masks in self.masks.items() if masks)
        return self.images[name], self.masks[name][0]


def find_mask_pairs(files: Sequence[FoundFile]) -> MaskPairs | None:
    """Look for images that are masks of others; None if there are none."""
    if any(_OTHER_MASKS.search(file.name) for file in files[:_COMPARED]):
        files = [file for file in files if not _OTHER_MASKS.search(file.name)]
    return _by_ending(files) or _by_folder(files)


def images_and_masks(files: Sequence[FoundFile]) -> tuple[list[FoundFile], list[FoundFile]]:
    """Tell images from those in folders that are named like masks, where other annotations than masks are read.

    >>> files = [FoundFile("", name, 1, 1) for name in ("images/1.jpg", "annotations/trimaps/1.png")]
    >>> [file.name for file in images_and_masks(files)[0]]
    ['images/1.jpg']
    """
    masks = [file for file in files if any(words_of(part) & _CLEAR_MASK_WORDS for part in file.name.split("/")[:-1])]
    if len(masks) == len(files):
        return list(files), []
    hidden = {file.name for file in masks}
    return [file for file in files if file.name not in hidden], masks


def words_of(name: str) -> set[str]:
    """Return the words of a name, in lower case.

    >>> sorted(words_of("Training_Masks-2"))
    ['masks', 'training']
    """
    return {word for word in re.split(r"[-_. \d]+", name.lower()) if word}


def _stem(name: str) -> str:
    return os.path.splitext(name)[0]


def _by_ending(files: Sequence[FoundFile]) -> MaskPairs | None:
    endings = [file for file in files if _MASK_ENDING.search(_stem(file.name))]
    by_name = {_stem(file.name): file for file in files} if endings else {}
    marked = [(file, by_name.get(_MASK_ENDING.sub("", _stem(file.name)))) for file in endings]
    pairs = [(mask, image) for mask, image in marked if image is not None and image is not mask]
    if not pairs or len(pairs) < _MARKED * len(files):
        return None
    masks = {mask.name for mask, _ in marked}
    found: dict[str, list[FoundFile]] = {file.name: [] for file in files if file.name not in masks}
    for mask, image in pairs:
        if image.name in found:
            found[image.name].append(mask)
    images = {file.name: file for file in files if file.name in found}
    alone = [mask for mask, image in marked if image is None]
    return MaskPairs(found, images, {name: name for name in found}, alone)


def _by_folder(files: Sequence[FoundFile]) -> MaskPairs | None:
    for level in (0, 1):
        groups: dict[str, list[FoundFile]] = {}
        for file in files:
            parts = file.name.split("/", level + 1)
            if len(parts) > level + 1:
                groups.setdefault(parts[level], []).append(file)
        for first, second in _possible_pairs(list(groups)):
            images = _by_key(islice(groups[first], _COMPARED), level)
            masks = _by_key(islice(groups[second], _COMPARED), level)
            if _are_image_and_mask(images, masks, first, second):
                return _paired(groups[first], groups[second], level)
    return None


def _paired(images: Sequence[FoundFile], masks: Sequence[FoundFile], level: int) -> MaskPairs:
    of_image, of_mask = _by_key(images, level), _by_key(masks, level)
    found = {file.name: [of_mask[key]] if key in of_mask else [] for key, file in of_image.items()}
    alone = [file for key, file in of_mask.items() if key not in of_image]
    names = {file.name: "/".join(key) for key, file in of_image.items()}
    return MaskPairs(found, {file.name: file for file in of_image.values()}, names, alone)


def _by_key(files: Iterable[FoundFile], level: int) -> dict[_Key, FoundFile]:
    """Return files by what they share with those of another folder: the rest of their path, without an ending."""
    found = {}
    for file in files:
        *folders, base = file.name.split("/")
        found[(*folders[:level], *folders[level + 1 :], _MASK_ENDING.sub("", _stem(base)))] = file
    return found


def _possible_pairs(names: Sequence[str]) -> Iterable[tuple[str, str]]:
    """Give pairs of folders, the second of which may have masks: by its name, or where there are only two folders."""
    for mask in names:
        if words_of(mask) & MASK_WORDS or len(names) == 2:
            yield from ((name, mask) for name in names if name != mask)


def _are_image_and_mask(
    images: Mapping[_Key, FoundFile], masks: Mapping[_Key, FoundFile], first: str, second: str
) -> bool:
    """Compare two folders: the same names, the same sizes, and a sign of which images are masks.

    Classes have the same names too, where files are numbered; so names and sizes alone say nothing.
    """
    shared = [key for key in images if key in masks]
    if not shared or len(shared) < _SAME_STEMS * min(len(images), len(masks)):
        return False
    step = max(1, -(-len(shared) // _LOOKED_AT))
    pairs = [(header_of_file(images[key]), header_of_file(masks[key])) for key in shared[::step]]
    known = [(one, other) for one, other in pairs if one is not None and other is not None]
    if not known or any((one.width, one.height) != (other.width, other.height) for one, other in known):
        return False
    words, other_words = words_of(second), words_of(first)
    said = words & _CLEAR_MASK_WORDS or (words & MASK_WORDS and other_words & _IMAGE_WORDS)
    seen = all(one.channels >= 3 and other.channels == 1 for one, other in known) and len(known) > 2
    return bool(said or seen)
