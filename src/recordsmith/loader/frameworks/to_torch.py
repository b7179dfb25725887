"""to_torch: the batches of a chain as an IterableDataset for PyTorch's DataLoader.

Batch i is made by worker i modulo the number of workers. A DataLoader takes from its workers in turn, so the order is
that of the chain. This module imports PyTorch: import it only where PyTorch was asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from recordsmith.columns import ByteColumn, PackedColumn, Ragged, ShapedColumn, SparseColumn
from recordsmith.columns.offset_column import offsets_of
from recordsmith.errors import import_extra
from recordsmith.loader.frameworks.framework_checks import absent_values, check_fed
from recordsmith.loader.session import Session

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
        self._is_waiting = False  # for the first batch of an iteration to be asked for
        self._first_own: int | None = None  # of the batches after a restored place, in a worker

    def __len__(self) -> int:
        return len(self._session)

    def __iter__(self) -> Iterator[Any]:
        self._is_waiting = True
        return self._batches()

    def _batches(self) -> Iterator[Any]:
        info = torch.utils.data.get_worker_info()
        own = (0, 1) if info is None else (info.id, info.num_workers)
        start = self._session.begin(_drawn(info))
        self._is_waiting = False
        if self._first_own is not None:
            own, self._first_own = (self._first_own, own[1]), None
        plan = self._session.plan
        if own[1] > 1 and plan.workers is None:
            plan = replace(plan, workers=0)  # the processes are the workers
        for batch in self._session.feed(start, own, plan=plan):
            yield tensors_of(batch)

    def state_dict(self) -> dict[str, Any]:
        """Return the place that was reached, as `Loader.state` does; a worker's is that of its share."""
        info = torch.utils.data.get_worker_info()
        if info is None:
            return self._session.state()
        if self._is_waiting:
            self._session.reach(self._session.upcoming(_drawn(info)))
        state = self._session.state()
        begun = int(state["batch"]) > 0
        return {**state, "first_own": info.num_workers - 1 if begun else info.id}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Begin the next iteration at a place that `state_dict` gave."""
        self._session.restore(state)
        self._first_own = state.get("first_own")


def _drawn(info: Any) -> int | None:
    """Return the random number that DataLoader drew for the worker processes of an iteration; None without them."""
    return None if info is None else int(info.seed - info.id)


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
