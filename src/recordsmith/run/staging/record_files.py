"""Several files of records read as if they were one: a record's place is one number, counted over all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith import _core
from recordsmith.errors import RecordsmithError
from recordsmith.formats.files.source_files import SourceFile, check_unchanged
from recordsmith.keyed_random import Uint64s
from recordsmith.records.index import Identity
from recordsmith.storage.ranged.opening import is_ranged, known_object, open_object

__all__ = ["OpenRecordFiles", "RecordFiles"]


class RecordFiles:
    """TFRecord files that are not compressed, each behind the one before.

    Args:
        files: the files.
        identities: of their indexes, if those are to be used.
        etags: of files that a run has staged in object storage, their versions.

    Attributes:
        bytes: how long they are together.

    >>> files = RecordFiles([SourceFile("a", 100, 0), SourceFile("b", 50, 0)])
    >>> files.places("b", np.array([7], np.uint64)).tolist()
    [107]
    """

    def __init__(
        self,
        files: Sequence[SourceFile],
        identities: list[Identity] | None = None,
        etags: Mapping[str, str] | None = None,
    ) -> None:
        self._files = files
        self._identities = identities
        self._etags = etags or {}
        self._bases = np.concatenate([[0], np.cumsum([file.size for file in files])]).astype(np.uint64)
        self._base_of = {file.path: base for file, base in zip(files, self._bases[:-1], strict=True)}
        self.bytes = int(self._bases[-1])

    def places(self, path: str, starts: Uint64s) -> Uint64s:
        """Return the places of records that begin at some offsets of one file."""
        return np.asarray(starts + self._base_of[path])

    def located(self, places: npt.NDArray[Any]) -> tuple[npt.NDArray[np.uint32], Uint64s]:
        """Return for each place the number of its file, and the offset in it."""
        which = np.searchsorted(self._bases, places, side="right") - 1
        return which.astype(np.uint32), np.ascontiguousarray(places - self._bases[which])

    def open(self) -> OpenRecordFiles:
        """Open the files, which must not have changed since they were found."""
        for file in self._files:
            if not self._is_known(file):
                check_unchanged(file)
        return OpenRecordFiles(self, _core.FileSet([file.path for file in self._files], self._identities))

    def span(self, place: int, size: int) -> npt.NDArray[np.uint8]:
        """Return the bytes from a place on, which are all in one file."""
        (which,), (offset,) = self.located(np.array([place], np.uint64))
        frames = _core.pooled_bytes(size)
        path = self._files[which].path
        if self._is_known(self._files[which]):  # it is read once: memory and cache are for others
            frames.data[:] = open_object(path).read_once(int(offset), size)
            return frames
        if is_ranged(path):
            frames.data[:] = open_object(path).read(int(offset), size)
            return frames
        with open(path, "rb", buffering=0) as file:
            file.seek(int(offset))
            view = frames.data
            while view:
                read = file.readinto(view)
                if not read:
                    raise RecordsmithError("The file of staged records has become shorter.", path=path)
                view = view[read:]
        return frames

    def _is_known(self, file: SourceFile) -> bool:
        """Say whether the version of an object is known, and let it be read without asking the store for it."""
        if file.path not in self._etags:
            return False
        known_object(file.path, file.size, self._etags[file.path])
        return True


class OpenRecordFiles:
    """The files, open for reading at any place. Several threads may use one. Checksums are always verified.

    Records are asked for by their staged keys, whose offsets are the places.
    """

    def __init__(self, files: RecordFiles, opened_files: _core.FileSet) -> None:
        self._files = files
        self._opened = opened_files

    def frames(self, keys: npt.NDArray[Any], numbers: Uint64s) -> npt.NDArray[np.uint8]:
        """Return records with their framing."""
        return self._opened.frames(*self._at(keys), numbers, verify=True)

    def payloads(self, keys: npt.NDArray[Any], numbers: Uint64s) -> list[bytes]:
        """Return what is in the records."""
        return self._opened.read(*self._at(keys), numbers, True)

    def decode(self, plan: _core.Plan, keys: npt.NDArray[Any], numbers: Uint64s) -> list[Any]:
        """Return the columns of the records."""
        return self._opened.decode(plan, *self._at(keys), numbers, verify=True)

    def forget(self) -> None:
        """Release the pages that were read: they count as this process's memory."""
        self._opened.forget()

    def _at(self, keys: npt.NDArray[Any]) -> tuple[npt.NDArray[np.uint32], Uint64s, Uint64s]:
        return *self._files.located(np.ascontiguousarray(keys["offset"])), keys["length"].astype(np.uint64)
