"""The files of a dataset as its description lists them: by split, with records, bytes and digests.

Names in a description are somebody else's words. A split's name becomes part of file names, and a shard is a file in
the folder of its description: neither is a path.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from recordsmith.errors import SchemaError

__all__ = ["DescribedShard", "DescribedSplit", "check_file_name", "check_split_name", "files_by_split"]

_SPLIT_NAME = re.compile(r"\w[\w.-]{0,99}")
_LONGEST_FILE_NAME = 255  # bytes, as file systems have it


@dataclass(frozen=True, slots=True)
class DescribedShard:
    """A file, and what is said about it; None where nothing is."""

    path: str
    records: int | None = None
    bytes: int | None = None
    sha256: str | None = None

    @property
    def name(self) -> str:
        """The file's name in its folder."""
        return os.path.basename(self.path)


@dataclass(frozen=True, slots=True)
class DescribedSplit:
    """The files of a split, and what is said about all of them together."""

    shards: tuple[DescribedShard, ...]
    records: int | None = None
    bytes: int | None = None
    classes: dict[str, int] = field(default_factory=dict)
    fingerprint: str | None = None

    @property
    def files(self) -> tuple[str, ...]:
        """The paths of the shards."""
        return tuple(shard.path for shard in self.shards)


def files_by_split(splits: Mapping[str, DescribedSplit]) -> dict[str, tuple[str, ...]]:
    """Return the paths of the files by split."""
    return {name: split.files for name, split in splits.items()}


def check_split_name(name: str, path: str | None = None) -> str:
    """Return a split's name if it can be a part of file names.

    >>> check_split_name("train"), check_split_name("test-de.v2")
    ('train', 'test-de.v2')
    >>> check_split_name("../train")
    Traceback (most recent call last):
    recordsmith.errors.SchemaError: This is not a valid split name.
      found:    '../train'
      expected: up to 100 letters, digits, '_', '-' and '.', starting with a letter, a digit or '_'
    """
    if not _SPLIT_NAME.fullmatch(name):
        raise SchemaError(
            "This is not a valid split name.",
            path=path,
            found=repr(name[:120]),
            expected="up to 100 letters, digits, '_', '-' and '.', starting with a letter, a digit or '_'",
        )
    return name


def check_file_name(name: str, path: str | None = None) -> str:
    """Return a file's name if it is one in the folder of the description, and no path."""
    plain = name not in ("", ".", "..") and "/" not in name and "\\" not in name and "\0" not in name
    if not plain or len(os.fsencode(name)) > _LONGEST_FILE_NAME:
        raise SchemaError(
            "A description may only list files in its own folder.",
            path=path,
            found=repr(name[:300]),
            expected="a file name without a folder",
        )
    return name
