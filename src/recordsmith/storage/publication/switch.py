"""Decides which files of a folder are current: those under their final names, unless a replacement is unfinished.

Reading never writes, and what commit.json says is checked before it is used.
"""

from __future__ import annotations

import errno
import glob
import json
import os
import re
import stat
import time
from dataclasses import dataclass, field
from typing import Any

from recordsmith.errors import RecordsmithError
from recordsmith.storage.file_lock import lock_file

__all__ = [
    "COMMIT",
    "FOLDER",
    "FORMAT",
    "LOCK",
    "LONGEST_COMMIT",
    "NEW_FILES",
    "VERSION",
    "Switch",
    "files_in_force",
    "hidden_name",
    "in_force",
    "interrupted_folders",
    "is_plain",
    "public_path",
    "read_switch",
    "refuse_links",
    "state_of",
    "switch_in",
]

FOLDER = ".recordsmith-making"
NEW_FILES = "shards"
COMMIT = "commit.json"
LOCK = "lock"
FORMAT = "recordsmith-publication"
VERSION = 1
LONGEST_COMMIT = 32 << 20  # bytes; half a million names fit
_LONGEST_NAME = 255  # bytes
_LONGEST_WAIT = 10.0  # seconds that a reader waits for a run that is moving its files just now
_NUMBERED = re.compile(r"-\d{5,}(?=\.|$)")
_SIDECAR = ".schema.json"


@dataclass(frozen=True, slots=True)
class Switch:
    """A switch that is committed and not finished; an empty one where there is none.

    Attributes:
        folder: where the files are published.
        hidden: the folder of the run.
        new: the bytes of each new file, by name.
        old: the names of the files that are no longer part of it.

    >>> Switch("data").path("a.tfrecord")
    'data/a.tfrecord'
    """

    folder: str
    hidden: str = ""
    new: dict[str, int] = field(default_factory=dict)
    old: frozenset[str] = frozenset()

    def path(self, name: str) -> str:
        """Return where a published file is now."""
        if name in self.new or name in self.old:
            staged = os.path.join(self.hidden, NEW_FILES, name)
            if name in self.old or os.path.lexists(staged):
                return staged  # of an old one, there is none
        return os.path.join(self.folder, name)


def switch_in(folder: str) -> Switch:
    """Return the switch of a dataset's folder that is to be finished, or an empty one.

    >>> switch_in("/no/such/folder").new
    {}
    """
    return read_switch(folder, os.path.join(folder, FOLDER)) or Switch(folder)


def state_of(folder: str) -> tuple[object, ...]:
    """Return a value that changes when files are published in a folder, to notice that while reading it."""
    facts = os.stat(folder)
    return facts.st_ino, facts.st_mtime_ns, os.path.lexists(os.path.join(folder, FOLDER, COMMIT))


def in_force(path: str) -> str:
    """Return where the file is that is published under this path: there, unless a switch was interrupted.

    >>> in_force("data/a.tfrecord")
    'data/a.tfrecord'
    """
    folder, name = os.path.split(path)
    stem = name.removesuffix(_SIDECAR)
    for hidden in dict.fromkeys((FOLDER, hidden_name(stem), hidden_name(_NUMBERED.sub("", stem)))):
        switch = read_switch(folder, os.path.join(folder, hidden))
        if switch is not None and (name in switch.new or name in switch.old):
            return switch.path(name)
    return path


def files_in_force(folder: str) -> dict[str, str]:
    """Return the published files of a folder: where each is now, by name, sorted. Hidden files are none.

    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for name in ("b", "a", ".hidden"): _ = (folder / name).write_bytes(b"")
    >>> list(files_in_force(str(folder)))
    ['a', 'b']
    """
    with os.scandir(folder) as scanned:
        entries = list(scanned)
    found = {entry.name: entry.path for entry in entries if not entry.name.startswith(".") and entry.is_file()}
    for hidden in (entry.path for entry in entries if entry.name.startswith(".") and entry.name.endswith(FOLDER)):
        switch = read_switch(folder, hidden) or Switch(folder)
        found = {name: path for name, path in found.items() if name not in switch.old}
        found |= {name: switch.path(name) for name in switch.new}
    return dict(sorted(found.items()))


def interrupted_folders(pattern: str) -> list[str]:
    """Return those of the folders that a glob stands for in which a switch is to be finished.

    >>> interrupted_folders("/no/such/fol*")
    []
    """
    commits = glob.glob(os.path.join(pattern, f".*{FOLDER[1:]}", COMMIT), recursive=True)
    return sorted({os.path.dirname(os.path.dirname(commit)) for commit in commits})


def public_path(path: str) -> str:
    """Return the path under which a file is, or will be, published: the inverse of `in_force`.

    >>> public_path("data/.recordsmith-making/shards/a.tfrecord")
    'data/a.tfrecord'
    """
    folder, name = os.path.split(path)
    hidden, last = os.path.split(folder)
    return os.path.join(os.path.dirname(hidden), name) if last == NEW_FILES and hidden.endswith(FOLDER) else path


def hidden_name(name: str) -> str:
    """Return the name of the folder for one file.

    >>> hidden_name("data.csv")
    '.data.csv.recordsmith-making'
    """
    return f".{os.fsencode(name)[:200].decode(errors='ignore')}{FOLDER}"


def read_switch(folder: str, hidden: str, *, wait: bool = True) -> Switch | None:
    """Read commit.json; None if there is none."""
    path = os.path.join(hidden, COMMIT)
    if not os.path.lexists(path):
        return None
    refuse_links(hidden)
    if wait:
        _wait_while_moving(hidden)
    try:
        document = json.loads(_read_file(path))
        if document["format"] != FORMAT or document["version"] != VERSION:
            raise _not_ours(path)
        new, old = document["new"], document["old"]
        if not isinstance(new, dict) or not isinstance(old, list) or not all(map(is_plain, (*new, *old))):
            raise _not_ours(path)
        if any(isinstance(size, bool) or not isinstance(size, int) or size < 0 for size in new.values()):
            raise _not_ours(path)
    except (FileNotFoundError, NotADirectoryError):
        return None  # it was finished just now
    except OSError as error:
        if error.errno not in (errno.ELOOP, errno.EISDIR):
            raise
        raise _not_ours(path) from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise _not_ours(path) from None
    return Switch(folder, hidden, new, frozenset(old) - new.keys())


def refuse_links(hidden: str) -> None:
    """Raise if the folder of a run is a link: its files may be anybody's."""
    for path in (hidden, os.path.join(hidden, NEW_FILES)):
        if os.path.islink(path):
            raise RecordsmithError(
                "The folder for unfinished work is a symbolic link, which recordsmith does not follow.",
                path=path,
                advice="Remove the link.",
            )


def _read_file(path: str) -> bytes:
    """Read a file that may be hostile: neither a pipe that never ends nor more bytes than there is memory for."""
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as file:
        data = file.read(LONGEST_COMMIT + 1) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else b""
    if len(data) > LONGEST_COMMIT:
        raise _not_ours(path)
    return data


def _wait_while_moving(hidden: str) -> None:
    """Wait a moment for a run that is moving its files just now: they would be gone from where they were found."""
    until = time.monotonic() + _LONGEST_WAIT
    try:
        descriptor = os.open(os.path.join(hidden, LOCK), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return
    try:
        while time.monotonic() < until:
            try:
                lock_file(descriptor, shared=True)
            except BlockingIOError:
                time.sleep(0.01)
            else:
                return
    except OSError:
        return  # of a file system that has no locks
    finally:
        os.close(descriptor)


def is_plain(name: Any) -> bool:
    """Tell whether this is the name of a file that is not hidden, and no path."""
    return (
        isinstance(name, str)
        and 0 < len(os.fsencode(name)) <= _LONGEST_NAME
        and not name.startswith(".")
        and "/" not in name
        and "\0" not in name
    )


def _not_ours(path: str) -> RecordsmithError:
    return RecordsmithError(
        "The file list of an interrupted run cannot be read.",
        path=path,
        expected=f'"format": "{FORMAT}", "version": {VERSION}, "new": {{...}}, "old": [...]',
        advice=f"Make the dataset again, or remove the folder {os.path.dirname(path)} if it is not yours.",
    )
