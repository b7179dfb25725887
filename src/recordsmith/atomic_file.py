"""Files that have their final name only when they are whole."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
from collections.abc import Callable, Iterator

from recordsmith.errors import RecordsmithError

__all__ = ["is_url", "local_output", "put_in_place", "temporary_name", "write_atomically"]

_URL = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]+(://|::)")

_CANNOT_SYNC_FOLDERS = (errno.EINVAL, errno.ENOTSUP, errno.EACCES, errno.EPERM)


def is_url(path: str) -> bool:
    """Tell whether a path names something that lies elsewhere.

    >>> is_url("s3://bucket/train-*.tfrecord"), is_url("data/train.tfrecord")
    (True, False)
    """
    return _URL.match(path) is not None


def local_output(path: str | os.PathLike[str]) -> str:
    """Return where results go, as an absolute path. URLs are refused, which would become folders of such a name.

    >>> local_output("/data/../pets")
    '/pets'
    """
    text = os.fsdecode(path)
    if is_url(text):
        raise RecordsmithError(
            "Remote files are read, not written.",
            path=text,
            advice="Write to a local folder, and copy it there: `aws s3 sync`, `gsutil rsync`, `rclone`.",
        )
    return os.path.abspath(text)


def temporary_name(final: str) -> str:
    """Return a hidden name beside `final`, which no glob for data matches and no other writer uses.

    >>> os.path.basename(temporary_name("data/train.tfrecord")).startswith(".train.tfrecord.")
    True
    """
    folder, name = os.path.split(final)
    # A name may be up to 255 bytes long; what is added must not push it over.
    start = os.fsencode(name)[:180].decode(errors="ignore")
    return os.path.join(folder, f".{start}.{os.getpid()}-{secrets.token_hex(4)}.partial")


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
        # The rename is an entry in the folder: without this it may be lost although the file's bytes are safe.
        try:
            descriptor = os.open(os.path.dirname(final) or ".", os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        except OSError as error:
            # Some file systems cannot sync a folder, and some folders may be written but not read. A disk that fails
            # to sync is another matter.
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
    with (
        write_atomically(final) as temporary,
        open(temporary, "w", encoding="utf-8", newline="", opener=with_mode(mode)) as file,
    ):
        file.write(text)


def with_mode(mode: int) -> Callable[[str, int], int]:
    """Return an opener for `open` that gives a new file this mode, cut by the umask, from its first moment on.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/a"
    >>> open(path, "w", opener=with_mode(0o600)).close()
    >>> oct(os.stat(path).st_mode & 0o777)
    '0o600'
    """
    return lambda path, flags: os.open(path, flags, mode)


@contextlib.contextmanager
def write_atomically(final: str | os.PathLike[str]) -> Iterator[str]:
    """Give a temporary name to write to; it becomes `final` at the end, and vanishes if the block raises.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with write_atomically(f"{folder}/a.txt") as temporary:
    ...     with open(temporary, "w") as file: _ = file.write("whole")
    >>> os.listdir(folder)
    ['a.txt']
    """
    path = os.fspath(final)
    temporary = temporary_name(path)
    try:
        yield temporary
        descriptor = os.open(temporary, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        put_in_place(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.remove(temporary)
        raise
