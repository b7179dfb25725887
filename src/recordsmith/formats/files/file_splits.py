"""Detects splits from file names: train.csv and test.csv, train-00000-of-00002.parquet, val/part.jsonl."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from recordsmith.errors import RecordsmithError, advise, list_names
from recordsmith.formats.files.source_files import SourceFile
from recordsmith.formats.source import Chunk, Source
from recordsmith.records.shards import TRAINING, parse_shard_name, split_in_name

__all__ = ["FileSource", "in_split_order", "splits_by_name"]


class FileSource(Source):
    """A source of files, each of which belongs to one split or to none."""

    _files: Sequence[SourceFile]

    @property
    def size_bytes(self) -> int | None:
        """The size of all files."""
        return sum(file.size for file in self._files)

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits that the files belong to, the training split first."""
        return in_split_order(self._split_of_file.values())

    def split_of(self, chunk: Chunk) -> str | None:
        """Return the split of the file that a chunk comes from."""
        return self._split_of_file.get(chunk.origin() or "")

    @cached_property
    def _split_of_file(self) -> Mapping[str, str]:
        paths = [file.path for file in self._files]
        said = self._declared_splits()
        return dict(zip(paths, said, strict=True)) if said else splits_by_name(paths)

    def _declared_splits(self) -> tuple[str, ...]:
        """Return the splits that the files say themselves that they are, one for each; none if they say nothing."""
        return ()


def in_split_order(names: Iterable[str]) -> tuple[str, ...]:
    """Return names of splits once each: the training split first, the others as they come.

    >>> in_split_order(["test", "train", "test"])
    ('train', 'test')
    """
    return tuple(sorted(dict.fromkeys(names), key=lambda name: name not in TRAINING))


def splits_by_name(paths: Sequence[str]) -> dict[str, str]:
    """Return the split of each file, if the names of the files or of their folders indicate at least two.

    >>> splits_by_name(["data/train-0.csv", "data/train-1.csv", "data/test.csv"])
    {'data/train-0.csv': 'train', 'data/train-1.csv': 'train', 'data/test.csv': 'test'}
    >>> splits_by_name(["data/train.csv"]), splits_by_name(["a.csv", "b.csv"])
    ({}, {})
    """
    if len(paths) < 2:
        return {}
    common = os.path.commonpath([os.path.dirname(os.path.abspath(path)) for path in paths])
    found = {path: _split_of_path(path, common) for path in paths}
    if all(parse_shard_name(os.path.basename(path)).shard is not None for path in paths):
        # Hugging Face names all files so, and the splits as it likes: unsupervised-00000-of-00001.parquet
        found |= {path: _stem(path) for path, split in found.items() if split is None and path.endswith(".parquet")}
    known = {path: split for path, split in found.items() if split is not None}
    names = in_split_order(known.values())
    if len(names) < 2:
        return {}
    if len(known) < len(paths):
        if names[0] not in TRAINING:
            return {}  # two words among others are no evidence
        without = [os.path.relpath(path, common) for path in paths if path not in known]
        raise RecordsmithError(
            "Some file names indicate a split, and others do not.",
            path=common,
            found=f"no split for {list_names(without, 4)}; {list_names(names)} for others",
            advice=advise(
                "Pass only the files that you want, or combine the splits with {merge_splits}.",
                merge_splits=True,
            ),
        )
    return known


def _stem(path: str) -> str | None:
    """Return what is before the number of a shard, if it can be the name of a split."""
    stem = parse_shard_name(os.path.basename(path)).group.partition(".")[0]
    return stem if stem.isidentifier() else None


def _split_of_path(path: str, common: str) -> str | None:
    """Find a split in the name of a file, else in those of the folders that it is in below the common one."""
    folders = os.path.relpath(os.path.dirname(os.path.abspath(path)), common).split(os.sep)
    found = (split_in_name(name) for name in (os.path.basename(path), *folders))
    return next((split for split in found if split is not None), None)
