"""Labels of images: from the name of the folder, or from a CSV file that lists them."""

from __future__ import annotations

import csv
import os
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from recordsmith.errors import PipelineError, advise, did_you_mean, list_names
from recordsmith.formats.files.file_splits import in_split_order
from recordsmith.formats.images.folder_layout import FolderLayout, layout_of
from recordsmith.formats.images.listed_splits import listed_splits
from recordsmith.formats.images.listing import FoundFile, Listing, readable_name
from recordsmith.records.shards import TRAINING, split_in_name
from recordsmith.storage.ranged.opening import is_ranged
from recordsmith.wording.numbers import count_text

__all__ = ["Labelled", "Labelling", "class_folder_warnings", "labels_from_csv", "labels_from_folders", "without_labels"]

_DELIMITERS = (",", ";", "\t", "|")
_FILE_COLUMNS = ("filename", "file_name", "file", "image", "image_path", "path", "img", "image_id", "id", "name")
_LABEL_COLUMNS = ("label", "class", "class_name", "category", "target", "label_name", "labels", "y")
_MOST_NUMBERED = 1_000_000  # numbers above are names of something, and not classes counted from 0


@dataclass(frozen=True, slots=True)
class Labelled:
    """An image and its label, or the reason why it cannot have one.

    Attributes:
        file: the file; None for an entry of the CSV file without one.
        label: the number of its class; None where images have no labels, or where there is a problem.
        problem: why the image is rejected.
        place: where the problem is, if not in the image's file.
        split: the split that it is in, where there are splits.
    """

    file: FoundFile | None
    label: int | None = None
    problem: str | None = None
    place: str | None = None
    split: str | None = None


@dataclass(frozen=True, slots=True)
class Labelling:
    """All images in order, and the names of the classes; None if images have no labels."""

    rows: list[Labelled]
    classes: tuple[str, ...] | None
    dropped: int = 0  # images that were left out because they have no label

    def in_splits(self, splits: Mapping[FoundFile, str | None]) -> Labelling:
        """Return the same with the split of each file."""
        if not any(splits.values()):
            return self
        rows = [replace(row, split=None if row.file is None else splits[row.file]) for row in self.rows]
        return replace(self, rows=rows).in_order()

    def in_listed_splits(self, listing: Listing) -> tuple[Labelling, tuple[str, ...]]:
        """Return the same with the splits that text files list, if the folders are none, and what is to be said."""
        if self.splits or is_ranged(listing.root):
            return self, ()
        found = listed_splits(listing.root, [file.name for file in listing.files], listing.ignored)
        if not found.splits:
            return self, ()
        first = in_split_order(found.splits.values())[0]
        splits = [first if row.file is None else found.splits.get(row.file.name) for row in self.rows]
        rows = [replace(row, split=split) for row, split in zip(self.rows, splits, strict=True) if split is not None]
        left_out = len(self.rows) - len(rows)
        said = f"{count_text(left_out, 'file')} in no list of a split ({list_names(found.lists, 4)}): left out."
        return replace(self, rows=rows).in_order(), (said,) if left_out else ()

    def in_order(self) -> Labelling:
        """Return the same with the rows of a split together, as chunks have rows of one split alone."""
        places = {split: place for place, split in enumerate(self.splits)}
        self.rows.sort(key=lambda row: places.get(row.split or "", 0))
        return self

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits that the images are in."""
        return in_split_order(row.split for row in self.rows if row.split is not None)


def without_labels(listing: Listing) -> Labelling:
    """Take the files as they are."""
    return Labelling([Labelled(file) for file in listing.files], None)


def labels_from_folders(
    listing: Listing,
    classes: Sequence[str] | None = None,
    layout: FolderLayout | None = None,
    *,
    drop_unlabelled: bool = False,
) -> Labelling:
    """Take the class of each image from the folder that it is in; without any class folder there are no labels.

    Args:
        listing: the images.
        classes: the names of the classes in the order of their numbers; None: those found, sorted.
        layout: which folders are classes and splits; None: found out by their names.
        drop_unlabelled: leave images out that are in no class folder, without a word about each.

    >>> files = [FoundFile("", name, 1, 1) for name in ("cat/1.jpg", "dog/1.jpg", "dog/old/2.jpg")]
    >>> labelling = labels_from_folders(Listing("photos", files))
    >>> labelling.classes, [row.label for row in labelling.rows]
    (('cat', 'dog'), [0, 1, 1])
    """
    layout = layout or layout_of([file.name for file in listing.files], root=listing.root)
    of_file = [None if name is None else readable_name(name) for name in layout.classes]
    found = sorted({name for name in of_file if name is not None})
    if not drop_unlabelled:
        _refuse_unlabelled_splits(listing, layout)
    numbers = {} if not found and classes is None else _numbers(found, classes, listing.root)
    in_splits = any(split is not None for split in layout.splits)
    rows = []
    for file, split, name in zip(listing.files, layout.splits, of_file, strict=True):
        problem = None
        if numbers and name is None:
            problem = "It is outside the class folders, so it has no label."
        elif in_splits and split is None:
            problem = "It is outside the folders of the splits."
        if problem is None:
            rows.append(Labelled(file, numbers[name] if name is not None else None, split=split))
        elif not drop_unlabelled:
            rows.append(Labelled(file, problem=problem, split=split))
    return Labelling(rows, tuple(numbers) or None, len(listing.files) - len(rows)).in_order()


def class_folder_warnings(labelling: Labelling) -> tuple[str, ...]:
    """Say what the names of class folders may be meant to be: splits, or the numbers of the classes.

    >>> print(*class_folder_warnings(Labelling([], ("cat", "dog", "test"))))
    The folder 'test' is taken for a class, because those beside it are: 'cat', 'dog'. If it contains a split, move the
    class folders into a folder 'train'.
    >>> print(*class_folder_warnings(Labelling([], ("0", "1", "10", "2"))))
    Class '10' has the number 2, because the names are sorted as text. To sort them as numbers, pass
    classes=['0', '1', '2', ...].
    """
    names = labelling.classes or ()
    splits = [name for name in names if split_in_name(name) == name.lower()]
    others = [name for name in names if name not in splits]
    said = []
    if splits and others and not labelling.splits:
        said.append(
            f"The folder {splits[0]!r} is taken for a class, because those beside it are: {list_names(others, 4)}. If "
            "it contains a split, move the class folders into a folder 'train'."
        )
    if names and all(name.isascii() and name.isdigit() for name in names):
        by_number = sorted(names, key=int)
        wrong = next((number for number, name in enumerate(names) if name != by_number[number]), None)
        if wrong is not None:
            said.append(
                f"Class {names[wrong]!r} has the number {wrong}, because the names are sorted as text. To sort them as "
                f"numbers, pass classes=[{', '.join(map(repr, by_number[:3]))}, ...]."
            )
    return tuple(said)


def labels_from_csv(listing: Listing, path: str, classes: Sequence[str] | None = None) -> Labelling:
    """Take the labels from a CSV file with a column of file names and a column of labels.

    File names are relative to the folder of the images, or to that of the CSV file, with or without their suffix.
    An image without an entry, an entry without an image, and an image with two entries are problems of that row.
    """
    entries = _read_entries(path)
    by_name = _names(listing, os.path.dirname(path))
    lines: dict[FoundFile, list[tuple[int, str]]] = {}
    lost = []
    for line, name, label in entries:
        file = next((by_name[key] for key in _keys(name) if key in by_name), None)
        if file is None:
            lost.append(Labelled(None, problem=f"There is no image {name!r}.", place=f"{path}, line {line}"))
        else:
            lines.setdefault(file, []).append((line, label))
    if entries and not lines:
        raise PipelineError(
            "No image has a name that is listed in the file of labels.",
            path=path,
            found=f"{entries[0][1]!r} in line {entries[0][0]}",
            expected=f"a path relative to {listing.root}, such as {readable_name(listing.files[0].name)!r}",
        )
    numbers = _csv_numbers([label for _, _, label in entries], classes, path)
    rows = []
    for file in listing.files:
        found = lines.get(file, [])
        labels = {label for _, label in found}
        if not found:
            rows.append(Labelled(file, problem=f"It has no label in {path}."))
        elif len(labels) > 1:
            places = " and ".join(f"{label!r} in line {line}" for line, label in found[:3])
            rows.append(Labelled(file, problem=f"It has several labels in {path}: {places}."))
        elif "" in labels:
            rows.append(Labelled(file, problem=f"Its label in {path}, line {found[0][0]}, is empty."))
        else:
            rows.append(Labelled(file, numbers[found[0][1]]))
            for line, _ in found[1:]:
                problem = f"The image {readable_name(file.name)!r} is already listed in line {found[0][0]}."
                rows.append(Labelled(None, problem=problem, place=f"{path}, line {line}"))
    return Labelling(rows + lost, tuple(numbers))


def _refuse_unlabelled_splits(listing: Listing, layout: FolderLayout) -> None:
    """Refuse splits without class folders, or with folders that are none, beside splits that have them."""
    found: dict[str, set[str | None]] = {}
    for split, name in zip(layout.splits, layout.classes, strict=True):
        if split is not None:
            found.setdefault(split, set()).add(name)
    labelled = [split for split, names in found.items() if names - {None}]
    training = next((split for split in labelled if split in TRAINING), labelled[0] if labelled else None)
    for split, names in found.items():
        if training is None or split == training:
            continue
        there = sorted(names - {None}, key=str)
        if there and not {*there}.isdisjoint(found[training]):
            continue
        raise PipelineError(
            f"The images of the split {split!r} have no labels, but those of {training!r} have.",
            path=listing.root,
            found=f"the folders {list_names(map(str, there))} in {split!r}" if there else f"no folders in {split!r}",
            expected=f"the class folders of {training!r}: {list_names(sorted(map(str, found[training] - {None})), 4)}",
            advice=f"Pass the folder of {training!r} as the source."
            if there
            else advise(
                f"Pass the folder of {training!r} as the source, or leave out images without labels with "
                f"{{drop_unlabelled}}.",
                drop_unlabelled=True,
            ),
        )


def _numbers(found: list[str], classes: Sequence[str] | None, place: str) -> dict[str, int]:
    if classes is None:
        return {name: number for number, name in enumerate(found)}
    numbers = {name: number for number, name in enumerate(classes)}
    unknown = [name for name in found if name not in numbers]
    if unknown:
        raise PipelineError(
            f"Some images have a class that is not in `classes`.{did_you_mean(unknown[0], classes)}",
            path=place,
            found=list_names(unknown),
            expected=list_names(classes),
        )
    return numbers


def _csv_numbers(labels: list[str], classes: Sequence[str] | None, path: str) -> dict[str, int]:
    """Number the labels: as they are if all of them are numbers already, else in the order of their names."""
    names = sorted(set(labels) - {""})
    if not names:
        raise PipelineError("No image has a label.", path=path)
    if classes is not None:
        return _numbers(names, classes, path)
    if all(name.isascii() and name.isdigit() and str(int(name[:9])) == name for name in names):
        highest = max(map(int, names))
        if highest < _MOST_NUMBERED:
            return {str(number): number for number in range(highest + 1)}
    if all(map(_is_number, names)) and not all(name.lstrip("+-").isdigit() for name in names):
        raise PipelineError(
            "The labels are measurements, not classes.",
            path=path,
            found=list_names(names),
            expected="class names, or integers starting at 0",
            advice="Pass the CSV file as the source, and declare the column of file names as images.",
        )
    return {name: number for number, name in enumerate(names)}


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _names(listing: Listing, csv_folder: str) -> dict[str, FoundFile]:
    """By which names the entries of a CSV file may mean each image; a name that could mean two means none."""
    exact: dict[str, FoundFile] = {}
    loose: dict[str, list[FoundFile]] = {}
    for file in listing.files:
        from_csv = os.path.relpath(file.path, csv_folder or ".").replace(os.sep, "/")
        for name in (file.name, from_csv, os.path.abspath(file.path)):
            exact[_plain(name)] = file
        loose.setdefault(_plain(os.path.splitext(file.name)[0]), []).append(file)
    return {**{name: files[0] for name, files in loose.items() if len(files) == 1}, **exact}


def _keys(name: str) -> tuple[str, ...]:
    return (_plain(os.path.normpath(name.replace("\\", "/"))), _plain(name))


def _plain(name: str) -> str:
    """One spelling for each name: an accent may be part of its letter in one place and follow it in another."""
    return unicodedata.normalize("NFC", readable_name(name))


def _read_entries(path: str) -> list[tuple[int, str, str]]:
    """Return (line, file name, label) for each row."""
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            first = file.readline()
            file.seek(0)
            reader = csv.reader(file, delimiter=max(_DELIMITERS, key=first.count), strict=True)
            rows = [(reader.line_num, row) for row in reader if row]
    except OSError as error:
        raise PipelineError(f"The file of labels cannot be read: {error.strerror}.", path=path) from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise PipelineError(f"The file of labels is not CSV in UTF-8: {error}.", path=path) from None
    if not rows:
        raise PipelineError("The file of labels is empty.", path=path)
    columns = [name.strip() for name in rows[0][1]]
    places = _columns(columns, path)
    if places is None:
        places = (0, 1)
    else:
        rows = rows[1:]
    for line, row in rows:
        if len(row) != len(columns):
            raise PipelineError(
                f"Line {line} has a different number of columns than the first line.",
                path=path,
                found=count_text(len(row), "column"),
                expected=count_text(len(columns), "column"),
            )
    return [(line, row[places[0]].strip(), row[places[1]].strip()) for line, row in rows]


def _columns(columns: list[str], path: str) -> tuple[int, int] | None:
    """Where the file names and the labels stand; None if the first line is an entry already."""
    known = [name.casefold() for name in columns]
    files = [known.index(name) for name in _FILE_COLUMNS if name in known]
    labels = [known.index(name) for name in _LABEL_COLUMNS if name in known]
    if files and labels:
        return files[0], labels[0]
    if not files and not labels and len(columns) == 2 and os.path.splitext(columns[0])[1]:
        return None
    if len(columns) == 2 and (files or labels):
        file = files[0] if files else 1 - labels[0]
        return file, 1 - file
    raise PipelineError(
        "It is not clear which columns hold the file names and the labels.",
        path=path,
        found=f"columns {list_names(columns)}",
        expected="a column 'filename' and a column 'label'",
        advice="Rename the columns, or pass the CSV file as the source.",
    )
