"""Exported WebDatasets: the tar members of each feature, and such files as a source.

0000000000.jpg         a feature `image`, by the format that the image has
0000000000.cls         a feature `label`: the number of the class
0000000000.NAME.png    other images; NAME.cls other labels
0000000000.NAME.txt    text
0000000000.NAME.bin    bytes
0000000000.NAME.npy    tensors, in numpy's format
0000000000.NAME.json   anything else, as in JSON lines
0000000000.empty.json  a sample that has no value at all
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, ClassVar

import numpy as np

from recordsmith.errors import reason_of
from recordsmith.formats.arrays.npy_format import array_of_bytes
from recordsmith.formats.exported.form import TAR_MEMBER, ExportedForm, same_form
from recordsmith.formats.exported.values import plain_value, restored_value
from recordsmith.formats.files.file_splits import FileSource
from recordsmith.formats.files.source_files import SourceFile, describe_files, opened
from recordsmith.formats.json_lines.json_text import parse_json
from recordsmith.formats.source import Chunk, Loaded, Reject
from recordsmith.formats.webdataset.tar_members import MOST_MEMBER_BYTES, TarMember, tar_members, too_large_reason
from recordsmith.images import read_header
from recordsmith.schema import Bytes, Feature, Image, Label, Schema, Tensor, Text

__all__ = ["EMPTY", "ExportedTarSource", "form_within", "member_of", "members_of"]

EMPTY = "empty.json"
_CHUNK_SAMPLES = 1024
_CHUNK_BYTES = 8 << 20
_IMAGES = {"jpeg": "jpg", "png": "png", "webp": "webp", "bmp": "bmp", "gif": "gif"}
_LONGEST_STEM = 60  # the name of a member of a tar file has at most 100 characters
_ANY = "*"  # in place of an image's format, where it varies

Members = list[tuple[str, TarMember]]


def members_of(schema: Schema) -> dict[str, str]:
    """Return the extension that the members of each feature have; * stands for an image's own format.

    >>> members_of(Schema({"image": Image(encoding="png"), "label": Label(2), "a/b": Text(), "view": Image()}))
    {'image': 'png', 'label': 'cls', 'a/b': 'a_b.txt', 'view': 'view.*'}
    """
    members: dict[str, str] = {}
    stems: set[str] = {"empty"}
    taken: dict[str, int] = {}  # the last number that was added to a stem
    for name, feature in schema.items():
        kind = _kind(feature)
        plain = re.sub(r"[^a-z0-9_]+", "_", name.lower())[:_LONGEST_STEM] or "_"
        stem = plain
        while stem in stems:
            taken[plain] = taken.get(plain, 1) + 1
            stem = f"{plain}{taken[plain]}"
        stems.add(stem)
        bare = (name == "image" and isinstance(feature, Image)) or (name == "label" and isinstance(feature, Label))
        members[name] = kind if bare else f"{stem}.{kind}"
    return members


def member_of(extension: str, feature: Feature, value: Any) -> tuple[str, bytes]:
    """Return the extension and the content of the member that holds a value.

    >>> member_of("tokens.json", Text((None,)), ["a", "b"])
    ('tokens.json', b'["a", "b"]')
    """
    kind = extension.rpartition(".")[2]
    if isinstance(feature, Image):
        if kind == _ANY:
            header = read_header(value)
            found = "bin" if header is None else _IMAGES.get(header.format, "bin")
            extension = extension.removesuffix(_ANY) + found
        return extension, value
    if kind == "cls":
        return extension, str(int(value)).encode()
    if kind == "txt":
        return extension, value.encode()
    if kind == "bin":
        return extension, value
    if kind == "npy":
        stream = io.BytesIO()
        np.save(stream, np.asarray(value), allow_pickle=False)
        return extension, stream.getvalue()
    return extension, json.dumps(plain_value(feature, value), ensure_ascii=False, allow_nan=False).encode()


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

    @property
    def size_bytes(self) -> int | None:
        """The size of the tar files."""
        return sum(file.size for file in self._files)

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
        """Features by the extensions that their members may have."""
        found: dict[str, str] = {}
        for name, extension in self._form.members.items():
            if extension.endswith(_ANY):
                stem = extension.removesuffix(_ANY)
                found |= {stem + kind: name for kind in (*_IMAGES.values(), "bin")}
            else:
                found[extension] = name
        return found


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
        row[name] = _value(self.schema[name], extension.rpartition(".")[2], data)


@dataclass(frozen=True, slots=True)
class _Places:
    """The samples that were loaded."""

    path: str
    keys: tuple[str, ...]

    def of(self, row: int) -> str:
        return f"{self.path}, sample {self.keys[row]!r}"


def _kind(feature: Feature) -> str:
    if isinstance(feature, Image):
        return _ANY if feature.encoding is None else _IMAGES[feature.encoding]
    if isinstance(feature, Label):
        return "cls"
    if isinstance(feature, (Text, Bytes)) and not feature.shape:
        return "txt" if isinstance(feature, Text) else "bin"
    return "npy" if isinstance(feature, Tensor) else "json"


def _value(feature: Feature, kind: str, data: bytes) -> Any:
    if isinstance(feature, (Image, Bytes)) and kind != "json":
        return data
    if kind == "cls":
        return int(data)
    if kind == "txt":
        return data.decode()
    if kind == "npy":
        return array_of_bytes(data)
    return restored_value(feature, parse_json(data))


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
