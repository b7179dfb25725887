"""Copies the other files of a dataset folder with its records, but never follows links out of the folder.

A symbolic link in a folder of somebody else may point to anything of yours, such as a private key; a copy of it would
be published with the rest. Links to records are followed, because people link datasets, and records are checked.
"""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterator
from typing import BinaryIO

from recordsmith.storage.ranged.opening import is_file, is_ranged, pieces_of

__all__ = ["carried_mode", "is_carried", "opened_to_carry"]


def is_carried(path: str) -> bool:
    """Say whether a path is a plain file: no link, pipe, device or folder."""
    if is_ranged(path):
        return is_file(path)
    with contextlib.suppress(OSError, ValueError):
        return stat.S_ISREG(os.lstat(path).st_mode)
    return False


@contextlib.contextmanager
def opened_to_carry(path: str) -> Iterator[BinaryIO]:
    """Open a plain file for reading; a link or anything else that took its place meanwhile is an OSError."""
    if is_ranged(path):
        with tempfile.TemporaryFile() as copy:
            copy.writelines(pieces_of(path))
            copy.seek(0)
            yield copy
        return
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(f"{path} is not a plain file")
        yield file


def carried_mode(file: BinaryIO) -> int:
    """Return the mode of a copy: it may be read by nobody who could not read the original."""
    facts = os.fstat(file.fileno())
    return facts.st_mode & 0o666 if facts.st_nlink else 0o666  # of a remote file, only the umask decides
