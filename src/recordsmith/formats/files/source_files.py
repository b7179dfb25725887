"""Finds the files of a source by path, folder or glob, and detects changes by size and time."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from recordsmith.errors import RecordsmithError, list_names
from recordsmith.formats.files.folder_walk import walk_files
from recordsmith.records.shards import resolve_files, warn_if_incomplete, warn_if_repeated
from recordsmith.storage.objects import without_secrets
from recordsmith.storage.ranged.opening import is_folder, is_ranged, open_object, record_bytes, walk_folder
from recordsmith.storage.ranged.remote_stream import open_stream

__all__ = ["PathLike", "SourceFile", "check_unchanged", "describe_files", "find_files", "opened"]

PathLike = str | os.PathLike[str]

_LISTED_FILES = 16  # more files than this are described by one digest
_COMPRESSIONS = ((b"\x1f\x8b", "gzip"), (b"BZh", "bz2"), (b"\x28\xb5\x2f\xfd", "zstd"), (b"\x04\x22\x4d\x18", "lz4"))


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file of a source, as it was when it was found.

    Attributes:
        path: the file.
        size: its bytes.
        modified: when it was last changed, in nanoseconds since 1970; of a remote file, a number of its version.
    """

    path: str
    size: int
    modified: int

    @classmethod
    def at(cls, path: PathLike) -> SourceFile:
        """Look at a file."""
        name = os.fsdecode(path)
        if is_ranged(name):
            remote = open_object(name)
            return cls(name, remote.size, remote.version >> 1)
        facts = os.stat(name)
        return cls(name, facts.st_size, facts.st_mtime_ns)

    def compression(self) -> str | None:
        """Tell from its first bytes how the file is compressed: "gzip", "bz2", "zstd", "lz4", or None."""
        with record_bytes(self.path) as read:
            head = read(0, 4)
        return next((name for magic, name in _COMPRESSIONS if head.startswith(magic)), None)


def find_files(paths: PathLike | Iterable[PathLike], suffixes: Sequence[str], *, kind: str) -> tuple[SourceFile, ...]:
    """Return the files that a path, a glob, a folder or a list of them stands for; those of a folder by suffix.

    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for name in ("b.csv", "a.csv", "notes.txt"): _ = (folder / name).write_text("x")
    >>> [os.path.basename(file.path) for file in find_files(folder, [".csv"], kind="CSV")]
    ['a.csv', 'b.csv']
    """
    files: list[SourceFile] = []
    for path in resolve_files(paths):
        if not is_folder(path):
            files.append(SourceFile.at(path))
            continue
        below = files_below(path, suffixes)
        if not below:
            names = sorted(name for _, name in walk_folder(path)) if is_ranged(path) else sorted(os.listdir(path))
            raise RecordsmithError(
                f"The folder contains no {kind} files.",
                path=without_secrets(path),
                found=list_names(names) if names else "an empty folder",
                expected=f"files that end in {', '.join(suffixes)}",
                advice="Pass the files, or a glob such as 'data/**/*'.",
            )
        files.extend(SourceFile.at(file) for file in below)
    names = [file.path for file in files]
    if isinstance(paths, (str, os.PathLike)) and [os.fsdecode(paths)] != names:  # a folder or a glob
        warn_if_incomplete(names)
    warn_if_repeated(names)
    return tuple(files)


def files_below(folder: str, suffixes: Sequence[str]) -> list[str]:
    """List the files below a folder that end in one of the suffixes, sorted, without hidden ones and those with "_"."""
    if is_ranged(folder):
        found = ((url, name) for url, name in walk_folder(folder))
    else:
        found = ((entry.path, name) for entry, name in walk_files(folder))
    return [path for path, name in found if name.lower().endswith(tuple(suffixes)) and not is_hidden_or_metadata(name)]


def is_hidden_or_metadata(name: str) -> bool:
    """Say whether a path in a folder is hidden, or starts with an underscore like _SUCCESS and _metadata.

    >>> [is_hidden_or_metadata(name) for name in ("_temporary/part-0.csv", "a/.b.csv", "a/b_c.csv")]
    [True, True, False]
    """
    return any(part.startswith((".", "_")) for part in name.split("/"))


def describe_files(files: Sequence[SourceFile]) -> Any:
    """Return what identifies these files, JSON-ready: each with size and time, or one digest of many.

    >>> describe_files([SourceFile("a.csv", 3, 7)])
    [{'path': 'a.csv', 'size': 3, 'modified': 7}]
    """
    listed = [{"path": file.path, "size": file.size, "modified": file.modified} for file in files]
    if len(listed) <= _LISTED_FILES:
        return listed
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.path}\0{file.size}\0{file.modified}\n".encode(errors="surrogateescape"))
    return {"files": len(files), "size": sum(file.size for file in files), "sha256": digest.hexdigest()}


def check_unchanged(file: SourceFile) -> None:
    """Raise if a file is not the one that was found."""
    with opened(file):
        pass


@contextlib.contextmanager
def opened(file: SourceFile) -> Iterator[BinaryIO]:
    """Open a file that must still be the one that was found."""
    is_remote = is_ranged(file.path)
    with open_stream(file.path) if is_remote else open(file.path, "rb") as stream:
        if is_remote:
            now = SourceFile.at(file.path)  # from then on, requests are for that version only
        else:
            facts = os.fstat(stream.fileno())
            now = SourceFile(file.path, facts.st_size, facts.st_mtime_ns)
        if now != file:
            raise RecordsmithError(
                "The file changed while the dataset was being made.",
                path=without_secrets(file.path),
                found=f"{now.size} bytes",
                expected=f"the {file.size} bytes that it had at first, unchanged",
                advice="Start again when no program writes to the file.",
            )
        yield stream
