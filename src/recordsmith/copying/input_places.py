"""Records that need not be staged: where they lie in their own files, as one number each.

The number is the place in all files as if they were one, and is kept in the `group` of a staged key, which a copy
without groups has no other use for. So a copy takes no room but its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith import _core
from recordsmith.formats.files.source_files import SourceFile, opened
from recordsmith.keyed_random import Uint64s
from recordsmith.records.index import Identity

__all__ = ["InputPlaces"]


class InputPlaces:
    """Places in files that are not compressed, each file behind the one before.

    >>> places = InputPlaces([SourceFile("a", 100, 0), SourceFile("b", 50, 0)])
    >>> places.of("b", np.array([7], np.uint64)).tolist()
    [107]
    """

    def __init__(self, files: Sequence[SourceFile], identities: list[Identity] | None = None) -> None:
        self._files = files
        self._identities = identities
        self._bases = np.concatenate([[0], np.cumsum([file.size for file in files])]).astype(np.uint64)
        self._base_of = {file.path: base for file, base in zip(files, self._bases[:-1], strict=True)}

    def of(self, path: str, starts: Uint64s) -> Uint64s:
        """Return the numbers of places in a file."""
        return np.asarray(starts + self._base_of[path])

    def open(self) -> _core.FileSet:
        """Open the files for reading, which must still be the ones that were found."""
        for file in self._files:
            with opened(file):
                pass
        return _core.FileSet([file.path for file in self._files], self._identities)

    def frames(self, files: _core.FileSet, keys: npt.NDArray[Any], numbers: Uint64s) -> npt.NDArray[np.uint8]:
        """Return records as they lie in the files, by their staged keys; their checksums are looked at again."""
        which, starts = self._at(keys)
        return files.frames(which, starts, keys["length"].astype(np.uint64), numbers, verify=True)

    def read(self, files: _core.FileSet, keys: npt.NDArray[Any], numbers: Uint64s) -> list[bytes]:
        """Return the payloads of records by their staged keys."""
        which, starts = self._at(keys)
        return files.read(which, starts, keys["length"].astype(np.uint64), numbers, True)

    def _at(self, keys: npt.NDArray[Any]) -> tuple[npt.NDArray[np.uint32], Uint64s]:
        places = np.ascontiguousarray(keys["group"])
        which = np.searchsorted(self._bases, places, side="right") - 1
        return which.astype(np.uint32), places - self._bases[which]
