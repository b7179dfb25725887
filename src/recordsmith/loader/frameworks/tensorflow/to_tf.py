"""to_tf: the batches of a chain as a tf.data.Dataset.

One element costs one call from TensorFlow into Python, which hands flat arrays over without copying numbers; tensors,
also ragged and sparse ones, are built in TensorFlow's graph (batch_transfer.py, columns.py). A
generator that tf.data holds for as long as it iterates begins an epoch and ends it, so that leaving a loop early stops
the threads that read ahead.

tf.data holds some batches ready. The last step of the pipeline, which runs when the consumer asks for a batch, notes
which of them it has received: `Loader.state` counts these, and not what was fetched.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from recordsmith.errors import PipelineError
from recordsmith.loader.engine.cursor import Cursor
from recordsmith.loader.engine.feeding import UnknownLengthError, feed
from recordsmith.loader.frameworks.tensorflow.batch_form import batch_form, fixed_rows
from recordsmith.loader.frameworks.tensorflow.batch_transfer import BatchTransfer
from recordsmith.loader.frameworks.tensorflow.columns import Form
from recordsmith.loader.order.record_order import ENDLESS
from recordsmith.loader.plan import Plan
from recordsmith.loader.session import Session
from recordsmith.schema.export.tensorflow_features import import_tensorflow

__all__ = ["to_tensorflow"]

_PLACES_KEPT = 64  # after so many batches that were fetched last
_READY = 2  # batches that tf.data holds ready, so that a step of training does not wait for the handing over


def to_tensorflow(session: Session) -> Any:
    """Return a tf.data.Dataset of a loader's batches; see `Loader.to_tf`."""
    tf = import_tensorflow("Loader.to_tf")
    form, rows = batch_form(session.plan), fixed_rows(session.plan)
    transfer = BatchTransfer(form.parts(rows))
    source = _Source(session, form, transfer, tf.Variable([-1, -1], dtype=tf.int64, trainable=False))
    dtypes = [tf.string if part.dtype == object else tf.as_dtype(part.dtype) for part in transfer.parts]
    plain = tf.autograph.experimental.do_not_convert  # there is nothing to convert, and that takes time

    @plain  # type: ignore[untyped-decorator] # TensorFlow is optional
    def fetch(iteration: Any, number: Any) -> tuple[Any, ...]:
        more, *tensors = tf.numpy_function(source.fetch, [iteration], [tf.bool, *dtypes])
        more.set_shape(())
        for tensor, part in zip(tensors, transfer.parts, strict=True):
            tensor.set_shape(part.shape)
        return more, (iteration, number), *tensors

    @plain  # type: ignore[untyped-decorator] # TensorFlow is optional
    def batches(iteration: Any, count: Any) -> Any:
        fetched = tf.data.Dataset.range(count).map(plain(lambda number: fetch(iteration, number)))
        return fetched if known else fetched.take_while(plain(lambda more, *_: more))

    @plain  # type: ignore[untyped-decorator] # TensorFlow is optional
    def handed_out(_: Any, place: Any, *tensors: Any) -> Any:
        source.handed_out.assign(tf.stack(place))
        return form.give(tf, iter(transfer.unpacked(tf, list(tensors))))

    cardinality = _cardinality(session)
    known = cardinality is not None and cardinality < ENDLESS
    signature = (tf.TensorSpec((), tf.int64), tf.TensorSpec((), tf.int64))
    dataset = tf.data.Dataset.from_generator(source.iterations, output_signature=signature).flat_map(batches)
    if cardinality is not None:
        dataset = dataset.apply(
            tf.data.experimental.assert_cardinality(cardinality if known else tf.data.INFINITE_CARDINALITY)
        )
    dataset = dataset.prefetch(_READY).map(handed_out)
    options = tf.data.Options()
    options.experimental_optimization.inject_prefetch = False  # what tf.data fetched ahead after it would count too
    # There is nothing to tune, and the thread that does it lets an iteration end late, by up to its own length.
    options.autotune.enabled = False
    # The batches are made in this process: the tf.data service, which sends datasets elsewhere, refuses this one.
    options.experimental_external_state_policy = tf.data.experimental.ExternalStatePolicy.FAIL
    return dataset.with_options(options)


def _cardinality(session: Session) -> int | None:
    """Return how many batches an iteration has; ENDLESS if it does not end, None if that is not known."""
    plan = session.plan
    if plan.drops_rows or plan.skipped is not None:
        return None
    if plan.epochs_fed is None or (plan.order.length >= ENDLESS and plan.batches_taken[1] is None):
        return ENDLESS
    if not _is_whole(plan, session.upcoming()):
        return None  # restored in the middle: the first iteration is shorter
    try:
        return len(session)
    except UnknownLengthError:
        return None


def _is_whole(plan: Plan, start: Cursor) -> bool:
    """Say whether an iteration that begins at a place has all batches of its epochs."""
    return start == Cursor(start.epoch) and start.epoch % (plan.epochs_fed or 1) == 0


class _Source:
    """The iterations over a loader that are under way, by number."""

    def __init__(self, session: Session, form: Form, transfer: BatchTransfer, handed_out: Any) -> None:
        self.handed_out = handed_out  # the iteration and the number of the batch that the consumer has received last
        self._session = session
        self._form = form
        self._transfer = transfer
        self._nothing = [part.empty() for part in transfer.parts]
        self._under_way: dict[int, Iterator[tuple[Any, Cursor]]] = {}
        self._places: dict[int, deque[tuple[int, Cursor]]] = {}  # by number, those of the last batches
        self._numbers = itertools.count()
        cardinality = _cardinality(session)
        self._is_known = cardinality is not None and cardinality < ENDLESS
        self._count = np.iinfo(np.int64).max if cardinality is None or cardinality >= ENDLESS else cardinality

    def iterations(self) -> Iterator[tuple[int, int]]:
        """Begin an epoch, give its number and how many batches it has, and end it when tf.data lets go."""
        session = self._session
        number = next(self._numbers)
        if self._is_known and not _is_whole(session.plan, session.upcoming()):
            raise PipelineError(
                "The loader was restored after to_tf(): TensorFlow already expects the batches of a whole epoch.",
                advice="Write loader.restore(state).to_tf().",
            )
        start = session.begin()
        places = deque([(-1, start)], maxlen=_PLACES_KEPT)
        session.reach(partial(self._reached, number, places))
        batches = feed(session.plan, start)
        self._under_way[number], self._places[number] = batches, places
        try:
            yield number, self._count
        finally:
            del self._under_way[number], self._places[number]
            batches.close()  # type: ignore[attr-defined] # a generator

    def fetch(self, number: Any) -> list[Any]:
        """Return whether there is another batch, and its arrays."""
        fetched = next(self._under_way[int(number)], None)
        if fetched is None:
            return [np.False_, *self._nothing]
        batch, place = fetched
        places = self._places[int(number)]
        places.append((places[-1][0] + 1, place))
        return [np.True_, *self._transfer.packed(self._form.take(batch))]

    def _reached(self, iteration: int, places: deque[tuple[int, Cursor]]) -> Cursor:
        """Return the place after the batch that the consumer of an iteration has received last."""
        current, received = self.handed_out.numpy().tolist()
        known = dict(places)
        return known[received] if current == iteration else known[min(known)]
