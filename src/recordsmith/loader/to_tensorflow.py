"""to_tf: the batches of a chain as a tf.data.Dataset.

One element costs one call from TensorFlow into Python, which hands flat arrays over without copying numbers; tensors,
also ragged and sparse ones, are put together in TensorFlow's graph. Since every array that is handed over costs tens of
microseconds, columns of one number a row travel as the lines of one array for each dtype. A generator that tf.data
holds for as long as it iterates begins an epoch and ends it, so that leaving a loop early stops the threads that read
ahead.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from recordsmith.loader.engine import UnknownLengthError
from recordsmith.loader.framework_checks import Feeding
from recordsmith.loader.order import ENDLESS
from recordsmith.loader.tensorflow_columns import Form, Part
from recordsmith.loader.tensorflow_form import batch_form, fixed_rows
from recordsmith.schema.export.tensorflow_features import import_tensorflow

__all__ = ["to_tensorflow"]

_READY = 2  # batches that tf.data holds ready, so that a step of training does not wait for the handing over


def to_tensorflow(loader: Feeding) -> Any:
    """Return a tf.data.Dataset of a loader's batches; see `Loader.to_tf`."""
    tf = import_tensorflow("Loader.to_tf")
    plan = loader._chain()  # noqa: SLF001 - ours
    form, rows = batch_form(plan), fixed_rows(plan)
    cargo = _Cargo(form.parts(rows))
    source = _Source(loader, form, cargo)
    dtypes = [tf.string if part.dtype == object else tf.as_dtype(part.dtype) for part in cargo.parts]
    plain = tf.autograph.experimental.do_not_convert  # there is nothing to convert, and that takes time

    @plain  # type: ignore[untyped-decorator] # TensorFlow is optional
    def fetch(iteration: Any) -> tuple[Any, Any]:
        more, *tensors = tf.numpy_function(source.fetch, [iteration], [tf.bool, *dtypes])
        more.set_shape(())
        for tensor, part in zip(tensors, cargo.parts, strict=True):
            tensor.set_shape(part.shape)
        return more, form.give(tf, iter(cargo.unpacked(tf, tensors)))

    @plain  # type: ignore[untyped-decorator] # TensorFlow is optional
    def batches(iteration: Any, count: Any) -> Any:
        numbers = tf.data.Dataset.range(count)
        if known:
            return numbers.map(plain(lambda _: fetch(iteration)[1]))
        fetched = numbers.map(plain(lambda _: fetch(iteration))).take_while(plain(lambda more, _: more))
        return fetched.map(plain(lambda _, batch: batch))

    cardinality = _cardinality(loader)
    known = cardinality is not None and cardinality < ENDLESS
    signature = (tf.TensorSpec((), tf.int64), tf.TensorSpec((), tf.int64))
    dataset = tf.data.Dataset.from_generator(source.iterations, output_signature=signature).flat_map(batches)
    if cardinality is not None:
        dataset = dataset.apply(
            tf.data.experimental.assert_cardinality(cardinality if known else tf.data.INFINITE_CARDINALITY)
        )
    return dataset.prefetch(_READY)


def _cardinality(loader: Feeding) -> int | None:
    """Return how many batches an iteration has; ENDLESS if it does not end, None if that is not known."""
    plan = loader._chain()  # noqa: SLF001 - ours
    if plan.drops_rows:
        return None
    if plan.epochs_fed is None or plan.order.length >= ENDLESS:
        return ENDLESS
    if loader._next.batch:  # noqa: SLF001 - ours
        return None  # restored in the middle of an epoch: the first iteration is shorter
    try:
        return len(loader)
    except UnknownLengthError:
        return None


class _Cargo:
    """The arrays of a batch, with those of one number a row packed together."""

    def __init__(self, parts: list[Part]) -> None:
        self._bundles: dict[np.dtype[Any], list[int]] = {}
        for place, part in enumerate(parts):
            if part.one_a_row:
                self._bundles.setdefault(part.dtype, []).append(place)
        bundled = {place for places in self._bundles.values() for place in places}
        self._others = [place for place in range(len(parts)) if place not in bundled]
        lines = [Part(dtype, (len(places), parts[places[0]].shape[0])) for dtype, places in self._bundles.items()]
        self.parts = [*lines, *(parts[place] for place in self._others)]

    def packed(self, arrays: list[Any]) -> list[Any]:
        """Return what is handed over."""
        lines = [
            arrays[places[0]][np.newaxis] if len(places) == 1 else np.stack([arrays[place] for place in places])
            for places in self._bundles.values()
        ]
        return [*lines, *(arrays[place] for place in self._others)]

    def unpacked(self, tf: Any, tensors: list[Any]) -> list[Any]:
        """Return the tensors of the arrays before they were packed."""
        found = dict(zip(self._others, tensors[len(self._bundles) :], strict=True))
        for places, lines in zip(self._bundles.values(), tensors, strict=False):
            found.update(zip(places, tf.unstack(lines, num=len(places)), strict=True))
        return [found[place] for place in sorted(found)]


class _Source:
    """The iterations over a loader that are under way, by number."""

    def __init__(self, loader: Feeding, form: Form, cargo: _Cargo) -> None:
        self._loader = loader
        self._form = form
        self._cargo = cargo
        self._nothing = [part.empty() for part in cargo.parts]
        self._under_way: dict[int, Iterator[Any]] = {}
        self._numbers = itertools.count()
        cardinality = _cardinality(loader)
        self._count = np.iinfo(np.int64).max if cardinality is None or cardinality >= ENDLESS else cardinality

    def iterations(self) -> Iterator[tuple[int, int]]:
        """Begin an epoch, give its number and how many batches it has, and end it when tf.data lets go."""
        number = next(self._numbers)
        batches = iter(self._loader)
        self._under_way[number] = batches
        try:
            yield number, self._count
        finally:
            del self._under_way[number]
            batches.close()  # type: ignore[attr-defined] # a generator

    def fetch(self, number: Any) -> list[Any]:
        """Return whether there is another batch, and its arrays."""
        batch = next(self._under_way[int(number)], None)
        if batch is None:
            return [np.False_, *self._nothing]
        return [np.True_, *self._cargo.packed(self._form.take(batch))]
