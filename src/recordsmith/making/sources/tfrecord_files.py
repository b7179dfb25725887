"""Existing TFRecord files as a source: to split, shuffle, balance or write them again.

A file that is whole and not compressed is read by record numbers, anywhere. One that is compressed or damaged can only
be read from its start: its chunks carry their records, and what is damaged is left out and reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from recordsmith import _core
from recordsmith.dataset.inference import schema_from_census, take_census
from recordsmith.dataset.layout import DatasetLayout, find_layout
from recordsmith.dataset.payload_decoding import PayloadDecoder, payload_decoder
from recordsmith.errors import ChangedFileError, RecordsmithError
from recordsmith.formats.files.file_splits import FileSource, splits_by_name
from recordsmith.formats.files.source_files import PathLike, SourceFile, check_unchanged, describe_files
from recordsmith.formats.source import Chunk, Loaded, Reject
from recordsmith.records.index import FRAMING_BYTES, Identity, ShardIndex, load_index
from recordsmith.schema import Label, Schema
from recordsmith.schema.native import compile_plan

__all__ = ["TFRecordsSource", "tfrecords"]

_CHUNK_BYTES = 8 << 20
_CHUNK_ROWS = 65_536


def tfrecords(
    paths: PathLike | Iterable[PathLike],
    *,
    split: str | None = None,
    schema: Schema | None = None,
    label: str | None = None,
    raw: bool = False,
    descriptor: PathLike | None = None,
    message: str | None = None,
) -> TFRecordsSource:
    """Return the records of TFRecord files as a source for `make`.

    Args:
        paths: a file, a folder, a glob, or a list of these; gzip and zlib are detected from the content.
        split: only the files of this split.
        schema: what is in a record; None: the schema next to the files, or one inferred from all records.
        label: the feature that is the label; None: the only Label of the schema.
        raw: take each record as bytes, in one feature `payload`, for a function of `make`.
        descriptor: the file of `protoc --descriptor_set_out` with the type of records that are not Examples.
        message: the full name of that type.

    >>> import recordsmith as rs, tempfile
    >>> path = tempfile.mkdtemp() + "/data.tfrecord"
    >>> with rs.RecordWriter(path) as writer:
    ...     writer.write_example({"tokens": [1, 2, 3], "name": "first"})
    >>> chunk, = rs.sources.tfrecords(path).chunks()
    >>> chunk.load().columns["name"]
    ByteColumn(1 row: 'first')
    """
    decoder = payload_decoder(schema, raw=raw, descriptor=descriptor, message=message)
    said = {"raw": raw or None, "message": message}
    return TFRecordsSource(find_layout(paths).select(split), split, schema, label, decoder=decoder, said=said)


@dataclass(frozen=True, slots=True)
class RecordPlaces:
    """Records of a file by number."""

    path: str
    numbers: range | tuple[int, ...]

    def of(self, row: int) -> str:
        """Say where a row came from, such as "data.tfrecord, record 17"."""
        return f"{self.path}, record {self.numbers[row]}"


@dataclass(frozen=True, slots=True)
class IndexedChunk(Chunk):
    """Consecutive records of a file that can be read at any position."""

    file: SourceFile
    identity: Identity
    first: int
    offsets: Any  # of the records, and of the end of the last one
    schema: Schema
    source_bytes: int
    decoder: PayloadDecoder | None = None

    def open(self) -> _core.FileSet:
        """Open the file, which must still be the one that was indexed."""
        check_unchanged(self.file)
        return _core.FileSet([self.file.path], [self.identity])

    def origin(self) -> str:
        """Return the file."""
        return self.file.path

    def load(self) -> Loaded:
        """Read and decode the records."""
        files = self.open()
        count = len(self.offsets) - 1
        lengths = np.diff(self.offsets) - np.uint64(FRAMING_BYTES)
        starts, file_numbers = self.offsets[:-1], np.zeros(count, np.uint32)
        in_file = np.arange(self.first, self.first + count, dtype=np.uint64)
        numbers = range(self.first, self.first + count)
        if self.decoder is None:
            try:
                parts = files.decode(compile_plan(self.schema), file_numbers, starts, lengths, in_file, True)
                return Loaded(self.schema.assemble(parts), count, RecordPlaces(self.file.path, numbers))
            except ChangedFileError:
                raise  # no matter of some bad rows
            except RecordsmithError:
                pass
        payloads, kept, rejects = [], [], []
        for row, number in enumerate(numbers):
            one = slice(row, row + 1)
            try:
                payloads.extend(files.read(file_numbers[one], starts[one], lengths[one], in_file[one], True))
                kept.append(number)
            except RecordsmithError as error:
                rejects.append(_reject(self.file.path, number, error))
        return _decoded(self.file.path, payloads, kept, self.schema, rejects, self.decoder)


@dataclass(frozen=True, slots=True)
class CarriedChunk(Chunk):
    """Records that were read from the start of a file on the way to others."""

    path: str
    payloads: list[bytes]
    numbers: list[int]
    rejects: list[Reject]
    schema: Schema
    source_bytes: int
    decoder: PayloadDecoder | None = None

    def origin(self) -> str:
        """Return the file."""
        return self.path

    def load(self) -> Loaded:
        """Decode the records."""
        return _decoded(self.path, self.payloads, self.numbers, self.schema, list(self.rejects), self.decoder)


class TFRecordsSource(FileSource):
    """The records of TFRecord files. Made by `rs.sources.tfrecords`."""

    kind: ClassVar[str] = "tfrecords"

    def __init__(
        self,
        layout: DatasetLayout,
        split: str | None,
        schema: Schema | None,
        label: str | None,
        *,
        decoder: PayloadDecoder | None = None,
        said: Mapping[str, Any] | None = None,
    ) -> None:
        self._files = [SourceFile.at(path) for path in layout.files]
        self._layout = layout
        self._decoder = decoder
        declared = schema if decoder is None else decoder.schema
        self._given_schema = declared if declared is not None else layout.schema
        self._options = {
            "split": split,
            "label": label,
            "schema": None if declared is None else declared.to_json(),
            **(said or {}),
        }
        self._label = label
        self.declared = self._given_schema is not None
        self.provenance = tuple(name for name in layout.provenance() if name in (self._given_schema or ()))

    @property
    def label(self) -> str | None:  # type: ignore[override]  # from the schema, which may read some of the data
        """The feature that is the label: the one named, or the only Label of the schema."""
        labels = [name for name, feature in self.schema().items() if isinstance(feature, Label)]
        return self._label or (labels[0] if len(labels) == 1 else None)

    @property
    def sequential(self) -> bool:  # type: ignore[override]  # known from the files
        """Whether some file can only be read from its start."""
        return any(index is None or index.compression != "none" for index in self._indexes)

    def schema(self) -> Schema:
        """Return the schema: the given one, the one next to the files, or one that all records fit."""
        return self._schema

    def describe(self) -> dict[str, Any]:
        """Return what the source is: its files with size and time, and the options."""
        options = {name: value for name, value in self._options.items() if value is not None}
        return {"kind": self.kind, "options": options, "files": describe_files(self._files)}

    def chunks(self) -> Iterator[Chunk]:
        """Give the chunks: about 8 MB of records each, and at most 65,536 of them."""
        yield from self._chunks(self.schema())

    def _chunks(self, schema: Schema) -> Iterator[Chunk]:
        for file, index in zip(self._files, self._indexes, strict=True):
            if index is None or index.compression != "none":
                yield from _carried(file, schema, self._decoder, compressed=index is not None)
                continue
            first = 0
            while first < index.records:
                offsets = index.offsets[first : first + _CHUNK_ROWS + 1]
                reach = int(np.searchsorted(offsets, offsets[0] + np.uint64(_CHUNK_BYTES), "right"))
                offsets = np.array(offsets[: max(reach, 2)])
                size = int(offsets[-1] - offsets[0])
                yield IndexedChunk(file, index.identity, first, offsets, schema, size, self._decoder)
                first += len(offsets) - 1

    @property
    def size_bytes(self) -> int | None:
        """How many bytes the files have; None if some must be decompressed."""
        return None if self.sequential else sum(file.size for file in self._files)

    @property
    def row_count(self) -> int | None:
        """How many records there are; None if a damaged file leaves that open."""
        return None if None in self._indexes else sum(index.records for index in self._indexes if index is not None)

    def identities(self) -> list[Identity]:
        """Return what each file is recognised by; none may be damaged."""
        return [index.identity for index in self._indexes if index is not None]

    @cached_property
    def _split_of_file(self) -> Mapping[str, str]:
        known = {path: split for split, paths in self._layout.splits.items() for path in paths}
        said = self._layout.described_by is not None or self._options["split"] is not None
        # Several folders have no description in common, but each may say of its own files which split they are.
        several = len(known) == len(self._files) and len(self._layout.splits) > 1
        return known if said or several else splits_by_name(self._layout.files)

    @cached_property
    def _indexes(self) -> list[ShardIndex | None]:
        """The index of each file; None for one that is damaged."""
        return [_index(file) for file in self._files]

    @cached_property
    def _schema(self) -> Schema:
        if self._given_schema is not None:
            return self._given_schema
        files = [file.path for file in self._files]
        schema = schema_from_census(take_census(files, stop_at_damage=True), files)
        if not schema:
            raise RecordsmithError(
                "The schema cannot be inferred without records.",
                path=files[0] if len(files) == 1 else None,
                advice="Pass a schema.",
            )
        return schema


def _index(file: SourceFile) -> ShardIndex | None:
    try:
        return load_index(file.path)
    except RecordsmithError as error:
        if error.record in (None, 0):  # no TFRecord at all: that is no matter of some bad rows
            raise
        return None


def _carried(file: SourceFile, schema: Schema, decoder: PayloadDecoder | None, *, compressed: bool) -> Iterator[Chunk]:
    """Read a file from its start; after damage, continue with the next undamaged record."""
    check_unchanged(file)
    stream = _core.RecordStream(file.path, "auto", True)
    payloads: list[bytes] = []
    numbers: list[int] = []
    rejects: list[Reject] = []
    size = 0
    while True:
        number = stream.number
        try:
            payload = stream.next()
        except ChangedFileError:
            raise
        except RecordsmithError as error:
            rejects.append(_reject(file.path, number, error))
            payload = b"" if not compressed and stream.recover() else None
            if payload is not None:
                continue
        if payload is not None:
            payloads.append(payload)
            numbers.append(number)
            size += len(payload) + FRAMING_BYTES
        if payload is None or size >= _CHUNK_BYTES or len(payloads) >= _CHUNK_ROWS:
            if payloads or rejects:
                yield CarriedChunk(file.path, payloads, numbers, rejects, schema, size, decoder)
            payloads, numbers, rejects, size = [], [], [], 0
        if payload is None:
            return


def _decoded(
    path: str,
    payloads: list[bytes],
    numbers: list[int],
    schema: Schema,
    rejects: list[Reject],
    decoder: PayloadDecoder | None,
) -> Loaded:
    """Decode payloads; those that do not fit the schema are refused."""

    def columns(some: list[bytes]) -> dict[str, Any]:
        if decoder is not None:
            return decoder.columns(some, schema)
        return schema.assemble(_core.decode_payloads(compile_plan(schema), some))

    try:
        found = columns(payloads)
    except RecordsmithError:
        sound = []
        for payload, number in zip(payloads, numbers, strict=True):
            try:
                columns([payload])
                sound.append((payload, number))
            except RecordsmithError as error:
                rejects.append(_reject(path, number, error))
        payloads, numbers = [payload for payload, _ in sound], [number for _, number in sound]
        found = columns(payloads)
        rejects.sort(key=lambda reject: reject.row or 0)
    return Loaded(found, len(payloads), RecordPlaces(path, tuple(numbers)), rejects)


def _reject(path: str, number: int, error: RecordsmithError) -> Reject:
    found = "" if error.found is None else f" Found: {error.found}."
    return Reject(f"{path}, record {number}", number, error.feature, f"{error.problem}{found}")
