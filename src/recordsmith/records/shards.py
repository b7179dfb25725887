"""Shard names, and the files that a path refers to.

pets-train.tfrecord-00000-of-00010        TFDS and recordsmith: {name}-{split}.{format}-{shard}-of-{count}
data-00000-of-00012.gz                    Beam: the suffix comes last
train-00000-of-00008                      no suffix at all
golden.tfrecord.gz-00000-of-00003         the compression's suffix before the number
iris.tfrecords, pets.record, x.tfrec      single files
"""

from __future__ import annotations

import fnmatch
import glob
import os
import re
import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count as counting
from itertools import islice

from recordsmith.errors import RecordsmithError, did_you_mean, list_names
from recordsmith.storage.atomic_file import is_url
from recordsmith.storage.publication import files_in_force, in_force, interrupted_folders, public_path
from recordsmith.storage.ranged.opening import RemoteFolder, is_ranged, listed_folder, resolve
from recordsmith.wording.call_stack import caller_level
from recordsmith.wording.numbers import count_text

__all__ = [
    "TRAINING",
    "ChangedFileWarning",
    "IncompleteShardsWarning",
    "RepeatedFileWarning",
    "ShardName",
    "files_in",
    "missing_shards",
    "parse_shard_name",
    "published_files",
    "resolve_files",
    "split_in_name",
    "warn_if_incomplete",
    "warn_if_repeated",
]

_NUMBERED = re.compile(r"^(?P<stem>.*?)[-_.]?(?P<shard>[0-9]{5,18})-of-(?P<count>[0-9]{5,18})(?P<tail>(\.\w+)*)$")
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
    """A set of shards `-of-N` lacks some of its files."""


class ChangedFileWarning(UserWarning):
    """A file has another size than the description beside it says."""


class RepeatedFileWarning(UserWarning):
    """A file is in a list of files, folders and globs more than once."""


@dataclass(frozen=True, slots=True)
class ShardName:
    """What a file's name says."""

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

    A folder is not looked into here (see `files_in`). Remote files that can be read by ranges stay URLs; of
    others these are the local copies.

    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for name in ("a-00001-of-00002", "a-00000-of-00002"): _ = (folder / name).write_bytes(b"")
    >>> [os.path.basename(path) for path in resolve_files(folder / "a-*")]
    ['a-00000-of-00002', 'a-00001-of-00002']
    """
    if isinstance(paths, (str, bytes, os.PathLike)):
        return _one_path(os.fsdecode(paths))
    if not isinstance(paths, Iterable):
        raise RecordsmithError(
            "This is not a path.",
            found=repr(paths)[:100],
            expected="a file, a folder, a glob, a URL, or a list of these",
        )
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
    return [path for name, path in published_files(folder).items() if looks_like_tfrecord(name)]


def published_files(folder: str) -> dict[str, str]:
    """Return the files of a folder, local or remote: where each is now, by name, sorted."""
    remote = listed_folder(folder) if is_ranged(folder) else None
    return files_in_force(folder) if remote is None else dict(sorted(remote.files.items()))


def warn_if_incomplete(files: Sequence[str]) -> None:
    """Warn about sets of numbered shards of which some are not among the files.

    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_if_incomplete(["d/a-00000-of-00003", "d/a-00002-of-00003"])
    >>> print(caught[0].message)
    Shards of 'd/a' are missing: 1 of 3 (number 1). Reading continues without them.
    """
    groups: dict[tuple[str, int], set[int]] = {}
    for file in files:
        folder, name = os.path.split(public_path(file))
        parsed = parse_shard_name(name)
        if parsed.shard is not None and parsed.count is not None:
            groups.setdefault((os.path.join(folder, parsed.group), parsed.count), set()).add(parsed.shard)
    for (group, count), shards in groups.items():
        missing, numbers = missing_shards(count, shards, most=6)
        if missing:
            shown = ", ".join(map(str, numbers[:5])) + (", ..." if missing > 5 else "")
            warnings.warn(
                f"Shards of {group!r} are missing: {missing} of {count} "
                f"(number{'s' if missing > 1 else ''} {shown}). Reading continues without them.",
                IncompleteShardsWarning,
                stacklevel=caller_level(),
            )


def warn_if_changed(sizes: Mapping[str, int | None], description: str) -> None:
    """Warn about files that have another size than their description says.

    Args:
        sizes: the size of each file by its path, as described; None: not described.
        description: the name of the file that says so.
    """
    changed = []
    for file, size in sizes.items():
        found = os.path.getsize(file)
        if size is not None and found != size:
            changed.append(f"{os.path.basename(file)!r} has {found:,} bytes instead of {size:,}")
    if changed:
        more = f", and {len(changed) - 1:,} more" if len(changed) > 1 else ""
        warnings.warn(
            f"{count_text(len(changed), 'file')} {'is' if len(changed) == 1 else 'are'} not as {description} says: "
            f"{changed[0]}{more}. Records may be missing or repeated; `recordsmith check` says more.",
            ChangedFileWarning,
            stacklevel=caller_level(),
        )


def warn_if_repeated(files: Sequence[str]) -> None:
    """Warn about a file that would be read more than once.

    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_if_repeated(["d/a.tfrecord", "d/b.tfrecord", "./d/a.tfrecord"])
    >>> print(caught[0].message)
    1 file is given more than once, such as 'd/a.tfrecord': its records are read more than once too.
    """
    seen: dict[str, int] = {}
    for file in files:
        place = file if is_url(file) else os.path.realpath(file)
        seen[place] = seen.get(place, 0) + 1
    repeated = [place for place, times in seen.items() if times > 1]
    if repeated:
        first = next(file for file in files if repeated[0] in (file, os.path.realpath(file)))
        many = len(repeated) > 1
        warnings.warn(
            f"{len(repeated):,} file{'s are' if many else ' is'} given more than once, such as {public_path(first)!r}: "
            f"{'their' if many else 'its'} records are read more than once too.",
            RepeatedFileWarning,
            stacklevel=caller_level(),
        )


def missing_shards(count: int, existing: Collection[int], most: int) -> tuple[int, list[int]]:
    """Return how many of `count` numbered shards are missing, and the first of them, at most `most`.

    The count is what file names say, and may be any number.

    >>> missing_shards(10**18, {0, 2}, most=3)[1]
    [1, 3, 4]
    """
    known = {shard for shard in existing if shard < count}
    first = islice((shard for shard in counting(0) if shard not in known), min(most, count - len(known)))
    return count - len(known), list(first)


def _one_path(path: str) -> list[str]:
    file = in_force(path)
    if os.path.exists(file):
        return [os.path.abspath(file) if is_url(file) else file]
    found = resolve(path) if is_ranged(path) else None
    if found is not None:
        return [found.url] if isinstance(found, RemoteFolder) else found
    if is_url(path):
        from recordsmith.storage.remote_files import fetched

        return fetched(path, looks_like_tfrecord)
    if glob.has_magic(path):
        files = _matching(path)
        if files:
            return files
        error = FileNotFoundError(2, "No file matches the pattern", path)
        error.add_note(_what_is_there(os.path.dirname(path) or ".", os.path.basename(path)))
        raise error
    error = FileNotFoundError(2, "There is no such file or folder", path)
    error.add_note(_what_is_there(os.path.dirname(path) or ".", os.path.basename(path)))
    raise error


def _matching(pattern: str) -> list[str]:
    """Return the files that match a glob, as they are in force."""
    places = {file: file for file in glob.glob(pattern, recursive=True) if os.path.isfile(file)}
    above, last = os.path.split(pattern)
    for folder in interrupted_folders(pattern if last == "**" else above):
        places = {file: path for file, path in places.items() if os.path.dirname(file) != folder}
        for name, path in files_in_force(folder or ".").items():
            if last == "**" or fnmatch.fnmatchcase(name, last):
                places[os.path.join(folder, name)] = path
    return [path for _, path in sorted(places.items())]


def _what_is_there(folder: str, name: str) -> str:
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return f"The folder {folder!r} cannot be read."
    if not names:
        return f"The folder {folder!r} is empty."
    return f"The folder {folder!r} contains {list_names(names)}.{did_you_mean(name, names)}"


def split_in_name(name: str) -> str | None:
    """Find the split's name among the words of a file's or a folder's name: the last one that is a usual split.

    >>> split_in_name("pets_train_2.csv"), split_in_name("val2017"), split_in_name("constrained")
    ('train', 'val', None)
    """
    words = [word for word in re.split(r"[-_. \d]+", name.lower()) if word]
    found = [word for word in words if word in _SPLITS]
    return found[-1] if found else None
