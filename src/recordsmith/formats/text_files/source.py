"""Plain text files as a source: one row per file, with class folders as labels; or one row per line."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

from recordsmith.errors import PipelineError, RecordsmithError, did_you_mean, list_names
from recordsmith.formats.files.file_splits import in_split_order, splits_by_name
from recordsmith.formats.files.source_files import PathLike, SourceFile, describe_files, find_files
from recordsmith.formats.images.folder_layout import FolderLayout, LayoutName, check_layout_name, layout_of
from recordsmith.formats.source import Chunk, Loaded, Reject, Source
from recordsmith.formats.tables.lines import LONGEST_ROW, LineRules, Piece, pieces_of, windows
from recordsmith.formats.tables.loading import shortened
from recordsmith.formats.tables.nested import is_unicode
from recordsmith.schema import Feature, Label, Schema, Text
from recordsmith.storage.ranged.opening import is_folder
from recordsmith.wording.numbers import count_text

__all__ = ["TextFilesSource", "is_text_name", "text"]

SUFFIXES = tuple(f".txt{packed}" for packed in ("", ".gz", ".bz2", ".zst"))
# Files next to the data, which are about it.
_ABOUT = ("readme", "license", "licence", "notes", "requirements", "labels", "classes", "changelog", "citation", "info")
# Folders of texts that have no label, beside class folders: aclImdb/train/unsup.
_UNLABELLED = ("unsup", "unsupervised", "unlabeled", "unlabelled")
_RULES = LineRules(quote=None, newlines=b"\n")
_CHUNK_BYTES = 8 << 20
_CHUNK_FILES = 1024
_BOM = b"\xef\xbb\xbf"

Per = Literal["file", "line"]


def text(
    paths: PathLike | Iterable[PathLike],
    *,
    per: Per | None = None,
    layout: LayoutName = "auto",
    encoding: str = "utf-8",
) -> TextFilesSource:
    """Return plain text files as a source for `make`.

    A folder has one row per file: `text`, `filename`, and `label` if its subfolders are classes. Subfolders named train
    and test are splits. Files that are passed by their names, and folders with train.txt and test.txt, have one row per
    line that is not empty: `text`. Compressed files (.gz, .bz2, .zst) are decompressed.

    Args:
        paths: a folder, a file, a glob, or a list of these.
        per: what a row is, "file" or "line"; None: as described above.
        layout: the meaning of the folders: "classes", "splits" that contain classes, or none ("flat"); "auto": detected
            from their names.
        encoding: of the text.

    >>> import recordsmith as rs, tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for name in ("pos", "neg"):
    ...     (folder / name).mkdir()
    ...     _ = (folder / name / "1.txt").write_text(f"It is {name}.")
    >>> rs.sources.text(folder).schema()["label"]
    Label(['neg', 'pos'])
    """
    check_layout_name(layout)
    if per not in (None, "file", "line"):
        raise PipelineError(
            f"per cannot be {per!r}.{did_you_mean(str(per), ('file', 'line'))}", expected="'file', 'line'"
        )
    try:
        "".encode(encoding)
    except LookupError:
        raise PipelineError(f"Unknown encoding {encoding!r}.") from None
    root = os.fsdecode(paths) if isinstance(paths, (str, os.PathLike)) else None
    root = root if root is not None and is_folder(root) else None
    files = find_files(paths, SUFFIXES, kind="text")
    if root is not None:
        files = tuple(file for file in files if is_text_name(file.path)) or files
    if per is None:
        per = "line" if root is None or splits_by_name_alone(files) else "file"
    return TextFilesSource(files, root, per, layout, encoding)


def is_text_name(path: str) -> bool:
    """Say whether a file is called like a text that is data, and not like a description of data.

    >>> is_text_name("pos/0_9.txt"), is_text_name("README.txt"), is_text_name("a.csv")
    (True, False, False)
    """
    name = os.path.basename(path).lower()
    return name.endswith(SUFFIXES) and name.partition(".")[0] not in _ABOUT


def splits_by_name_alone(files: Sequence[SourceFile]) -> bool:
    """Say whether files are splits by their own names, and not by those of folders."""
    names = [os.path.basename(file.path) for file in files]
    return len(set(names)) == len(names) and len(set(splits_by_name(names).values())) == len(names) > 1


class TextFilesSource(Source):
    """Plain text. Made by `rs.sources.text`."""

    kind: ClassVar[str] = "text"

    def __init__(
        self, files: Sequence[SourceFile], root: str | None, per: Per, layout: LayoutName, encoding: str
    ) -> None:
        self._found, self._root, self._per, self._asked, self._encoding = files, root, per, layout, encoding
        self.sequential = per == "line" and any(file.compression() for file in files)
        self.provenance = ("filename",) if per == "file" else ()
        self.label = "label" if self._layout.labelled else None

    def schema(self) -> Schema:
        """Return the schema: a text, and its class and file name if each file is a row."""
        features: dict[str, Feature] = {"text": Text()}
        if self._classes:
            features["label"] = Label(self._classes)
        if self._per == "file":
            features["filename"] = Text(description="the path of the file, relative to the source folder")
        return Schema(features)

    def describe(self) -> dict[str, Any]:
        """Return what the source is: its files with size and time, and the options."""
        options = {"per": self._per, "layout": self._asked, "encoding": self._encoding}
        return {"kind": self.kind, "options": options, "files": describe_files(self._found)}

    def chunks(self) -> Iterator[Chunk]:
        """Give the chunks: about 8 MB of lines, or of at most 1,024 files."""
        if self._per == "line":
            for file in self._found:
                for piece in pieces_of(file, _RULES, start=0, line=1):
                    yield LinesChunk(piece, self._encoding, piece.size)
            return
        held: list[TextFile] = []
        for one in self._rows:
            if held and (
                one.split != held[0].split
                or len(held) >= _CHUNK_FILES
                or sum(other.file.size for other in held) + one.file.size > _CHUNK_BYTES
            ):
                yield FilesChunk(tuple(held), self._encoding, self.label is not None)
                held = []
            held.append(one)
        if held:
            yield FilesChunk(tuple(held), self._encoding, self.label is not None)

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits that the files or their folders are."""
        found = self._split_of_file.values() if self._per == "line" else [one.split for one in self._rows]
        return in_split_order(split for split in found if split is not None)

    def split_of(self, chunk: Chunk) -> str | None:
        """Return the split of a chunk's file, or of the folder of its files."""
        if isinstance(chunk, FilesChunk):
            return chunk.files[0].split
        return self._split_of_file.get(chunk.origin() or "")

    @property
    def warnings(self) -> tuple[str, ...]:
        """Which files are left out."""
        left_out = [file.path for file, one in zip(self._found, self._layout.classes, strict=True) if one is None]
        if self.label is None or not left_out:
            return ()
        names = [os.path.relpath(path, self._root) for path in left_out]
        return (f"{count_text(len(names), 'file')} in no class folder left out: {list_names(names, 4)}.",)

    @property
    def size_bytes(self) -> int | None:
        """The size of all files; None if lines are decompressed."""
        return None if self.sequential else sum(file.size for file in self._found)

    @property
    def row_count(self) -> int | None:
        """How many files there are; of lines, it is not known."""
        return len(self._rows) if self._per == "file" else None

    @cached_property
    def _names(self) -> list[str]:
        root = self._root or os.path.commonpath([os.path.dirname(os.path.abspath(file.path)) for file in self._found])
        if self._root is None:
            return [os.path.relpath(file.path, root).replace(os.sep, "/") for file in self._found]
        return [file.path[len(root) :].strip("/") for file in self._found]

    @cached_property
    def _layout(self) -> FolderLayout:
        if self._per == "line":
            return FolderLayout([None] * len(self._found), [None] * len(self._found))
        layout = layout_of(self._names, self._asked, self._root)
        if self._asked == "auto" and not {*layout.classes} <= {None, *_UNLABELLED}:
            layout.classes[:] = [None if name in _UNLABELLED else name for name in layout.classes]
        return layout

    @cached_property
    def _classes(self) -> list[str]:
        return sorted({name for name in self._layout.classes if name is not None})

    @cached_property
    def _rows(self) -> list[TextFile]:
        number_of = {name: number for number, name in enumerate(self._classes)}
        layout = zip(self._found, self._names, self._layout.classes, self._layout.splits, strict=True)
        found = [
            TextFile(file, name, None if one is None else number_of[one], split)
            for file, name, one, split in layout
            if one is not None or not number_of
        ]
        if not found:
            raise RecordsmithError("There are no text files.", path=self._root)
        return found

    @cached_property
    def _split_of_file(self) -> dict[str, str]:
        return splits_by_name([file.path for file in self._found])


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file that is a row."""

    file: SourceFile
    name: str
    label: int | None
    split: str | None


@dataclass(frozen=True, slots=True)
class FilePlaces:
    """Rows by the files that they are."""

    paths: tuple[str, ...]

    def of(self, row: int) -> str:
        """Return the path of the file."""
        return self.paths[row]


@dataclass(frozen=True, slots=True)
class FilesChunk(Chunk):
    """Some files, of which each is a row."""

    files: tuple[TextFile, ...]
    encoding: str
    labelled: bool

    @property
    def source_bytes(self) -> int:  # type: ignore[override]
        """The size of the files."""
        return sum(one.file.size for one in self.files)

    def load(self) -> Loaded:
        """Read the files; one that is no text is rejected."""
        texts, kept, rejects = [], [], []
        for one in self.files:
            with windows(one.file) as source:
                data = source.read(0, LONGEST_ROW + 1)
            if len(data) > LONGEST_ROW:
                problem: str | None = f"The text is larger than {LONGEST_ROW >> 20} MB."
            else:
                found, problem = decoded(data.removeprefix(_BOM), self.encoding)
            if problem is None:
                texts.append(found)
                kept.append(one)
            else:
                rejects.append(Reject(one.file.path, None, "text", problem, shortened(data[:200])))
        columns: dict[str, Any] = {"text": texts, "filename": [one.name for one in kept]}
        if self.labelled:
            columns["label"] = [one.label for one in kept]
        return Loaded(columns, len(kept), FilePlaces(tuple(one.file.path for one in kept)), rejects)


@dataclass(frozen=True, slots=True)
class LinePlaces:
    """Rows by the lines that they are."""

    piece: Piece
    lines: tuple[int, ...]

    def of(self, row: int) -> str:
        """Say where a row is, such as "corpus.txt, line 17"."""
        return self.piece.place(self.lines[row])


@dataclass(frozen=True, slots=True)
class LinesChunk(Chunk):
    """Some lines of a file."""

    piece: Piece
    encoding: str
    source_bytes: int

    def origin(self) -> str:
        """Return the file."""
        return self.piece.file.path

    def load(self) -> Loaded:
        """Split the lines; one that is no text is rejected."""
        texts, kept, rejects = [], [], []
        data = self.piece.read()
        for number, line in enumerate((data.removeprefix(_BOM) if self.piece.start == 0 else data).split(b"\n")):
            found, problem = decoded(line.removesuffix(b"\r"), self.encoding)
            if problem is not None:
                rejects.append(Reject(self.piece.place(number), None, "text", problem, shortened(line[:200])))
            elif found.strip():
                texts.append(found)
                kept.append(number)
        return Loaded({"text": texts}, len(texts), LinePlaces(self.piece, tuple(kept)), rejects)


def decoded(data: bytes, encoding: str) -> tuple[str, str | None]:
    r"""Return the text that bytes are, and what is wrong with it, if anything is.

    >>> decoded(b"a", "utf-8"), decoded(b"\xff", "utf-8")
    (('a', None), ('', 'This is not utf-8 text: invalid start byte at byte 0.'))
    """
    try:
        found = data.decode(encoding)
    except UnicodeDecodeError as error:
        return "", f"This is not {encoding} text: {error.reason} at byte {error.start}."
    except UnicodeError as error:
        return "", f"This is not {encoding} text: {error}."
    return (found, None) if is_unicode(found) else ("", "The text has half of a character.")
