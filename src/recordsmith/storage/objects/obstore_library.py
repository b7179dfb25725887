"""The library obstore, usable also in processes that were forked after it was used.

obstore works on threads of its own, which a forked process does not have: a request there would wait for ever. The
DataLoader of PyTorch forks on Linux by default. So a forked process loads the native library a second time, from a copy
in memory: it has its own variables, and starts its own threads. What the parent has of it is left alone.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import os
import sys
import threading
from typing import Any

from recordsmith.errors import RecordsmithError, import_extra
from recordsmith.workers.forking import renew_after_fork

__all__ = ["keep_of_parent", "obstore_part"]

_NATIVE = "obstore._obstore"


class _Library:
    """Which process the loaded library belongs to."""

    def __init__(self) -> None:
        self.is_inherited = False
        self.of_parent: list[Any] = []  # kept: letting go of it could wait for its threads
        self.lock = threading.Lock()
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Note that the library is the parent's, if it is loaded."""
        self.is_inherited = self.is_inherited or _NATIVE in sys.modules
        self.lock = threading.Lock()


_library = _Library()


def obstore_part(name: str) -> Any:
    """Return a module of obstore, such as "store", that works in this process."""
    if _library.is_inherited:
        with _library.lock:
            if _library.is_inherited:
                _load_again()
                _library.is_inherited = False
    import_extra("obstore", extra="remote", purpose="Reading and writing remote files")
    return importlib.import_module(f"obstore.{name}")


def keep_of_parent(thing: Any) -> None:
    """Keep an object of the parent's library until this forked process ends."""
    _library.of_parent.append(thing)


def _load_again() -> None:
    path = str(sys.modules[_NATIVE].__file__)
    names = [name for name in sys.modules if name.partition(".")[0] == "obstore"]
    before = {name: sys.modules.pop(name) for name in names}
    _library.of_parent.append(before)
    try:
        sys.modules[_NATIVE] = _loaded(path)
    except (OSError, ImportError, AttributeError) as error:  # AttributeError: a system without files in memory
        sys.modules |= before
        raise RecordsmithError(
            "Remote storage cannot be used in this forked process, because its parent process used it.",
            found=f"process {os.getpid()}; obstore could not be loaded again: {error}",
            advice='Start processes with "spawn", as in DataLoader(multiprocessing_context="spawn"),'
            " or read with threads: a loader needs no processes.",
        ) from None


def _loaded(path: str) -> Any:
    """Load a native module from a copy in memory: from the same file, the system would give the loaded one."""
    copy = os.memfd_create("obstore", os.MFD_CLOEXEC)
    try:
        with open(path, "rb") as file:
            left = os.fstat(file.fileno()).st_size
            while left and (sent := os.sendfile(copy, file.fileno(), None, left)):
                left -= sent
        place = f"/proc/self/fd/{copy}"
        loader = importlib.machinery.ExtensionFileLoader(_NATIVE, place)
        spec = importlib.util.spec_from_file_location(_NATIVE, place, loader=loader)
        if spec is None:
            raise ImportError(f"{path} cannot be loaded")
        module = importlib.util.module_from_spec(spec)
        loader.exec_module(module)
        module.__file__ = path
    finally:
        os.close(copy)
    return module
