"""What is asked of a pipeline, whatever it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from recordsmith.dataset import StoredDataset
from recordsmith.doctor.diagnose.observing.observations import ChainStep, WorkerFacts

__all__ = ["Pipeline"]


class Pipeline:
    """Something that gives batches, epoch after epoch.

    Attributes:
        kind: what it is, in words.
        repeatable: it can be iterated again for a second epoch.
        endless: it never ends.
        fixed: it is a list, which cannot come in another order.
        shuffled_here: it is no pipeline yet, and its rows are put into batches in a random order by the diagnosis.
        sharded: it feeds one rank's share only.
        with_index: batches end with the numbers of their records.
        chain: the transformations, where they can be read back.
        records: the dataset that it reads, where it says so itself.
        label: the feature that the target is, where it says so itself.
        class_names: the names of the classes by their numbers, where it knows them.
        files: the files that it reads, and the compression that it expects of them, where that can be read back.
        validation: the pipeline of the validation data, where it comes with one.
    """

    kind: str = "an iterable"
    repeatable: bool = True
    endless: bool = False
    fixed: bool = False
    shuffled_here: bool = False
    sharded: bool = False
    with_index: bool = False
    chain: tuple[ChainStep, ...] = ()
    records: StoredDataset | None = None
    label: str | None = None
    class_names: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    compression: str | None = None
    validation: Any = None

    def slowest_step(self, seconds: float, rows: int) -> str:  # noqa: ARG002 - for those that know
        """Return which step takes most of the time for a batch of so many rows; empty where it is not known."""
        return ""

    def worker_facts(self) -> WorkerFacts | None:
        """Return what is known of the worker processes; None without any."""
        return None

    def place_of_worker(self) -> str:
        """Return the line at which a worker process is that gives nothing; empty where it is not known."""
        return ""

    def epoch(self, number: int = 0) -> Iterator[Any]:
        """Begin an epoch, and return its batches."""
        raise NotImplementedError
