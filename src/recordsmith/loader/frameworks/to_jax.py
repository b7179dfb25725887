"""to_jax: the batches of a chain as JAX arrays on a device, sent there before they are asked for."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from recordsmith.columns import ByteColumn, PackedColumn, Ragged, ShapedColumn, SparseColumn
from recordsmith.columns.offset_column import offsets_of
from recordsmith.errors import PipelineError, import_extra
from recordsmith.loader.engine.cursor import Cursor
from recordsmith.loader.engine.feeding import feed
from recordsmith.loader.frameworks.framework_checks import absent_values, check_fed
from recordsmith.loader.session import Session
from recordsmith.loader.verbs.arguments import check_whole_number

__all__ = ["JaxBatches", "JaxIterator", "RaggedArrays", "SparseArrays", "to_jax"]

_FRAMEWORK = "JAX"
_NARROWED = {
    np.dtype(np.int64): np.dtype(np.int32),
    np.dtype(np.uint64): np.dtype(np.uint32),
    np.dtype(np.float64): np.dtype(np.float32),
}


class RaggedArrays(NamedTuple):
    """Rows of different length: row i is `values[offsets[i] : offsets[i + 1]]`. Functions take it as a pytree.

    >>> RaggedArrays(np.array([1, 2, 3]), np.array([0, 1, 3])).offsets.tolist()
    [0, 1, 3]
    """

    values: Any
    offsets: Any


class SparseArrays(NamedTuple):
    """Entries of sparse vectors: `values[i]` is in the row and column `places[i]`.

    `jax.experimental.sparse.BCOO((sparse.values, sparse.places), shape=(rows, size))` makes a matrix of it.

    >>> SparseArrays(np.array([0.5]), np.array([[0, 7]])).places.tolist()
    [[0, 7]]
    """

    values: Any
    places: Any


def to_jax(session: Session, *, device: Any, ahead: int) -> JaxBatches:
    """Return an iterable of a loader's batches on a device; see `Loader.to_jax`."""
    jax = import_extra("jax", extra="jax", purpose="Loader.to_jax")
    check_whole_number("The number of batches ahead", ahead, least=0)
    check_fed(session.plan, _FRAMEWORK, "to_jax")
    return JaxBatches(session, jax, device, ahead)


class JaxIterator(Iterator[Any]):
    """An iteration over a loader's batches that grain and Orbax can save and restore.

    The place is that of the loader: save the iterator that you use.
    """

    def __init__(self, batches: JaxBatches) -> None:
        self._source = batches
        self._batches: Iterator[Any] | None = None

    def __next__(self) -> Any:
        if self._batches is None:
            self._batches = self._source.iterate()
        return next(self._batches)

    def get_state(self) -> bytes:
        """Return the place after the last batch that was received."""
        return self._source.get_state()

    def set_state(self, state: bytes) -> None:
        """Continue at a place that `get_state` returned."""
        self._source.set_state(state)
        self._batches = None

    def start_prefetch(self) -> None:
        """Do nothing: grain's checkpoint handler calls it. Batches are prepared when the first is asked for."""


class JaxBatches:
    """A loader's batches as JAX arrays. Iterating again is a new epoch."""

    def __init__(self, session: Session, jax: Any, device: Any, ahead: int) -> None:
        self._session = session
        self._jax = jax
        self._device = device
        self._ahead = ahead

    def __len__(self) -> int:
        return len(self._session)

    def __iter__(self) -> JaxIterator:
        return JaxIterator(self)

    def iterate(self) -> Iterator[Any]:
        """Give the batches of an epoch."""
        session = self._session
        sent: deque[tuple[Any, Cursor]] = deque()
        for batch, place in feed(session.plan, session.begin()):
            sent.append((self._arrays(batch), place))
            if len(sent) > self._ahead:
                yield self._handed_out(sent)
        while sent:
            yield self._handed_out(sent)

    def state_dict(self) -> dict[str, Any]:
        """Return the place after the last batch that was received, as `Loader.state` does."""
        return self._session.state()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Begin the next iteration at a place."""
        self._session.restore(state)

    def get_state(self) -> bytes:
        """Return the same as bytes, for grain's checkpoint handler and Orbax."""
        return json.dumps(self.state_dict()).encode()

    def set_state(self, state: bytes) -> None:
        """Begin the next iteration at a place that `get_state` returned."""
        try:
            self.load_state_dict(json.loads(state))
        except ValueError as error:
            raise PipelineError("This is not the state of a loader.", found=repr(state)[:200]) from error

    def start_prefetch(self) -> None:
        """Do nothing: grain's checkpoint handler calls it. Batches are prepared when the first is asked for."""

    def _handed_out(self, sent: deque[tuple[Any, Cursor]]) -> Any:
        arrays, place = sent.popleft()
        self._session.reach(place)
        return arrays

    def _arrays(self, value: Any, name: str | None = None) -> Any:
        if np.ma.is_masked(value):
            raise absent_values(_FRAMEWORK, name)
        if isinstance(value, (np.ndarray, np.generic)):
            return self._sent(np.asarray(value), name)
        if isinstance(value, Mapping):
            return {key: self._arrays(column, key) for key, column in value.items()}
        if isinstance(value, tuple):
            entries = [self._arrays(entry, name) for entry in value]
            return type(value)(*entries) if hasattr(value, "_fields") else tuple(entries)
        if isinstance(value, list):
            return [self._arrays(entry, name) for entry in value]
        return self._column(value, name)

    def _column(self, column: Any, name: str | None) -> Any:
        if isinstance(column, ByteColumn) or not isinstance(column, (Ragged, ShapedColumn, SparseColumn, PackedColumn)):
            return column  # JAX has no strings: they stay where they are
        if column.present is not None and not column.present.all():
            raise absent_values(_FRAMEWORK, name)
        if isinstance(column, PackedColumn):
            return {part: self._sent(column[part], name) for part in column.names}
        if isinstance(column, ShapedColumn):
            return [self._sent(row, name) for row in column]
        start, stop = int(column.offsets[0]), int(column.offsets[-1])
        if isinstance(column, SparseColumn):
            rows = np.repeat(np.arange(len(column)), column.lengths)
            places = np.stack([rows, np.asarray(column.indices.values[start:stop])], axis=1)
            return SparseArrays(
                self._sent(np.asarray(column.values.values[start:stop]), name), self._sent(places, name)
            )
        values, offsets = column.values[start:stop], column.offsets - start
        if isinstance(values, np.ndarray) and column.row_shape[0] is not None:
            return [self._sent(row, name) for row in column]
        if isinstance(values, np.ndarray) and values.ndim < len(column.row_shape):
            values, offsets = values.reshape(-1, *column.row_shape[1:]), offsets_of(column.lengths)
        return RaggedArrays(self._arrays(values, name), self._sent(offsets, name))

    def _sent(self, array: Any, name: str | None) -> Any:
        if array.dtype.kind in "OSU":
            return array.tolist()
        narrow = _NARROWED.get(array.dtype)
        if narrow is not None and not self._jax.config.jax_enable_x64:
            # JAX cuts 64 bits to 32 without a word; it is done here, where it can be checked.
            limits: Any = np.iinfo(narrow) if narrow.kind != "f" else np.finfo(narrow)
            finite = array if narrow.kind != "f" else array[np.isfinite(array)]
            if finite.size and not (limits.min <= finite.min() and finite.max() <= limits.max):
                raise PipelineError(
                    "JAX stores numbers in 32 bits, and a value does not fit.",
                    feature=name,
                    found=f"{finite.min()} to {finite.max()}",
                    expected=f"{limits.min} to {limits.max}",
                    advice='Call jax.config.update("jax_enable_x64", True), or leave the feature out with .select().',
                )
            array = array.astype(narrow)
        if not getattr(self._device, "is_fully_addressable", True):
            # A sharding over the devices of several processes: each gives the rows of its own.
            return self._jax.make_array_from_process_local_data(self._device, array)
        return self._jax.device_put(array, self._device)
