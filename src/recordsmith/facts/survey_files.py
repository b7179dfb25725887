"""Finds the files of a survey, the split of each, and what a manifest says about them."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field

from recordsmith.dataset.descriptions.manifest import MANIFEST_NAME, Manifest, load_manifest
from recordsmith.dataset.descriptions.tfds_folder import DATASET_INFO_NAME, read_tfds_folder
from recordsmith.dataset.layout import find_layout
from recordsmith.errors import RecordsmithError, did_you_mean, list_names
from recordsmith.records.described_splits import DescribedShard, DescribedSplit
from recordsmith.records.shards import ChangedFileWarning, IncompleteShardsWarning, resolve_files
from recordsmith.schema import Schema
from recordsmith.storage.publication import in_force
from recordsmith.storage.ranged.opening import is_file

__all__ = ["SurveyedFiles", "find_files"]

PathLike = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class SurveyedFiles:
    """The files of a survey.

    Attributes:
        files: the files that there are, in order.
        splits: for each file its split, None if unknown.
        schema: the declared schema, if there is one next to the files.
        described_by: the file that declares it.
        manifest: what recordsmith.json says.
        promises: what a description says of a file, by path.
    """

    files: tuple[str, ...]
    splits: tuple[str | None, ...]
    schema: Schema | None = None
    described_by: str | None = None
    manifest: Manifest | None = None
    promises: dict[str, DescribedShard] = field(default_factory=dict)

    def select(self, split: str | None) -> SurveyedFiles:
        """Return those of one split; None keeps all."""
        if split is None:
            return self
        known = list(dict.fromkeys(name for name in self.splits if name is not None))
        if split not in known:
            raise RecordsmithError(
                f"There is no split {split!r}.{did_you_mean(split, known)}",
                expected=list_names(known) if known else "no split: the file names do not indicate any",
                advice="Omit split to read all files, or pass a glob of the files to read.",
            )
        files = tuple(file for file, name in zip(self.files, self.splits, strict=True) if name == split)
        return SurveyedFiles(files, (split,) * len(files), self.schema, self.described_by, self.manifest, self.promises)


def find_files(paths: PathLike | Sequence[PathLike]) -> SurveyedFiles:
    """Find the files that a file, folder, glob or list stands for.

    Unlike reading, a survey continues if a manifest lists missing files, or if shards of a set are missing:
    a rule reports that.
    """
    found = resolve_files(paths)
    if len(found) == 1 and is_file(in_force(os.path.join(found[0], MANIFEST_NAME))):
        return _files_of_manifest(os.path.join(found[0], MANIFEST_NAME))
    if len(found) == 1 and is_file(in_force(os.path.join(found[0], DATASET_INFO_NAME))):
        return _files_of_tfds(found[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IncompleteShardsWarning)
        warnings.simplefilter("ignore", ChangedFileWarning)
        layout = find_layout(paths)
    split_of = {file: split for split, files in layout.splits.items() for file in files}
    splits = tuple(split_of.get(file) for file in layout.files)
    return SurveyedFiles(layout.files, splits, layout.schema, layout.described_by)


def _files_of_manifest(path: str) -> SurveyedFiles:
    manifest = load_manifest(path)
    return _existing(manifest.splits, manifest.schema, path, manifest)


def _files_of_tfds(folder: str) -> SurveyedFiles:
    tfds = read_tfds_folder(folder)
    return _existing(tfds.splits, tfds.schema, tfds.path, None)


def _existing(
    splits: dict[str, DescribedSplit], schema: Schema | None, path: str, manifest: Manifest | None
) -> SurveyedFiles:
    shards = [(shard, name) for name, split in splits.items() for shard in split.shards if is_file(shard.path)]
    return SurveyedFiles(
        tuple(shard.path for shard, _ in shards),
        tuple(name for _, name in shards),
        schema,
        path if schema is not None else None,
        manifest,
        {shard.path: shard for shard, _ in shards},
    )
