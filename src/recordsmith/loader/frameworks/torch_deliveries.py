"""How the process that consumes learns that a batch of PyTorch's worker processes was received.

An iteration counts as an epoch when its first batch is received, with worker processes as without. A DataLoader calls
nothing of its dataset in the process that consumes. But the batches themselves pass: in a worker process, the first
tensor of a batch is pickled together with a receipt, and whoever unpickles the tensor notes the receipt. The end of a
worker's share has a receipt too, so that an iteration without tensors counts when it ends.

DataLoader also unpickles batches that nobody wants: persistent workers are reset with batches left over from the last
iteration. That happens in its `__iter__`, and what the consumer asks for comes through `__next__`. With pin_memory on a
machine with an accelerator, a thread unpickles all batches in advance, and neither is known. Then an iteration counts
when a worker was asked for more than the two batches that DataLoader asks for in advance, or when it ends.

This module imports PyTorch: import it only where PyTorch was asked for.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Mapping
from multiprocessing.reduction import ForkingPickler
from typing import Any, NamedTuple

from recordsmith.errors import import_extra
from recordsmith.loader.progress.progress import Progress

torch = import_extra("torch", extra="torch", purpose="Loader.to_torch")

__all__ = ["Receipts", "expect_receipts"]

_ASKED_AHEAD = 2  # DataLoader's default prefetch_factor
_expected: weakref.WeakValueDictionary[int, Progress] = weakref.WeakValueDictionary()


class Receipt(NamedTuple):
    """What a batch, or the end of a worker's share, says to the process that receives it.

    Attributes:
        token: whose progress this is of.
        key: the number of the iteration.
        epoch: the epoch that it began with.
        is_asked_for: whether the consumer must have taken a batch before.
    """

    token: int
    key: int
    epoch: int
    is_asked_for: bool


class Receipts:
    """The receipts of one worker's part of an iteration.

    A worker process pickles in a thread of its own, perhaps after the next batch was made. A receipt that goes with the
    batch before is no less true.
    """

    def __init__(self, token: int, key: int, epoch: int) -> None:
        self._receipt = Receipt(token, key, epoch, is_asked_for=False)
        self._asked = 0
        _Outgoing.at_end = self._receipt._replace(is_asked_for=True)
        _install()

    def attach(self, batch: Any) -> Any:
        """Return a batch that is about to be sent with a receipt, if it needs one."""
        self._asked += 1
        if self._asked in (1, _ASKED_AHEAD + 1):
            _Outgoing.with_tensor = self._receipt._replace(is_asked_for=self._asked > _ASKED_AHEAD)
        return _carried(batch) if self._asked <= _ASKED_AHEAD + 1 else batch


def expect_receipts(progress: Progress) -> None:
    """Let receipts that arrive in this process count."""
    _expected[progress.token] = progress


class _Outgoing:
    """The receipts that this worker process sends with the next tensor, and with the end of its share."""

    with_tensor: Receipt | None = None
    at_end: Receipt | None = None


class _CarryingList(list[Any]):
    """A list of text that can carry a receipt. It arrives as a plain list."""


def _carried(batch: Any) -> Any:
    """Return a batch of text alone with lists that can carry a receipt."""
    if isinstance(batch, Mapping) and batch and all(type(column) is list for column in batch.values()):
        return {name: _CarryingList(column) for name, column in batch.items()}
    if isinstance(batch, tuple) and batch and all(type(column) is list for column in batch):
        return tuple(_CarryingList(column) for column in batch)
    return batch


def _install() -> None:
    """Let this worker process send receipts."""
    register: Any = ForkingPickler.register
    register(torch.Tensor, _reduced_tensor)
    register(_CarryingList, lambda column: _with_receipt(list, (list(column),)))
    end = getattr(torch.utils.data._utils.worker, "_IterableDatasetStopIteration", None)  # noqa: SLF001 - the only sign of an end
    if end is not None:
        register(end, lambda ended: (_received, (_Outgoing.at_end, end, (ended.worker_id,))))


def _reduced_tensor(tensor: Any) -> tuple[Any, ...]:
    make, arguments = torch.multiprocessing.reductions.reduce_tensor(tensor)
    return _with_receipt(make, arguments)


def _with_receipt(make: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    receipt, _Outgoing.with_tensor = _Outgoing.with_tensor, None
    return (make, arguments) if receipt is None else (_received, (receipt, make, arguments))


def _received(receipt: Receipt, make: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Note a receipt, and return what it came with."""
    progress = _expected.get(receipt.token)
    caller = _caller()
    if progress is not None and (caller == "__next__" or (caller is None and receipt.is_asked_for)):
        progress.count_iteration(receipt.key, receipt.epoch)
    return make(*arguments)


def _caller() -> str | None:
    """Return which method of an iterator is running: `__next__` or `__iter__`; None in other threads."""
    frame = sys._getframe(1)  # noqa: SLF001 - inspect.currentframe() is the same
    while frame is not None:
        if frame.f_code.co_name in ("__next__", "__iter__"):
            return frame.f_code.co_name
        frame = frame.f_back  # type: ignore[assignment]
    return None
