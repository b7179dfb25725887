"""Drawing batches: so many, for so long, and without leaving traces in anybody's random numbers."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.doctor.diagnose.observing.batch import Batch, Values, read_batch
from recordsmith.doctor.diagnose.observing.drawing import DrawingThread, PipelineHangs, needs_own_thread
from recordsmith.doctor.diagnose.observing.mirroring import ImagePlace, image_places
from recordsmith.doctor.diagnose.observing.observations import EpochFacts
from recordsmith.doctor.diagnose.pipelines import Pipeline
from recordsmith.workers.progress_display import OnPhase

__all__ = ["SampledBatch", "SampledEpoch", "random_numbers_kept", "sample_epochs"]

_KEPT_BYTES = 256 << 20
_HASHED_VALUES = 2048
_MOST_PLACES = 1500


@dataclass(frozen=True, slots=True, eq=False)
class SampledBatch:
    """A batch, and a number for the content of each of its rows; `batch` has no inputs once too much was kept.

    >>> SampledBatch(read_batch((np.zeros((2, 3)), np.arange(2))), np.array([1, 2])).batch.rows
    2
    """

    batch: Batch
    content: npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class SampledEpoch:
    """What was sampled of one epoch.

    >>> SampledEpoch([], whole=True, seconds=0.0).facts
    EpochFacts(batches=0, rows=0, whole=True, seconds=0.0)
    """

    batches: list[SampledBatch]
    whole: bool
    seconds: float
    failure: str = ""
    hangs: str | None = None
    places: list[ImagePlace] = field(default_factory=list)

    @property
    def facts(self) -> EpochFacts:
        """How much it is."""
        rows = sum(one.batch.rows for one in self.batches)
        return EpochFacts(len(self.batches), rows, self.whole, self.seconds)

    @property
    def kept(self) -> list[Batch]:
        """The batches whose inputs are still there."""
        return [one.batch for one in self.batches if one.batch.inputs]


def sample_epochs(
    pipeline: Pipeline,
    *,
    batches: int,
    epochs: int,
    seconds: float,
    patience: float = 60,
    progress: OnPhase = lambda _phase, _done, _total: None,
) -> list[SampledEpoch]:
    """Read up to so many batches of each epoch; a pipeline that can be iterated only once has one epoch.

    Sampling stops after `seconds`. A batch that takes longer than `patience` never comes: the pipeline hangs.

    >>> from recordsmith.doctor.diagnose.pipelines import open_pipeline
    >>> pair = (np.zeros((2, 3)), np.arange(2))
    >>> [len(epoch.batches) for epoch in sample_epochs(open_pipeline([pair] * 3), batches=9, epochs=2, seconds=9)]
    [3, 3]
    """
    sampled: list[SampledEpoch] = []
    thread = DrawingThread(patience)
    for number in range(epochs if pipeline.repeatable else min(epochs, 1)):
        # The first epoch is looked at from all sides; of others only order and content count.
        share = seconds * 0.7 if number == 0 else seconds * 0.3 / max(epochs - 1, 1)
        kept = _KEPT_BYTES if number == 0 else 0
        begin = partial(pipeline.epoch, number)
        on_batch = partial(progress, f"sampling epoch {number}")
        among = {place.beside for place in sampled[0].places} if sampled else None
        drawn = _sample(thread, begin, batches, share, kept, on_batch, among, with_index=pipeline.with_index)
        if drawn.hangs is not None:
            drawn = replace(drawn, hangs=pipeline.place_of_worker() or drawn.hangs)
        sampled.append(drawn)
        if sampled[-1].failure or sampled[-1].hangs is not None or not sampled[-1].batches:
            break
    thread.close()
    return sampled


def _sample(
    thread: DrawingThread,
    begin: Callable[[], Iterator[Any]],
    limit: int,
    seconds: float,
    kept_bytes: int,
    progress: Callable[[int, int], object],
    among: set[int] | None,
    *,
    with_index: bool,
) -> SampledEpoch:
    found: list[SampledBatch] = []
    places: list[ImagePlace] = []
    begun = time.perf_counter()
    waited, whole, failure = 0.0, False, ""
    batches: Iterator[Any] | None = None
    try:
        batches = thread.call(begin)
        following = partial(next, batches, _END)
        # The first batch is always waited for: without one, nothing can be said.
        while len(found) < limit and (not found or time.perf_counter() - begun < seconds):
            progress(len(found), limit)
            asked = time.perf_counter()
            given = thread.call(following)
            if found:
                waited += time.perf_counter() - asked
            if given is _END:
                whole = True
                break
            batch = read_batch(given, with_index=with_index)
            content = _content(batch)
            if len(places) < _MOST_PLACES:
                places.extend(image_places(batch, among))
            kept_bytes -= sum(_size(column) for column in batch.inputs.values())
            found.append(SampledBatch(batch if kept_bytes >= 0 else _without_inputs(batch), content))
        else:
            whole = len(found) >= limit and thread.call(following) is _END
    except PipelineHangs as error:
        batches = None  # it is in use, and cannot be closed
        return SampledEpoch(found, whole, waited, failure, hangs=str(error))
    except Exception as error:  # noqa: BLE001 - whatever a pipeline raises is what the report is about
        if needs_own_thread(error) and not thread.in_caller:
            thread.in_caller = True
            return _sample(thread, begin, limit, seconds, kept_bytes, progress, among, with_index=with_index)
        failure = f"{type(error).__name__}: {error}"
    finally:
        close = getattr(batches, "close", None)
        if close is not None:
            close()
    return SampledEpoch(found, whole, waited, failure, places=places)


_END = object()


@contextmanager
def random_numbers_kept() -> Iterator[None]:
    """Put the random numbers of Python, numpy and PyTorch back to where they were.

    >>> with random_numbers_kept():
    ...     first = random.random()
    >>> random.random() == first
    True
    """
    python, numbers = random.getstate(), np.random.get_state()  # noqa: NPY002 - the user's, which stay as they are
    torch = sys.modules.get("torch")
    state = torch.get_rng_state() if torch is not None and hasattr(torch, "get_rng_state") else None
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(numbers)  # noqa: NPY002 - as above
        if torch is not None and state is not None:
            torch.set_rng_state(state)


def _without_inputs(batch: Batch) -> Batch:
    return replace(batch, inputs={}, given=(None, None))


def _size(column: Values) -> int:
    return sum(row.nbytes for row in column) if isinstance(column, list) else column.nbytes


def _content(batch: Batch) -> npt.NDArray[np.int64]:
    """Return a number for the content of each row's inputs; equal rows have equal numbers, within this process."""
    parts = [[_hashed(column[row]) for row in range(len(column))] for column in batch.inputs.values()]
    if not parts or len({len(part) for part in parts}) > 1:
        return np.empty(0, np.int64)
    return np.array([hash(rows) for rows in zip(*parts, strict=True)], np.int64)


def _hashed(row: Any) -> int:
    array = np.asarray(row)
    if array.dtype.kind == "O":
        return hash(tuple(array.ravel().tolist()))
    flat = array.ravel()
    if flat.size > _HASHED_VALUES:
        flat = flat[:: flat.size // _HASHED_VALUES]
    return hash(np.ascontiguousarray(flat).tobytes())
