"""Shards of records whose bytes are copied."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.copying.input_places import InputPlaces
from recordsmith.keyed_random import Uint64s
from recordsmith.records.index import FRAMING_BYTES
from recordsmith.run.shard_writing import ShardWriter
from recordsmith.run.staging import Staging
from recordsmith.schema import Schema

__all__ = ["FrameShardWriter"]


class FrameShardWriter(ShardWriter):
    """Writes shards of records whose bytes are copied: they are proven by their digests, and may hold anything.

    With `in_place` they are read from their own files, and not from the staging folder.
    """

    def __init__(
        self, staging: Staging, *, compression: str | None, ignored: tuple[str, ...], in_place: InputPlaces | None
    ) -> None:
        super().__init__(staging, Schema({}), (), compression=compression, ignored=ignored)
        self._in_place = in_place
        self._inputs = None if in_place is None else in_place.open()

    def forget(self) -> None:
        """Let go of the records: they are not needed for checking."""
        super().forget()
        self._inputs = None

    def _frames(self, numbers: Uint64s, entries: Any) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint64]]:
        if self._in_place is None or self._inputs is None:
            return super()._frames(numbers, entries)
        frames = self._in_place.frames(self._inputs, entries, numbers)
        self._inputs.forget()  # pages that were touched count as our memory
        sizes = entries["length"].astype(np.uint64) + np.uint64(FRAMING_BYTES)
        return frames, np.concatenate([[0], np.cumsum(sizes)]).astype(np.uint64)

    def _check_schema(self, path: str, first: int, frames: Any, offsets: Any) -> None:
        pass
