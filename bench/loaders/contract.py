"""What is loaded, and what a loader offers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from bench.data.datasets import DATASETS, Feature

# The buffer of a peer's shuffle; recordsmith's is over all records.
BUFFER = 10_000
SIZE = (224, 224)
BRIGHTNESS = 0.2
IMAGES = {"img", "large", "png", "webp"}


@dataclass(frozen=True, slots=True)
class Subject:
    """One dataset, and how it is loaded."""

    name: str
    batch: int
    features: tuple[Feature, ...]

    @property
    def is_images(self) -> bool:
        """Whether images are decoded, resized and changed."""
        return self.name in IMAGES


SUBJECTS = {
    "tab": Subject("tab", 1024, DATASETS["tab"].features),
    "vec": Subject("vec", 1024, DATASETS["vec"].features),
    "tok": Subject("tok", 1024, DATASETS["tok"].features),
    "img": Subject("img", 32, DATASETS["img"].features),
    "large": Subject("large", 32, DATASETS["img"].features),
    "png": Subject("png", 32, DATASETS["img"].features),
    "webp": Subject("webp", 32, DATASETS["img"].features),
}


class Chain(Protocol):
    """A chain that can be gone through any number of times, an epoch each."""

    def batches(self) -> Iterator[Any]:
        """One epoch."""
        ...

    def arrays(self, batch: Any) -> dict[str, Any]:
        """A batch as numpy arrays; only asked for in the untimed pass that checks it."""
        ...

    def labels(self, batch: Any) -> Any:
        """The labels of a batch as something that numpy adds up; cheap, since timed passes ask for it."""
        ...


class Loader(Protocol):
    """A library that loads batches."""

    def versions(self) -> dict[str, str]:
        """The libraries that do the work."""
        ...

    def forms(self, subject: Subject, /) -> list[str]:
        """The ways to try: the best of them counts."""
        ...

    def open(self, subject: Subject, paths: Sequence[str], form: str, /) -> Chain:
        """Build a chain."""
        ...
