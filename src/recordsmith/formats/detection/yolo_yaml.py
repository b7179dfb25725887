"""The YAML file of a YOLO dataset: its classes, its keypoints, and where the images of its splits are.

Its paths are relative to its folder. `path` is often that of another machine, so it is not needed; Roboflow writes
../train/images for train/images. Nothing outside of the folder is read.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from recordsmith.errors import PipelineError, import_extra, list_names
from recordsmith.formats.images.annotated_folders import is_dataset_yaml
from recordsmith.formats.images.listing import Listing

__all__ = ["NAMES_FILES", "SplitLists", "class_names", "keypoint_shape", "read_yaml", "split_lists", "yaml_names"]

NAMES_FILES = ("classes.txt", "obj.names", "classes.names", "_darknet.labels")
_MOST_YAML = 1 << 20
_MOST_CLASSES = 100_000
_SPLIT_KEYS = ("train", "val", "test")


@dataclass(frozen=True, slots=True)
class SplitLists:
    """Which images are in which split, and the text files that say so."""

    splits: dict[str, str]
    files: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def yaml_names(listing: Listing) -> Iterator[str]:
    """Give the YAML files of a folder that are those of YOLO datasets."""
    for name in listing.ignored:
        if name.lower().endswith((".yaml", ".yml")) and "/" not in name:
            try:
                with open(os.path.join(listing.root, name), "rb") as file:
                    if is_dataset_yaml(file.read(_MOST_YAML)):
                        yield name
            except OSError:
                continue


def read_yaml(path: str) -> dict[str, Any]:
    """Read the YAML file of a dataset."""
    yaml = import_extra("yaml", "detection", purpose="Reading the YAML file of a YOLO dataset")
    try:
        with open(path, "rb") as file:
            data = file.read(_MOST_YAML + 1)
    except OSError as error:
        raise PipelineError(f"The YAML file cannot be read: {error.strerror}.", path=path) from None
    if len(data) > _MOST_YAML:
        raise PipelineError(f"The YAML file is larger than {_MOST_YAML >> 20} MB.", path=path)
    try:
        content = yaml.safe_load(data)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise PipelineError(f"The YAML file cannot be read: {' '.join(str(error).split())[:200]}.", path=path) from None
    if not isinstance(content, dict):
        raise PipelineError(
            "This YAML file does not describe a YOLO dataset.", path=path, expected="names, train and val"
        )
    return content


def split_lists(config: Mapping[str, Any], listing: Listing, yaml: str | None) -> SplitLists:
    """Return the images of each split of the YAML file: folders, or text files that list images."""
    entries = [(split, entry) for split in _SPLIT_KEYS for entry in _entries(config.get(split))]
    base = config.get("path")
    found: dict[str, str] = {}
    files: list[str] = []
    remarks: list[str] = []
    members: dict[str, set[str]] = {}
    for split, entry in entries:
        name = _inside(entry, base, listing, yaml)
        if name.lower().endswith(".txt"):
            files.append(name)
            images = set(_listed_images(name, listing))
        else:
            below = "" if name == "." else f"{name}/"
            images = {file.name for file in listing.files if file.name.startswith(below)}
        if not images and split != "test":
            raise PipelineError(
                f"No image of the split {split!r} was found.",
                path=os.path.join(listing.root, yaml or ""),
                found=f"{split}: {entry}",
                advice="Correct the path in the YAML file: it is relative to the folder of the file.",
            )
        same = next((other for other, its in members.items() if its == images), None)
        if same is not None:  # train and val of small examples are often the same folder
            remarks.append(f"The splits {same} and {split} of {yaml} have the same images, which are used once.")
            continue
        members[split] = members.get(split, set()) | images
        for image in images:
            if found.setdefault(image, split) != split:
                raise PipelineError(
                    f"An image is in two splits: {found[image]} and {split}.", path=listing.root, found=image
                )
    return SplitLists(found if len(set(found.values())) > 1 else {}, tuple(files), tuple(remarks))


def _entries(value: Any) -> list[str]:
    listed = value if isinstance(value, list) else [value]
    return [entry for entry in listed if isinstance(entry, str) and entry.strip()]


def _inside(entry: str, base: Any, listing: Listing, yaml: str | None) -> str:
    """Return a path of the YAML file relative to its folder, or refuse one that leaves it."""
    plain = entry.strip().replace("\\", "/")
    inside = {"."} | {posixpath.dirname(file.name) for file in listing.files} | set(listing.ignored)
    inside |= {"/".join(folder.split("/")[:depth]) for folder in inside for depth in range(1, folder.count("/") + 1)}
    root = os.path.abspath(listing.root).replace(os.sep, "/")
    candidates = [plain.removeprefix("../"), plain.removeprefix(f"{root}/")]
    if isinstance(base, str):
        candidates.insert(0, posixpath.join(base.replace("\\", "/"), plain))
    for candidate in candidates:
        name = posixpath.normpath(candidate)
        if name in inside:
            return name
    raise PipelineError(
        "A path in the YAML file is outside its folder, or does not exist.",
        path=os.path.join(listing.root, yaml or ""),
        found=entry[:200],
        expected="a folder of images, or a text file that lists images, inside of the folder of the YAML file",
        advice="Move the YAML file to the folder that contains all images, and correct its paths.",
    )


def _listed_images(name: str, listing: Listing) -> Iterator[str]:
    known = {file.name for file in listing.files}
    try:
        with open(os.path.join(listing.root, name), encoding="utf-8", errors="replace") as file:
            lines = [line.strip().replace("\\", "/") for line in file if line.strip()]
    except OSError as error:
        raise PipelineError(f"The list of images cannot be read: {error.strerror}.", path=name) from None
    for line in lines:
        parts = [part for part in line.split("/") if part not in ("", ".", "..")]
        found = next((one for start in range(len(parts)) if (one := "/".join(parts[start:])) in known), None)
        if found is None:
            raise PipelineError("A listed image is missing.", path=os.path.join(listing.root, name), found=line[:200])
        yield found


def keypoint_shape(config: Mapping[str, Any], yaml: str | None) -> tuple[int, int]:
    """Return how many keypoints an object has, and how many numbers a keypoint; 0 for none."""
    shape = config.get("kpt_shape")
    if shape is None:
        return 0, 0
    good = isinstance(shape, list) and len(shape) == 2 and all(isinstance(size, int) for size in shape)
    if not good or not 1 <= shape[0] <= 10_000 or shape[1] not in (2, 3):
        raise PipelineError("kpt_shape must be a number of points, and 2 or 3.", path=yaml, found=type(shape).__name__)
    return shape[0], shape[1]


def class_names(config: Mapping[str, Any], listing: Listing, yaml: str | None) -> list[str]:
    """Return the names of the classes: of the YAML file, or of a file of names next to the images; else none."""
    names = config.get("names")
    if isinstance(names, dict):
        numbers = sorted(names) if all(isinstance(key, int) for key in names) else []
        if numbers != list(range(len(names))):
            raise PipelineError(
                "The class numbers of the YAML file are not 0, 1, 2, ...",
                path=yaml,
                found=list_names(map(str, names)),
                advice="Name all classes from 0 to the last one in it.",
            )
        names = [names[number] for number in numbers]
    if isinstance(names, list) and names:
        if not all(isinstance(name, (str, int, float)) for name in names):
            raise PipelineError("The class names in the YAML file must be strings.", path=yaml)
        if len(names) > _MOST_CLASSES:
            raise PipelineError("There are too many classes.", path=yaml, found=f"{len(names):,}")
        return [str(name) for name in names]
    for name in listing.ignored:
        if os.path.basename(name).lower() in NAMES_FILES:
            with open(os.path.join(listing.root, name), encoding="utf-8", errors="replace") as file:
                found = [line.strip() for line in file.read(_MOST_YAML).splitlines() if line.strip()]
            if found:
                return found
    count = config.get("nc")
    return [str(number) for number in range(count)] if isinstance(count, int) and 0 < count <= _MOST_CLASSES else []
