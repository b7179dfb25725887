"""Exported WebDatasets as a source: read by their first member, to exactly what they were made from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, ClassVar

from recordsmith.errors import reason_of
from recordsmith.formats.exported.form import TAR_MEMBER, ExportedForm, same_form
from recordsmith.formats.files.file_splits import FileSource
from recordsmith.formats.files.source_files import SourceFile, describe_files, opened
from recordsmith.formats.source import Chunk, Loaded, Reject
from recordsmith.formats.webdataset.feature_members import EMPTY, features_by_extension, value_of
from recordsmith.formats.webdataset.tar_members import MOST_MEMBER_BYTES, TarMember, tar_members, too_large_reason
from recordsmith.schema import Label, Schema

__all__ = ["ExportedTarSource", "form_within"]

_CHUNK_SAMPLES = 1024
_CHUNK_BYTES = 8 << 20

Members = list[tuple[str, TarMember]]


def form_within(files: Sequence[SourceFile]) -> ExportedForm | None:
    """Return what exported tar files say of themselves; None if they are not exported."""
    found = []
    for file in files:
        # Only the first member is looked at, and its content only if it is ours.
        first = next(iter(islice(tar_members(file, content=True), 1)), None)
        if first is None or first.name != TAR_MEMBER or first.data is None:
            return None
        found.append(ExportedForm.from_text(first.data, file.path))
    return same_form(found)


class ExportedTarSource(FileSource):
    """The samples of exported tar files; `rs.sources.webdataset` returns it for such."""

    kind: ClassVar[str] = "webdataset"
    declared = True

    def __init__(self, files: Sequence[SourceFile], form: ExportedForm, limit: int = MOST_MEMBER_BYTES) -> None:
        self._files = files
        self._limit = limit
        self._form = form
        labels = [name for name, feature in form.schema.items() if isinstance(feature, Label)]
        self.label = labels[0] if len(labels) == 1 else None
        self.sequential = any(file.compression() for file in files)

    def schema(self) -> Schema:
        """Return the schema of the records that were exported."""
        return self._form.schema

    def describe(self) -> dict[str, Any]:
        """Return what the source is: its files with size and time."""
        return {"kind": self.kind, "exported": True, "files": describe_files(self._files)}

    def _declared_splits(self) -> tuple[str, ...]:
        return self._form.splits

    def chunks(self) -> Iterator[Chunk]:
        """Give the samples in groups of up to 1,024 or 8 MB, one tar file after the other."""
        for file in self._files:
            group: list[tuple[str, Members]] = []
            size = 0
            for key, members in _samples(tar_members(file, content=self.sequential, limit=self._limit)):
                sample_size = sum(member.size for _, member in members)
                if group and (len(group) == _CHUNK_SAMPLES or size + sample_size > _CHUNK_BYTES):
                    yield ExportedTarChunk(file, group, self._form.schema, self._extensions, size, self._limit)
                    group, size = [], 0
                group.append((key, members))
                size += sample_size
            if group:
                yield ExportedTarChunk(file, group, self._form.schema, self._extensions, size, self._limit)

    @cached_property
    def _extensions(self) -> dict[str, str]:
        return features_by_extension(self._form.members)


@dataclass(frozen=True, slots=True)
class ExportedTarChunk(Chunk):
    """Some samples of one tar file."""

    file: SourceFile
    samples: list[tuple[str, Members]]
    schema: Schema
    extensions: Mapping[str, str]
    source_bytes: int
    limit: int = MOST_MEMBER_BYTES

    def origin(self) -> str:
        """Return the file."""
        return self.file.path

    def load(self) -> Loaded:
        """Read the samples; those that are not what was exported are refused."""
        columns: dict[str, list[Any]] = {name: [] for name in self.schema}
        keys: list[str] = []
        rejects: list[Reject] = []
        carried = all(member.data is not None for _, members in self.samples for _, member in members)
        with nullcontext() if carried else opened(self.file) as stream:
            for key, members in self.samples:
                row: dict[str, Any] = {}
                try:
                    for extension, member in members:
                        self._read(extension, member, stream, row)
                except ValueError as error:
                    place = f"{self.file.path}, sample {key!r}"
                    rejects.append(
                        Reject(
                            place,
                            None,
                            None,
                            f"The sample does not match the description of the export: {reason_of(error)}",
                        )
                    )
                    continue
                for name, values in columns.items():
                    values.append(row.get(name))
                keys.append(key)
        return Loaded(dict(columns), len(keys), _Places(self.file.path, tuple(keys)), rejects)

    def _read(self, extension: str, member: TarMember, stream: Any, row: dict[str, Any]) -> None:
        if extension == EMPTY:
            return
        name = self.extensions.get(extension)
        if name is None:
            raise ValueError(f"the member with the extension {extension!r} is missing")
        if member.too_large:
            raise ValueError(too_large_reason(member, self.limit))
        data = member.data
        if data is None:
            stream.seek(member.offset)
            data = stream.read(member.size)
        row[name] = value_of(extension, self.schema[name], data)


@dataclass(frozen=True, slots=True)
class _Places:
    """The samples that were loaded."""

    path: str
    keys: tuple[str, ...]

    def of(self, row: int) -> str:
        return f"{self.path}, sample {self.keys[row]!r}"


def _samples(members: Iterator[TarMember]) -> Iterator[tuple[str, Members]]:
    """Put neighbours together whose names are the same up to the first dot."""
    key, group = "", Members()
    for member in members:
        stem, _, extension = member.name.partition(".")
        if not stem:
            continue  # the description
        if stem != key and group:
            yield key, group
            group = []
        key = stem
        group.append((extension, member))
    if group:
        yield key, group
