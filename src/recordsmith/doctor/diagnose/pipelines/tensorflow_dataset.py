"""A tf.data.Dataset, with its graph of transformations read back.

TensorFlow has no public way to ask a dataset what it is made of. What is read here are attributes that its own classes
have had for years; where one is missing, the step is left out and nothing is concluded from it.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from recordsmith.doctor.diagnose.observing.observations import ChainStep
from recordsmith.doctor.diagnose.pipelines.class_names import class_names_of
from recordsmith.doctor.diagnose.pipelines.pipeline import Pipeline

__all__ = ["TensorFlowDataset", "read_chain"]

_NAMES = {
    "Batch": "batch",
    "Cache": "cache",
    "Concatenate": "concatenate",
    "Filter": "filter",
    "FlatMap": "flat_map",
    "Interleave": "interleave",
    "Map": "map",
    "PaddedBatch": "padded_batch",
    "RaggedBatch": "ragged_batch",
    "ParallelBatch": "batch",
    "ParallelInterleave": "interleave",
    "ParallelMap": "map",
    "Prefetch": "prefetch",
    "Repeat": "repeat",
    "Shard": "shard",
    "Shuffle": "shuffle",
    "Skip": "skip",
    "Take": "take",
    "TakeWhile": "take_while",
    "Unbatch": "unbatch",
    "Zip": "zip",
}
_BATCHING = ("batch", "padded_batch", "ragged_batch")
_LONGEST_CHAIN = 200
_MOST_FILES = 1000
_RANDOM = re.compile(r"(Stateless)?(Random|Truncated|Multinomial|ParameterizedTruncated|Stateful(Uniform|Normal))")


class TensorFlowDataset(Pipeline):
    """A tf.data.Dataset.

    >>> class Empty:
    ...     def __iter__(self):
    ...         return iter(())
    >>> TensorFlowDataset(Empty()).chain
    (ChainStep(name='source', ...),)
    """

    kind = "a tf.data.Dataset"

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset
        self.chain = read_chain(dataset)
        self.endless = any(step.name == "repeat" and step.count is not None and step.count < 0 for step in self.chain)
        self.sharded = any(step.name == "shard" for step in self.chain)
        self.class_names = _class_names(dataset)
        self.files, self.compression = _files(dataset)

    def epoch(self, number: int = 0) -> Iterator[Any]:  # noqa: ARG002 - for those that are told
        """Begin an epoch."""
        return iter(self._dataset)

    def slowest_step(self, seconds: float, rows: int) -> str:
        """Draw from the dataset as it is after each step, and return the step that adds most."""
        stages = [self._dataset]
        while len(below := _inputs(stages[-1])) == 1 and len(stages) < _LONGEST_CHAIN:
            stages.append(below[0])
        stages.reverse()
        names = [step.name for step in self.chain]
        if len(names) != len(stages):
            return ""
        batched = next((place for place, name in enumerate(names) if name in _BATCHING), len(names))
        if any(name in ("cache", "interleave", "flat_map", "unbatch") for name in names):
            return ""  # elements before and after these are not the same things, or are cached
        took = [
            _seconds_per_element(stage, seconds / len(stages)) * (rows if place < batched else 1)
            for place, stage in enumerate(stages)
        ]
        added = [took[0], *(after - before for before, after in pairwise(took))]
        place = max(range(len(added)), key=lambda one: added[one])
        return "reading" if names[place] == "source" else f".{names[place]}()"


def _seconds_per_element(dataset: Any, seconds: float) -> float:
    elements = iter(dataset)
    next(elements, None)  # the first begins the work, and fills a shuffle's buffer
    begun, count = time.perf_counter(), 0
    while time.perf_counter() - begun < seconds and next(elements, None) is not None:
        count += 1
    return (time.perf_counter() - begun) / max(count, 1)


def read_chain(dataset: Any) -> tuple[ChainStep, ...]:
    """Return the transformations of a dataset, the source first.

    >>> read_chain(object())
    (ChainStep(name='source', ...),)
    """
    steps: list[ChainStep] = []
    while len(steps) < _LONGEST_CHAIN:
        below = _inputs(dataset)
        steps.append(_step(dataset, below))
        if len(below) != 1:
            break
        dataset = below[0]
    return tuple(reversed(steps))


def _inputs(dataset: Any) -> list[Any]:
    try:
        return list(dataset._inputs())  # noqa: SLF001 - there is no public way
    except Exception:  # noqa: BLE001 - whatever a private method does, the chain ends here
        return []


def _step(dataset: Any, below: list[Any]) -> ChainStep:
    kind = type(dataset).__name__.lstrip("_").removesuffix("V2").removesuffix("V1").removesuffix("Dataset")
    name = "source" if not below else _NAMES.get(kind, kind.lower())
    branches: tuple[tuple[ChainStep, ...], ...] = ()
    ranks: tuple[int | None, ...] = ()
    if len(below) > 1:
        branches = tuple(read_chain(one) for one in below)
        ranks = tuple(_rank(one) for one in below)
    return ChainStep(
        name,
        buffer=_number(dataset, "_buffer_size") if name == "shuffle" else None,
        count=_number(dataset, "_count") if name in ("repeat", "take", "skip") else None,
        below=_size(below[0]) if name in ("take", "skip") else None,
        parallel=kind.startswith("Parallel"),
        ordered=not _is_unordered(dataset, kind),
        random=name == "map" and _is_random(dataset),
        reshuffles=getattr(dataset, "_reshuffle_each_iteration", True) is not False,
        seed=_seed(dataset) if name == "shuffle" else None,
        branches=branches,
        ranks=ranks,
    )


def _class_names(dataset: Any) -> tuple[str, ...]:
    """Return the names that a loader of folders noted at its dataset, also where other steps follow it."""
    for _ in range(_LONGEST_CHAIN):
        names = class_names_of(dataset)
        below = _inputs(dataset)
        if names or len(below) != 1:
            return names
        dataset = below[0]
    return ()


def _files(dataset: Any) -> tuple[tuple[str, ...], str | None]:
    """Return the TFRecord files that a dataset reads, and the compression that it was told."""
    compression, reads = None, False
    for _ in range(_LONGEST_CHAIN):
        below = _inputs(dataset)
        if type(dataset).__name__.startswith("TFRecordDataset"):
            reads = True
            given = getattr(dataset, "_compression_type", None)
            compression = "none" if not given else str(given).lower()
        elif type(dataset).__name__.lstrip("_").removesuffix("Dataset") in (
            "Interleave",
            "ParallelInterleave",
            "FlatMap",
        ):
            reads = True
        if len(below) != 1:
            break
        dataset = below[0]
    tensors = getattr(dataset, "_tensors", None)
    if not reads or not tensors or len(tensors) != 1:
        return (), None
    try:
        names = [os.fsdecode(name) for name in tensors[0].numpy().ravel()[:_MOST_FILES].tolist()]
    except Exception:  # noqa: BLE001 - a symbolic tensor, or no names: not known
        return (), None
    return tuple(name for name in names if os.path.isfile(name)), compression


def _size(dataset: Any) -> int | None:
    """Return how many elements a dataset has; None where it is not known or without end."""
    try:
        size = int(dataset.cardinality())
    except Exception:  # noqa: BLE001 - not known
        return None
    return size if size >= 0 else None


def _number(dataset: Any, attribute: str) -> int | None:
    try:
        return int(getattr(dataset, attribute))
    except Exception:  # noqa: BLE001 - a symbolic tensor, or no such attribute any more: not known
        return None


def _seed(dataset: Any) -> tuple[int, int] | None:
    first, second = _number(dataset, "_seed"), _number(dataset, "_seed2")
    return None if first is None or second is None or (first, second) == (0, 0) else (first, second)


def _is_unordered(dataset: Any, kind: str) -> bool:
    """Whether a parallel step may give elements in another order; only an explicit deterministic=False says so."""
    if not kind.startswith("Parallel"):
        return False
    try:
        deterministic = dataset._deterministic  # noqa: SLF001 - there is no public way
    except AttributeError:
        return False
    return deterministic in ("false", False)


def _is_random(dataset: Any) -> bool:
    """Whether the function of a map draws random numbers, by the operations in its graph."""
    try:
        graph = dataset._map_func.function.graph.as_graph_def()  # noqa: SLF001 - there is no public way
        nodes = [node.op for node in graph.node]
        nodes += [node.op for function in graph.library.function for node in function.node_def]
    except Exception:  # noqa: BLE001 - not known
        return False
    return any(_RANDOM.match(name) for name in nodes)


def _rank(dataset: Any) -> int | None:
    """Return the rank of the only tensor that a dataset gives."""
    try:
        return len(dataset.element_spec.shape)
    except Exception:  # noqa: BLE001 - several tensors, or a shape that is not known
        return None
