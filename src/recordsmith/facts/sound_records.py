"""Reads the undamaged records of a file, including those after damage."""

from __future__ import annotations

from collections.abc import Iterator

from recordsmith import _core
from recordsmith.errors import RecordsmithError

__all__ = ["sound_records"]


def sound_records(path: str) -> Iterator[tuple[int, int, bytes]]:
    """Give the offset, the number and the payload of each record whose checksums hold; damage is passed over."""
    try:
        stream = _core.RecordStream(path, "auto", True)
    except (RecordsmithError, OSError):
        return
    while True:
        offset, number = stream.offset, stream.number
        try:
            payload = stream.next()
        except (RecordsmithError, OSError):
            if not _recovers(stream):
                return
            continue
        if payload is None:
            return
        yield offset, number, payload


def _recovers(stream: _core.RecordStream) -> bool:
    try:
        return stream.recover()
    except (RecordsmithError, OSError):
        return False
