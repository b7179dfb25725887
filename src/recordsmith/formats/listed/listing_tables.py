"""Finds the tables of a folder that list its images or sounds, and the column with their names.

train/metadata.csv         file_name,text             Hugging Face: imagefolder and audiofolder
train.csv, train_images/   image_id,label             Kaggle
metadata.csv, wavs/        LJ001-0001|Printing, ...   LJSpeech, without a line of names
train.tsv, clips/          client_id, path, ...       Common Voice
"""

from __future__ import annotations

import csv
import json
import os
import posixpath
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from recordsmith.errors import PipelineError, RecordsmithError, list_names
from recordsmith.formats.csv.dialect import Dialect, read_head
from recordsmith.formats.files.source_files import SourceFile
from recordsmith.formats.images.image_lookup import ImageLookup
from recordsmith.formats.parquet.source import first_rows
from recordsmith.records.shards import split_in_name

__all__ = ["TABLES", "ListingTable", "found_file", "is_metadata_table", "listing_tables", "refuse_boxes"]

TABLES = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")
_ROWS = 50  # that are looked at
_SHARE = 0.5  # of these rows name a file of the folder
_BOXES = ({"xmin", "ymin", "xmax", "ymax"}, {"x_min", "y_min", "x_max", "y_max"}, {"x1", "y1", "x2", "y2"}, {"bbox"})


@dataclass(frozen=True, slots=True)
class ListingTable:
    """A table that lists files.

    Attributes:
        name: its name in the folder.
        column: the column with the names of files.
        columns: all columns.
        header: whether its first line has the names of columns.
        delimiter: what separates the cells of a CSV file, if it is not what such a file is usually read with.
    """

    name: str
    column: str
    columns: tuple[str, ...]
    header: bool = True
    delimiter: str | None = None


def listing_tables(root: str, others: Sequence[str], lookup: ImageLookup) -> tuple[list[ListingTable], list[str]]:
    """Return the tables that list files, and the names of those that do so too and are not read.

    Args:
        root: the folder.
        others: the names of files that are no images or sounds.
        lookup: the images or sounds.
    """
    found = []
    for name in others:
        if name.lower().endswith(TABLES) and "submission" not in name.lower():
            table = _table(root, name, lookup)
            found += [] if table is None else [table]
    metadata = [one for one in found if is_metadata_table(one.name)]
    if len(found) < 2 or (metadata and len({os.path.splitext(one.name)[1].lower() for one in metadata}) == 1):
        chosen = metadata or found
    else:
        splits = {
            one.name: next(filter(None, map(split_in_name, reversed(one.name.split("/")))), None) for one in found
        }
        chosen = [one for one in found if splits[one.name] is not None]
        if not chosen or len({splits[one.name] for one in chosen}) < len(chosen):
            raise PipelineError(
                "Several tables list the files of this folder.",
                path=root,
                found=list_names([one.name for one in found]),
                advice="Choose one: rs.sources.listed(folder, table='name'), or --kind listed --table NAME.",
            )
    return chosen, [one.name for one in found if one not in chosen]


def is_metadata_table(name: str) -> bool:
    """Say whether a file is called like the tables of Hugging Face's imagefolder and audiofolder.

    >>> is_metadata_table("train/metadata.jsonl"), is_metadata_table("train.csv")
    (True, False)
    """
    stem, suffix = os.path.splitext(posixpath.basename(name).lower())
    return stem == "metadata" and suffix in TABLES


def found_file(name: Any, lookup: ImageLookup, near: str) -> tuple[Any, str | None]:
    """Return the file that a cell names, with or without its suffix, or why there is none."""
    if not isinstance(name, str) or not name.strip():
        return None, "The name of the file is missing."
    file, problem = lookup.find(name.strip(), near=near, split=split_in_name(near))
    if file is None and "/" not in name:
        file = lookup.of_stem(name.strip(), near=near, split=split_in_name(near))
    return file, None if file is not None else str(problem).replace("image", "file")


def refuse_boxes(root: str, table: ListingTable) -> None:
    """Refuse a table with a row for each box: it would repeat the image for each."""
    names = {name.lower(): name for name in table.columns}
    sides = next((boxes for boxes in _BOXES if boxes <= names.keys()), None)
    if sides is None:
        return
    path = os.path.join(root, table.name)
    example = None
    label = next((names[name] for name in ("class", "label", "category") if name in names), None)
    if "xmin" in sides and label is not None and {"width", "height"} <= names.keys():
        corners, size = ([names[key] for key in keys] for keys in (_CORNERS, ("height", "width") * 2))
        example = _GROUPED.format(
            path=path, folder=os.path.dirname(path) or ".", file=table.column, corners=corners, size=size, label=label
        )
    raise PipelineError(
        "This table has a row for each box, and not for each image.",
        path=path,
        found=list_names(table.columns, 12),
        advice="Put the boxes of each image together, and pass the rows"
        + (":" if example else ", with the features of docs/making-detection.md."),
        example=example,
    )


_CORNERS = ("ymin", "xmin", "ymax", "xmax")
_GROUPED = """import pandas
frame = pandas.read_csv({path!r})
def rows():
    for name, boxes in frame.groupby({file!r}):
        with open({folder!r} + "/" + name, "rb") as file:
            places = boxes[{corners}].to_numpy() / boxes[{size}].to_numpy()
            yield {{"image": file.read(), "objects/bbox": places, "objects/label": list(boxes[{label!r}])}}
labels = rs.Labels(sorted(frame[{label!r}].unique()))
schema = rs.Schema({{"image": rs.Image(), "objects/bbox": rs.Boxes(split=False), "objects/label": labels}})
rs.make(rows, "data", schema=schema)"""


def _table(root: str, name: str, lookup: ImageLookup) -> ListingTable | None:
    """Return a table that lists files; None if it does not."""
    path = os.path.join(root, name)
    for delimiter in ("|", None) if path.lower().endswith(".csv") else (None,):
        try:
            columns, rows = _first_rows(path, delimiter)
        except (OSError, ValueError, csv.Error, RecordsmithError):
            continue
        if delimiter is not None and len(columns) < 2:
            continue
        best, share = 0, 0.0
        for place in range(len(columns)):
            cells = [str(row[place]) for row in rows if len(row) > place and row[place] is not None]
            named = sum(found_file(cell, lookup, name)[0] is not None for cell in cells)
            if cells and named / len(cells) > share:
                best, share = place, named / len(cells)
        if share >= _SHARE:
            header = found_file(columns[best], lookup, name)[0] is None
            names = columns if header else tuple(f"column_{number}" for number in range(1, len(columns) + 1))
            return ListingTable(name, names[best], names, header, delimiter)
    return None


def _first_rows(path: str, delimiter: str | None) -> tuple[tuple[str, ...], list[list[Any]]]:
    """Return the names of the columns, and the first rows."""
    if path.lower().endswith(".parquet"):
        return first_rows(SourceFile.at(path), _ROWS)
    if path.lower().endswith((".jsonl", ".ndjson")):
        with open(path, encoding="utf-8-sig") as file:
            found = [json.loads(line) for line in islice((line for line in file if line.strip()), _ROWS)]
        columns = tuple(dict.fromkeys(key for row in found if isinstance(row, dict) for key in row))
        return columns, [[row.get(key) for key in columns] for row in found if isinstance(row, dict)]
    head = read_head(SourceFile.at(path), Dialect(delimiter, None if delimiter else '"'))
    with open(path, newline="", encoding="utf-8-sig", errors="replace") as file:
        mark = head.rules.delimiter.decode()
        plain = csv.reader(file, delimiter=mark, quoting=csv.QUOTE_NONE)
        reader = plain if delimiter else csv.reader(file, delimiter=mark)
        return head.names, list(islice(reader, 1, _ROWS + 1))
