"""Which source a path stands for: detected by file names first, and by content where names say nothing."""

from __future__ import annotations

import inspect
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from recordsmith.errors import RecordsmithError, advise, did_you_mean, list_names
from recordsmith.formats.exported.form import SIDECAR
from recordsmith.formats.files.folder_walk import walk_files
from recordsmith.formats.files.source_files import PathLike, is_hidden_or_metadata
from recordsmith.formats.images.annotated_folders import refuse_annotated, refuse_listed
from recordsmith.formats.images.folder_layout import layout_of
from recordsmith.formats.images.listing import list_folder
from recordsmith.formats.source import Source
from recordsmith.making import sources
from recordsmith.records.file_signatures import describe_content
from recordsmith.records.shards import looks_like_tfrecord, resolve_files
from recordsmith.storage.publication import in_force
from recordsmith.storage.ranged.listed_files import list_files
from recordsmith.storage.ranged.opening import is_file, is_folder, is_ranged, record_bytes

__all__ = ["KINDS", "UnknownOptionError", "kind_of", "source_for"]

KINDS = ("images", "csv", "jsonl", "parquet", "arrays", "webdataset", "tfrecords", "video")

_COMPRESSED = (".gz", ".bz2", ".zst", ".lz4")
_SUFFIXES = {
    **dict.fromkeys((".csv", ".tsv"), "csv"),
    **dict.fromkeys((".jsonl", ".ndjson", ".json"), "jsonl"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **dict.fromkeys((".npy", ".npz"), "arrays"),
    **dict.fromkeys((".tar", ".tgz"), "webdataset"),
    **dict.fromkeys((".mp4", ".avi", ".mov", ".mkv", ".webm", ".m4v", ".mpg", ".mpeg"), "video"),
    **dict.fromkeys((".jpg", ".jpeg", ".png", ".webp", ".bmp", ".gif", ".jpe", ".jfif"), "images"),
}
_KIND_OF_FORMAT = {
    "tfrecord": "tfrecords",
    "parquet": "parquet",
    "npy": "arrays",
    "tar": "webdataset",
    **dict.fromkeys(("jpeg", "png", "gif"), "images"),
}
# Files beside the data, which say nothing about its kind.
_METADATA_SUFFIXES = (
    SIDECAR,
    ".md",
    ".txt",
    ".rst",
    ".html",
    ".pdf",
    ".py",
    ".ipynb",
    ".yaml",
    ".yml",
    ".index",
    ".idx",
    ".tfindex",
    ".db",
)
_AUDIO = (".wav", ".mp3", ".flac", ".ogg", ".m4a", ".aac", ".opus", ".aif", ".aiff", ".wma")
_MOST_FILES_INSPECTED = 2000  # files of a folder that are looked at to detect its kind
_MINOR = 20  # a kind with this many times fewer files than another is ignored


class UnknownOptionError(RecordsmithError, ValueError):
    """A source of some kind has no such option.

    Attributes:
        kind: the kind.
        option: the option.
        elsewhere: which kinds have it, in words.
    """

    def __init__(self, kind: str, option: str, known: list[str], elsewhere: str) -> None:
        super().__init__(
            f"A source of kind {kind!r} has no option {option!r}.{did_you_mean(option, known)}{elsewhere}",
            expected=list_names(known, 32),
        )
        self.kind = kind
        self.option = option
        self.elsewhere = elsewhere


def source_for(paths: PathLike | Iterable[PathLike], kind: str | None = None, **options: Any) -> Source:
    r"""Return the source that a path stands for, with options of its kind.

    Args:
        paths: a file, a folder, a glob, or a list of these.
        kind: the name of a function of `rs.sources`; None: detected.
        options: what that function takes.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "irises.csv"
    >>> _ = path.write_text("length,species\n5.1,setosa\n")
    >>> source_for(path, label="species").kind
    'csv'
    """
    given = paths if isinstance(paths, (str, os.PathLike)) else list(paths)
    if kind is None:
        kind = kind_of(given)
    elif kind not in KINDS:
        raise RecordsmithError(
            f"Unknown kind of source {kind!r}.{did_you_mean(kind, KINDS)}", expected=list_names(KINDS)
        )
    function: Callable[..., Source] = getattr(sources, kind)
    known = [name for name, entry in inspect.signature(function).parameters.items() if entry.kind is entry.KEYWORD_ONLY]
    if "image_encoding" in options and "image_encoding" not in known and "encoding" in known:
        options["encoding"] = options.pop("image_encoding")  # where all is images, there is no other encoding
    for name in options:
        if name not in known:
            raise UnknownOptionError(kind, name, known, _elsewhere(name, kind))
    return function(given, **options)


def kind_of(paths: PathLike | Iterable[PathLike]) -> str:
    """Detect the kind of the data at a path, or raise an error that says what was found and how to name the kind.

    >>> kind_of(os.path.dirname(__file__))
    Traceback (most recent call last):
    recordsmith.errors.RecordsmithError: The kind of this data could not be detected.
    ...
    """
    found = resolve_files(paths)
    kinds: Counter[str] = Counter()
    examples: dict[str, str] = {}
    for path in found:
        for kind, name, count in _kinds_at(path):
            kinds[kind] += count
            examples.setdefault(kind, name)
    # A table beside many images is the list of their labels, an image beside tables a diagram.
    most = max(kinds.values(), default=0)
    likely = [kind for kind, count in kinds.items() if count * _MINOR > most]
    place = found[0] if len(found) == 1 else None
    if len(likely) == 1:
        return likely[0]
    if "images" in likely and place is not None:
        listing = list_folder(place)
        layout = layout_of([file.name for file in listing.files], root=place)
        refuse_annotated(listing, layout.classes)
        if not layout.labelled:
            refuse_listed(listing)
    if likely:
        listed = [f"{kinds[kind]} of kind {kind} ({examples[kind]})" for kind in sorted(likely)]
        raise RecordsmithError(
            "The source contains several kinds of data.",
            path=place,
            found=", ".join(listed),
            advice=advise("Choose one with {kind}, or pass a glob of the files.", kind=_kind_option(min(likely))),
        )
    audio = _audio_files(found)
    if audio:
        raise RecordsmithError(
            "Audio files are not supported yet.",
            path=place,
            found=list_names(audio, 4),
            advice="Read them with your own function, and pass its rows to rs.make.",
        )
    raise RecordsmithError(
        "The kind of this data could not be detected.",
        path=place,
        found=_what_is_there(found),
        expected=f"files of kind {', '.join(KINDS)}",
        advice=advise("Choose the kind yourself, for example with {kind}.", kind=_kind_option("csv")),
    )


def _kind_option(kind: str) -> tuple[str, str]:
    """Say how a kind is named in Python and on the command line."""
    return f"rs.sources.{kind}", f"--kind {kind}"


def _kinds_at(path: str) -> Iterable[tuple[str, str, int]]:
    """Give the kinds at a path, each with the name of one file and how many there are."""
    if not is_folder(path):
        kind = _kind_by_name(path) or _kind_by_content(path)
        return [(kind, os.path.basename(path), 1)] if kind is not None else []
    if any(is_file(in_force(os.path.join(path, name))) for name in ("recordsmith.json", "dataset_info.json")):
        return [("tfrecords", os.path.basename(path), 1)]
    kinds: Counter[str] = Counter()
    examples: dict[str, str] = {}
    unknown: list[str] = []
    looked_at = 0
    for file, name in _files_below(path):
        if is_hidden_or_metadata(name) or name.lower().endswith(_METADATA_SUFFIXES):
            continue
        looked_at += 1
        kind = _kind_by_name(name)
        if kind is None:
            unknown.append(file)
        else:
            kinds[kind] += 1
            examples.setdefault(kind, name)
        if looked_at >= _MOST_FILES_INSPECTED:
            break
    if not kinds:  # names that say nothing: a few files are opened
        for file in unknown[:8]:
            kind = _kind_by_content(file)
            if kind is not None:
                kinds[kind] += 1
                examples.setdefault(kind, os.path.relpath(file, path))
    return [(kind, examples[kind], count) for kind, count in kinds.items()]


def _files_below(folder: str) -> Iterator[tuple[str, str]]:
    """Give the files of a folder with their names in it."""
    if is_ranged(folder):
        yield from ((file.url, file.name) for file in list_files(folder))
    else:
        yield from ((entry.path, name) for entry, name in walk_files(folder))


def _audio_files(found: list[str]) -> list[str]:
    """Return some audio files at a path or in a folder."""
    names = (
        (os.path.basename(path) for path in found)
        if len(found) != 1 or not is_folder(found[0])
        else (name for _, name in islice(_files_below(found[0]), _MOST_FILES_INSPECTED))
    )
    return [name for name in names if name.lower().endswith(_AUDIO)]


def _kind_by_name(path: str) -> str | None:
    name = os.path.basename(path).lower()
    if looks_like_tfrecord(name):
        return "tfrecords"
    plain = name
    for suffix in _COMPRESSED:
        plain = plain.removesuffix(suffix)
    return _SUFFIXES.get(os.path.splitext(plain)[1]) or _SUFFIXES.get(os.path.splitext(name)[1])


def _kind_by_content(path: str) -> str | None:
    found = describe_content(path).format
    if found == "text":
        with record_bytes(path) as read:
            first = read(0, 1 << 16).partition(b"\n")[0].strip()
        return "jsonl" if first.startswith(b"{") and first.endswith(b"}") else None
    return _KIND_OF_FORMAT.get(found)


def _what_is_there(found: list[str]) -> str:
    if len(found) == 1 and os.path.isdir(found[0]):
        names = sorted(os.listdir(found[0]))
        return f"the folder contains {list_names(names)}" if names else "an empty folder"
    if len(found) == 1:
        content = describe_content(found[0])
        return f"a file that {content.looks_like}: {content.found}"
    return list_names(os.path.basename(path) for path in found)


def _elsewhere(name: str, kind: str) -> str:
    """Say which other kinds have an option."""
    others = []
    for other in KINDS:
        if other != kind:
            try:
                parameters = inspect.signature(getattr(sources, other)).parameters
            except (ImportError, AttributeError):
                continue
            if name in parameters:
                others.append(other)
    return f" It is one of {', '.join(others)}." if others else ""
