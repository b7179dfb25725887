"""What the operating system refuses, in plain words, and what to do about it."""

from __future__ import annotations

import errno
import os

__all__ = ["system_error_words"]

_WORDS = {
    errno.ENOSPC: ("The disk is full.", "Free some space, or choose a place on another disk."),
    errno.EDQUOT: ("Your disk quota is used up.", "Free some space, or choose a place on another disk."),
    errno.EFBIG: (
        "The file is larger than the maximum file size.",
        "Write smaller files (--shard-size), raise the limit (ulimit -f), or choose another disk.",
    ),
    errno.EACCES: (
        "You have no permission for this.",
        "Check the owner and the permissions of the path (ls -ld), or choose another place.",
    ),
    errno.EPERM: (
        "The system does not allow this.",
        "Check the owner and the permissions of the path (ls -ld), or choose another place.",
    ),
    errno.EROFS: ("The file system is read-only.", "Choose a folder that you can write to."),
    errno.EIO: (
        "The disk or the connection to it failed.",
        "Try again. If it happens again, look at the messages of the system (dmesg), and save your data elsewhere.",
    ),
    errno.ESTALE: ("The file no longer exists on the file server.", "Check the mount, and try again."),
    errno.EMFILE: ("Too many files are open.", "Raise the limit for this shell: ulimit -n 65536."),
    errno.ENFILE: ("Too many files are open on this machine.", "Close other programs, and try again."),
    errno.ENOMEM: ("There is not enough memory.", "Close other programs, or use fewer workers (--workers 1)."),
    errno.ENOENT: ("There is no such file or folder.", "Check the path."),
    errno.ENOTDIR: ("A part of the path is a file, not a folder.", "Check the path."),
    errno.EISDIR: ("This is a folder, but a file is expected.", "Name a file in it."),
    errno.ENAMETOOLONG: ("The name is too long for the file system.", "Choose a shorter name."),
    errno.ELOOP: ("The symbolic links of this path form a loop.", "Remove the link."),
}


def system_error_words(error: OSError) -> tuple[str, str | None]:
    """Return what is wrong and what to do. Words that recordsmith found itself are kept, and so is its advice.

    >>> system_error_words(PermissionError(13, "Permission denied", "data"))[0]
    'You have no permission for this.'
    >>> system_error_words(FileNotFoundError(2, "No file matches the pattern", "*.tfrecord"))
    ('No file matches the pattern.', None)
    """
    said = error.strerror or ""
    if error.errno is None or said != os.strerror(error.errno):
        return (said if said.endswith(".") else f"{said}."), None
    problem, advice = _WORDS.get(error.errno, (f"{said}.", None))
    return problem, None if getattr(error, "__notes__", None) else advice
