"""Detects the meaning of the folders of images or videos: classes, splits with classes, or none.

photos/cat/1.jpg                    classes
photos/PetImages/cat/1.jpg          classes, in a folder around all of them
photos/train/cat/1.jpg              splits, with classes below
photos/cat/train/1.jpg              classes, with splits below
photos/train/1.jpg, photos/1.jpg    no classes

Only paths are looked at here. What stands for a split is known by its name, and by all folders next to it: a class may
be called "train" as long as the other classes are no splits.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from recordsmith.errors import PipelineError, advise, did_you_mean, list_names
from recordsmith.records.shards import TRAINING, split_in_name

__all__ = ["LAYOUTS", "FolderLayout", "LayoutName", "check_layout_name", "is_generic", "layout_of", "splits_of"]

LayoutName = Literal["auto", "classes", "splits", "flat"]
LAYOUTS = ("auto", "classes", "splits", "flat")

_Folders = tuple[str, ...]

# Words that say that something is an image, or data, and not what is on it.
_GENERIC = {"image", "images", "img", "imgs", "jpegimages", "photo", "photos", "picture", "pictures", "jpg", "png"} | {
    "data",
    "dataset",
    "set",
    "raw",
    "video",
    "videos",
    "audio",
    "clips",
    "sounds",
    "wav",
    "wavs",
    "mp3",
    "flac",
}


@dataclass(frozen=True, slots=True)
class FolderLayout:
    """The split and the class of each file, in the order of the files; None for none."""

    splits: list[str | None]
    classes: list[str | None]

    @property
    def labelled(self) -> bool:
        """Whether there are classes at all."""
        return any(name is not None for name in self.classes)


def check_layout_name(name: str) -> None:
    """Refuse a layout that there is not.

    >>> check_layout_name("split")
    Traceback (most recent call last):
    recordsmith.errors.PipelineError: Unknown layout 'split'. Did you mean 'splits'?
      expected: 'auto', 'classes', 'splits', 'flat'
    """
    if name not in LAYOUTS:
        raise PipelineError(f"Unknown layout {name!r}.{did_you_mean(name, LAYOUTS)}", expected=list_names(LAYOUTS))


def layout_of(names: Sequence[str], asked: LayoutName = "auto", root: str | None = None) -> FolderLayout:
    """Say which split and which class each file has by the folders that it is in.

    Args:
        names: paths below the root, with slashes.
        asked: "auto" goes by the names and their order; "classes" takes the first folder for the class, whatever it is
            called; "splits" takes it for the split, and the second for the class; "flat" takes none.
        root: where the files are, for messages.

    >>> layout_of(["cat/1.jpg", "dog/old/2.jpg"]).classes
    ['cat', 'dog']
    >>> layout_of(["pets/cat/1.jpg", "pets/dog/1.jpg"]).classes
    ['cat', 'dog']
    """
    return _expanded(_layout_of_folders(_folders(names), asked, root), names)


def _layout_of_folders(folders: list[_Folders], asked: LayoutName, root: str | None) -> FolderLayout:
    """Say which split and which class the files of each folder have."""
    none: list[str | None] = [None] * len(folders)
    if asked == "flat":
        return FolderLayout(none, none)
    if asked == "classes":
        return FolderLayout(none, [_at(path, 0) for path in folders])
    if asked == "auto":
        depth = _wrapping_depth(folders)
        folders = [path[depth:] for path in folders]
    tops = _first_names(folders)
    if asked == "splits" or _are_splits(tops):
        return _splits_first(folders)
    _refuse_some_splits(tops, root)
    if _has_splits_below_classes(folders):
        if any(len(path) > 2 for path in folders):
            raise PipelineError(
                "Each folder looks like a separate dataset, with splits and classes.",
                path=root,
                found=f"'{'/'.join(next(path for path in folders if len(path) > 2))}'",
                advice=advise(
                    "Pass one of the folders as the source. If they are classes, pass {layout}.",
                    layout="classes",
                ),
            )
        return FolderLayout([_split_of(path[1]) for path in folders], [path[0] for path in folders])
    if len(tops) == 1 and is_generic(tops[0]) and not any(len(path) > 1 for path in folders):
        return FolderLayout(none, none)
    return FolderLayout(none, [_at(path, 0) for path in folders])


def splits_of(names: Sequence[str]) -> list[str | None]:
    """Return the split of each file, where the outer folders are splits, whatever the folders below them mean.

    >>> splits_of(["train/1.jpg", "val/2.jpg"]), splits_of(["cat/1.jpg", "dog/2.jpg"])
    (['train', 'val'], [None, None])
    """
    folders = _folders(names)
    depth = _wrapping_depth(folders)
    inner = [path[depth:] for path in folders]
    if not _are_splits(_first_names(inner)):
        return [None] * len(names)
    return _expanded(_splits_first(inner), names).splits


def _folders(names: Sequence[str]) -> list[_Folders]:
    """Return the different folders of some files: there may be millions of files in a thousand of them."""
    different = dict.fromkeys(name.rpartition("/")[0] for name in names)
    return [tuple(folder.split("/")) if folder else () for folder in different]


def _expanded(layout: FolderLayout, names: Sequence[str]) -> FolderLayout:
    """Return for each file what was found for its folder."""
    place_of = {folder: place for place, folder in enumerate(dict.fromkeys(name.rpartition("/")[0] for name in names))}
    places = [place_of[name.rpartition("/")[0]] for name in names]
    return FolderLayout([layout.splits[place] for place in places], [layout.classes[place] for place in places])


def _splits_first(folders: list[_Folders]) -> FolderLayout:
    tops = _first_names(folders)
    splits = [_split_of(_at(path, 0), tops) or _at(path, 0) for path in folders]
    below: dict[str | None, list[_Folders]] = {}
    for split, path in zip(splits, folders, strict=True):
        below.setdefault(split, []).append(path[1:])
    # train/images/1.jpg and train/train/cat/1.jpg: a folder around everything in a split is no class.
    around = {split for split, paths in below.items() if _is_around(paths, split, tops)}
    classes = [_at(path, 2 if split in around else 1) for split, path in zip(splits, folders, strict=True)]
    return FolderLayout(list(splits), classes)


def _is_around(paths: list[_Folders], split: str | None, tops: Sequence[str]) -> bool:
    names = _first_names(paths)
    if len(names) != 1 or () in paths:
        return False
    return is_generic(names[0]) or (split is not None and _split_of(names[0], tops) == split)


def _wrapping_depth(folders: list[_Folders]) -> int:
    """Say how many folders are around all others, so that they say nothing about a single file."""
    depth = 0
    while True:
        names = _first_names([path[depth:] for path in folders])
        loose = any(len(path) <= depth for path in folders)
        if loose or len(names) != 1:
            return depth if len(names) > 1 and not loose else 0
        if _split_of(names[0]) is not None:
            return depth
        inside = _first_names([path[depth + 1 :] for path in folders])
        # aclImdb/README beside aclImdb/train and aclImdb/test: files in the outer folder do not make it a class.
        around = len(inside) > 1 and _are_splits(inside)
        if any(len(path) == depth + 1 for path in folders) and not around:
            return depth if is_generic(names[0]) else 0
        depth += 1
        if around:
            return depth


def _first_names(folders: Sequence[_Folders]) -> list[str]:
    return sorted({path[0] for path in folders if path})


def _are_splits(names: list[str]) -> bool:
    """Say whether folders are splits: all of them, and at least two, or one that holds everything."""
    found = [_split_of(name, names) for name in names]
    return bool(names) and None not in found and len(set(found)) == len(names)


def _has_splits_below_classes(folders: list[_Folders]) -> bool:
    if any(len(path) < 2 for path in folders):
        return False
    found = {_split_of(path[1]) for path in folders}
    return None not in found and len(found) > 1


def _refuse_some_splits(names: list[str], root: str | None) -> None:
    splits = [name for name in names if _split_of(name) is not None]
    found = {_split_of(name) for name in splits}
    if len(found) > 1 and found & {*TRAINING} and len(splits) < len(names):
        raise PipelineError(
            "Some folders look like splits, and others do not.",
            path=root,
            found=f"{list_names(splits)}, and also {list_names([name for name in names if name not in splits])}",
            expected="only splits, or only classes",
            advice=advise(
                "Pass one of them as the source. If all of them are classes, pass {layout}.", layout="classes"
            ),
        )


def _split_of(name: str | None, beside: Sequence[str] = ()) -> str | None:
    """Return the split that a folder is: by its name, which may say nothing else, or what all next to it say too.

    >>> _split_of("train"), _split_of("test_set"), _split_of("val2017"), _split_of("train_station")
    ('train', 'test', 'val', None)
    >>> _split_of("seg_train", ["seg_train", "seg_test"])
    'train'
    """
    split = None if name is None else split_in_name(name)
    if name is None or split is None:
        return None
    other = _other_words(name)
    shared = len(beside) > 1 and all(_other_words(one) == other and split_in_name(one) is not None for one in beside)
    return split if shared or other <= _GENERIC else None


def _other_words(name: str) -> set[str]:
    words = {word for word in re.split(r"[-_. \d]+", name.lower()) if word}
    return {word for word in words if split_in_name(word) is None}


def is_generic(name: str) -> bool:
    """Say whether a folder's name says no more than that images are in it.

    >>> is_generic("JPEGImages"), is_generic("train_images_2"), is_generic("cat")
    (True, False, False)
    """
    words = [word for word in re.split(r"[-_. \d]+", name.lower()) if word]
    return bool(words) and all(word in _GENERIC for word in words)


def _at(path: _Folders, place: int) -> str | None:
    return path[place] if len(path) > place else None
