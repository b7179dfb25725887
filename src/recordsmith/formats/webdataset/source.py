"""WebDataset: tar files of samples, as the rows of a dataset."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any, ClassVar, Literal

from recordsmith.errors import PipelineError, list_names
from recordsmith.formats.files.file_splits import FileSource
from recordsmith.formats.files.source_files import PathLike, SourceFile, describe_files, find_files, opened
from recordsmith.formats.images.options import describe_preparation, is_decoded, preparation_of
from recordsmith.formats.source import Chunk, Loaded, Reject
from recordsmith.formats.webdataset.exported import ExportedTarSource, form_within
from recordsmith.formats.webdataset.samples import Sample, expand_braces, group_samples
from recordsmith.formats.webdataset.tar_members import MOST_MEMBER_BYTES, tar_members, too_large_reason
from recordsmith.formats.webdataset.values import Reading, feature_of, value_of
from recordsmith.images import Preparation
from recordsmith.schema import Feature, Image, Schema, Text
from recordsmith.storage.byte_sizes import parse_size

__all__ = ["webdataset"]

_SUFFIXES = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar.zst")
_CHUNK_SAMPLES = 1024
_CHUNK_BYTES = 8 << 20
_LOOKED_AT_FILES = 16
_LOOKED_AT_SAMPLES = 64
_LOOKED_AT_BYTES = 64 << 20


def webdataset(  # noqa: PLR0913 - each is a setting of its own
    paths: PathLike | Iterable[PathLike],
    *,
    classes: Sequence[str] | None = None,
    size: tuple[int, int] | None = None,
    channels: int | None = None,
    encoding: str | None = None,
    quality: int = 95,
    orient: bool = True,
    check: Literal["decode", "header"] = "decode",
    key: str | None = "key",
    max_member: int | str = MOST_MEMBER_BYTES,
) -> WebDatasetSource | ExportedTarSource:
    """Return the samples of WebDataset tar files as a source for `make`.

    A sample is a group of consecutive files with the same name up to the first dot. Each extension is a feature: images
    become `image`, `cls` becomes `label`, `txt` and `json` are text, `npy` arrays, and others bytes. Types are inferred
    from the first samples of up to 16 files; samples that differ are rejected. Files written by `recordsmith export`
    are read with the description in their first member.

    Args:
        paths: tar files, globs such as "train-*.tar" or "train-{000..099}.tar", or a folder. Compressed files are read
            one after the other.
        classes: the class names; `cls` then becomes a Label.
        size: resize images to this height and width.
        channels: convert images to this number of channels: 1, 3 or 4.
        encoding: convert images to this format: jpeg, png, webp or bmp.
        quality: the quality of converted JPEG and WebP images.
        orient: rotate images as their EXIF orientation says.
        check: "decode" decodes every image to find damage; "header" only reads the headers.
        key: the name of the feature with the sample's key; None leaves it out.
        max_member: the maximum size of a file in a tar archive, such as "1GB". Samples with larger files are rejected.

    >>> import io, tarfile, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "a.tar")
    ...     with tarfile.open(path, "w") as tar:
    ...         for name, data in {"1.txt": b"one", "1.cls": b"5", "2.txt": b"two", "2.cls": b"7"}.items():
    ...             member = tarfile.TarInfo(name)
    ...             member.size = len(data)
    ...             tar.addfile(member, io.BytesIO(data))
    ...     [chunk.load().columns for chunk in webdataset(path).chunks()]
    [{'txt': ['one', 'two'], 'label': [5, 7], 'key': ['1', '2']}]
    """
    preparation = preparation_of(size=size, channels=channels, encoding=encoding, quality=quality, orient=orient)
    given = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    written_out = [one for path in given for one in expand_braces(os.fspath(path))]
    files = find_files(written_out, _SUFFIXES, kind="tar")
    if classes is None and preparation == Preparation() and check == "decode" and key == "key":
        form = form_within(files)
        if form is not None:
            return ExportedTarSource(files, form, parse_size(max_member))
    return WebDatasetSource(
        files,
        classes=classes,
        preparation=preparation,
        decode=is_decoded(check),
        key=key,
        limit=parse_size(max_member),
    )


class WebDatasetSource(FileSource):
    """What `webdataset` returns."""

    kind: ClassVar[str] = "webdataset"

    def __init__(
        self,
        files: tuple[SourceFile, ...],
        *,
        classes: Sequence[str] | None,
        preparation: Preparation,
        decode: bool,
        key: str | None,
        limit: int = MOST_MEMBER_BYTES,
    ) -> None:
        self._files = files
        self._classes = None if classes is None else tuple(classes)
        self._preparation = preparation
        self._decode = decode
        self._key = key
        self._limit = limit
        self.provenance = () if key is None else (key,)
        # A compressed file can only be read from its start, so whoever reads it hands on what was read.
        self.sequential = any(_is_compressed(file) for file in files)

    @property
    def label(self) -> str | None:  # type: ignore[override]
        """The feature `label`, if the samples have one."""
        return "label" if "label" in self._readings else None

    def schema(self) -> Schema:
        """Return the schema: the features that the first samples have, and the key."""
        features: dict[str, Feature] = {name: reading.feature for name, reading in self._readings.items()}
        if self._key is not None:
            if self._key in features:
                raise PipelineError(
                    "The samples have a member with the same name as the key.",
                    found=self._key,
                    advice="Give another name with key=..., or key=None.",
                )
            features[self._key] = Text(description="the name of the sample in its tar file")
        return Schema(features)

    def describe(self) -> dict[str, Any]:
        """Return what the source is: its options, and what identifies its files."""
        return {
            "kind": self.kind,
            "files": describe_files(self._files),
            "classes": None if self._classes is None else list(self._classes),
            **describe_preparation(self._preparation),
            "check": "decode" if self._decode else "header",
            "key": self._key,
            **({} if self._limit == MOST_MEMBER_BYTES else {"max_member": self._limit}),
        }

    def chunks(self) -> Iterator[Chunk]:
        """Give the samples in groups of up to 1,024 or 8 MB, one tar file after the other."""
        for file in self._files:
            for samples, size in _groups(group_samples(tar_members(file, content=self.sequential, limit=self._limit))):
                yield WebDatasetChunk(file, samples, self._readings, self._key, self._limit, size)

    @cached_property
    def _readings(self) -> dict[str, Reading]:
        contents: dict[str, list[bytes]] = {}
        looked_at = 0
        seen: dict[tuple[str, str], Sample] = {}
        step = max(1, -(-len(self._files) // _LOOKED_AT_FILES))
        for file in self._files[::step]:
            size = 0
            for sample in islice(group_samples(tar_members(file, content=True, limit=self._limit)), _LOOKED_AT_SAMPLES):
                looked_at += 1
                other = seen.setdefault((file.path, sample.key), sample)
                if other is not sample and sample.members.keys().isdisjoint(other.members):
                    raise PipelineError(
                        "The files of a sample are not next to each other in the tar file.",
                        path=file.path,
                        found=f"sample {sample.key!r} twice, with {list_names(other.members)} and with "
                        f"{list_names(sample.members)}",
                        advice="Write the tar file again, sorted by name: tar --sort=name -cf sorted.tar FOLDER",
                    )
                for name, member in sample.members.items():
                    if member.too_large:
                        continue
                    contents.setdefault(name, []).append(member.data or b"")
                size += sample.size
                if size > _LOOKED_AT_BYTES // _LOOKED_AT_FILES:
                    break
        if not contents:
            raise PipelineError(
                "The tar files contain no samples.",
                path=self._files[0].path,
                expected="files named by a key and an extension, such as 0001.jpg and 0001.cls",
            )
        readings = {}
        for name, found in contents.items():
            kind, feature = feature_of(
                name,
                found,
                optional=len(found) < looked_at,
                classes=self._classes,
                preparation=self._preparation,
            )
            preparation = self._preparation
            if isinstance(feature, Image):
                preparation = replace(preparation, encoding=feature.encoding)
            readings[name] = Reading(kind, feature, preparation, self._decode)
        return readings


@dataclass(frozen=True, slots=True)
class WebDatasetChunk(Chunk):
    """Some samples of one tar file: where they are, or for a compressed file what they are."""

    file: SourceFile
    samples: list[Sample]
    readings: dict[str, Reading]
    key: str | None
    limit: int
    source_bytes: int

    def origin(self) -> str:
        """Return the file."""
        return self.file.path

    def load(self) -> Loaded:
        """Read the samples; those that lack a feature, have another one, or cannot be decoded are rejects."""
        columns: dict[str, list[Any]] = {name: [] for name in self.readings}
        keys: list[str] = []
        rejects: list[Reject] = []
        carried = all(member.data is not None for sample in self.samples for member in sample.members.values())
        with nullcontext() if carried else opened(self.file) as stream:
            for sample in self.samples:
                row = self._row(sample, stream)
                if isinstance(row, Reject):
                    rejects.append(row)
                    continue
                for name, value in row.items():
                    columns[name].append(value)
                keys.append(sample.key)
        places = _Places(self.file.path, keys)
        if self.key is not None:
            columns[self.key] = list(keys)
        return Loaded(dict(columns), len(keys), places, rejects)

    def _row(self, sample: Sample, stream: Any) -> dict[str, Any] | Reject:
        place = _place(self.file.path, sample.key)
        if sample.twice is not None:
            return Reject(place, None, sample.twice, "The sample has two members for one feature.")
        for name, given in sample.members.items():
            if given.too_large:
                return Reject(place, None, name, too_large_reason(given, self.limit))
        unknown = [name for name in sample.members if name not in self.readings]
        if unknown:
            reason = f"The sample has {list_names(unknown)}, which the first samples do not have."
            return Reject(place, None, unknown[0], reason)
        row: dict[str, Any] = {}
        for name, reading in self.readings.items():
            member = sample.members.get(name)
            if member is None:
                if not reading.feature.optional:
                    return Reject(place, None, name, "The sample lacks this member, which the first samples have.")
                row[name] = None
                continue
            data = member.data
            if data is None:
                stream.seek(member.offset)
                data = stream.read(member.size)
            try:
                row[name] = value_of(data, reading)
            except ValueError as error:
                return Reject(place, None, name, str(error))
        return row


@dataclass(frozen=True, slots=True)
class _Places:
    """The samples that were loaded."""

    path: str
    keys: list[str]

    def of(self, row: int) -> str:
        return _place(self.path, self.keys[row])


def _place(path: str, key: str) -> str:
    return f"{path}, sample {key!r}"


def _groups(samples: Iterable[Sample]) -> Iterator[tuple[list[Sample], int]]:
    group: list[Sample] = []
    size = 0
    for sample in samples:
        if group and (len(group) == _CHUNK_SAMPLES or size + sample.size > _CHUNK_BYTES):
            yield group, size
            group, size = [], 0
        group.append(sample)
        size += sample.size
    if group:
        yield group, size


def _is_compressed(file: SourceFile) -> bool:
    with opened(file) as stream:
        return stream.read(6).startswith((b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd"))
