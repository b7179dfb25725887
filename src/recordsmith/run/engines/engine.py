"""What every engine does, and the work that it is given.

A run is a plan of small pieces of work, each a function of files and of the plan alone:

    stage      a chunk of the source ──► an encoded chunk, in a piece of the staging folder
    each       a shard ──► its file; a shard ──► read back; a description ──► whole, or not
    in_order   some units of a survey ──► their tallies; a damaged file ──► a repaired one

Everything else (which rows go where, in which order, and publishing) is done by the process that was started. The
results do not depend on the engine, on how work is divided, or on how often it is tried.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import TracebackType
from typing import Any, NamedTuple, Self, TypeVar

from recordsmith.formats.source import Chunk
from recordsmith.run.staging.encoded_chunk import EncodedChunk
from recordsmith.run.staging.staging import Staging

__all__ = ["Engine", "NumberedChunk", "StagingWork"]

T = TypeVar("T")
R = TypeVar("R")


class NumberedChunk(NamedTuple):
    """A chunk, its number in the source, and the split that its rows stay in, if splits are kept."""

    number: int
    chunk: Chunk
    split: int


class StagingWork(NamedTuple):
    """How chunks are encoded.

    Attributes:
        encode: encodes a chunk. Several threads may use it, and it can be pickled.
        is_python: it runs Python code of the user's, which needs processes to run in parallel.
        functions: the user's functions that it calls.
        source_bytes: how much the source has, counted as its chunks do; None if it is not known.
        carries_data: chunks contain their rows, instead of saying where they are.
    """

    encode: Callable[[Chunk], EncodedChunk]
    is_python: bool = False
    functions: tuple[Callable[..., Any], ...] = ()
    source_bytes: int | None = None
    carries_data: bool = False


class Engine(ABC):
    """Carries out the work of a run. It is used in a with statement."""

    def __enter__(self) -> Self:
        return self

    def __exit__(  # noqa: B027 - most have nothing to let go of
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Let go of what was opened."""

    def begin(self, plan: str, source: Sequence[str]) -> None:  # noqa: B027 - threads see what this process sees
        """Take what other machines must see: something in the staging folder, such as its plan, and the source."""

    @property
    def is_remote(self) -> bool:
        """Whether the work is done by other machines, which see the staging folder."""
        return False

    @abstractmethod
    def stage(self, staging: Staging, work: StagingWork, chunks: Iterable[NumberedChunk]) -> Iterator[None]:
        """Encode and stage chunks, and return from time to time, to report progress."""

    @abstractmethod
    def each(self, work: Callable[[T], R], items: Iterable[T]) -> Iterator[tuple[T, R]]:
        """Do the same work on several items, and give each with its result, in any order."""

    @abstractmethod
    def in_order(self, work: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """Do the same work on several items, and give the results in the order of the items."""
