"""Builds indexes on request: in the cache, or as text for other programs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from recordsmith.dataset.layout import find_layout
from recordsmith.dataset.payload_reading import refuse_pipe
from recordsmith.errors import RecordsmithError
from recordsmith.records.index import ShardIndex, cached_index, export_index, keep_index, load_index, upload_index
from recordsmith.storage.ranged.opening import is_ranged
from recordsmith.storage.ranged.web_files import is_web

__all__ = ["IndexedFile", "export_indexes", "index_files", "is_uploadable", "keep_index_of", "keep_indexes"]

TextFormat = Literal["dali", "vahidk"]


@dataclass(frozen=True, slots=True)
class IndexedFile:
    """One file, and its index.

    Attributes:
        path: the TFRecord file.
        records: how many records it has.
        bytes: its size.
        compression: None, "gzip" or "zlib".
        index: the path of the index.
        written: the index was written now; it was there and still fitted otherwise.
    """

    path: str
    records: int
    bytes: int
    compression: str | None
    index: str
    written: bool


def index_files(paths: Sequence[str | os.PathLike[str]], split: str | None = None) -> tuple[str, ...]:
    """Return the files that some paths stand for."""
    files = find_layout(paths[0] if len(paths) == 1 else paths).select(split).files
    for file in files:
        refuse_pipe(file)
    return files


def is_uploadable(file: str) -> bool:
    """Say whether the index of a file can be stored next to it in an object store; web servers are only read.

    >>> is_uploadable("s3://bucket/a.tfrecord"), is_uploadable("https://host/a.tfrecord"), is_uploadable("a.tfrecord")
    (True, False, False)
    """
    return is_ranged(file) and not is_web(file)


def keep_index_of(file: str, *, rebuild: bool = False, upload: bool = False) -> IndexedFile:
    """Put the index of a file into the cache, unless it is there and fits; with `upload` next to a remote one too."""
    cached = None if rebuild else cached_index(file)
    found, place = cached or keep_index(file)
    if upload and is_uploadable(file):
        place = upload_index(file, place)
    return _indexed(found, place, written=cached is None or place != cached[1])


def keep_indexes(files: Sequence[str], *, rebuild: bool = False, upload: bool = False) -> Iterator[IndexedFile]:
    """Do the same for several files."""
    return (keep_index_of(file, rebuild=rebuild, upload=upload) for file in files)


def export_indexes(
    files: Sequence[str],
    target: str | None = None,
    *,
    format: TextFormat,  # noqa: A002 - as in export_index
) -> Iterator[IndexedFile]:
    """Write the text index of each file, as DALI and the tfrecord package read it.

    Args:
        files: TFRecord files that are not compressed.
        target: a folder for the indexes, or a file if there is one index; None: next to the data, by their usual names.
        format: "dali" or "vahidk".
    """
    targets = _targets(files, target, format)
    for place in targets:
        _refuse_to_replace(place)
    for file, place in zip(files, targets, strict=True):
        index = load_index(file)
        try:
            export_index(file, place, format=format)
        except PermissionError as error:  # which names the temporary file that could not be made
            refused = PermissionError(error.errno, "The index cannot be written here", place)
            refused.add_note("Choose another folder with -o.")
            raise refused from error
        yield _indexed(index, place, written=True)


def _indexed(index: ShardIndex, place: str, *, written: bool) -> IndexedFile:
    compression = None if index.compression == "none" else index.compression
    folder = os.path.dirname(index.path)
    beside = os.path.abspath(folder) + os.sep
    if place.startswith(beside):  # shown relative to the same folder as the file
        place = os.path.join(folder, place.removeprefix(beside))
    return IndexedFile(index.path, index.records, index.size, compression, place, written)


def _targets(files: Sequence[str], target: str | None, format: TextFormat) -> list[str]:  # noqa: A002 - as in export_index
    names = [f"{file}.idx" if format == "dali" else f"{os.path.splitext(file)[0]}.tfindex" for file in files]
    if target is None:
        return _distinct(names)
    if len(files) == 1 and not os.path.isdir(target) and not target.endswith("/"):
        return [target]
    os.makedirs(target, exist_ok=True)
    return _distinct([os.path.join(target, os.path.basename(name)) for name in names])


def _distinct(places: list[str]) -> list[str]:
    for place in places:
        if places.count(place) > 1:
            raise RecordsmithError(
                "Two files would have the same index file.",
                path=place,
                advice="Index one folder at a time, or omit -o to write each index next to its file.",
            )
    return places


def _refuse_to_replace(place: str) -> None:
    """Replace an older text index, which can be made again, and nothing else."""
    if not os.path.exists(place):
        return
    with open(place, "rb") as file:
        numbers = file.readline(64).split()
    if numbers and not (len(numbers) == 2 and all(number.isdigit() for number in numbers)):
        raise RecordsmithError(
            "The index would overwrite a file that is not a text index.",
            path=place,
            advice="Move it away, or choose another folder with -o.",
        )
