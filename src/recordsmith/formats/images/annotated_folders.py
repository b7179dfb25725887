"""Detects folders of images whose labels are in other files: boxes, masks, tables.

Pascal VOC   Annotations/1.xml for JPEGImages/1.jpg          an XML file for each image
YOLO         labels/1.txt for images/1.jpg, data.yaml        a text file of numbers for each image
LabelMe      1.json beside 1.jpg                             a JSON file for each image
COCO         annotations/instances.json                      one JSON file for all images
CVAT         annotations.xml                                 one XML file for all images
masks        masks/1.png for images/1.jpg; 1_mask.png        an image for each image
a table      labels.csv that lists the images                a CSV file for all images

The structure decides, whatever the folders are called, and then the content of some of the files. Where the images are
in class folders besides, these count, and the annotations are only mentioned. Pascal VOC, YOLO, COCO and masks have
sources of their own (formats/detection); the others are refused with their names.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

from recordsmith.errors import PipelineError, advise, list_names
from recordsmith.formats.files.folder_walk import is_system_name
from recordsmith.formats.images.annotation_lines import lines_for
from recordsmith.formats.images.folder_layout import is_generic
from recordsmith.formats.images.listing import FoundFile, Listing, readable_name
from recordsmith.formats.images.mask_pairs import MASK_WORDS, find_mask_pairs, words_of
from recordsmith.storage.ranged.opening import file_size, record_bytes

__all__ = [
    "annotated_kind",
    "annotation_file_form",
    "head_and_tail",
    "is_annotation_json",
    "is_dataset_yaml",
    "refuse_annotated",
    "refuse_annotation_file",
    "refuse_listed",
    "unread_texts",
]

_HEAD_BYTES = 64 << 10
_LOOKED_AT = 40  # files of a kind that are opened
_PAIRED = 0.5  # the share of images, or of other files, from which on the others are taken to be about the images
_TABLES = (".csv", ".tsv", ".jsonl")
_TABLE_ROWS = 50
_KINDS = {"COCO": "coco", "Pascal VOC": "voc", "YOLO": "yolo"}  # the forms that have a source

_NUMBERS = re.compile(rb"\s*\d+(\s+-?\d*\.?\d+([eE]-?\d+)?){4,}\s*")


@dataclass(frozen=True, slots=True)
class _Form:
    """A form of annotations: what it is called, what an example of it is, and the kind of source that reads it."""

    name: str
    what: str
    example: str
    kind: str | None = None


def annotated_kind(listing: Listing, classes: Sequence[str | None]) -> str | None:
    """Return the kind of source that reads the annotations of images: coco, voc, yolo or masks; None if there is none.

    Args:
        listing: the images, and the files next to them.
        classes: the class of each image by its folder.
    """
    form, in_classes = _form_of(listing, classes)
    return None if form is None or in_classes else form.kind


def refuse_annotated(listing: Listing, classes: Sequence[str | None]) -> str | None:
    """Refuse images whose labels are in annotation files or in other images, with the form that they are in.

    Args:
        listing: the images, and the files next to them.
        classes: the class of each image by its folder.

    Returns:
        what to say about annotations of images that have class folders as well.
    """
    form, in_classes = _form_of(listing, classes)
    if form is None:
        _refuse_masks_as_classes(listing.root, {name for name in classes if name is not None})
        return None
    if in_classes:
        return (
            f"Annotations were found next to the images ({form.name}, such as {form.example}). They are not "
            "read: the labels come from the folder names."
        )
    lines = lines_for(form.name, listing.root, form.example)
    if form.kind is not None:
        advice = "Read them with {kind}."
    elif lines is not None:
        advice = "Read them in Python, and pass the rows, as below."
    else:
        advice = "Such labels are not supported. Read them with your own function, and pass its rows to rs.make."
    raise PipelineError(
        f"This looks like {form.name}: {form.what}.",
        path=listing.root,
        found=form.example,
        expected="a folder for each class, such as cat/1.jpg and dog/1.jpg",
        advice=advise(
            advice + " To use the images without labels, pass {flat}; if the folders are classes, pass {classes}.",
            kind=(f"rs.sources.{form.kind}", f"--kind {form.kind}"),
            flat=("layout='flat'", "--layout flat"),
            classes=("layout='classes'", "--layout classes"),
        ),
        example=lines,
    )


def _refuse_masks_as_classes(root: str, classes: set[str]) -> None:
    """Refuse folders such as images and masks, whose images do not have the same names and sizes."""
    plain = {name for name in classes if is_generic(name)}
    masks = {name for name in classes - plain if words_of(name) <= MASK_WORDS}
    if plain and masks and plain | masks == classes:
        raise PipelineError(
            "The folders look like images and their masks, but do not have the same names and sizes inside.",
            path=root,
            found=list_names(sorted(classes)),
            expected="a folder for each class, or a mask of the same name and size for most images",
            advice=advise(
                "Correct the names of the masks. If the folders are classes, pass {classes}.",
                classes=("layout='classes'", "--layout classes"),
            ),
        )


def _form_of(listing: Listing, classes: Sequence[str | None]) -> tuple[_Form | None, bool]:
    """Return the form of the annotations, and whether the images are in class folders besides."""
    others = [name for name in listing.ignored if not any(map(is_system_name, name.split("/")))]
    annotated = _one_for_each(listing, others) or _one_for_all(listing, others)
    masks = _masks(listing.files)
    in_classes = masks is None and annotated is not None and _are_in_class_folders(listing, classes)
    return annotated or masks, in_classes


def _masks(files: Sequence[FoundFile]) -> _Form | None:
    pairs = find_mask_pairs(files)
    if pairs is None:
        return None
    image, mask = pairs.first
    found = f"{readable_name(image.name)} and {readable_name(mask.name)}"
    return _Form("images and their masks", "for each image there is another of the same name and size", found, "masks")


def refuse_listed(listing: Listing) -> None:
    """Refuse images without class folders that a table next to them lists: its labels were meant."""
    tables = [name for name in listing.ignored if name.lower().endswith(_TABLES)]
    names: set[str] = set()
    for file in listing.files if tables else ():
        names |= {file.name, _stem(file.name), os.path.basename(file.name), os.path.basename(_stem(file.name))}
    for table in tables:
        if _lists(os.path.join(listing.root, table), names):
            path = os.path.join(listing.root, table)
            raise PipelineError(
                "The images are not in class folders, but a table next to them lists them.",
                path=path,
                advice=advise(
                    "Read all of its columns with {kind}, or only the labels with {labels}, or use the images without "
                    "labels with {layout}.",
                    kind=("rs.sources.listed", "--kind listed"),
                    labels=path,
                    layout="flat",
                ),
            )


def unread_texts(listing: Listing, what: str) -> tuple[str, ...]:
    """Say that there are text files with the names of images or sounds, which are not read: captions, transcripts."""
    stems = {os.path.basename(_stem(file.name)) for file in listing.files}
    texts = [name for name in listing.ignored if name.lower().endswith((".txt", ".lab"))]
    paired = [name for name in texts if os.path.basename(_stem(name)) in stems or name.lower().endswith(".trans.txt")]
    if not paired or (len(paired) < _PAIRED * min(len(texts), len(stems)) and not paired[0].endswith(".trans.txt")):
        return ()
    found = f"Text files about the {what} were found, such as {paired[0]}, and were not read."
    return (f"{found} To use them, write a table metadata.csv next to the {what} with the columns file_name and text.",)


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


def is_dataset_yaml(data: bytes) -> bool:
    r"""Whether a YAML file is that of a YOLO dataset.

    >>> is_dataset_yaml(b"train: images/train\nval: images/val\nnames: [cat, dog]\n")
    True
    """
    return bool(re.search(rb"(?m)^\s*(names|nc)\s*:", data) and re.search(rb"(?m)^\s*(train|val|path)\s*:", data))


def annotation_file_form(path: str) -> str | None:
    """Return the form of annotations that a JSON file is, if it is one document of annotations."""
    if not path.lower().endswith(".json"):
        return None
    data = head_and_tail(path)
    first, _, rest = data.strip().partition(b"\n")
    if rest and first.startswith(b"{") and first.rstrip().endswith(b"}"):
        return None  # one object a line
    return is_annotation_json(data)


def refuse_annotation_file(path: str) -> None:
    """Refuse a JSON file that is one document of annotations: as JSON lines it would be one row."""
    form = annotation_file_form(path)
    if form is not None:
        raise PipelineError(
            f"This looks like a file of {form} annotations: one JSON document about many images.",
            path=path,
            expected="one JSON object per line",
            advice=advise("Read it with {kind}.", kind=("rs.sources.coco", "--kind coco"))
            if form == "COCO"
            else "Such files are not supported. Read it with your own function, and pass its rows to rs.make.",
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
        if name is not None and not any(is_generic(part) or words_of(part) & MASK_WORDS for part in (name, *below[:1])):
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
                return _Form(f"a {found[0]} dataset", found[1], f"{image} and {name}", _KINDS.get(found[0]))
    return None


def _one_for_all(listing: Listing, others: Sequence[str]) -> _Form | None:
    """Look for a file that annotates all images."""
    for name in _spread([name for name in others if name.lower().endswith((".json", ".xml", ".yaml", ".yml"))]):
        data = _read(listing, name)
        if name.lower().endswith(".json"):
            found = is_annotation_json(data)
            if found is not None:
                return _Form(f"a {found} dataset", "one JSON file annotates all images", name, _KINDS.get(found))
        elif name.lower().endswith(".xml"):
            if b"<annotations" in data and (b"<image" in data or b"<track" in data):
                return _Form("a CVAT dataset", "one XML file annotates all images", name)
        elif is_dataset_yaml(data):
            return _Form("a YOLO dataset", "a YAML file says where its images and boxes are", name, "yolo")
    return None


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


def _spread(items: Sequence[str] | Sequence[tuple[str, ...]]) -> list:  # type: ignore[type-arg] # of what was given
    """Return some of the items, from all over them."""
    step = max(1, -(-len(items) // _LOOKED_AT))
    return list(items[::step])


def _stem(name: str) -> str:
    return os.path.splitext(name)[0]


def _plain(cell: str) -> str:
    return cell.strip().replace("\\", "/").removeprefix("./")
