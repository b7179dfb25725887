"""Finds the files of a dataset and its description: a manifest, a TFDS description, or none."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field

from recordsmith.dataset.descriptions.manifest import MANIFEST_NAME, Manifest, load_manifest
from recordsmith.dataset.descriptions.tfds_folder import DATASET_INFO_NAME, read_tfds_folder
from recordsmith.errors import RecordsmithError, did_you_mean, list_names
from recordsmith.records.described_splits import files_by_split
from recordsmith.records.file_signatures import describe_content
from recordsmith.records.shards import (
    files_in,
    parse_shard_name,
    resolve_files,
    warn_if_changed,
    warn_if_incomplete,
    warn_if_repeated,
)
from recordsmith.schema import Schema
from recordsmith.storage.objects import without_secrets
from recordsmith.storage.publication import Publication, files_in_force, in_force, state_of
from recordsmith.storage.ranged.opening import RemoteFolder, is_folder, is_ranged, listed_folder
from recordsmith.wording.numbers import count_text

__all__ = ["DatasetLayout", "find_layout"]

PathLike = str | os.PathLike[str]

_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class DatasetLayout:
    """The files of a dataset, in reading order.

    Attributes:
        files: the TFRecord files.
        splits: the files by split, as far as known from names or a description.
        schema: the declared schema, if there is one next to the files.
        described_by: the file that says so: a manifest or a TFDS description.
    """

    files: tuple[str, ...]
    splits: dict[str, tuple[str, ...]] = field(default_factory=dict)
    schema: Schema | None = None
    described_by: str | None = None

    def select(self, split: str | None) -> DatasetLayout:
        """Return the layout of one split; None keeps all."""
        if split is None:
            return self
        if split not in self.splits:
            raise RecordsmithError(
                f"There is no split {split!r}.{did_you_mean(split, self.splits)}",
                path=os.path.dirname((*self.files, self.described_by or "")[0]) or None,
                expected=list_names(self.splits) if self.splits else "no split: the file names do not indicate any",
                advice="Omit split to read all files, or pass a glob of the files to read.",
            )
        files = self.splits[split]
        return DatasetLayout(files, {split: files}, self.schema, self.described_by)

    def manifest(self) -> Manifest | None:
        """Return the manifest next to the files, if there is one."""
        if self.described_by is None or os.path.basename(self.described_by) != MANIFEST_NAME:
            return None
        return load_manifest(self.described_by)

    def provenance(self) -> tuple[str, ...]:
        """Return the features that say where a record comes from, and not what it is."""
        manifest = self.manifest()
        return () if manifest is None else manifest.provenance


def find_layout(paths: PathLike | Iterable[PathLike]) -> DatasetLayout:
    """Find the files of a path, folder, glob or list, and the schema next to them.

    >>> import recordsmith as rs, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> for split in ("train", "test"):
    ...     with rs.RecordWriter(f"{folder}/{split}-00000-of-00001") as writer:
    ...         writer.write(b"")
    >>> sorted(find_layout(folder).splits)
    ['test', 'train']
    """
    found = resolve_files(paths)
    if len(found) == 1 and is_folder(found[0]):
        return _folder_layout(found[0])
    files: list[str] = []
    splits: dict[str, tuple[str, ...]] = {}
    for path in found:
        layout = _folder_layout(path) if is_folder(path) else DatasetLayout((path,), _splits_by_name([path]))
        files.extend(layout.files)
        splits |= {split: (*splits.get(split, ()), *names) for split, names in layout.splits.items()}
    if isinstance(paths, (str, os.PathLike)) and len(files) > 1:
        warn_if_incomplete(files)
    warn_if_repeated(files)
    return DatasetLayout(tuple(files), splits)


def _folder_layout(folder: str) -> DatasetLayout:
    """Look at a folder, and once more if another dataset was published there meanwhile."""
    remote = listed_folder(folder) if is_ranged(folder) else None
    if remote is not None:
        return _look_at_remote(remote)
    for _ in range(_ATTEMPTS):
        before = state_of(folder)
        try:
            layout = _look_at(folder)
        except (RecordsmithError, OSError):
            if state_of(folder) == before:
                raise
        else:
            if state_of(folder) == before:
                return layout
    return _look_at(folder)  # something else is being written there


def _look_at_remote(folder: RemoteFolder) -> DatasetLayout:
    if MANIFEST_NAME in folder.files:
        manifest = folder.open(MANIFEST_NAME)
        described = load_manifest(manifest)
        return _described(manifest, described.schema, files_by_split(described.splits), folder)
    if DATASET_INFO_NAME in folder.files:
        info = folder.open(DATASET_INFO_NAME)
        tfds = read_tfds_folder(folder.url)
        return _described(info, tfds.schema, tfds.files_by_split, folder)
    files = [folder.open(os.path.basename(file)) for file in files_in(folder.url)]
    if not files:
        names = folder.folders or sorted(folder.files)
        raise RecordsmithError(
            "The remote folder contains no TFRecord files.",
            path=without_secrets(folder.url),
            found=f"{'the folders ' if folder.folders else ''}{list_names(names)}",
            advice="Pass the folder that contains the files, or a glob such as 's3://bucket/data/*.tfrecord*'.",
        )
    warn_if_incomplete(files)
    return DatasetLayout(tuple(files), _splits_by_name(files))


def _look_at(folder: str) -> DatasetLayout:
    manifest = os.path.join(folder, MANIFEST_NAME)
    if os.path.isfile(in_force(manifest)):
        described = load_manifest(manifest)
        layout = _described(manifest, described.schema, files_by_split(described.splits))
        shards = [shard for split in described.splits.values() for shard in split.shards]
        warn_if_changed({shard.path: shard.bytes for shard in shards}, MANIFEST_NAME)
        return layout
    info = os.path.join(folder, DATASET_INFO_NAME)
    if os.path.isfile(in_force(info)):
        tfds = read_tfds_folder(folder)
        return _described(info, tfds.schema, tfds.files_by_split)
    files = files_in(folder) or _files_by_content(folder)
    if not files and os.path.isdir(Publication(folder).hidden):
        raise RecordsmithError(
            "The folder contains an unfinished run, and no dataset yet.",
            path=folder,
            advice="Run the same command again with --resume (in Python, resume=True).",
        )
    if not files:
        names = sorted(os.listdir(folder))
        below = [name for name in names if name[0] != "." and os.path.isdir(os.path.join(folder, name))]
        raise RecordsmithError(
            "The folder contains no TFRecord files.",
            path=folder,
            found=f"the folders {list_names(below)}" if below else list_names(names) if names else "an empty folder",
            advice="Pass the folder that contains the files, or a glob such as 'data/**/*.tfrecord*'.",
        )
    warn_if_incomplete(files)
    return DatasetLayout(tuple(files), _splits_by_name(files))


def _described(
    description: str, schema: Schema | None, splits: dict[str, tuple[str, ...]], folder: RemoteFolder | None = None
) -> DatasetLayout:
    files = tuple(file for names in splits.values() for file in names)
    if folder is None:
        missing = [file for file in files if not os.path.isfile(file)]
    else:
        missing = [file for file in files if os.path.basename(file) not in folder.files]
        for file in set(files) - set(missing):
            folder.open(os.path.basename(file))
    if missing:
        raise RecordsmithError(
            f"{len(missing)} of {count_text(len(files), 'file')} that {os.path.basename(description)} lists "
            f"{'is' if len(missing) == 1 else 'are'} missing.",
            path=description,
            found=f"no file {os.path.basename(missing[0])!r}",
            advice="Copy the missing files too, or open the other files with a glob.",
        )
    return DatasetLayout(files, splits, schema, description)


def _files_by_content(folder: str) -> list[str]:
    """Find TFRecords among files whose names say nothing, by their first bytes."""
    return [path for path in files_in_force(folder).values() if _is_record_file(path)]


def _is_record_file(path: str) -> bool:
    content = describe_content(path)
    return content.format == "tfrecord" or content.compression is not None


def _splits_by_name(files: Iterable[str]) -> dict[str, tuple[str, ...]]:
    splits: dict[str, list[str]] = {}
    for file in files:
        split = parse_shard_name(os.path.basename(file)).split
        if split is not None:
            splits.setdefault(split, []).append(file)
    return {split: tuple(names) for split, names in splits.items()}
