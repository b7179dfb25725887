"""Locks that processes of one machine take on open files. The only place of flock, and so of what Windows lacks."""

from __future__ import annotations

import fcntl

__all__ = ["lock_file"]


def lock_file(descriptor: int, *, shared: bool = False, wait: bool = False) -> None:
    """Lock an open file until its descriptor is closed, or its process has ended.

    Args:
        descriptor: an open file or folder.
        shared: whether others may have a shared lock of it at the same time.
        wait: whether to wait for others; otherwise their lock is a BlockingIOError.

    Raises:
        BlockingIOError: another process has it.
        OSError: the file system has no locks.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as one, open(one.name) as other:
    ...     lock_file(one.fileno())
    ...     lock_file(other.fileno())
    Traceback (most recent call last):
    ...
    BlockingIOError: [Errno 11] Resource temporarily unavailable
    """
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    fcntl.flock(descriptor, kind if wait else kind | fcntl.LOCK_NB)
