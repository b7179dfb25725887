"""Detects which byte features are images, from the header of every value."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from recordsmith import _core
from recordsmith.images import ImageHeader, read_header
from recordsmith.records.compression import reading_compression
from recordsmith.schema import Bytes, Feature, Image, Schema, Steps
from recordsmith.schema.native import compile_plan

__all__ = ["with_images"]

_BATCH = 64  # rows, of which each may hold a large image
_CHANNELS = (1, 3, 4)
_PROVEN = ("jpeg", "png", "webp", "gif")  # a BMP begins with two letters, which other bytes may have too


def with_images(
    schema: Schema, files: Sequence[str], compression: str | None = "auto", *, records_per_file: int | None = None
) -> Schema:
    """Return a schema in which features of bytes are images where every value is one.

    The size, the encoding and the channels are declared where they are the same in all of them.

    >>> import recordsmith as rs, tempfile
    >>> path = tempfile.mkdtemp() + "/data.tfrecord"
    >>> with rs.RecordWriter(path) as writer:
    ...     writer.write_example({"image": b"GIF89a" + bytes([32, 0, 24, 0, 0, 0, 0]), "other": b"GIF"})
    >>> with_images(Schema({"image": Bytes(), "other": Bytes()}), [path])
    Schema({
        'image': Image(height=24, width=32, encoding='gif'),
        'other': Bytes(),
    })
    """
    candidates = {name: _Candidate() for name, feature in schema.items() if _may_be_images(feature)}
    for file in files:
        candidates = {name: candidate for name, candidate in candidates.items() if candidate.holds}
        if not candidates:
            break
        _look(schema.select(candidates), candidates, file, compression, records_per_file)
    proven = {name: candidate for name, candidate in candidates.items() if candidate.holds and candidate.sizes}
    return (
        Schema({name: _as_image(feature, proven.get(name)) for name, feature in schema.items()}) if proven else schema
    )


class _Candidate:
    """What the values of a feature have shown so far."""

    def __init__(self) -> None:
        self.holds = True
        self.encodings: set[str] = set()
        self.sizes: set[tuple[int, int]] = set()
        self.channels: set[int] = set()

    def see(self, values: Iterable[bytes | None]) -> None:
        for value in values:
            if value is None:
                continue
            header = read_header(value)
            if header is None or not _is_proof(header):
                self.holds = False
                return
            self.encodings.add(header.format)
            self.sizes.add((header.height, header.width))
            self.channels.add(header.channels)


def _is_proof(header: ImageHeader) -> bool:
    return header.format in _PROVEN and header.height > 0 and header.width > 0


def _may_be_images(feature: Feature) -> bool:
    inner = feature.feature if isinstance(feature, Steps) else feature
    return isinstance(inner, Bytes) and inner.shape == ()


def _look(
    schema: Schema,
    candidates: dict[str, _Candidate],
    file: str,
    compression: str | None,
    records: int | None,
) -> None:
    stream = _core.BatchStream(
        [file],
        [reading_compression(compression)],
        compile_plan(schema),
        _BATCH,
        verify=False,
        drop_last=False,
        threads=0,
    )
    left = records
    while left is None or left > 0:
        decoded = stream.next()
        if decoded is None or not any(candidate.holds for candidate in candidates.values()):
            return
        count, parts = decoded
        wanted = count if left is None else min(count, left)
        for name, column in schema.assemble(parts).items():
            if candidates[name].holds:
                candidates[name].see(_strings(column, wanted))
        left = None if left is None else left - count


def _strings(column: Any, rows: int) -> Iterable[bytes | None]:
    for row in range(rows):
        value = column[row]
        if value is None or isinstance(value, bytes):
            yield value
        else:
            yield from value  # the steps of a record


def _as_image(feature: Feature, seen: _Candidate | None) -> Feature:
    if seen is None:
        return feature
    if isinstance(feature, Steps):
        return Steps(_as_image(feature.feature, seen), optional=feature.optional)
    height, width = (sizes.pop() if len(sizes) == 1 else None for sizes in map(set, zip(*seen.sizes, strict=True)))
    channels = min(seen.channels)
    return Image(
        height,
        width,
        channels=channels if len(seen.channels) == 1 and channels in _CHANNELS else None,
        encoding=min(seen.encodings) if len(seen.encodings) == 1 else None,
        optional=feature.optional,
    )
