"""Which source a path stands for: detected by file names first, and by content where names say nothing."""

from __future__ import annotations

import inspect
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from recordsmith.errors import RecordsmithError, advise, did_you_mean, list_names
from recordsmith.formats.arrow.ipc_files import is_saved_dataset
from recordsmith.formats.cifar.source import refuse_cifar
from recordsmith.formats.detection.recognition import annotated_kind_at
from recordsmith.formats.exported.form import SIDECAR
from recordsmith.formats.files.folder_walk import walk_files
from recordsmith.formats.files.source_files import PathLike, is_hidden_or_metadata
from recordsmith.formats.idx.source import is_idx_name
from recordsmith.formats.images.annotated_folders import annotation_file_form, refuse_annotated
from recordsmith.formats.images.folder_layout import layout_of
from recordsmith.formats.images.listing import list_folder
from recordsmith.formats.kinds import KIND_OF_CONTENT, KIND_OF_SUFFIX, KINDS
from recordsmith.formats.lerobot.layout import is_lerobot
from recordsmith.formats.listed.source import is_listed
from recordsmith.formats.source import Source
from recordsmith.formats.tables.options import ColumnOptions
from recordsmith.formats.text_files.source import is_text_name
from recordsmith.making import sources
from recordsmith.making.sources.other_formats import error_about, refuse_archive, refuse_folder
from recordsmith.records.file_signatures import describe_content
from recordsmith.records.shards import looks_like_tfrecord, resolve_files
from recordsmith.storage.publication import in_force
from recordsmith.storage.ranged.listed_files import list_files
from recordsmith.storage.ranged.opening import is_file, is_folder, is_ranged, record_bytes

__all__ = ["UnknownOptionError", "kind_of", "options_checked", "source_for"]

_COMPRESSED = (".gz", ".bz2", ".zst", ".lz4")
# Files next to the data, which say nothing about its kind.
_METADATA_SUFFIXES = (
    SIDECAR,
    "dataset_infos.json",
    "croissant.json",
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
_OWN_ROWS = """def rows():
    with open("your file", "rb") as file:
        for record in your_reader(file):
            yield {"x": record.x, "label": record.label}
rs.make(rows, "data", label="label")"""
_MOST_FILES_INSPECTED = 2000  # files of a folder that are looked at to detect its kind
_MINOR = 20  # a kind with this many times fewer files than another is ignored


class UnknownOptionError(RecordsmithError, ValueError):
    """A source of some kind has no such option.

    Attributes:
        kind: the kind.
        option: the option.
        elsewhere: which kinds have it, as text.
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
        kind = kind_of(given, annotated=not {"layout", "labels"} & options.keys())
    elif kind not in KINDS:
        raise RecordsmithError(
            f"Unknown kind of source {kind!r}.{did_you_mean(kind, KINDS)}", expected=list_names(KINDS)
        )
    function: Callable[..., Source] = getattr(sources, kind)
    return function(given, **options_checked(kind, options))


def options_checked(kind: str, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of a source by the names that its kind has for them, or raise for one that it lacks."""
    known = _options_of(getattr(sources, kind))
    if "image_encoding" in options and "image_encoding" not in known and "encoding" in known:
        options["encoding"] = options.pop("image_encoding")  # where all is images, there is no other encoding
    for name in options:
        if name not in known:
            raise UnknownOptionError(kind, name, known, _elsewhere(name, kind))
    return options


def _options_of(function: Callable[..., Source]) -> list[str]:
    """Return the names of the options of a source."""
    parameters = inspect.signature(function).parameters.values()
    named = [one.name for one in parameters if one.kind is one.KEYWORD_ONLY]
    shared = any(one.kind is one.VAR_KEYWORD for one in parameters)
    return [*named, *ColumnOptions.__annotations__] if shared else named


def kind_of(paths: PathLike | Iterable[PathLike], *, annotated: bool = True) -> str:
    """Detect the kind of the data at a path, or raise an error that says what was found and how to name the kind.

    Args:
        paths: a file, a folder, a glob, or a list of these.
        annotated: images with boxes or masks are kinds of their own; False: they are images.

    >>> kind_of(os.path.dirname(__file__))
    Traceback (most recent call last):
    recordsmith.errors.RecordsmithError: The kind of this data could not be detected.
    ...
    """
    found = resolve_files(paths)
    if annotated and len(found) == 1:
        with_boxes = annotated_kind_at(found[0])
        if with_boxes is not None:
            return with_boxes
        if os.path.isdir(found[0]) and is_listed(found[0]):
            return "listed"
    kinds: Counter[str] = Counter()
    examples: dict[str, str] = {}
    for path in found:
        for kind, name, count in _kinds_at(path):
            kinds[kind] += count
            examples.setdefault(kind, name)
    # A table beside many images is the list of their labels, an image beside tables a diagram.
    most = max(kinds.values(), default=0)
    likely = [kind for kind, count in kinds.items() if count * _MINOR > most]
    if "images" in likely and "tiff" in likely:
        likely.remove("tiff")  # among other images they are rejected with the reason
    place = found[0] if len(found) == 1 else None
    if likely == ["webdataset"]:
        refuse_archive(os.path.join(found[0], examples["webdataset"]) if is_folder(found[0]) else found[0])
    if len(likely) == 1:
        return likely[0]
    if "images" in likely and not annotated:
        return "images"
    if "images" in likely and place is not None:
        listing = list_folder(place)
        layout = layout_of([file.name for file in listing.files], root=place)
        refuse_annotated(listing, layout.classes)
    if likely:
        raise _several_kinds(place, {kind: (kinds[kind], examples[kind]) for kind in likely})
    if place is not None and os.path.isdir(place) and not any(True for _ in _files_below(place)):
        raise RecordsmithError("The folder is empty.", path=place)
    other = next((error for path in found if (error := error_about(path)) is not None), None)
    if other is not None:
        raise other
    raise RecordsmithError(
        "The kind of this data could not be detected.",
        path=place,
        found=_what_is_there(found),
        expected=f"files of kind {', '.join(KINDS)}",
        advice=advise(
            "If it is one of these kinds, name it, for example with {kind}. Otherwise read it in Python, and pass the "
            "rows:",
            kind=_kind_option("csv"),
        ),
        example=_OWN_ROWS,
    )


def _several_kinds(place: str | None, likely: dict[str, tuple[int, str]]) -> RecordsmithError:
    """Return the error for files of several kinds, of each of which the number and an example are given."""
    if (
        place is not None
        and "jsonl" in likely
        and annotation_file_form(os.path.join(place, likely["jsonl"][1])) == "COCO"
    ):
        likely["coco"] = likely.pop("jsonl")
    listed = [f"{count} of kind {kind} ({example})" for kind, (count, example) in sorted(likely.items())]
    return RecordsmithError(
        "The source contains several kinds of data.",
        path=place,
        found=", ".join(listed),
        advice=advise("Choose one with {kind}, or pass a glob of the files.", kind=_kind_option(min(likely))),
    )


def _kind_option(kind: str) -> tuple[str, str]:
    """Say how a kind is named in Python and on the command line."""
    return f"rs.sources.{kind}", f"--kind {kind}"


def _kinds_at(path: str) -> Iterable[tuple[str, str, int]]:
    """Give the kinds at a path, each with the name of one file and how many there are."""
    if not is_folder(path):
        kind = _kind_by_name(path) or _kind_by_content(path)
        return [(kind, os.path.basename(path), 1)] if kind is not None else []
    if is_saved_dataset(path):
        return [("arrow", os.path.basename(path), 1)]
    refuse_cifar(path)
    refuse_folder(path)
    if any(is_file(in_force(os.path.join(path, name))) for name in ("recordsmith.json", "dataset_info.json")):
        return [("tfrecords", os.path.basename(path), 1)]
    if is_lerobot(path):
        return [("lerobot", os.path.basename(path), 1)]
    kinds: Counter[str] = Counter()
    examples: dict[str, str] = {}
    unknown: list[str] = []
    looked_at = texts = 0
    for file, name in _files_below(path):
        texts += is_text_name(name) and not is_hidden_or_metadata(name)
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
    if not kinds and texts >= len(unknown):  # beside other data they are about it
        return [("text", os.path.basename(path), texts)] if texts else []
    return [(kind, examples[kind], count) for kind, count in kinds.items()]


def _files_below(folder: str) -> Iterator[tuple[str, str]]:
    """Give the files of a folder with their names in it."""
    if is_ranged(folder):
        yield from ((file.url, file.name) for file in list_files(folder))
    else:
        yield from ((entry.path, name) for entry, name in walk_files(folder))


def _kind_by_name(path: str) -> str | None:
    name = os.path.basename(path).lower()
    if is_idx_name(name):
        return "idx"
    if looks_like_tfrecord(name):
        return "tfrecords"
    plain = name
    for suffix in _COMPRESSED:
        plain = plain.removesuffix(suffix)
    return KIND_OF_SUFFIX.get(os.path.splitext(plain)[1]) or KIND_OF_SUFFIX.get(os.path.splitext(name)[1])


def _kind_by_content(path: str) -> str | None:
    found = describe_content(path).format
    if found == "text":
        with record_bytes(path) as read:
            first = read(0, 1 << 16).partition(b"\n")[0].strip()
        return "jsonl" if first.startswith(b"{") and first.endswith(b"}") else None
    return KIND_OF_CONTENT.get(found)


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
                known = _options_of(getattr(sources, other))
            except (ImportError, AttributeError):
                continue
            if name in known:
                others.append(other)
    return f" It is an option of {', '.join(others)}." if others else ""
