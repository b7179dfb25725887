"""Writes files atomically: a file gets its final name only when it is complete."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator
from typing import TypeVar

from recordsmith.storage.file_lock import lock_file

__all__ = [
    "is_url",
    "put_in_place",
    "rewrite_text",
    "sync_file",
    "sync_folder",
    "with_temporary_file",
    "write_atomically",
    "write_text_atomically",
]

Created = TypeVar("Created")

_URL = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]+(://|::)")

_CANNOT_SYNC_FOLDERS = (errno.EINVAL, errno.ENOTSUP, errno.EACCES, errno.EPERM)


def is_url(path: str) -> bool:
    """Say whether a path is the URL of something remote.

    >>> is_url("s3://bucket/train-*.tfrecord"), is_url("data/train.tfrecord")
    (True, False)
    """
    return _URL.match(path) is not None


def with_temporary_file(final: str, create: Callable[[str], Created]) -> tuple[str, Created]:
    """Create a file under a hidden name beside `final`, and return the name and what `create` returned.

    The name is the same each time, so that the next writer of the file removes what a killed one left. Writers at work
    hold a lock on theirs: another one for the same file gets a name of its own.

    Args:
        final: what the file will be called.
        create: creates a file of the given name and locks it (flock), or raises FileExistsError.

    >>> import tempfile
    >>> name, descriptor = with_temporary_file(tempfile.mkdtemp() + "/train.tfrecord", _new_file)
    >>> os.path.basename(name)
    '.train.tfrecord.partial'
    >>> os.close(descriptor)
    """
    folder, name = os.path.split(final)
    # A name may be up to 255 bytes long; what is added must not push it over.
    start = os.path.join(folder, f".{os.fsencode(name)[:180].decode(errors='ignore')}")
    usual = f"{start}.partial"
    _remove_abandoned(usual)
    try:
        return usual, create(usual)
    except FileExistsError:
        own = f"{start}.{os.getpid()}-{secrets.token_hex(4)}.partial"
        return own, create(own)


def _new_file(path: str, mode: int = 0o666) -> int:
    """Create a file and lock it until the descriptor is closed; see lock_new_file in cpp/records/record_sink.cc."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        lock_file(descriptor)
        taken = False
    except OSError as error:
        taken = isinstance(error, BlockingIOError)  # else the file system has no locks, and nobody else gets one
    with contextlib.suppress(FileNotFoundError):
        if not taken and os.path.samestat(os.fstat(descriptor), os.stat(path)):
            return descriptor
    os.close(descriptor)
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)


def _remove_abandoned(path: str) -> None:
    """Remove a file that a killed process of ours left, and nothing that somebody works on."""
    if not os.path.lexists(path):
        return
    with contextlib.suppress(OSError):
        descriptor = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            facts = os.fstat(descriptor)
            if stat.S_ISREG(facts.st_mode) and facts.st_nlink == 1 and facts.st_uid == os.geteuid():
                lock_file(descriptor)
                if os.path.samestat(facts, os.stat(path)):
                    os.remove(path)
        finally:
            os.close(descriptor)


def put_in_place(temporary: str, final: str, *, sync: bool = True) -> None:
    """Give a whole file its final name, replacing what had it; with `sync` it is there after a power cut too.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with open(f"{folder}/.a", "wb") as file: _ = file.write(b"x")
    >>> put_in_place(f"{folder}/.a", f"{folder}/a")
    >>> os.listdir(folder)
    ['a']
    """
    os.replace(temporary, final)
    if sync:
        sync_folder(os.path.dirname(final))


def sync_file(path: str) -> None:
    """Wait until the bytes of a file are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno is not None:
            error.filename = path
        raise
    finally:
        os.close(descriptor)


def sync_folder(folder: str) -> None:
    """Wait until the names in a folder are on the disk: without it a rename may be lost though the bytes are safe."""
    try:
        sync_file(folder or ".")
    except OSError as error:
        # Some file systems cannot sync a folder, and some folders may be written but not read. A disk that fails to
        # sync is another matter.
        if error.errno not in _CANNOT_SYNC_FOLDERS:
            raise


def write_text_atomically(final: str | os.PathLike[str], text: str, *, mode: int = 0o666) -> None:
    """Write a text file, in UTF-8, that appears under its name only when it is whole; `mode` is cut by the umask.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> write_text_atomically(f"{folder}/a.txt", "whole")
    >>> os.path.getsize(f"{folder}/a.txt")
    5
    """
    with write_atomically(final, mode=mode) as temporary, open(temporary, "w", encoding="utf-8", newline="") as file:
        file.write(text)


@contextlib.contextmanager
def write_atomically(final: str | os.PathLike[str], *, mode: int = 0o666) -> Iterator[str]:
    """Give a temporary name to write to; it becomes `final` at the end, and vanishes if the block raises.

    The file has this mode, cut by the umask, from its first moment on.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with write_atomically(f"{folder}/a.txt") as temporary:
    ...     with open(temporary, "w") as file: _ = file.write("whole")
    >>> os.listdir(folder)
    ['a.txt']
    """
    path = os.fspath(final)
    temporary, descriptor = with_temporary_file(path, lambda name: _new_file(name, mode))
    try:
        yield temporary
        sync_file(temporary)
        put_in_place(temporary, path)
    except BaseException as error:
        if isinstance(error, OSError) and error.errno is not None and error.filename is None:
            error.filename = path
        with contextlib.suppress(FileNotFoundError):
            os.remove(temporary)
        raise
    finally:
        with contextlib.suppress(OSError):  # it was only there for its lock
            os.close(descriptor)


def rewrite_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file that somebody named, as `write_text_atomically` does; one that exists stays what it is.

    A symbolic link stays one, and the file that it leads to gets the text; permissions, extended attributes and, where
    the system allows it, the owner are kept.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/run.py"
    >>> with open(path, "w") as file: _ = file.write("old")
    >>> os.chmod(path, 0o750)
    >>> rewrite_text(path, "new")
    >>> oct(os.stat(path).st_mode & 0o777)
    '0o750'
    """
    real = os.path.realpath(path)
    if os.path.exists(path) and not os.path.isfile(path):  # a pipe or a device, as /dev/stdout: it cannot be replaced
        with open(path, "w", encoding="utf-8", newline="") as stream:
            stream.write(text)
        return
    with write_atomically(real) as temporary:
        with open(temporary, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        if os.path.exists(real):
            _take_over(real, temporary)


def _take_over(old: str, new: str) -> None:
    """Give a new file the owner, permissions and extended attributes of an old one, as far as that is allowed."""
    before = os.stat(old)
    if (before.st_uid, before.st_gid) != (os.stat(new).st_uid, os.stat(new).st_gid):
        with contextlib.suppress(OSError):
            os.chown(new, before.st_uid, before.st_gid)
    with contextlib.suppress(OSError):
        shutil.copystat(old, new)
    os.utime(new)  # it was changed now
    if os.stat(new).st_uid != before.st_uid:
        os.chmod(new, before.st_mode & 0o777)  # not as somebody else whoever runs it
