"""Finds text files that list the files of a split, and which files each of them lists.

ImageSets/Main/train.txt          2007_000027                        Pascal VOC
meta/train.txt                    apple_pie/1005649                  Food-101
train.txt                         data/obj/1.jpg                     Darknet
testing_list.txt                  yes/0a7c2a8d_nohash_0.wav          Speech Commands: what is in no list is for training
annotations/trainval.txt          Abyssinian_100 1 1 1               Oxford Pets
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from recordsmith.errors import PipelineError
from recordsmith.formats.files.file_splits import in_split_order
from recordsmith.records.shards import TRAINING, split_in_name

__all__ = ["ListedSplits", "listed_splits"]

_MOST_BYTES = 256 << 20
_FOUND = 0.5  # the share of the lines of a list that are files of the folder
_OTHER_WORDS = {"list", "lists", "set", "split", "splits", "files", "images", "autosplit", "obj", "imagesets", "data"}
_BOTH = "trainval"


@dataclass(frozen=True, slots=True)
class ListedSplits:
    """The splits that text files list.

    Attributes:
        splits: the split of each listed file by its name.
        lists: the names of the lists.
    """

    splits: dict[str, str] = field(default_factory=dict)
    lists: tuple[str, ...] = ()


def listed_splits(root: str, names: Sequence[str], others: Sequence[str], group: str | None = None) -> ListedSplits:
    """Return the splits of files that text files list; none unless there are at least two.

    A list of all files but those for training leaves the others to "train".

    Args:
        root: the folder.
        names: the files, by their names in the folder.
        others: the names of other files, some of which may be lists.
        group: which lists count where there are several kinds of them: "main" or "segmentation" below ImageSets.
    """
    found: dict[str, str] = {}
    used: list[str] = []
    lists = _lists(others, group)
    keys = _keys(names) if lists else {}
    both = [name for split, name in lists if split == _BOTH]
    divided = {posixpath.dirname(name) for split, name in lists if split in TRAINING}
    for split, name in lists:
        if split == _BOTH and posixpath.dirname(name) in divided:
            continue  # train.txt and val.txt say more
        listed = _files_of(root, name, keys)
        if listed is None:
            continue
        used.append(name)
        for file in listed:
            said = "train" if split == _BOTH else split
            if found.setdefault(file, said) != said:
                raise PipelineError(
                    f"Two lists have the same file, in the splits {found[file]} and {said}.",
                    path=os.path.join(root, name),
                    found=file,
                )
    if found and not {*found.values()} & {*TRAINING} and not both:
        found = {name: found.get(name, "train") for name in names}
    return ListedSplits(found, tuple(used)) if len({*found.values()}) > 1 else ListedSplits()


def _lists(others: Sequence[str], group: str | None) -> list[tuple[str, str]]:
    """Return the names of the files that may be lists, each with its split."""
    found = []
    for name in others:
        folders = [part.lower() for part in name.split("/")[:-1]]
        stem, suffix = os.path.splitext(posixpath.basename(name).lower())
        if suffix != ".txt" or ("imagesets" in folders and group is not None and folders[-1] != group):
            continue
        split = _BOTH if stem == _BOTH else split_in_name(stem)
        words = {word for word in stem.replace("-", "_").split("_") if split_in_name(word) is None and word != _BOTH}
        if split is not None and words <= _OTHER_WORDS:
            found.append((split, name))
    order = in_split_order(split for split, _ in found)
    return sorted(found, key=lambda one: (order.index(one[0]), one[1]))


def _keys(names: Sequence[str]) -> dict[str, list[str]]:
    """Return the files by the names that a list may have for them: with or without folders, and the suffix."""
    keys: dict[str, list[str]] = {}
    for name in names:
        for whole in (name, os.path.splitext(name)[0]):
            keys.setdefault(whole, []).append(name)
            parts = whole.split("/")
            for short in {parts[-1], "/".join(parts[-2:])} - {whole} if len(parts) > 1 else {f"/{whole}"}:
                keys.setdefault(short, []).append(name)
    return keys


def _files_of(root: str, name: str, keys: dict[str, list[str]]) -> list[str] | None:
    """Return the files that a list names; None if most of its lines are something else."""
    path = os.path.join(root, name)
    least = 0 if "imagesets/" in name.lower() else _FOUND
    found, lines = [], 0
    try:
        if os.path.getsize(path) > _MOST_BYTES:
            return None
        with open(path, encoding="utf-8-sig", errors="replace") as file:
            for line in file:
                if line.strip() and not line.startswith("#") and line.split()[1:] != ["-1"]:  # not of this class
                    lines += 1
                    listed = (_nearest(keys.get(key, []), name) for key in _spellings(line))
                    found += [one for one in listed if one is not None][:1]
                if lines == 100 and len(found) < least * lines:
                    return None
    except OSError as error:
        raise PipelineError(f"The list of a split cannot be read: {error.strerror}.", path=path) from None
    return found if found and len(found) >= least * lines else None


def _spellings(line: str) -> Iterator[str]:
    """Give the names that a line may stand for: the line, or its first word; of paths of other machines, the ends."""
    for text in dict.fromkeys((line.strip(), line.split(maxsplit=1)[0])):
        parts = [part for part in text.replace("\\", "/").split("/") if part not in ("", ".", "..")]
        yield from ("/".join(parts[start:]) for start in range(max(1, len(parts) - 1)))
        yield from (f"/{part}" for part in parts[1:][-1:])  # a file outside of folders, by its path elsewhere


def _nearest(files: Sequence[str], name: str) -> str | None:
    """Return the file that shares the most folders with a list, where several have the same name."""
    if len(files) < 2:
        return files[0] if files else None
    shared = [(len(posixpath.commonprefix([file.split("/"), name.split("/")])), file) for file in files]
    most = max(count for count, _ in shared)
    best = [file for count, file in shared if count == most]
    return best[0] if len(best) == 1 else None
