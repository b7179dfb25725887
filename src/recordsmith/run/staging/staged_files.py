"""Files that one process of a run writes and others read: in a folder, or as objects of a store."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from recordsmith.storage.atomic_file import is_url
from recordsmith.storage.objects import open_folder, split_url
from recordsmith.storage.ranged.opening import known_object

__all__ = ["StagedFile", "upload_file", "write_all", "write_staged"]


class StagedFile(NamedTuple):
    """A file as it was written.

    Attributes:
        path: the file, or the URL of the object.
        size: its bytes.
        etag: the version of an object; "" for a file.
    """

    path: str
    size: int
    etag: str = ""

    def opened(self) -> str:
        """Return the path, for the core to open: of an object, the version that was written, without a request."""
        if self.etag:
            known_object(self.path, self.size, self.etag)
        return self.path

    def announce(self, kind: npt.DTypeLike, first: int, count: int) -> None:
        """Begin to fetch numbers that are read soon, if this is an object."""
        if self.etag:
            size = np.dtype(kind).itemsize
            known_object(self.path, self.size, self.etag).announce([(first * size, (first + count) * size)])

    def array(self, kind: npt.DTypeLike, first: int = 0, count: int = -1) -> npt.NDArray[Any]:
        """Read numbers of one type, from the first one on; -1 reads all."""
        size = np.dtype(kind).itemsize
        if not self.etag:
            return np.fromfile(self.path, kind, count, offset=first * size)
        length = self.size - first * size if count < 0 else count * size
        if not length:
            return np.empty(0, kind)
        data = known_object(self.path, self.size, self.etag).read(first * size, length)
        return np.frombuffer(bytearray(data), kind)  # which may be changed, as what is read from a file


def write_staged(path: str, data: Any) -> StagedFile:
    """Write a file, or an object, as a whole."""
    view = memoryview(data).cast("B") if len(data) else memoryview(b"")
    if is_url(path):
        folder, name = split_url(path)
        return StagedFile(path, len(view), open_folder(folder).put(name, view) or "")
    with open(path, "wb", buffering=0) as file:
        write_all(file, view)
    return StagedFile(path, len(view))


def upload_file(path: str, url: str) -> StagedFile:
    """Upload a local file."""
    folder, name = split_url(url)
    return StagedFile(url, os.path.getsize(path), open_folder(folder).upload(name, path) or "")


def write_all(file: Any, data: Any) -> None:
    """Write all of some bytes to a file without a buffer."""
    view = memoryview(data).cast("B") if len(data) else memoryview(b"")
    while view:
        view = view[file.write(view) :]
