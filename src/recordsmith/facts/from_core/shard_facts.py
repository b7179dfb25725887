"""Facts about one file: counts, damage, and what a manifest and an index say about it."""

from __future__ import annotations

import contextlib
import hashlib
import os

from recordsmith import _core
from recordsmith.errors import NotTFRecordError, RecordsmithError
from recordsmith.facts.dataset_facts import Damage, ShardFacts
from recordsmith.records.core_failures import exception_for
from recordsmith.records.described_splits import DescribedShard
from recordsmith.records.file_signatures import describe_content
from recordsmith.records.index import cache_paths
from recordsmith.storage.ranged.opening import file_size, is_ranged, pieces_of

__all__ = ["digest_of", "shard_of"]

_KINDS = {
    "corrupt_length": "length-crc",
    "too_large": "length-crc",
    "corrupt_data": "data-crc",
    "truncated": "truncated",
    "compression": "compression",
    "system": "unreadable",
}
_HEADER_BYTES = 12


def shard_of(
    path: str, split: str | None, counted: _core.FileSummary, *, promised: DescribedShard | None, sha256: str | None
) -> ShardFacts:
    """Return the facts of one file.

    Args:
        path: the file.
        split: the split that it belongs to.
        counted: what the core found in it.
        promised: what a manifest says of it.
        sha256: its digest, if it was asked for.
    """
    sizes = counted.sizes
    whole = counted.records > 0
    return ShardFacts(
        path=path,
        split=split,
        bytes=_size(path),
        compression=None if counted.compression == "none" else counted.compression,
        records=counted.records,
        payload_bytes=counted.payload_bytes,
        min_record=sizes.min if sizes else None,
        max_record=sizes.max if sizes else None,
        payloads=counted.payloads,
        damages=tuple(_damage(path, damage, has_records=whole) for damage in counted.damages),
        damage_count=counted.damage_count,
        stale_index=_has_stale_index(path, counted),
        promised=promised,
        sha256=sha256,
    )


def digest_of(path: str) -> str | None:
    """Return the SHA-256 of a file, or None if it cannot be read, which the survey reports elsewhere."""
    with contextlib.suppress(OSError):
        if is_ranged(path):
            digest = hashlib.sha256()
            for piece in pieces_of(path):
                digest.update(piece)
            return digest.hexdigest()
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    return None


def _size(path: str) -> int:
    with contextlib.suppress(OSError):
        return file_size(path)
    return 0


def _damage(path: str, damage: _core.DamageSummary, *, has_records: bool) -> Damage:
    code, offset, found = damage.code, damage.offset, damage.found
    kind = _KINDS.get(code, "unreadable")
    looks_like = None
    # A wrong header at the very start may also be damage: then records follow.
    shown_offset = None if code == "corrupt_length" and offset == 0 and has_records else offset
    error = exception_for(
        code, path, shown_offset, damage.record, "", found, damage.expected, damage.detail, [], damage.system_error
    )
    if isinstance(error, NotTFRecordError):
        kind = "not-a-tfrecord"
        looks_like = describe_content(path).looks_like
    elif kind == "truncated" and int(found) < _HEADER_BYTES and int(damage.expected) == _HEADER_BYTES:
        kind = "stray-tail" if has_records else "not-a-tfrecord"
        looks_like = None if has_records else describe_content(path).looks_like
    known = error if isinstance(error, RecordsmithError) else None
    return Damage(
        kind=kind,
        path=path,
        offset=offset,
        record=damage.record,
        bytes=damage.bytes,
        message=str(error) if known is None else known.problem,
        found=None if known is None or known.found is None else str(known.found),
        expected=None if known is None or known.expected is None else str(known.expected),
        looks_like=looks_like,
    )


def _has_stale_index(path: str, counted: _core.FileSummary) -> bool:
    """Whether the cache has an index of other content; one that is only older, as after a copy, is not stale."""
    sound = counted.is_complete and not counted.damage_count
    with contextlib.suppress(OSError):
        for place in cache_paths(path):
            if not os.path.isfile(place):
                continue
            index = _core.IndexFile.open(place)
            if index is None:
                return True
            (_, size, *_), _, _ = index.facts
            return size != file_size(path) or (sound and len(index) != counted.records + 1)
    return False
