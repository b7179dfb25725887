"""What is added to errors of the system that end a run."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterator

from recordsmith.errors import advise

__all__ = ["explained"]

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextlib.contextmanager
def explained(out: str, *, resumable: bool = False) -> Iterator[None]:
    """Add to an OSError where it was, and for a full disk what to do about it.

    >>> with explained("data/pets"):
    ...     raise OSError(errno.ENOSPC, "No space left on device")
    Traceback (most recent call last):
    OSError: [Errno 28] No space left on device: 'data/pets'
    """
    try:
        yield
    except OSError as error:
        if error.errno is not None and error.filename is None:
            error.filename = out
        if resumable and error.errno in _FULL:
            error.add_note(advise("Free some space, then continue with {resume}. Finished work is kept.", resume=True))
        raise
