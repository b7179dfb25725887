"""Sources with a row for each file of a folder, whose subfolders are classes or splits: sounds, scans.

What a kind of files needs of its own is a reader, which turns one file into the values of a row, and the features that
these values have.
"""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar, Protocol

from recordsmith.errors import PipelineError
from recordsmith.formats.files.source_files import PathLike, SourceFile, describe_files
from recordsmith.formats.images.folder_layout import LayoutName, check_layout_name, layout_of, splits_of
from recordsmith.formats.images.labels import (
    Labelled,
    Labelling,
    class_folder_warnings,
    labels_from_csv,
    labels_from_folders,
    without_labels,
)
from recordsmith.formats.images.listing import FoundFile, Listing, list_files, list_folder, readable_name
from recordsmith.formats.source import Chunk, Loaded, Reject, Source
from recordsmith.schema import Feature, Label, Schema, Text

__all__ = ["FileReader", "FolderSettings", "LabelledFileSource", "folder_settings", "paths_of", "spread"]

_CHUNK_FILES = 64
_CHUNK_BYTES = 8 << 20
_SHOWN_NAMES = 20


class FileReader(Protocol):
    """Reads one file. It is pickled to where files are read."""

    @property
    def feature(self) -> str:
        """What a file that cannot be read is rejected for."""

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        """What is raised about a file that cannot be read, with the reason as its text."""

    def read(self, path: str) -> dict[str, Any]:
        """Return the values of a row, by feature."""


@dataclass(frozen=True, slots=True)
class FolderSettings:
    """What all such sources can be told about folders, labels and names."""

    labels: str | None = None
    classes: tuple[str, ...] | None = None
    layout: LayoutName = "auto"
    label: str | None = "label"
    filename: str | None = "filename"

    def describe(self) -> dict[str, Any]:
        """Return the settings, JSON-ready."""
        return {
            "labels": self.labels,
            "classes": None if self.classes is None else list(self.classes),
            "layout": self.layout,
            "label": self.label,
            "filename": self.filename,
        }


def folder_settings(
    names: Sequence[str],
    *,
    labels: PathLike | None,
    classes: Sequence[str] | None,
    layout: LayoutName,
    label: str | None,
    filename: str | None,
) -> FolderSettings:
    """Return the settings after a check; `names` are the other features."""
    check_layout_name(layout)
    all_names = [*names, *(name for name in (label, filename) if name is not None)]
    if len(set(all_names)) < len(all_names):
        raise PipelineError("Two features have the same name.", found=", ".join(all_names))
    return FolderSettings(
        None if labels is None else os.fspath(labels),
        None if classes is None else tuple(classes),
        layout,
        label,
        filename,
    )


def paths_of(folder: PathLike | Iterable[PathLike]) -> list[str]:
    """Return one path or several as a list."""
    return [os.fspath(folder)] if isinstance(folder, (str, os.PathLike)) else [os.fspath(path) for path in folder]


def spread(files: Sequence[FoundFile], most: int) -> Sequence[FoundFile]:
    """Return some files from all over a list."""
    return files[:: max(1, -(-len(files) // most))]


class LabelledFileSource(Source):
    """A row for each file of a folder. The folder is listed when that is first needed.

    Attributes:
        what: what the files are, as text.
        suffixes: how their names end; other files are ignored.
    """

    what: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]]

    def __init__(self, paths: list[str], folder: FolderSettings, reader: FileReader) -> None:
        self._paths = paths
        self._folder = folder
        self._reader = reader
        self._remarks: tuple[str, ...] = ()
        self.provenance = () if folder.filename is None else (folder.filename,)

    @abstractmethod
    def _features(self) -> dict[str, Feature]:
        """Return the features of a file, from a look at some of them."""

    @abstractmethod
    def _settings(self) -> dict[str, Any]:
        """Return the settings of its own, JSON-ready."""

    @property
    def label(self) -> str | None:  # type: ignore[override]
        """The feature with the label; None if the files have none."""
        return None if self._labelling.classes is None else self._folder.label

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits, where the folders are some."""
        return self._labelling.splits

    def split_of(self, chunk: Chunk) -> str | None:
        """Return the split of the files of a chunk."""
        return chunk.rows[0].split if isinstance(chunk, FilesChunk) else None

    @property
    def warnings(self) -> tuple[str, ...]:
        """Which files are left out, and whether all have one label."""
        classes = self._labelling.classes or ()
        if len(classes) != 1 or self._folder.labels is not None:
            return self._remarks
        one = f"All {self.what} are in one class folder, so they have the same label: {classes[0]!r}."
        return (*self._remarks, one)

    @property
    def size_bytes(self) -> int:
        """The size of all files."""
        return sum(file.size for file in self._listing.files)

    @property
    def row_count(self) -> int:
        """How many rows there are, those included that will be rejected."""
        return len(self._labelling.rows)

    def schema(self) -> Schema:
        """Return the schema: what is in a file, and where there are any the label and the file's name."""
        features = self._features()
        if self.label is not None:
            features[self.label] = Label(list(self._labelling.classes or ()))
        if self._folder.filename is not None:
            features[self._folder.filename] = Text(description="the path of the file, relative to the source folder")
        return Schema(features)

    def chunks(self) -> Iterator[Chunk]:
        """Give the files in groups of up to 64, or 8 MB, in the order of their names."""
        names = [name for name in self.schema() if name not in (self.label, self._folder.filename)]
        make = partial(FilesChunk, reader=self._reader, names=names, label=self.label, filename=self._folder.filename)
        rows: list[Labelled] = []
        size = start = 0
        for row in self._labelling.rows:
            added = 0 if row.file is None else row.file.size
            if rows and (len(rows) >= _CHUNK_FILES or size + added > _CHUNK_BYTES or row.split != rows[-1].split):
                yield make(rows, start, source_bytes=size)
                start, size, rows = start + len(rows), 0, []
            rows.append(row)
            size += added
        if rows:
            yield make(rows, start, source_bytes=size)

    def describe(self) -> dict[str, Any]:
        """Return what the source is: its options, and what identifies its files."""
        files = [SourceFile(readable_name(file.name), file.size, file.modified) for file in self._listing.files]
        return {
            "kind": self.kind,
            "paths": [readable_name(path) for path in self._paths],
            "files": describe_files(files),
            **self._folder.describe(),
            **self._settings(),
            "ignored": len(self._listing.ignored),
            "ignored_names": self._listing.ignored[:_SHOWN_NAMES],
        }

    def _wanted(self, entry: os.DirEntry[str]) -> bool:
        """Say whether a file is one of these, by its name."""
        return entry.name.casefold().endswith(self.suffixes)

    @property
    def _is_folder(self) -> bool:
        return len(self._paths) == 1 and os.path.isdir(self._paths[0])

    @cached_property
    def _listing(self) -> Listing:
        if not self._is_folder:
            return list_files(self._paths)
        try:
            listing = list_folder(self._paths[0], wanted=self._wanted)
        except OSError as error:
            raise PipelineError(f"The folder cannot be listed: {error.strerror}.", path=error.filename) from None
        if not listing.files:
            raise PipelineError(
                f"No {self.what} were found.",
                path=self._paths[0],
                found=f"{len(listing.ignored)} other files" if listing.ignored else "no files",
                expected=f"files that end in {', '.join(self.suffixes)}",
            )
        return listing

    @cached_property
    def _labelling(self) -> Labelling:
        listing, asked = self._listing, self._folder
        names = [file.name for file in listing.files]
        if asked.label is not None and asked.labels is None and self._is_folder:
            found = labels_from_folders(listing, asked.classes, layout_of(names, asked.layout, listing.root))
        else:
            found = without_labels(listing)
            if asked.labels is not None:
                found = labels_from_csv(listing, asked.labels, asked.classes)
            found = found.in_splits(dict(zip(listing.files, splits_of(names), strict=True)))
        if asked.layout == "auto" and self._is_folder:
            warned = () if asked.classes is not None or asked.labels is not None else class_folder_warnings(found)
            found, said = found.in_listed_splits(listing)
            self._remarks = (*warned, *said)
        return found


@dataclass(frozen=True, slots=True)
class FilesChunk(Chunk):
    """Some files, to be read one after the other."""

    rows: list[Labelled]
    start: int
    reader: FileReader
    names: list[str]
    label: str | None
    filename: str | None
    source_bytes: int

    def load(self) -> Loaded:
        """Read the files; those that cannot be read, or have no label, are rejects."""
        columns: dict[str, list[Any]] = {name: [] for name in self.names}
        loaded: list[tuple[FoundFile, int | None]] = []
        rejects: list[Reject] = []
        for number, row in enumerate(self.rows, self.start):
            place = row.place or ("" if row.file is None else readable_name(row.file.path))
            if row.problem is not None or row.file is None:
                rejects.append(Reject(place, number, self.label, row.problem or "There is no such file."))
                continue
            try:
                values = self.reader.read(row.file.path)
            except OSError as error:
                rejects.append(Reject(place, number, self.reader.feature, f"It cannot be read: {error.strerror}."))
                continue
            except self.reader.errors as error:
                rejects.append(Reject(place, number, self.reader.feature, str(error)))
                continue
            for name in self.names:
                columns[name].append(values.get(name))
            loaded.append((row.file, row.label))
        found: dict[str, Any] = dict(columns)
        if self.label is not None:
            found[self.label] = [label for _, label in loaded]
        if self.filename is not None:
            found[self.filename] = [readable_name(file.name) for file, _ in loaded]
        return Loaded(found, len(loaded), _Places([readable_name(file.path) for file, _ in loaded]), rejects)


@dataclass(frozen=True, slots=True)
class _Places:
    """The files of the rows that were loaded."""

    paths: list[str]

    def of(self, row: int) -> str:
        return self.paths[row]
