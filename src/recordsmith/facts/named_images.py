"""Reads the images of given records, for people to look at."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count, islice

from recordsmith.facts.dataset_facts import DatasetFacts, ShardFacts
from recordsmith.facts.from_core.image_facts import Name, chosen_records, images_in
from recordsmith.facts.sound_records import sound_records
from recordsmith.storage.ranged.opening import record_bytes

__all__ = ["NamedImage", "named_images"]

_MOST_RECORDS = 60
_MOST_HEADERS = 1_000_000
_HEADER_BYTES, _FOOTER_BYTES = 12, 4
_MOST_BYTES = 16 << 20  # of images that are kept
_SMALL = 64 << 20  # bytes of a compressed file that is read for it


@dataclass(frozen=True, slots=True)
class NamedImage:
    """The encoded image that a record has in a feature; its first one, where it has several."""

    path: str
    record: int
    feature: str
    data: bytes


def named_images(facts: DatasetFacts, records: Iterable[tuple[str, int, int | None]]) -> tuple[NamedImage, ...]:
    """Read the images of some records, each named by its file, its number there, and its offset if that is known."""
    keys = {(feature.name, feature.in_steps) for feature in facts.features if feature.images is not None}
    if not keys:
        return ()
    shards = {shard.path: shard for shard in facts.shards}
    by_file: dict[str, dict[int, int | None]] = {}
    for path, record, offset in islice(dict.fromkeys(records), _MOST_RECORDS):
        if path in shards and not (shards[path].compression and shards[path].bytes > _SMALL):
            by_file.setdefault(path, {}).setdefault(record, offset)
    wanted: list[Name] = []
    for path, known in by_file.items():
        offsets = known | _offsets(shards[path], [record for record, offset in known.items() if offset is None])
        number = facts.files.index(path)
        wanted += [(number, record, offset) for record, offset in offsets.items() if offset is not None]
    found: dict[tuple[str, int, str], NamedImage] = {}
    size = 0
    for (file, record, _), payload in chosen_records(facts.files, wanted):
        for (feature, _), _, data in images_in(payload, keys):
            key = facts.files[file], record, feature
            if key not in found and size + len(data) <= _MOST_BYTES:
                size += len(data)
                found[key] = NamedImage(*key, data)
    return tuple(found.values())


def _offsets(shard: ShardFacts, records: Sequence[int]) -> dict[int, int]:
    """Find the offsets of records, from header to header; none for files that are damaged before them."""
    if not records or shard.damage_count or max(records) > _MOST_HEADERS:
        return {}
    headers: Iterator[tuple[int, int]]
    if shard.compression:
        headers = ((record, offset) for offset, record, _ in sound_records(shard.path))
    else:
        headers = _headers(shard.path)
    return {record: offset for record, offset in islice(headers, max(records) + 1) if record in records}


def _headers(path: str) -> Iterator[tuple[int, int]]:
    offset = 0
    with record_bytes(path) as read:
        for record in count():
            header = read(offset, _HEADER_BYTES)
            if len(header) < _HEADER_BYTES:
                return
            yield record, offset
            offset += _HEADER_BYTES + struct.unpack_from("<Q", header)[0] + _FOOTER_BYTES
