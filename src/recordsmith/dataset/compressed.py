"""Random access to records of compressed files, which can only be read from their start.

A shard's records are kept decompressed while they fit into a budget that all shards of a dataset share; the shard that
was used longest ago goes first. A shard that is larger than the budget is read from its start to the record, unless the
record is after the last one: reading in order costs no more than a pass.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from recordsmith import _core
from recordsmith.records.core_failures import exception_for
from recordsmith.workers.forking import renew_after_fork

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recordsmith.records.index import ShardIndex

__all__ = ["CompressedShards", "check_place", "open_indexed"]

_BUDGET = 256 << 20


class CompressedShards:
    """Reads payloads of compressed shards by record number. Several threads may use one; they take turns."""

    def __init__(self, *, verify: bool, budget: int = _BUDGET) -> None:
        self._verify = verify
        self._budget = budget
        self._kept: OrderedDict[str, list[bytes]] = OrderedDict()
        self._sizes: dict[str, int] = {}
        self._streams: dict[str, _core.RecordStream] = {}
        self._lock = threading.Lock()
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Keep what is whole: another thread may have been in the middle of reading."""
        whole = self._kept.keys() & self._sizes.keys()
        self._kept = OrderedDict((path, self._kept[path]) for path in self._kept if path in whole)
        self._sizes = {path: self._sizes[path] for path in whole}
        self._streams = {}
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        """In another process it starts empty: neither streams nor locks are sent."""
        return _empty, (self._verify, self._budget)

    @property
    def kept_bytes(self) -> int:
        """How many decompressed bytes are held."""
        return sum(self._sizes.values())

    def read(self, index: ShardIndex, numbers: Sequence[int]) -> list[bytes]:
        """Return the payloads of these records, in this order."""
        size = index.end
        with self._lock:
            if size <= self._budget:
                payloads = self._all(index, size)
                return [payloads[number] for number in numbers]
            return [self._one(index, number) for number in numbers]

    def _all(self, index: ShardIndex, size: int) -> list[bytes]:
        payloads = self._kept.get(index.path)
        if payloads is None:
            while self._kept and self.kept_bytes + size > self._budget:
                oldest, _ = self._kept.popitem(last=False)
                del self._sizes[oldest]
            stream = open_indexed(index, verify=self._verify)
            payloads = []
            while len(payloads) < index.records and (payload := stream.next()) is not None:
                payloads.append(payload)
            check_place(stream, index, index.records)
            self._kept[index.path] = payloads
            self._sizes[index.path] = size
        self._kept.move_to_end(index.path)
        return payloads

    def _one(self, index: ShardIndex, number: int) -> bytes:
        stream = self._streams.get(index.path)
        if stream is None or stream.number > number:
            stream = open_indexed(index, verify=self._verify)
            self._streams[index.path] = stream
        payload: bytes | None = b""
        while payload is not None and stream.number < number:
            payload = stream.next()
        check_place(stream, index, number)
        payload = stream.next()
        check_place(stream, index, number + 1)
        return payload or b""


def _empty(verify: bool, budget: int) -> CompressedShards:  # noqa: FBT001 - pickle gives arguments by position
    return CompressedShards(verify=verify, budget=budget)


def open_indexed(index: ShardIndex, *, verify: bool) -> _core.RecordStream:
    """Open a file that must still be the one that was indexed."""
    return _core.RecordStream(index.path, index.compression, verify, index.identity)


def check_place(stream: _core.RecordStream, index: ShardIndex, number: int) -> None:
    """Make sure that a stream stands before a record, and where the index has it."""
    if stream.number != number or stream.offset != int(index.offsets[number]):
        raise exception_for("stale_index", index.path, stream.offset, stream.number)
