"""Records that could not be fed: how many, and the first of them with their reasons."""

from __future__ import annotations

from dataclasses import dataclass

from recordsmith.workers.forking import ForkSafeLock

__all__ = ["Skipped", "SkippedRecord"]

_KEPT = 100


@dataclass(frozen=True, slots=True)
class SkippedRecord:
    """A record that was left out.

    Attributes:
        path: its file.
        record: its number in the file.
        reason: what was wrong.
    """

    path: str
    record: int
    reason: str


class Skipped:
    """What a loader with on_error="skip" has left out so far, over all its epochs.

    Attributes:
        count: how many records.
        first: the first of them.

    >>> skipped = Skipped()
    >>> skipped.add(SkippedRecord("a.tfrecord", 7, "damaged"))
    >>> skipped
    <1 record skipped: a.tfrecord, record 7: damaged>
    """

    def __init__(self) -> None:
        self.count = 0
        self.first: list[SkippedRecord] = []
        self._lock = ForkSafeLock()

    def add(self, record: SkippedRecord) -> None:
        """Count a record."""
        with self._lock:
            self.count += 1
            if len(self.first) < _KEPT:
                self.first.append(record)

    def __repr__(self) -> str:
        if not self.count:
            return "<no record skipped>"
        one = self.first[0]
        records = "record" if self.count == 1 else "records"
        return f"<{self.count} {records} skipped: {one.path}, record {one.record}: {one.reason}>"

    def __getstate__(self) -> dict[str, object]:
        return {"count": self.count, "first": self.first}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state, _lock=ForkSafeLock())
