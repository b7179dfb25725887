"""Images or sounds that a table lists, as the rows of a dataset."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Unpack

import numpy as np

from recordsmith.audio import AudioError
from recordsmith.errors import PipelineError, list_names
from recordsmith.formats.audio.source import SUFFIXES as SOUNDS
from recordsmith.formats.audio.source import AudioReader, headers_of, sound_feature
from recordsmith.formats.csv.source import csv
from recordsmith.formats.files.file_splits import in_split_order
from recordsmith.formats.files.folder_walk import walk_files
from recordsmith.formats.files.source_files import PathLike, SourceFile, describe_files
from recordsmith.formats.images.folder_layout import layout_of, splits_of
from recordsmith.formats.images.image_files import ImageFiles, prepared_image
from recordsmith.formats.images.image_lookup import ImageLookup
from recordsmith.formats.images.listing import READ as IMAGES
from recordsmith.formats.images.listing import FoundFile, Listing, list_folder, readable_name
from recordsmith.formats.json_lines.source import jsonl
from recordsmith.formats.listed.listing_tables import (
    TABLES,
    ListingTable,
    found_file,
    is_metadata_table,
    listing_tables,
    refuse_boxes,
)
from recordsmith.formats.parquet.source import parquet
from recordsmith.formats.source import Chunk, Loaded, Reject, Source
from recordsmith.formats.tables.loading import taken
from recordsmith.formats.tables.options import ColumnOptions, TableOptions, column_options
from recordsmith.images import ImageError
from recordsmith.schema import Feature, Schema, Text
from recordsmith.wording.numbers import count_text

__all__ = ["ListedSource", "is_listed", "listed"]

_CHUNK_FILES = 64
_CHUNK_BYTES = 8 << 20
_OF_IMAGES = ("size", "channels", "image_encoding", "quality")


def listed(folder: PathLike, *, table: str | None = None, **columns: Unpack[ColumnOptions]) -> ListedSource:
    r"""Return the images or sounds that a table of the same folder lists, as a source for `make`.

    Such tables are metadata.csv of Hugging Face, train.csv of Kaggle, or metadata.csv of LJSpeech. A row of the table
    is a row of the dataset: `image` or `audio`, the other columns, and `filename`. Splits come from the names of
    the tables (train.csv and test.csv), or from the folders of the files. A row whose file is missing, or outside of
    the folder, is rejected.

    Args:
        folder: the folder, with the table and the files.
        table: the name of the table in the folder, such as "train.csv"; None: the one that lists the files.
        columns: options for the columns, as in `rs.sources.csv`: label, text, columns, types, schema, floats,
            size, channels, image_encoding, quality, strip.

    >>> import recordsmith as rs, tempfile, pathlib, numpy
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> (folder / "1.png").write_bytes(rs.images.encode_image(numpy.zeros((4, 4, 3), "uint8"), "png")) > 0
    True
    >>> (folder / "metadata.csv").write_text("file_name,caption\n1.png,a black square\n") > 0
    True
    >>> list(rs.sources.listed(folder).schema())
    ['image', 'caption', 'filename']
    """
    return ListedSource(os.fspath(folder), table, columns)


def is_listed(folder: str) -> bool:
    """Say whether a table lists the images or sounds of a folder, and class folders do not say what they are."""
    names = [name.lower() for _, name in walk_files(folder)]
    if not any(name.endswith(TABLES) for name in names) or not any(name.endswith((*SOUNDS, *IMAGES)) for name in names):
        return False
    listing, lookup = _files_of(folder)
    if not any(is_metadata_table(name) for name in listing.ignored):
        try:
            layout = layout_of([file.name for file in listing.files], root=folder)
        except PipelineError:
            return False
        if layout.labelled and not _are_numbered({name for name in layout.classes if name is not None}):
            return False
    return bool(listing_tables(folder, listing.ignored, lookup)[0])


def _are_numbered(folders: set[str]) -> bool:
    """Say whether folders are parts with numbers, such as fold1 and fold2, and no classes."""
    return all(re.fullmatch(r"(fold|part|batch|chunk|set|session|disc|cd)[-_ ]?\d+", name.lower()) for name in folders)


def _files_of(folder: str) -> tuple[Listing, ImageLookup]:
    """List the images of a folder, or its sounds if there are more of them."""
    sounds = list_folder(folder, wanted=lambda entry: entry.name.lower().endswith(SOUNDS))
    images = list_folder(folder)
    listing = sounds if len(sounds.files) > len(images.files) else images
    return listing, ImageLookup(listing)


class ListedSource(Source):
    """What `listed` returns. The table is read in order, and the files where chunks are loaded."""

    kind: ClassVar[str] = "listed"
    sequential = True

    def __init__(self, folder: str, table: str | None, options: ColumnOptions) -> None:
        self._folder, self._asked, self._given = folder, table, options
        self._options: TableOptions = column_options(options)
        self.provenance = ("filename",)

    def schema(self) -> Schema:
        """Return the schema: the image or sound, the other columns, and the name of the file."""
        columns = {name: feature for name, feature in self._table.schema().items() if name != self._column}
        named = Text(description="the path of the file, relative to the source folder")
        return Schema({self._medium: self._feature, **columns, "filename": named})

    @property
    def label(self) -> str | None:  # type: ignore[override]  # known from the table
        """The column with the class."""
        return self._table.label

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits of the tables, or those of the folders that the files are in."""
        return self._table.splits or in_split_order(split for split in self._split_of_file.values() if split)

    def split_of(self, chunk: Chunk) -> str | None:
        """Return the split of a chunk."""
        return chunk.split if isinstance(chunk, ListedChunk) else None

    @property
    def row_count(self) -> int | None:
        """How many rows the table has, if that is known."""
        return self._table.row_count

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is said about the table, and what is left out."""
        tables, others = self._tables
        said = [f"Other tables list files too, and were not read: {list_names(others, 4)}."] if others else []
        unused = len(self._listing.files) - len(self._used)
        if unused > 0:
            said.append(
                f"{count_text(unused, 'file')} in no row of {list_names([one.name for one in tables], 4)}: left out."
            )
        return (*self._table.warnings, *said)

    def describe(self) -> dict[str, Any]:
        """Return what the source is: its table, and what identifies the files."""
        files = [SourceFile(readable_name(file.name), file.size, file.modified) for file in self._listing.files]
        return {
            "kind": self.kind,
            "path": self._folder,
            "column": self._column,
            "options": self._options.describe(),
            "table": self._table.describe(),
            "files": describe_files(files),
        }

    def chunks(self) -> Iterator[Chunk]:
        """Give rows of the table in groups of up to 64 files, or 8 MB, each of one split."""
        by_table = bool(self._table.splits)
        for inner in self._table.chunks():
            near = self._name_of(inner.origin())
            loaded = inner.load()
            names = [None if cell is None else str(cell) for cell in _cells(loaded.columns.pop(self._column))]
            found = [found_file(name, self._lookup, near) for name in names]
            rejects = list(loaded.rejects)
            rows: dict[str | None, list[tuple[int, FoundFile]]] = {}
            for row, (file, problem) in enumerate(found):
                if file is None:
                    rejects.append(Reject(loaded.places.of(row), None, self._medium, str(problem), names[row]))
                else:
                    split = self._table.split_of(inner) if by_table else self._split_of_file.get(file.name)
                    rows.setdefault(split, []).append((row, file))
            groups = [*rows.items()] or [(next(iter(self.splits), None), [])]
            for number, (split, members) in enumerate(groups):
                yield from self._cut(loaded, members, split, [] if number else rejects)

    def _cut(
        self, loaded: Loaded, members: Sequence[tuple[int, FoundFile]], split: str | None, rejects: list[Reject]
    ) -> Iterator[Chunk]:
        held: list[tuple[int, FoundFile]] = []
        size = 0
        for row, file in members:
            if held and (len(held) >= _CHUNK_FILES or size + file.size > _CHUNK_BYTES):
                yield self._chunk(loaded, held, split, rejects)
                held, size, rejects = [], 0, []
            held.append((row, file))
            size += file.size
        if held or rejects:
            yield self._chunk(loaded, held, split, rejects)

    def _chunk(
        self, loaded: Loaded, held: Sequence[tuple[int, FoundFile]], split: str | None, rejects: list[Reject]
    ) -> ListedChunk:
        rows = np.array([row for row, _ in held], np.int64)
        columns = {name: taken(column, rows) for name, column in loaded.columns.items()}
        places = [loaded.places.of(row) for row, _ in held]
        return ListedChunk([file for _, file in held], columns, places, self._medium, self._read, split, rejects)

    def _name_of(self, path: str | None) -> str:
        return "" if path is None else os.path.relpath(path, self._folder).replace(os.sep, "/")

    @cached_property
    def _listed_files(self) -> tuple[Listing, ImageLookup]:
        return _files_of(self._folder)

    @property
    def _listing(self) -> Listing:
        return self._listed_files[0]

    @property
    def _lookup(self) -> ImageLookup:
        return self._listed_files[1]

    @cached_property
    def _tables(self) -> tuple[list[ListingTable], list[str]]:
        others = self._listing.ignored if self._asked is None else [self._asked]
        found, left_out = listing_tables(self._folder, others, self._lookup)
        if not found:
            raise PipelineError(
                "No table lists the images or sounds of this folder.",
                path=self._folder if self._asked is None else os.path.join(self._folder, self._asked),
                expected="a CSV, JSON lines or Parquet file with a column of their names",
            )
        for one in found:
            refuse_boxes(self._folder, one)
            if one.column != found[0].column:
                raise PipelineError(
                    "The tables have the names of files in different columns.",
                    path=self._folder,
                    found=f"{found[0].column!r} and {one.column!r}",
                )
        return found, left_out

    @property
    def _column(self) -> str:
        return self._tables[0][0].column

    @cached_property
    def _table(self) -> Source:
        """The rows of the tables, with the names of files as text."""
        tables = self._tables[0]
        paths = [os.path.join(self._folder, one.name) for one in tables]
        said: dict[str, Any] = {name: value for name, value in self._given.items() if name not in _OF_IMAGES}
        wanted = column_options(self._given).columns
        if wanted:
            said["columns"] = [*wanted, self._column]
        said["types"] = {**(said.get("types") or {}), self._column: "text"}
        suffix = os.path.splitext(paths[0])[1].lower()
        if suffix in (".jsonl", ".ndjson"):
            return jsonl(paths, **said)
        if suffix == ".parquet":
            return parquet(paths, **said)
        if not tables[0].header:
            said |= {"header": False, "names": tables[0].columns}
        if tables[0].delimiter is not None:  # LJSpeech has quotes that are part of the text
            said |= {"delimiter": tables[0].delimiter, "quote": None}
        return csv(paths, **said)

    @cached_property
    def _split_of_file(self) -> dict[str, str | None]:
        names = [file.name for file in self._used]
        return dict(zip(names, splits_of(names), strict=True))

    @cached_property
    def _used(self) -> list[FoundFile]:
        """The files that the tables list, in the order of the folder."""
        names = set()
        for chunk in self._table.chunks():
            near = self._name_of(chunk.origin())
            for cell in _cells(chunk.load().columns[self._column]):
                file, _ = found_file(None if cell is None else str(cell), self._lookup, near)
                names |= set() if file is None else {file.name}
        return [file for file in self._listing.files if file.name in names]

    @property
    def _medium(self) -> str:
        taken_names = self._tables[0][0].columns
        name = "audio" if self._is_sound else "image"
        return name if name not in taken_names or name == self._column else f"{name}_file"

    @property
    def _is_sound(self) -> bool:
        return self._listing.files[0].name.lower().endswith(SOUNDS)

    @cached_property
    def _image_files(self) -> ImageFiles:
        return ImageFiles.of(self._used, self._options.preparation, self._folder)

    @cached_property
    def _feature(self) -> Feature:
        if self._is_sound:
            return sound_feature(headers_of(self._used, self._folder), AudioReader("audio"))
        return self._image_files.feature()

    @property
    def _read(self) -> Callable[[str], bytes]:
        return SoundFile() if self._is_sound else ImageFile(self._image_files)


@dataclass(frozen=True, slots=True)
class SoundFile:
    """Reads a sound."""

    def __call__(self, path: str) -> bytes:
        """Return the sound, after a check."""
        data: bytes = AudioReader("audio").read(path)["audio"]
        return data


@dataclass(frozen=True, slots=True)
class ImageFile:
    """Reads an image."""

    files: ImageFiles

    def __call__(self, path: str) -> bytes:
        """Return the image as it is to be stored."""
        with open(path, "rb") as file:
            return prepared_image(file.read(), self.files.preparation, decode=True)


@dataclass(frozen=True, slots=True)
class ListedChunk(Chunk):
    """Some rows of a table, which it carries, and the files of these rows."""

    files: list[FoundFile]
    columns: dict[str, Any]
    places: list[str]
    medium: str
    read: Callable[[str], bytes]
    split: str | None
    rejects: list[Reject]

    @property
    def source_bytes(self) -> int:  # type: ignore[override]
        """The size of the files."""
        return sum(file.size for file in self.files)

    def load(self) -> Loaded:
        """Read the files; one that cannot be read is a reject of its row."""
        rejects = list(self.rejects)
        kept, data = [], []
        for row, file in enumerate(self.files):
            try:
                data.append(self.read(file.path))
                kept.append(row)
            except (ImageError, AudioError, OSError) as error:
                reason = f"It cannot be read: {error.strerror}." if isinstance(error, OSError) else str(error)
                rejects.append(Reject(self.places[row], None, self.medium, reason, readable_name(file.name)))
        rows = np.array(kept, np.int64)
        columns = {name: taken(column, rows) for name, column in self.columns.items()}
        names = [readable_name(self.files[row].name) for row in kept]
        places = RowPlaces([self.places[row] for row in kept])
        return Loaded({self.medium: data, **columns, "filename": names}, len(kept), places, rejects)


@dataclass(frozen=True, slots=True)
class RowPlaces:
    """The rows of the table."""

    places: list[str]

    def of(self, row: int) -> str:
        """Return where a row is."""
        return self.places[row]


def _cells(column: Any) -> list[Any]:
    return column if isinstance(column, list) else list(column.to_pylist() if hasattr(column, "to_pylist") else column)
