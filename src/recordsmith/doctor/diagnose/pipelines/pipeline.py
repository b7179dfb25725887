"""What is asked of a pipeline, whatever it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from recordsmith.dataset import StoredDataset
from recordsmith.doctor.diagnose.observing.observations import ChainStep

__all__ = ["Pipeline"]


class Pipeline:
    """Something that gives batches, epoch after epoch.

    Attributes:
        kind: what it is, in words.
        redrawable: a second epoch can be drawn.
        endless: it never ends.
        fixed: it is a list, which cannot come in another order.
        sharded: it feeds one rank's share only.
        with_index: batches end with the numbers of their records.
        chain: the transformations, where they can be read back.
        records: the dataset that it reads, where it says so itself.
        label: the feature that the target is, where it says so itself.
    """

    kind: str = "an iterable"
    redrawable: bool = True
    endless: bool = False
    fixed: bool = False
    sharded: bool = False
    with_index: bool = False
    chain: tuple[ChainStep, ...] = ()
    records: StoredDataset | None = None
    label: str | None = None

    def slowest_step(self, seconds: float, rows: int) -> str:  # noqa: ARG002 - for those that can tell
        """Return which step takes most of the time for a batch of so many rows; empty where it cannot be told."""
        return ""

    def epoch(self) -> Iterator[Any]:
        """Begin an epoch, and return its batches."""
        raise NotImplementedError
