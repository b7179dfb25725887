"""A folder for what a process writes before it is uploaded, and for what it needs for itself alone.

    STAGING/scratch-5f0c91ab.lock    held by the process as long as it lives
    STAGING/scratch-5f0c91ab/        its files

STAGING is `staging` in the cache folder of recordsmith. What killed processes left is removed by the next one.
"""

from __future__ import annotations

import atexit
import contextlib
import glob
import os
import shutil
import tempfile

from recordsmith.storage.file_lock import lock_file
from recordsmith.storage.remote_files import cache_folder

__all__ = ["new_scratch_folder", "scratch_folder", "staging_root"]

_folders: dict[tuple[int, str], str] = {}  # of each process, and place
_NAME = "scratch-"
_LOCK = ".lock"


def staging_root() -> str:
    """Return where staging folders are, unless another place is given."""
    return str(cache_folder().parent / "staging")


def scratch_folder() -> str:
    """Return the folder of this process."""
    root = staging_root()
    key = os.getpid(), root
    if key not in _folders or not os.path.isdir(_folders[key]):
        os.makedirs(root, exist_ok=True)
        _remove_abandoned(root)
        _folders[key] = _new(root)
    return _folders[key]


def new_scratch_folder() -> str:
    """Make a new folder inside that of this process."""
    return tempfile.mkdtemp(dir=scratch_folder())


def _new(root: str) -> str:
    while True:
        descriptor, lock = tempfile.mkstemp(_LOCK, _NAME, root)  # it stays open as long as the process lives
        lock_file(descriptor, wait=True)
        with contextlib.suppress(FileNotFoundError):  # it was taken for one that a killed process left
            if os.path.samestat(os.fstat(descriptor), os.stat(lock)):
                break
        os.close(descriptor)
    path = lock.removesuffix(_LOCK)
    os.mkdir(path)
    atexit.register(_remove_at_end, os.getpid(), path)
    return path


def _remove_abandoned(root: str) -> None:
    """Remove the folders of processes that live no more."""
    for lock in glob.glob(os.path.join(glob.escape(root), f"{_NAME}*{_LOCK}")):
        with contextlib.suppress(OSError):  # another process does the same
            descriptor = os.open(lock, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                lock_file(descriptor)
                _remove(lock.removesuffix(_LOCK))
            finally:
                os.close(descriptor)


def _remove_at_end(process: int, path: str) -> None:
    if os.getpid() == process:  # a forked child's copy is its parent's
        _remove(path)


def _remove(path: str) -> None:
    shutil.rmtree(path, ignore_errors=True)
    with contextlib.suppress(OSError):
        os.remove(path + _LOCK)
