"""Consecutive chunks of a source that are done by one task or one job, and become one piece."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from recordsmith.run.engines.engine import NumberedChunk, StagingWork

__all__ = ["groups_of"]

_MOST_BYTES = 64 << 20  # of the source
_MOST_CHUNKS = 64
_CARRIED_CHUNKS = 4  # of those that contain their rows, of up to about 8 MB each
_GROUPS_PER_WORKER = 8  # so that all have about the same to do


def groups_of(chunks: Iterable[NumberedChunk], work: StagingWork, *, workers: int) -> Iterator[list[NumberedChunk]]:
    """Cut the chunks of a source into groups of consecutive ones. Where they are cut depends on the arguments alone.

    Args:
        chunks: all chunks of the source.
        work: says how large the source is.
        workers: how many share it: no group should be more than an eighth of one's share.
    """
    size = work.source_bytes
    most_bytes = _MOST_BYTES if size is None else min(_MOST_BYTES, max(1, size // (workers * _GROUPS_PER_WORKER)))
    most_chunks = _CARRIED_CHUNKS if work.carries_data or size is None else _MOST_CHUNKS
    group: list[NumberedChunk] = []
    held = 0
    for chunk in chunks:
        group.append(chunk)
        held += chunk.chunk.source_bytes
        if held >= most_bytes or len(group) >= most_chunks:
            yield group
            group, held = [], 0
    if group:
        yield group
