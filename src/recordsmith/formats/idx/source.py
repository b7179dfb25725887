"""Arrays in idx files, as MNIST and its relatives come: images and labels of each split in files of their own.

two zero bytes | type | number of dimensions | size of each dimension, 4 bytes, largest byte first | values
"""

from __future__ import annotations

import gzip
import os
import re
import struct
import zlib
from collections.abc import Iterable, Mapping
from math import prod
from typing import Any, ClassVar

from recordsmith.errors import RecordsmithError, TruncatedFileError, list_names
from recordsmith.formats.arrays.array_features import Column
from recordsmith.formats.arrays.source import ArraysSource
from recordsmith.formats.arrays.stored_arrays import StoredArray
from recordsmith.formats.files.folder_walk import walk_files
from recordsmith.formats.files.source_files import PathLike, SourceFile, opened
from recordsmith.formats.tables.options import table_options
from recordsmith.records.shards import resolve_files, split_in_name
from recordsmith.schema import Schema
from recordsmith.storage.ranged.opening import is_folder, is_ranged, walk_folder

__all__ = ["IdxSource", "idx", "is_idx_name"]

_NAME = re.compile(r"(?P<stem>.*?)[-.]idx(?P<rank>\d)-(ubyte|byte|short|int|float|double)(\.gz)?", re.IGNORECASE)
_TYPES = {0x08: "|u1", 0x09: "|i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
_LARGEST_ROW = 2**31 - 1  # bytes: no record holds more
_HEADER = 4 + 4 * 32


def idx(
    paths: PathLike | Iterable[PathLike],
    *,
    label: str | None = None,
    types: Mapping[str, Any] | None = None,
    schema: Schema | None = None,
) -> IdxSource:
    """Return the arrays of idx files as a source for `make`.

    The files train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte are
    the splits train and test, with the features image and label. Gzipped files are decompressed.

    Args:
        paths: the folder, a glob, or a list of files.
        label: the array with the class; None: the one called label.
        types: the types of arrays, by name: a feature, a dtype or "label".
        schema: the features. Other arrays are left out.

    >>> import recordsmith as rs, tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> images = bytes([0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 2, 10, 20, 30, 40])
    >>> _ = (folder / "train-images-idx3-ubyte").write_bytes(images)
    >>> _ = (folder / "train-labels-idx1-ubyte").write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 1, 7]))
    >>> rs.sources.idx(folder).schema()
    Schema({
        'image': Tensor('uint8', (2, 2)),
        'label': Label(8),
    })
    """
    tables: dict[str | None, dict[str, StoredArray]] = {}
    for path in _files(paths):
        match = _NAME.fullmatch(os.path.basename(path))
        stem = match["stem"] if match else os.path.basename(path)
        split = "test" if "t10k" in stem.lower() else split_in_name(stem)
        name = _column_name(stem)
        columns = tables.setdefault(split, {})
        if name not in columns:
            columns[name] = _array(SourceFile.at(path))
        elif _unpacked(path) != _unpacked(columns[name].file.path):  # else it is the same, packed and unpacked
            raise RecordsmithError(f"Two files are the array {name!r}.", path=path, advice="Pass one of them.")
    first = next(iter(tables.values()))
    for split, columns in tables.items():
        if set(columns) != set(first):
            raise RecordsmithError(
                "The splits have different arrays.",
                path=next(iter(columns.values())).file.path,
                found=f"{list_names(columns)} in {split!r}",
                expected=list_names(first),
            )
    named = label or ("label" if "label" in first and schema is None and "label" not in (types or {}) else None)
    arrays: dict[str | None, Mapping[str, Column]] = {**tables}
    return IdxSource(arrays, table_options(label=named, types=types, schema=schema, floats="auto"))


class IdxSource(ArraysSource):
    """The arrays of idx files. Made by `rs.sources.idx`."""

    kind: ClassVar[str] = "idx"


def is_idx_name(name: str) -> bool:
    """Say whether a file is called like an idx file.

    >>> is_idx_name("t10k-labels-idx1-ubyte.gz"), is_idx_name("train-images.idx3-ubyte"), is_idx_name("a.idx")
    (True, True, False)
    """
    return _NAME.fullmatch(os.path.basename(name)) is not None


def _unpacked(path: str) -> str:
    return os.path.basename(path).removesuffix(".gz")


def _files(paths: Any) -> list[str]:
    found: list[str] = []
    for path in resolve_files(paths):
        if not is_folder(path):
            found.append(path)
        elif is_ranged(path):
            found += [url for url, name in walk_folder(path) if is_idx_name(name)]
        else:
            found += [entry.path for entry, name in walk_files(path) if is_idx_name(name)]
    if not found:
        raise RecordsmithError("There are no idx files.", expected="names such as train-images-idx3-ubyte")
    return found


def _column_name(stem: str) -> str:
    lowered = stem.lower()
    if "images" in lowered or "labels" in lowered:
        return "image" if "images" in lowered else "label"
    split = split_in_name(stem) or "t10k"
    return lowered.replace(split, "").strip("-_. ") or "data"


def _array(file: SourceFile) -> StoredArray:
    compressed = file.compression() == "gzip"
    try:
        with opened(file) as stream:
            head = gzip.GzipFile(fileobj=stream).read(_HEADER) if compressed else stream.read(_HEADER)
    except (OSError, EOFError, zlib.error) as error:
        raise TruncatedFileError(f"The file is not complete: {error}.", path=file.path) from None
    rank = head[3] if len(head) >= 4 else 0
    if len(head) < 4 + 4 * rank or head[:2] != b"\0\0" or head[2] not in _TYPES or not 0 < rank <= 32:
        raise RecordsmithError("This is not an idx file.", path=file.path, found=repr(head[:8]))
    shape = struct.unpack_from(f">{rank}I", head, 4)
    start = 4 + 4 * rank
    offset = None if compressed else start
    array = StoredArray(file, offset, _TYPES[head[2]], shape, header=start)
    if array.row_bytes > _LARGEST_ROW or not prod(shape[1:]):
        raise RecordsmithError("The header has an impossible shape.", path=file.path, found=str(shape))
    if not compressed and file.size - start < array.row_bytes * shape[0]:
        raise TruncatedFileError(
            "The file has fewer values than its header says.",
            path=file.path,
            found=f"{file.size - start} bytes",
            expected=f"{array.row_bytes * shape[0]} bytes, for the shape {shape}",
            advice="Download it again.",
        )
    return array
