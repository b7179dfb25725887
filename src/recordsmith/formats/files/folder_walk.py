"""Lists all files below a folder in the order of names, following links, without system files, pipes and devices."""

from __future__ import annotations

import os
from collections.abc import Iterator

from recordsmith.storage.publication import FOLDER, files_in_force

__all__ = ["is_system_name", "walk_files"]

_SYSTEM = frozenset(
    {
        "__macosx",
        "__pycache__",
        "@eadir",
        "$recycle.bin",
        "system volume information",
        "lost+found",
        "thumbs.db",
        "desktop.ini",
    }
)


def is_system_name(name: str) -> bool:
    """Say whether a file or a folder is hidden, or was created by a system or a tool.

    >>> is_system_name(".ipynb_checkpoints"), is_system_name("__MACOSX"), is_system_name("cat")
    (True, True, False)
    """
    return name.startswith(".") or name.casefold() in _SYSTEM


def walk_files(folder: str, depth: int | None = None) -> Iterator[tuple[os.DirEntry[str], str]]:
    """Give each file below a folder, with its path below it. Hidden and system folders are not looked into.

    Links to folders are followed, but never into a folder that is being listed already.

    Args:
        folder: where to start.
        depth: how many folders deep files may be, 1 for those of the folder itself; None for any.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pathlib.Path(folder, "a").mkdir()
    ...     _ = pathlib.Path(folder, "a", "1.txt").write_text("one")
    ...     [name for _, name in walk_files(folder)]
    ['a/1.txt']
    """
    yield from _walk(folder, "", depth, ())


def _walk(
    folder: str, prefix: str, depth: int | None, above: tuple[tuple[int, int], ...]
) -> Iterator[tuple[os.DirEntry[str], str]]:
    status = os.stat(folder)
    here = (status.st_dev, status.st_ino)
    if here in above:  # a link that leads back
        return
    for entry in sorted(_entries(folder), key=lambda entry: entry.name):
        name = prefix + entry.name
        if not _is_folder(entry):
            if not _is_special(entry):
                yield entry, name
        elif depth != 1 and not is_system_name(entry.name):
            yield from _walk(entry.path, name + "/", None if depth is None else depth - 1, (*above, here))


def _entries(folder: str) -> list[os.DirEntry[str]]:
    """Return what is in a folder; of a dataset that is being replaced, the files that are in force."""
    with os.scandir(folder) as scanned:
        entries = list(scanned)
    if not any(entry.name.startswith(".") and entry.name.endswith(FOLDER) for entry in entries):
        return entries
    published = set(files_in_force(folder).values())
    found = [entry for entry in entries if entry.path in published or _is_folder(entry)]
    for place in {os.path.dirname(path) for path in published} - {folder}:
        with os.scandir(place) as scanned:
            found += [entry for entry in scanned if entry.path in published]
    return found


def _is_special(entry: os.DirEntry[str]) -> bool:
    """Say whether an entry is a pipe, a socket or a device: reading it may never end."""
    try:
        return not entry.is_file() and os.path.exists(entry.path)
    except OSError:  # a link to itself
        return False


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link that leads nowhere, or to itself
        return False
