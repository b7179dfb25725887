"""Lists the files of a folder that may be images, and those that are ignored."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from glob import glob, has_magic

from recordsmith.errors import PipelineError
from recordsmith.formats.files.folder_walk import is_system_name, walk_files
from recordsmith.images import read_header
from recordsmith.storage.ranged.listed_files import list_files as list_remote
from recordsmith.storage.ranged.opening import is_ranged

__all__ = ["READ", "FoundFile", "Listing", "file_in", "list_files", "list_folder", "readable_name"]

# A file with one of these is meant to be an image: if it is none that can be decoded, that is said, and it is not
# passed over.
READ = (".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".apng", ".webp", ".bmp", ".dib", ".gif")
_NOT_READ = (".tif", ".tiff", ".heic", ".heif", ".avif", ".jp2", ".jxl", ".psd", ".tga", ".ppm", ".pgm")
_SUFFIXES = frozenset(READ + _NOT_READ)
_SNIFFED = 4096  # bytes of a file without such a suffix that are looked at


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file that is meant to be an image.

    Attributes:
        path: where it is.
        name: its path below the folder, with slashes.
        size: its bytes.
        modified: when it was changed, in nanoseconds.
    """

    path: str
    name: str
    size: int
    modified: int


@dataclass(slots=True)
class Listing:
    """The files of a source in order, and the names of those that are no images.

    Attributes:
        root: the folder that names are relative to.
        files: what is meant to be an image.
        ignored: names of hidden files and of files that neither look like images nor are any.
    """

    root: str
    files: list[FoundFile] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)


def list_folder(
    folder: str, depth: int | None = None, *, wanted: Callable[[os.DirEntry[str]], bool] | None = None
) -> Listing:
    """List a folder and the folders below it, each in the order of names.

    Links are followed, but never into a folder that is being listed already.

    Args:
        folder: where to start.
        depth: how deep files may be, 1 for those of the folder itself; None for any depth.
        wanted: which files are taken; by default those that look like images or are some.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "b.jpg").write_text("an image?")
    ...     _ = pathlib.Path(folder, "README").write_text("about it")
    ...     listing = list_folder(folder)
    >>> [file.name for file in listing.files], listing.ignored
    (['b.jpg'], ['README'])
    """
    listing = Listing(folder)
    if is_ranged(folder):
        _list_remote(listing, depth)
        return listing
    wanted = wanted or _may_be_image
    for entry, name in walk_files(folder, depth):
        if is_system_name(entry.name) or not wanted(entry):
            listing.ignored.append(readable_name(name))
        else:
            listing.files.append(_found(entry, name))
    return listing


def _list_remote(listing: Listing, depth: int | None) -> None:
    """List a remote folder: files are taken by their names, since looking into each would be a request."""
    for file in list_remote(listing.root):
        parts = file.name.split("/")
        if depth is not None and len(parts) > depth:
            continue
        is_image = os.path.splitext(file.name)[1].casefold() in _SUFFIXES
        if not is_image or any(map(is_system_name, parts)):
            listing.ignored.append(file.name)
        else:
            listing.files.append(FoundFile(file.url, file.name, file.size, file.version))


def list_files(paths: Sequence[str]) -> Listing:
    """List the files that are named, or that a pattern such as "photos/*.jpg" matches, in this order.

    >>> list_files(["no such file.jpg"])
    Traceback (most recent call last):
    recordsmith.errors.PipelineError: There is no such file.
      where:    no such file.jpg
    """
    found: dict[str, os.stat_result] = {}
    for path in paths:
        matches = sorted(glob(path, recursive=True)) if has_magic(path) and not os.path.exists(path) else [path]
        if not matches:
            raise PipelineError("No file matches the pattern.", path=path)
        for match in matches:
            try:
                status = os.stat(match)
            except OSError as error:
                problem = "There is no such file." if isinstance(error, FileNotFoundError) else str(error.strerror)
                raise PipelineError(problem, path=match) from None
            if not os.path.isdir(match):
                found[match] = status
            elif match == path:
                raise PipelineError(
                    "A folder was given together with files.",
                    path=match,
                    advice="Pass a single folder, or files and patterns.",
                )
    parents = [os.path.dirname(os.path.abspath(path)) for path in found]
    root = os.path.commonpath(parents) if parents else ""
    listing = Listing(root)
    for path, status in found.items():
        name = os.path.relpath(path, root).replace(os.sep, "/")
        listing.files.append(FoundFile(path, name, status.st_size, status.st_mtime_ns))
    return listing


def file_in(folder: str, name: str) -> FoundFile:
    """Return a file below a folder; one that cannot be looked at is rejected when it is read."""
    path = os.path.join(folder, name)
    try:
        status = os.stat(path)
    except OSError:
        return FoundFile(path, name, 0, 0)
    return FoundFile(path, name, status.st_size, status.st_mtime_ns)


def readable_name(name: str) -> str:
    r"""Return a file's name as text that can be stored: what is no UTF-8 in it is spelt out.

    >>> readable_name(os.fsdecode(b"caf" + bytes([0xe9]) + b".jpg"))
    'caf\\xe9.jpg'
    """
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def _found(entry: os.DirEntry[str], name: str) -> FoundFile:
    try:
        status = entry.stat()
    except OSError:  # it is rejected with the reason when it is read
        return FoundFile(entry.path, name, 0, 0)
    return FoundFile(entry.path, name, status.st_size, status.st_mtime_ns)


def _may_be_image(entry: os.DirEntry[str]) -> bool:
    named_so = os.path.splitext(entry.name)[1].casefold() in _SUFFIXES
    try:
        if not entry.is_file():  # reading a pipe would wait for ever, but a broken link must be reported
            return named_so and not os.path.exists(entry.path)
        if named_so:
            return True
        with open(entry.path, "rb") as file:
            return read_header(file.read(_SNIFFED)) is not None
    except OSError:
        return named_so
