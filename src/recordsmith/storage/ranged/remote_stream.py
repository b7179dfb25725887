"""A remote object as a file of Python: for readers that take files, such as those of Parquet, tar and CSV."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING, BinaryIO

from recordsmith.storage.ranged.opening import open_object
from recordsmith.storage.ranged.remote_object import RemoteObject

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

__all__ = ["open_stream"]

_BUFFER = 1 << 20


def open_stream(url: str) -> BinaryIO:
    """Return an object, in the version that was last seen, as a binary file that can seek. Nothing is read yet."""
    return io.BufferedReader(_RemoteStream(open_object(url)), _BUFFER)


class _RemoteStream(io.RawIOBase):
    def __init__(self, remote: RemoteObject) -> None:
        self._remote = remote
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._remote.size}[whence]
        if start + offset < 0:
            raise OSError(22, "A position before the beginning", self._remote.url)
        self._at = start + offset
        return self._at

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        target = memoryview(buffer).cast("B")
        data = self._remote.read(self._at, len(target))
        target[: len(data)] = data
        self._at += len(data)
        return len(data)
