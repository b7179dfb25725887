"""The records of one chunk on their way to the staging folder, and what is remembered of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.formats.source import Reject
from recordsmith.keyed_random import Uint64s

__all__ = ["Classes", "EncodedChunk"]


@dataclass
class Classes:
    """The classes of some rows by one feature.

    Attributes:
        values: the distinct classes.
        code_of: which of them each row has; -1 for none.
    """

    values: list[Any]
    code_of: npt.NDArray[np.int32]

    @classmethod
    def none(cls, rows: int) -> Classes:
        """Return what rows without a class have."""
        return cls([], np.full(rows, -1, np.int32))


@dataclass
class EncodedChunk:
    """The records of a chunk, and what is remembered of each."""

    frames: npt.NDArray[np.uint8]
    offsets: Uint64s
    digests: Uint64s
    contents: Uint64s  # digests of all but the label
    classes: Classes  # of the label
    strata: Classes
    groups: Uint64s | None
    rejects: list[Reject]
    source_rows: int
    source_bytes: int
    dropped: int = 0  # rows for which the user's function gave None
    unlabelled: int = 0  # rows without a label, whether they are left out or not
    unlabelled_places: tuple[str, ...] = ()  # where some of them come from
    left_out: tuple[str, ...] = ()  # columns that the schema does not have
    split: int = 0  # the place of the split that the rows came from, where splits are kept
    places: Uint64s | None = None  # where the records are, if they are read from the input's own files when written
    bytes: int = 0  # how long the records are, once they are no longer here

    @property
    def rows(self) -> int:
        """How many records there are."""
        return len(self.offsets) - 1

    @property
    def counts(self) -> dict[str, int]:
        """What is counted of the rows that the records were made from."""
        return {
            "source_rows": self.source_rows,
            "source_bytes": self.source_bytes,
            "rejects": len(self.rejects),
            "dropped": self.dropped,
            "unlabelled": self.unlabelled,
        }
