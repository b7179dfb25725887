"""to_keras: the batches of a chain as a keras.utils.PyDataset, for all backends of Keras.

Keras asks for batches by number, in its own random order if `shuffle=True`. The chain has an order of its own, so every
new number is answered with the next batch. Before it trains, Keras looks at one or two batches, ends that epoch, and
asks for them again: these are kept. This module imports Keras: import it only where Keras was asked for.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from recordsmith.errors import PipelineError, import_extra
from recordsmith.loader.engine.feeding import UnknownLengthError
from recordsmith.loader.frameworks.framework_checks import absent_values, check_fed
from recordsmith.loader.session import Session

keras = import_extra("keras", extra="keras", purpose="Loader.to_keras")

__all__ = ["KerasBatches"]

_LOOKED_AT = 2  # batches that Keras asks for before an epoch begins, to know their shapes


class KerasBatches(keras.utils.PyDataset):  # type: ignore[misc,name-defined] # Keras is optional
    """A loader's batches as numpy arrays, for `model.fit`, `evaluate` and `predict`.

    Each pass is a new epoch. After an endless `.repeat()`, Keras needs `steps_per_epoch`.
    """

    def __init__(self, session: Session) -> None:
        super().__init__(workers=1, use_multiprocessing=False)  # the threads of the loader are the workers
        check_fed(session.plan, "Keras", "to_keras")
        if session.plan.is_streamed and not session.plan.is_endless:
            raise PipelineError(
                "Keras needs the number of batches in an epoch, which is not known here before the rows are read.",
                advice="Write .repeat() before .batch() and give model.fit steps_per_epoch, or filter when the dataset "
                "is made. On TensorFlow, .to_tf() needs neither.",
            )
        self._session = session
        self._lock = threading.Lock()
        self._batches: Iterator[Any] | None = None
        self._asked: set[int] = set()
        self._first: dict[int, Any] = {}  # batches of the epoch
        self._kept: dict[int, Any] = {}  # those of them that Keras may ask for again

    @property
    def workers(self) -> int:
        """How many threads or processes of Keras ask for batches: one, so that these come in their order."""
        return 1

    @workers.setter
    def workers(self, workers: int) -> None:
        if workers > 1:
            raise _more_workers(f"workers={workers}")

    @property
    def use_multiprocessing(self) -> bool:
        """Whether Keras starts processes: no, as each would begin with the first batch."""
        return False

    @use_multiprocessing.setter
    def use_multiprocessing(self, wanted: bool) -> None:
        if wanted:
            raise _more_workers("use_multiprocessing=True")

    @property
    def num_batches(self) -> int | None:
        """How many batches an epoch has; None if that is not known, or if there is no end."""
        try:
            return len(self._session)
        except UnknownLengthError:
            return None

    def __len__(self) -> int:
        return len(self._session)

    def __getitem__(self, number: int) -> Any:
        with self._lock:
            if number in self._kept:
                return self._kept.pop(number)
            if self._batches is None or number in self._asked:
                self._begin()
            batch = next(self._batches or iter(()), None)
            if batch is None:  # the number of batches was not known
                self._begin()
                batch = next(self._batches or iter(()), None)
            if batch is None:
                raise PipelineError("There is no batch.", advice="Check that .filter() leaves some rows.")
            self._asked.add(number)
            arrays = _arrays(batch)
            if len(self._asked) <= _LOOKED_AT:
                self._first[number] = arrays
            else:
                self._first = {}
            return arrays

    def on_epoch_end(self) -> None:
        """Begin a new epoch with the next batch, if Keras has asked for all of this one."""
        with self._lock:
            self._kept = self._first  # should it have looked at them only
            if self.num_batches is not None and len(self._asked) >= self.num_batches:
                self._batches, self._kept = None, {}

    def _begin(self) -> None:
        self._batches = self._session.feed(self._session.begin())
        self._asked, self._first, self._kept = set(), {}, {}

    def state_dict(self) -> dict[str, Any]:
        """Return the place after the last batch that Keras asked for; on TensorFlow, it asks for some in advance."""
        return self._session.state()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Begin with the rest of an epoch. Keras counts on whole epochs: the first one then continues into the next."""
        self._session.restore(state)
        self._batches = None


def _more_workers(found: str) -> PipelineError:
    return PipelineError(
        "Keras cannot have workers of its own for these batches: they would come in another order.",
        found=found,
        expected="workers=1 and use_multiprocessing=False",
        advice="Threads are chosen by the verb that makes batches, as in .batch(n, threads=4); for slow Python code "
        "write .map(f, processes=True).",
    )


def _arrays(value: Any, name: str | None = None) -> Any:
    """Return a batch with arrays alone, which is all that Keras takes on every backend."""
    if np.ma.is_masked(value):
        raise absent_values("Keras", name)
    if isinstance(value, np.ndarray):
        return np.ma.getdata(value)
    if isinstance(value, Mapping):
        return {key: _arrays(column, key) for key, column in value.items()}
    if isinstance(value, tuple):
        return tuple(_arrays(entry, name) for entry in value)
    raise PipelineError(
        "Keras needs arrays of numbers, but this feature is something else.",
        feature=name,
        found=type(value).__name__,
        expected="numbers of one shape in all rows",
        advice="Pad rows of different length with .padded_batch(n), turn text into numbers with .vectorize(), or leave "
        "the feature out with .select() or .pairs().",
    )
