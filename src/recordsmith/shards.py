"""Shard names, and which files a path stands for.

pets-train.tfrecord-00000-of-00010        TFDS and recordsmith: {name}-{split}.{format}-{shard}-of-{count}
data-00000-of-00012.gz                    Beam: the suffix comes last
train-00000-of-00008                      no suffix at all
golden.tfrecord.gz-00000-of-00003         the compression's suffix before the number
iris.tfrecords, pets.record, x.tfrec      single files
"""

from __future__ import annotations

import glob
import os
import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from recordsmith.atomic_file import is_url
from recordsmith.call_stack import caller_level
from recordsmith.errors import RecordsmithError, did_you_mean, list_names

__all__ = [
    "TRAINING",
    "IncompleteShardsWarning",
    "ShardName",
    "files_in",
    "parse_shard_name",
    "resolve_files",
    "split_in_name",
    "warn_if_incomplete",
]

_NUMBERED = re.compile(r"^(?P<stem>.*?)[-_.]?(?P<shard>\d{5,})-of-(?P<count>\d{5,})(?P<tail>(\.\w+)*)$")
_SUFFIXES = (".tfrecord", ".tfrecords", ".tfrec", ".record", ".records", ".recordio")
_OTHER_SUFFIXES = (
    ".json",
    ".jsonl",
    ".ndjson",
    ".txt",
    ".csv",
    ".tsv",
    ".parquet",
    ".pq",
    ".tar",
    ".npy",
    ".npz",
    ".idx",
)
_COMPRESSED = (".gz", ".gzip", ".zlib", ".z")
TRAINING = ("train", "training")
_SPLITS = (*TRAINING, "validation", "valid", "val", "test", "testing", "eval", "dev")


class IncompleteShardsWarning(UserWarning):
    """A set of shards `-of-N` lacks some of its files.

    >>> issubclass(IncompleteShardsWarning, UserWarning)
    True
    """


@dataclass(frozen=True, slots=True)
class ShardName:
    """What a file's name says.

    >>> parse_shard_name("pets-train.tfrecord-00003-of-00010")
    ShardName(group='pets-train.tfrecord', split='train', shard=3, count=10)
    """

    group: str
    split: str | None
    shard: int | None = None
    count: int | None = None


def parse_shard_name(name: str) -> ShardName:
    """Read a file's name, without its folder.

    >>> parse_shard_name("train-00001-of-00008").split
    'train'
    >>> parse_shard_name("iris.tfrecords.gz")
    ShardName(group='iris.tfrecords.gz', split=None, shard=None, count=None)
    """
    match = _NUMBERED.match(name)
    if match is None:
        return ShardName(name, split_in_name(name))
    split = split_in_name(match["stem"])
    return ShardName(match["stem"] + match["tail"], split, int(match["shard"]), int(match["count"]))


def looks_like_tfrecord(name: str) -> bool:
    """Tell from a file's name alone whether it is probably a TFRecord file.

    >>> looks_like_tfrecord("a.tfrecord.gz-00000-of-00003"), looks_like_tfrecord("train-00000-of-00001.jsonl.gz")
    (True, False)
    """
    lowered = name.lower()
    if _NUMBERED.match(lowered):
        plain = lowered
        for suffix in (*_COMPRESSED, ".bz2", ".zst", ".xz"):
            plain = plain.removesuffix(suffix)
        return not plain.endswith((*_OTHER_SUFFIXES, ".index", ".idx", ".tfindex"))
    for suffix in _COMPRESSED:
        lowered = lowered.removesuffix(suffix)
    return lowered.endswith(_SUFFIXES)


def resolve_files(paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> list[str]:
    """Return the files that a path, a URL, a glob or a list of them stands for, sorted within each.

    A folder is not looked into here (see `files_in`). Of what lies elsewhere these are the local copies.

    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for name in ("a-00001-of-00002", "a-00000-of-00002"): _ = (folder / name).write_bytes(b"")
    >>> [os.path.basename(path) for path in resolve_files(folder / "a-*")]
    ['a-00000-of-00002', 'a-00001-of-00002']
    """
    if isinstance(paths, (str, bytes, os.PathLike)):
        return _one_path(os.fsdecode(paths))
    files = [file for path in paths for file in _one_path(os.fsdecode(path))]
    if not files:
        raise RecordsmithError("The list of files is empty.", advice="Give at least one file, folder or glob.")
    return files


def files_in(folder: str) -> list[str]:
    """Return the files of a folder whose names are those of TFRecords, sorted.

    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for name in ("b.tfrecord", "a.tfrecord", "README.md", ".hidden.tfrecord"): _ = (folder / name).write_bytes(b"")
    >>> [os.path.basename(path) for path in files_in(str(folder))]
    ['a.tfrecord', 'b.tfrecord']
    """
    names = sorted(entry.name for entry in os.scandir(folder) if entry.is_file() and not entry.name.startswith("."))
    return [os.path.join(folder, name) for name in names if looks_like_tfrecord(name)]


def warn_if_incomplete(files: Sequence[str]) -> None:
    """Warn about sets of numbered shards of which some are not among the files.

    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_if_incomplete(["d/a-00000-of-00003", "d/a-00002-of-00003"])
    >>> print(caught[0].message)
    Shards of 'd/a' are missing: 1 of 3 (number 1). Reading goes on without them.
    """
    groups: dict[tuple[str, int], set[int]] = {}
    for file in files:
        folder, name = os.path.split(file)
        parsed = parse_shard_name(name)
        if parsed.shard is not None and parsed.count is not None:
            groups.setdefault((os.path.join(folder, parsed.group), parsed.count), set()).add(parsed.shard)
    for (group, count), shards in groups.items():
        missing = [str(shard) for shard in range(count) if shard not in shards]
        if missing:
            shown = ", ".join(missing[:5]) + (", ..." if len(missing) > 5 else "")
            warnings.warn(
                f"Shards of {group!r} are missing: {len(missing)} of {count} "
                f"(number{'s' if len(missing) > 1 else ''} {shown}). Reading goes on without them.",
                IncompleteShardsWarning,
                stacklevel=caller_level(),
            )


def _one_path(path: str) -> list[str]:
    if os.path.exists(path):
        return [path]
    if is_url(path):
        from recordsmith.remote_files import fetched

        return fetched(path, looks_like_tfrecord)
    if glob.has_magic(path):
        files = sorted(file for file in glob.glob(path, recursive=True) if os.path.isfile(file))
        if files:
            return files
        error = FileNotFoundError(2, "No file matches the pattern", path)
        error.add_note(_what_is_there(os.path.dirname(path) or ".", os.path.basename(path)))
        raise error
    error = FileNotFoundError(2, "There is no such file or folder", path)
    error.add_note(_what_is_there(os.path.dirname(path) or ".", os.path.basename(path)))
    raise error


def _what_is_there(folder: str, name: str) -> str:
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return f"The folder {folder!r} cannot be read either."
    if not names:
        return f"The folder {folder!r} is empty."
    return f"The folder {folder!r} holds {list_names(names)}.{did_you_mean(name, names)}"


def split_in_name(name: str) -> str | None:
    """Find the split's name among the words of a file's or a folder's name: the last one that is a usual split.

    >>> split_in_name("pets_train_2.csv"), split_in_name("val2017"), split_in_name("constrained")
    ('train', 'val', None)
    """
    words = [word for word in re.split(r"[-_. \d]+", name.lower()) if word]
    found = [word for word in words if word in _SPLITS]
    return found[-1] if found else None
