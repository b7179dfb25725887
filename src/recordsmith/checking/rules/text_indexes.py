"""F017: outdated text indexes of other programs."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from recordsmith.facts.dataset_facts import DatasetFacts, ShardFacts
from recordsmith.rules import Finding, Location, Severity, rule
from recordsmith.wording.numbers import count_text

__all__ = ["stale_text_index"]

_TAIL_BYTES = 200  # of a text index, that hold its last line


@rule("F017", "stale-text-index", Severity.ERROR)
def stale_text_index(facts: DatasetFacts) -> Iterator[Finding]:
    """The text index of DALI (`.idx`) or of the tfrecord package (`.tfindex`) next to a file does not match the file.

    Its last line has to end where the file ends.

    Why it matters:
        These programs trust it: they read from the middle of records, and end with an error or with wrong data.

    Example:
        The file was written again, with other records, and its index was not.

    Fix:
        `recordsmith index PATH --format dali` (or `vahidk`) writes it again.
    """
    stale = [
        (index, end, shard.bytes)
        for shard in facts.shards
        if not shard.compression and not shard.damage_count
        for index in _beside(shard)
        if (end := _indexed_end(index)) is not None and end != shard.bytes
    ]
    if stale:
        index, end, size = stale[0]
        yield stale_text_index.finding(
            f"{count_text(len(stale), 'text index', 'text indexes')} {'is' if len(stale) == 1 else 'are'} out of date: "
            f"{os.path.basename(index)} ends at byte {end:,}, but the file has {size:,} bytes.",
            location=Location(index),
            places=[Location(other) for other, _, _ in stale[1:6]],
            count=len(stale),
        )


def _beside(shard: ShardFacts) -> Iterator[str]:
    for name in (f"{shard.path}.idx", f"{os.path.splitext(shard.path)[0]}.tfindex"):
        if os.path.isfile(name):
            yield name


def _indexed_end(index: str) -> int | None:
    """Where the last record ends, by the index; None if it is no such index."""
    with contextlib.suppress(OSError, ValueError, IndexError), open(index, "rb") as file:
        file.seek(0, os.SEEK_END)
        file.seek(max(0, file.tell() - _TAIL_BYTES))
        lines = file.read().split(b"\n")
        offset, size = (int(word) for word in [line for line in lines if line.strip()][-1].split())
        return offset + size
    return None
