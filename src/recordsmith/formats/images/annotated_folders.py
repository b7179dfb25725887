"""Detects folders of images whose labels are in other files (boxes, masks, tables), which are not supported yet.

Pascal VOC   Annotations/1.xml for JPEGImages/1.jpg          an XML file for each image
YOLO         labels/1.txt for images/1.jpg, data.yaml        a text file of numbers for each image
LabelMe      1.json beside 1.jpg                             a JSON file for each image
COCO         annotations/instances.json                      one JSON file for all images
CVAT         annotations.xml                                 one XML file for all images
masks        masks/1.png for images/1.jpg; 1_mask.png        an image for each image
a table      labels.csv that lists the images                a CSV file for all images

The structure decides, whatever the folders are called, and then the content of some of the files. Where the images are
in class folders besides, these count, and the annotations are only mentioned.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from recordsmith.errors import PipelineError, advise
from recordsmith.formats.files.folder_walk import is_system_name
from recordsmith.formats.images.folder_layout import is_generic
from recordsmith.formats.images.listing import FoundFile, Listing, readable_name
from recordsmith.images import ImageHeader, read_header
from recordsmith.storage.ranged.opening import file_size, record_bytes

__all__ = ["is_annotation_json", "refuse_annotated", "refuse_annotation_file", "refuse_listed"]

_HEAD_BYTES = 64 << 10
_LOOKED_AT = 40  # files of a kind that are opened
_PAIRED = 0.5  # the share of images, or of other files, from which on the others are taken to be about the images
_SAME_STEMS = 0.8  # the same for two folders of images
_COMPARED = 5000  # files of a folder that are compared with those of another
_TABLES = (".csv", ".tsv", ".jsonl")
_TABLE_ROWS = 50

_NUMBERS = re.compile(rb"\s*\d+(\s+-?\d*\.?\d+([eE]-?\d+)?){4,}\s*")
_CLEAR_MASK_WORDS = {"mask", "masks", "gt", "groundtruth", "segmentation", "segmentations", "trimap", "trimaps"} | {
    "segmentationclass",
    "segmentationobject",
}
_MASK_WORDS = _CLEAR_MASK_WORDS | {"label", "labels", "annotation", "annotations", "annot", "target", "targets"}
_IMAGE_WORDS = {"image", "images", "img", "imgs", "jpegimages", "photo", "photos", "rgb", "input", "inputs", "original"}
_MASK_ENDING = re.compile(r"[-_. ]?(mask|gt|groundtruth|seg|segmentation|labelids|trimap)s?(_\d+)?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Form:
    """A form of annotations: what it is called, and what an example of it is."""

    name: str
    what: str
    example: str


def refuse_annotated(listing: Listing, classes: Sequence[str | None]) -> str | None:
    """Refuse images whose labels are in annotation files or in other images, with the form that they are in.

    Args:
        listing: the images, and the files beside them.
        classes: the class of each image by its folder.

    Returns:
        what to say about annotations of images that have class folders as well.
    """
    others = [name for name in listing.ignored if not any(map(is_system_name, name.split("/")))]
    annotated = _one_for_each(listing, others) or _one_for_all(listing, others)
    masks = _masks(listing.files)
    if masks is None and annotated is not None and _are_in_class_folders(listing, classes):
        return (
            f"Annotations were found beside the images ({annotated.name}, such as {annotated.example}). They are not "
            "read: the labels come from the folder names."
        )
    form = annotated or masks
    if form is not None:
        raise PipelineError(
            f"This looks like {form.name}: {form.what}.",
            path=listing.root,
            found=form.example,
            expected="a folder for each class, such as cat/1.jpg and dog/1.jpg",
            advice=advise(
                "Such labels are not supported yet. Read them with your own function, and pass its rows to rs.make. To "
                "use the images without labels, pass {flat}; if the folders are classes, pass {classes}.",
                flat=("layout='flat'", "--layout flat"),
                classes=("layout='classes'", "--layout classes"),
            ),
        )
    return None


def refuse_listed(listing: Listing) -> None:
    """Refuse images without class folders that a table beside them lists: its labels were meant."""
    tables = [name for name in listing.ignored if name.lower().endswith(_TABLES)]
    names: set[str] = set()
    for file in listing.files if tables else ():
        names |= {file.name, _stem(file.name), os.path.basename(file.name), os.path.basename(_stem(file.name))}
    for table in tables:
        if _lists(os.path.join(listing.root, table), names):
            path = os.path.join(listing.root, table)
            raise PipelineError(
                "The images are not in class folders, but a table beside them lists them.",
                path=path,
                advice=advise(
                    "Read the labels from the table with {labels}, or use the images without labels with {layout}.",
                    labels=path,
                    layout="flat",
                ),
            )


def is_annotation_json(head: bytes) -> str | None:
    """Say which form of annotations a JSON document is, by its beginning and its end; None if it is none that is known.

    >>> is_annotation_json(b'{"images": [{"file_name": "1.jpg"}], "annotations": [], "categories": []}')
    'COCO'
    """

    def has(*keys: str) -> bool:
        return all(re.search(rb'"%b"\s*:' % key.encode(), head) for key in keys)

    if has("images") and (has("annotations") or has("categories")):
        return "COCO"
    if has("shapes", "imagePath") or (has("shapes", "version") and has("imageHeight")):
        return "LabelMe"
    if has("_via_img_metadata") or has("filename", "regions", "size"):
        return "VGG Image Annotator"
    if has("image", "annotations", "coordinates"):
        return "CreateML"
    return None


def refuse_annotation_file(path: str) -> None:
    """Refuse a JSON file that is one document of annotations: as JSON lines it would be one row."""
    if not path.lower().endswith(".json"):
        return
    data = head_and_tail(path)
    first, _, rest = data.strip().partition(b"\n")
    if rest and first.startswith(b"{") and first.rstrip().endswith(b"}"):
        return  # one object a line
    form = is_annotation_json(data)
    if form is not None:
        raise PipelineError(
            f"This looks like a file of {form} annotations: one JSON document about many images.",
            path=path,
            expected="one JSON object per line",
            advice="Such files are not supported yet. Read it with your own function, and pass its rows to rs.make.",
        )


def head_and_tail(path: str) -> bytes:
    """Return the first and the last 64 KB of a file."""
    size = file_size(path)
    with record_bytes(path) as read:
        head = read(0, _HEAD_BYTES)
        if size > len(head):
            begin = max(len(head), size - _HEAD_BYTES)
            head += read(begin, size - begin)
    return head


def _are_in_class_folders(listing: Listing, classes: Sequence[str | None]) -> bool:
    """Say whether there are at least two folders that are classes by their names and by what is in them."""
    found = set()
    for file, name in zip(listing.files, classes, strict=True):
        below = [] if name is None else file.name.split("/")[file.name.split("/").index(name) + 1 : -1]
        if name is not None and not any(is_generic(part) or _words(part) & _MASK_WORDS for part in (name, *below[:1])):
            found.add(name)
    return len(found) > 1


def _one_for_each(listing: Listing, others: Sequence[str]) -> _Form | None:
    """Look for files of one ending that have the names of the images, and whose content is that of annotations."""
    forms: dict[str, Callable[[bytes], tuple[str, str] | None]] = {
        ".xml": lambda data: ("Pascal VOC", "each image has an XML file") if b"<annotation" in data else None,
        ".txt": lambda data: ("YOLO", "each image has a text file of boxes") if _is_yolo(data) else None,
        ".json": lambda data: (_json_form(data), "each image has a JSON file") if _json_form(data) else None,
    }
    for ending, form_of in forms.items():
        files = [name for name in others if name.lower().endswith(ending)]
        images = {os.path.basename(_stem(file.name)): file.name for file in listing.files} if files else {}
        paired = [name for name in files if os.path.basename(_stem(name)) in images]
        if len(paired) < _PAIRED * min(len(files), len(images)) or not paired:
            continue
        for name in _spread(paired):
            found = form_of(_read(listing, name))
            if found is not None:
                image = readable_name(images[os.path.basename(_stem(name))])
                return _Form(f"a {found[0]} dataset", found[1], f"{image} and {name}")
    return None


def _one_for_all(listing: Listing, others: Sequence[str]) -> _Form | None:
    """Look for a file that annotates all images."""
    for name in _spread([name for name in others if name.lower().endswith((".json", ".xml", ".yaml", ".yml"))]):
        data = _read(listing, name)
        if name.lower().endswith(".json"):
            found = is_annotation_json(data)
            if found is not None:
                return _Form(f"a {found} dataset", "one JSON file annotates all images", name)
        elif name.lower().endswith(".xml"):
            if b"<annotations" in data and (b"<image" in data or b"<track" in data):
                return _Form("a CVAT dataset", "one XML file annotates all images", name)
        elif re.search(rb"(?m)^\s*names\s*:", data) and re.search(rb"(?m)^\s*(train|val|path)\s*:", data):
            return _Form("a YOLO dataset", "a YAML file says where its images and boxes are", name)
    return None


def _masks(files: Sequence[FoundFile]) -> _Form | None:
    """Look for images that are masks of others: in a folder of their own, or with a name that says so."""
    endings = [file for file in files if _MASK_ENDING.search(_stem(file.name))]
    by_name = {_stem(file.name): file for file in files} if endings else {}
    marked = [(file, by_name.get(_MASK_ENDING.sub("", _stem(file.name)))) for file in endings]
    pairs = [(mask, image) for mask, image in marked if image is not None and image is not mask]
    if pairs and len(pairs) >= 0.2 * len(files):
        return _masks_form(pairs[0][1], pairs[0][0])
    for level in (0, 1):
        groups: dict[str, list[FoundFile]] = {}
        for file in files:
            parts = file.name.split("/", level + 1)
            if len(parts) > level + 1 and len(group := groups.setdefault(parts[level], [])) < _COMPARED:
                group.append(file)
        for first, second in _possible_pairs(list(groups)):
            form = _paired(_by_stem(groups[first], level), _by_stem(groups[second], level), first, second)
            if form is not None:
                return form
    return None


def _by_stem(files: Sequence[FoundFile], level: int) -> dict[tuple[str, ...], FoundFile]:
    """Return files by what they share with those of another folder: the rest of their path, without an ending."""
    found = {}
    for file in files:
        *folders, base = file.name.split("/")
        found[(*folders[:level], *folders[level + 1 :], _MASK_ENDING.sub("", _stem(base)))] = file
    return found


def _possible_pairs(names: Sequence[str]) -> Iterable[tuple[str, str]]:
    """Give pairs of folders, the second of which may have masks: by its name, or where there are only two folders."""
    for mask in names:
        if _words(mask) & _MASK_WORDS or len(names) == 2:
            yield from ((name, mask) for name in names if name != mask)


def _paired(
    images: Mapping[tuple[str, ...], FoundFile], masks: Mapping[tuple[str, ...], FoundFile], first: str, second: str
) -> _Form | None:
    """Compare two folders: the same names, the same sizes, and a sign of which images are masks.

    Classes have the same names too, where files are numbered; so names and sizes alone say nothing.
    """
    shared = [key for key in images if key in masks]
    if not shared or len(shared) < _SAME_STEMS * min(len(images), len(masks)):
        return None
    pairs = [(_header(images[key]), _header(masks[key])) for key in _spread(shared)]
    known = [(one, other) for one, other in pairs if one is not None and other is not None]
    if not known or any((one.width, one.height) != (other.width, other.height) for one, other in known):
        return None
    words, other_words = _words(second), _words(first)
    said = words & _CLEAR_MASK_WORDS or (words & _MASK_WORDS and other_words & _IMAGE_WORDS)
    seen = all(one.channels >= 3 and other.channels == 1 for one, other in known) and len(known) > 2
    if not said and not seen:
        return None
    return _masks_form(images[shared[0]], masks[shared[0]])


def _masks_form(image: FoundFile, mask: FoundFile) -> _Form:
    found = f"{readable_name(image.name)} and {readable_name(mask.name)}"
    return _Form("images and their masks", "for each image there is another of the same name and size", found)


def _lists(path: str, names: set[str]) -> bool:
    """Say whether most rows of a table have the name of an image."""
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            if path.lower().endswith(".jsonl"):
                rows = [re.findall(r'"([^"]*)"', line) for line in islice(file, _TABLE_ROWS)]
            else:
                separator = "\t" if path.lower().endswith(".tsv") else ","
                rows = list(islice(csv.reader(file, delimiter=separator), _TABLE_ROWS))
    except (OSError, UnicodeDecodeError, csv.Error):
        return False
    found = sum(any(_plain(cell) in names for cell in row) for row in rows)
    return found > 0 and found >= _PAIRED * (len(rows) - 1)


def _is_yolo(data: bytes) -> bool:
    lines = [line for line in data.splitlines() if line.strip()]
    return bool(lines) and all(_NUMBERS.fullmatch(line) for line in lines)


def _json_form(data: bytes) -> str:
    found = is_annotation_json(data)
    if found is not None:
        return found
    return "JSON annotations" if re.search(rb'"(objects|annotations|regions|polygons|bbox|boxes)"\s*:', data) else ""


def _read(listing: Listing, name: str) -> bytes:
    try:
        return head_and_tail(os.path.join(listing.root, name))
    except OSError:
        return b""


def _header(file: FoundFile) -> ImageHeader | None:
    try:
        with open(file.path, "rb") as opened:
            return read_header(opened.read(_HEAD_BYTES))
    except OSError:
        return None


def _spread(items: Sequence[str] | Sequence[tuple[str, ...]]) -> list:  # type: ignore[type-arg] # of what was given
    """Return some of the items, from all over them."""
    step = max(1, -(-len(items) // _LOOKED_AT))
    return list(items[::step])


def _stem(name: str) -> str:
    return os.path.splitext(name)[0]


def _plain(cell: str) -> str:
    return cell.strip().replace("\\", "/").removeprefix("./")


def _words(name: str) -> set[str]:
    return {word for word in re.split(r"[-_. \d]+", name.lower()) if word}
