"""to_torch: the batches of a chain as an IterableDataset for PyTorch's DataLoader.

Batch i is made by worker i modulo the number of workers. A DataLoader takes from its workers in turn, so the order is
that of the chain. This module imports PyTorch: import it only where PyTorch was asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np

from recordsmith.columns import ByteColumn, PackedColumn, Ragged, ShapedColumn, SparseColumn
from recordsmith.columns.offset_column import offsets_of
from recordsmith.errors import import_extra
from recordsmith.loader.engine.feeding import feed, place_to_begin
from recordsmith.loader.frameworks.framework_checks import absent_values, check_fed
from recordsmith.loader.frameworks.torch_deliveries import Receipts, expect_receipts
from recordsmith.loader.frameworks.torch_states import loader_state
from recordsmith.loader.progress.worker_iterations import Worker, WorkerIteration, WorkerPlace, restore_worker
from recordsmith.loader.session import Session
from recordsmith.loader.state import place_in_state, state_of_place

torch = import_extra("torch", extra="torch", purpose="Loader.to_torch")

__all__ = ["RaggedTensors", "TorchBatches", "tensors_of"]

_FRAMEWORK = "PyTorch"


class RaggedTensors(NamedTuple):
    """Rows of different length: row i is `values[offsets[i] : offsets[i + 1]]`.

    `torch.nested.nested_tensor_from_jagged(*ragged)` makes a nested tensor of it, and torch.nn.EmbeddingBag takes
    `ragged.values, ragged.offsets[:-1]`.

    >>> ragged = RaggedTensors(torch.tensor([1, 2, 3]), torch.tensor([0, 1, 3]))
    >>> [row.tolist() for row in ragged.rows()]
    [[1], [2, 3]]
    """

    values: Any
    offsets: Any

    def rows(self) -> list[Any]:
        """Return the rows one by one, without copying.

        >>> RaggedTensors(["a", "b"], torch.tensor([0, 0, 2])).rows()
        [[], ['a', 'b']]
        """
        return [self.values[start:stop] for start, stop in pairwise(self.offsets.tolist())]


class TorchBatches(torch.utils.data.IterableDataset):  # type: ignore[misc,name-defined] # PyTorch is optional
    """A loader's batches as tensors, for `DataLoader(batches, batch_size=None)`.

    >>> import recordsmith as rs, tempfile
    >>> path = tempfile.mkdtemp() + "/data.tfrecord"
    >>> with rs.RecordWriter(path) as writer:
    ...     writer.write_columns({"n": range(6)}, rs.Schema({"n": rs.Scalar("int64")}))
    >>> batches = rs.open(path).batch(3).to_torch()
    >>> len(batches), next(iter(torch.utils.data.DataLoader(batches, batch_size=None)))["n"]
    (2, tensor([0, 1, 2]))
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        check_fed(session.plan, _FRAMEWORK, "to_torch")
        self._session = session
        session.share()
        expect_receipts(session)
        # In a worker process: how often it began, its part of the last iteration, and where the next one is to begin.
        self._begun = 0
        self._iteration: WorkerIteration | None = None
        self._restored: WorkerPlace | None = None

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        expect_receipts(self._session)

    def __len__(self) -> int:
        return len(self._session)

    def __iter__(self) -> Iterator[Any]:
        worker = _worker()
        if worker is None:
            return self._batches()
        self._iteration = iteration = WorkerIteration(self._session, worker, self._begun, self._restored)
        self._begun, self._restored = self._begun + 1, None
        return self._own_batches(iteration)

    def _batches(self) -> Iterator[Any]:
        for batch in self._session.feed(self._session.begin()):
            yield tensors_of(batch)

    def _own_batches(self, iteration: WorkerIteration) -> Iterator[Any]:
        """Give the batches that this worker process makes."""
        start, own = iteration.begin()
        plan = self._session.plan
        if own[1] > 1 and plan.workers is None:
            plan = replace(plan, workers=0)  # the processes are the workers
        receipts = Receipts(self._session.token, iteration.key, start.epoch)
        for batch, place in feed(plan, start, own):
            iteration.reach(place)
            yield receipts.attach(tensors_of(batch))

    def set_epoch(self, epoch: int) -> None:
        """Let the next iteration be the one of this number, also in worker processes that are running."""
        self._session.set_epoch(epoch)

    def state_dict(self) -> dict[str, Any]:
        """Return the place that was reached, as `Loader.state` does; a worker's is that of its share."""
        worker = _worker()
        if worker is None:
            return self._session.state()
        iteration = self._iteration or WorkerIteration(self._session, worker, self._begun, self._restored)
        place = iteration.place
        state = state_of_place(self._session.plan, place.cursor)
        return {**state, "worker": worker.number, "workers": worker.count, "last_worker": place.last}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Begin the next iteration at a place that `state_dict`, `Loader.state` or a StatefulDataLoader gave."""
        worker = _worker()
        if worker is None:
            self._session.restore(loader_state(state))
            return
        last = state.get("last_worker", worker.count - 1) if isinstance(state, Mapping) else 0
        place = place_to_begin(self._session.plan, place_in_state(self._session.plan, state))
        self._restored = WorkerPlace(place, int(last) % worker.count)
        restore_worker(self._session, worker, self._restored)

    @property
    def sampler(self) -> Self:
        """Itself: where Lightning looks for `set_epoch` if it is given these batches without a DataLoader."""
        return self

    def lightning_callback(self) -> Any:
        """Return a callback for Lightning's Trainer that sets the epoch when a checkpoint is loaded.

        Lightning does not restore its DataLoader from a checkpoint that was saved at the end of an epoch. Without the
        callback, training then continues with the order of the first epoch again.
        """
        from recordsmith.loader.frameworks.lightning_epochs import EpochCallback

        return EpochCallback(self.set_epoch)


def _worker() -> Worker | None:
    """Return which of a DataLoader's worker processes this is; None if it is none."""
    info = torch.utils.data.get_worker_info()
    return None if info is None else Worker(info.id, info.num_workers, int(info.seed - info.id))


def tensors_of(value: Any, name: str | None = None) -> Any:
    """Return a batch, or a column of one, as tensors.

    >>> tensors_of({"x": np.arange(3), "s": ByteColumn(b"ab", [0, 1, 2], text=True)})
    {'x': tensor([0, 1, 2]), 's': ['a', 'b']}
    """
    if np.ma.is_masked(value):
        raise absent_values(_FRAMEWORK, name)
    if isinstance(value, (np.ndarray, np.generic)):
        return _tensor(np.asarray(value))
    if isinstance(value, Mapping):
        return {key: tensors_of(column, key) for key, column in value.items()}
    if isinstance(value, tuple):
        entries = [tensors_of(entry, name) for entry in value]
        return type(value)(*entries) if hasattr(value, "_fields") else tuple(entries)
    if isinstance(value, list):
        return [tensors_of(entry, name) for entry in value]
    if isinstance(value, ByteColumn):
        return value.to_list()
    return _column(value, name)


def _column(column: Any, name: str | None) -> Any:
    if not isinstance(column, (Ragged, ShapedColumn, SparseColumn, PackedColumn)):
        return column  # what a function of the user's made: it is theirs to use
    if column.present is not None and not column.present.all():
        raise absent_values(_FRAMEWORK, name)
    if isinstance(column, PackedColumn):
        return {part: _tensor(column[part]) for part in column.names}
    if isinstance(column, ShapedColumn):
        return [_tensor(row) for row in column]
    start, stop = int(column.offsets[0]), int(column.offsets[-1])
    if isinstance(column, SparseColumn):
        rows = np.repeat(np.arange(len(column)), column.lengths)
        places = np.stack([rows, np.asarray(column.indices.values[start:stop])])
        shape = (len(column), column.size)
        values = _tensor(np.asarray(column.values.values[start:stop]))
        return torch.sparse_coo_tensor(_tensor(places), values, shape, is_coalesced=True, check_invariants=False)
    values, offsets = column.values[start:stop], column.offsets - start
    if isinstance(values, np.ndarray) and column.row_shape[0] is not None:
        return [_tensor(row) for row in column]  # another dimension than the first varies
    if isinstance(values, np.ndarray) and values.ndim < len(column.row_shape):
        values, offsets = values.reshape(-1, *column.row_shape[1:]), offsets_of(column.lengths)
    return RaggedTensors(tensors_of(values, name), _tensor(offsets))


def _tensor(array: Any) -> Any:
    if array.dtype.kind in "OSU":
        return array.tolist()
    if array.ndim == 0:
        return torch.as_tensor(array.item())
    usable = array.flags.writeable and array.dtype.isnative and array.flags.aligned
    return torch.from_numpy(array if usable else array.copy())
