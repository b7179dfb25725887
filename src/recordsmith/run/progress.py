"""How far a run is, for whatever displays it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = ["OnProgress", "Progress"]


@dataclass(frozen=True, slots=True)
class Progress:
    """One moment of a run.

    Attributes:
        phase: "reading" the source, "ordering" splits, "fitting" on the training split, "writing" shards, "checking"
            them, "uploading" them.
        done: how much of the phase is done: bytes or rows of the source, or rows.
        total: how much there is, where that is known.
        unit: what `done` and `total` count: "bytes" or "rows".
        rows: records so far.
        bytes: what they take.
        rejects: rows refused so far.
    """

    phase: Literal["reading", "ordering", "fitting", "writing", "checking", "uploading"]
    done: int
    total: int | None
    unit: Literal["bytes", "rows"]
    rows: int
    bytes: int
    rejects: int


OnProgress: TypeAlias = Callable[[Progress], None]
