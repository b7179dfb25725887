"""Arrays as a source: a dict of arrays, `.npy` files and `.npz` archives, read some rows at a time.

Files are read and not mapped: where one shrinks meanwhile, a mapping would end the process without a word.
"""

from __future__ import annotations

import errno
import hashlib
import lzma
import os
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import IO, Any, BinaryIO, ClassVar

import numpy as np
import numpy.typing as npt

from recordsmith.errors import RecordsmithError, SchemaError, TruncatedFileError, did_you_mean, list_names
from recordsmith.formats.arrays.npy_format import NpyHeader, read_header
from recordsmith.formats.files.source_files import PathLike, SourceFile, describe_files, find_files, opened
from recordsmith.formats.source import Chunk, Loaded, NumberedRows, Source
from recordsmith.formats.tables.columns import (
    EXACT_IN_FLOAT32,
    MOST_CLASSES,
    label_feature,
    number_feature,
    stripped,
    too_many_classes,
)
from recordsmith.formats.tables.loading import numbers_are_names
from recordsmith.formats.tables.options import TableOptions, table_options
from recordsmith.formats.tables.times import UNITS, duration_feature
from recordsmith.images import Preparation
from recordsmith.records.shards import split_in_name
from recordsmith.schema import Bytes, Feature, Label, Schema, Text

__all__ = ["ArraysSource", "arrays"]

SUFFIXES = (".npy", ".npz")
_CHUNK_BYTES = 8 << 20
_CHUNK_ROWS = 65_536

Array = npt.NDArray[Any]


def arrays(
    data: Mapping[str, Any] | PathLike | Iterable[PathLike],
    *,
    label: str | None = None,
    types: Mapping[str, Any] | None = None,
    schema: Schema | None = None,
    floats: str = "auto",
    strip: bool = False,
) -> ArraysSource:
    """Return arrays as a source for `make`: row i of the dataset is entry i of each of them.

    Args:
        data: arrays by name, or the paths of `.npy` files by name; or a `.npz` archive, a `.npy` file, or a folder of
            `.npy` files, whose names are those of the files.
        label: the array that holds the class.
        types: by name: a feature, a dtype, or "text", "bytes" or "label".
        schema: the features of all arrays to take.
        floats: what float64 is stored as: "float32", "float64", or "auto": float32, unless there are values from
            2**24 up.
        strip: cut off white space around the names of classes, so that "cat" and "cat " are one.

    >>> import recordsmith as rs
    >>> source = rs.sources.arrays({"image": np.zeros((3, 28, 28), np.uint8), "label": [4, 0, 9]}, label="label")
    >>> source.schema()
    Schema({
        'image': Tensor('uint8', (28, 28)),
        'label': Label(10),
    })
    """
    options = table_options(
        label=label,
        text=(),
        images=None,
        columns=None,
        types=types,
        schema=schema,
        floats=floats,
        preparation=Preparation(),
        strip=strip,
    )
    if isinstance(data, Mapping):
        found = {_checked_name(name): _column(name, value) for name, value in data.items()}
    else:
        found = _columns_of_files(data)
    return ArraysSource(found, options)


@dataclass(frozen=True, slots=True)
class StoredArray:
    """An array in a file: where its values begin, and what they are."""

    file: SourceFile
    offset: int | None  # None: compressed, and only to be read from the start
    dtype: str
    shape: tuple[int, ...]
    fortran: bool = False
    member: str | None = None  # of an archive

    @property
    def row_bytes(self) -> int:
        """How many bytes an entry takes."""
        return np.dtype(self.dtype).itemsize * prod(self.shape[1:])

    def rows(self, start: int, stop: int) -> Array:
        """Return some entries."""
        assert self.offset is not None  # noqa: S101 - for the type checker: others are read from their start
        dtype, inner = np.dtype(self.dtype), self.shape[1:]
        with opened(self.file) as stream:
            if not self.fortran:
                return self._read(stream, self.offset + start * self.row_bytes, (stop - start, *inner))
            # The first index varies fastest: the rows of a chunk are a run for each place within a row.
            runs = [
                self._read(stream, self.offset + (place * self.shape[0] + start) * dtype.itemsize, (stop - start,))
                for place in range(prod(inner))
            ]
            return np.stack(runs).reshape(*reversed(inner), stop - start).T

    def _read(self, stream: BinaryIO, offset: int, shape: tuple[int, ...]) -> Array:
        array = np.empty(shape, self.dtype)
        view = array.reshape(-1).view(np.uint8).data if array.nbytes else memoryview(b"")
        stream.seek(offset)
        while view:
            read = stream.readinto(view)  # type: ignore[attr-defined]
            if not read:
                raise cut_short(self, f"the file ends {len(view)} bytes too early")
            view = view[read:]
        return array


Column = Array | StoredArray


@dataclass(frozen=True, slots=True)
class ArraysChunk(Chunk):
    """The same rows of several arrays: parts of those in memory, and where the others are."""

    columns: dict[str, Column]
    schema: Schema
    start: int
    stop: int
    name: str
    source_bytes: int
    strip: bool = False

    def load(self) -> Loaded:
        """Read the rows."""
        ready = {}
        for name, column in self.columns.items():
            part = column.rows(self.start, self.stop) if isinstance(column, StoredArray) else column
            ready[name] = _as_taken(part, self.schema[name], strip=self.strip)
        return Loaded(ready, self.stop - self.start, NumberedRows(self.name, self.start))


class ArraysSource(Source):
    """Arrays of equal length. Made by `rs.sources.arrays`."""

    kind: ClassVar[str] = "arrays"

    def __init__(self, columns: Mapping[str, Column], options: TableOptions) -> None:
        _check_lengths(columns)
        self._options = options
        self.label = options.label_name()
        names = options.wanted(list(columns), next(iter(self._paths(columns)), "the arrays"))
        self._columns = {name: columns[name] for name in names}
        self._files = {place.file.path: place.file for place in _stored(self._columns)}
        self.sequential = len(_stored(self._columns)) < len(self._columns) or any(
            place.offset is None for place in _stored(self._columns)
        )

    def schema(self) -> Schema:
        """Return the schema: dtypes and shapes are those of the arrays."""
        return self._schema

    def describe(self) -> dict[str, Any]:
        """Return what the source is: files with size and time, and the dtype, shape and digest of what is in memory."""
        described: dict[str, Any] = {"kind": self.kind, "options": self._options.describe()}
        if self._files:
            described["files"] = describe_files(list(self._files.values()))
        in_memory = {name: column for name, column in self._columns.items() if isinstance(column, np.ndarray)}
        if in_memory:
            described["arrays"] = {name: _digest(column) for name, column in in_memory.items()}
        return described

    def chunks(self) -> Iterator[Chunk]:
        """Give the chunks: rows of about 8 MB in all, and at most 65,536."""
        schema = self.schema()
        rows = self.row_count or 0
        row_bytes = sum(_row_bytes(column) for column in self._columns.values())
        at_once = max(1, min(_CHUNK_ROWS, _CHUNK_BYTES // max(1, row_bytes)))
        name = next(iter(self._files), "arrays")
        streams = {
            key: MemberStream(column)
            for key, column in self._columns.items()
            if isinstance(column, StoredArray) and column.offset is None
        }
        for start in range(0, rows, at_once):
            stop = min(start + at_once, rows)
            parts: dict[str, Column] = {}
            for key, column in self._columns.items():
                if key in streams:
                    parts[key] = streams[key].next(stop - start)
                else:
                    parts[key] = column if isinstance(column, StoredArray) else column[start:stop]
            yield ArraysChunk(parts, schema, start, stop, name, row_bytes * (stop - start), self._options.strip)

    @property
    def size_bytes(self) -> int | None:
        """How many bytes the arrays have."""
        return sum(_row_bytes(column) for column in self._columns.values()) * (self.row_count or 0)

    @property
    def row_count(self) -> int | None:
        """How many entries each array has."""
        return _rows(next(iter(self._columns.values())))

    @staticmethod
    def _paths(columns: Mapping[str, Column]) -> Iterator[str]:
        return (place.file.path for place in _stored(columns))

    @cached_property
    def _schema(self) -> Schema:
        if self._options.schema is not None:
            return self._options.schema
        features = {}
        for name, column in self._columns.items():
            try:
                features[name] = self._options.declared(name) or self._feature(name, column)
            except SchemaError as error:
                raise error.at(feature=name) from None
        return Schema(features)

    def _feature(self, name: str, column: Column) -> Feature:
        dtype = np.dtype(column.dtype)
        shape = tuple(column.shape[1:])
        hint = self._options.hint(name)
        if hint == "label" and dtype.kind != "f":
            if shape not in ((), (1,)):
                raise SchemaError("A label must be one value per row.", found=f"an array of shape {column.shape}")
            return _label(column, strip=self._options.strip)
        if dtype.kind in "USTOM" or hint in ("text", "bytes"):
            return _strings(column, shape, hint)
        if dtype.kind == "m" and not shape and np.datetime_data(dtype)[0] in UNITS:
            gaps = any(bool(np.isnat(block).any()) for block in _blocks(column))
            return duration_feature(np.datetime_data(dtype)[0], optional=gaps)
        if dtype.kind not in "biufc":
            raise SchemaError("Arrays of this dtype cannot be stored in a TFRecord.", found=str(dtype))
        optional = isinstance(column, np.ma.MaskedArray) and bool(np.ma.getmaskarray(column).any())
        if hint is not None and hint != "label":
            return number_feature(np.dtype(hint), shape, optional=optional)
        if dtype.name == "float64":
            floats = self._options.floats
            dtype = np.dtype(("float64" if _has_large(column) else "float32") if floats == "auto" else floats)
        elif dtype.kind == "f" and dtype.itemsize > 8:
            raise SchemaError("Floats of more than 64 bits cannot be stored.", found=str(dtype))
        return number_feature(dtype.newbyteorder("="), shape, optional=optional)


class MemberStream:
    """Reads a compressed array of an archive from its start, some rows at a time."""

    def __init__(self, column: StoredArray) -> None:
        self._column = column
        self._stream: IO[bytes] | None = None

    def next(self, rows: int) -> Array:
        """Return the next rows."""
        column = self._column
        with _archive_errors(column.file.path, column.member):
            if self._stream is None:
                archive = zipfile.ZipFile(column.file.path)
                self._stream = archive.open(column.member or "")
                read_header(self._stream)
            wanted = rows * column.row_bytes
            parts: list[bytes] = []
            while wanted and (more := self._stream.read(wanted)):
                parts.append(more)
                wanted -= len(more)
        if wanted:
            raise cut_short(column, f"{wanted} bytes are missing")
        return np.frombuffer(b"".join(parts), column.dtype).reshape(rows, *column.shape[1:])


def cut_short(column: StoredArray, found: str) -> TruncatedFileError:
    """Return the error for an array that has fewer values than its header says."""
    return TruncatedFileError(
        "The array is incomplete: it has fewer values than its header says.",
        path=column.file.path,
        found=found if column.member is None else f"{column.member}: {found}",
        expected=f"{np.dtype(column.dtype)} of shape {column.shape}",
        advice="Copy or save it again, and do not change it while the dataset is being made.",
    )


@contextmanager
def _archive_errors(path: str, member: str | None) -> Iterator[None]:
    """Say of whatever is wrong with an archive which file it is."""
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, EOFError, struct.error, RuntimeError, lzma.LZMAError, OSError) as error:
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise  # the disk, and not a place before the file's start
        raise RecordsmithError(
            f"This is not a complete .npz archive: {str(error) or type(error).__name__}.",
            path=path,
            found=member,
            advice="Copy or save it again.",
        ) from None
    except ValueError as error:
        if isinstance(error, RecordsmithError):
            raise
        raise RecordsmithError(str(error), path=path, found=member, advice=_advice_about(str(error))) from None


def _advice_about(problem: str) -> str:
    if "Python objects" in problem:
        return "If you trust the file, load it with numpy and allow_pickle=True, and pass the arrays."
    return "Copy or save it again."


def _as_taken(part: Array, feature: Feature, *, strip: bool = False) -> Any:
    """Return a part of an array in a form that the feature takes."""
    if isinstance(feature, Label) and part.ndim == 2:
        part = part.reshape(len(part))
    if part.dtype.kind == "m":
        return np.ma.MaskedArray(part.astype(np.int64), mask=np.isnat(part))
    if part.dtype.kind == "M":
        return [None if np.isnat(value) else str(value) for value in part]
    if isinstance(feature, Label) and part.dtype.kind in "iu" and numbers_are_names(feature):
        return [str(value) for value in part.tolist()]
    if isinstance(feature, Label) and strip and part.dtype.kind in "OSUT":
        return [value.strip() if isinstance(value, (str, bytes)) else value for value in part.tolist()]
    if isinstance(feature, Label) and part.dtype.kind == "b":
        return part.astype(np.int64)
    return part


def _columns_of_files(path: PathLike | Iterable[PathLike]) -> dict[str, Column]:
    files = find_files(path, SUFFIXES, kind=".npy or .npz")
    columns: dict[str, Column] = {}
    for file in files:
        found = _members(file) if file.path.lower().endswith(".npz") else {_stem(file.path): _npy(file)}
        for name, column in found.items():
            if name in columns:
                raise RecordsmithError(f"Two arrays are named {name!r}.", path=file.path, advice="Rename one of them.")
            columns[name] = column
    return columns


def _column(name: str, value: Any) -> Column:
    if isinstance(value, (str, os.PathLike)):
        return _npy(SourceFile.at(value))
    if isinstance(value, np.memmap) and isinstance(value.filename, (str, os.PathLike)):
        return np.asarray(value)
    if isinstance(value, np.ma.MaskedArray):
        array: Array = value
    else:
        array = np.asarray(value) if not _is_ragged(value) else _objects(value)
    if array.ndim == 0:
        raise SchemaError("An array needs one entry per row.", feature=name, found=f"a single {type(value).__name__}")
    return array


def _is_ragged(value: Any) -> bool:
    if not isinstance(value, (list, tuple)):
        return False
    try:
        np.asarray(value)
    except ValueError:
        return True
    return False


def _objects(value: Sequence[Any]) -> Array:
    objects = np.empty(len(value), object)
    objects[:] = value
    return objects


def _npy(file: SourceFile) -> StoredArray:
    with opened(file) as stream, _archive_errors(file.path, None):
        header = read_header(stream)
        column = StoredArray(file, stream.tell(), header.dtype.str, header.shape, header.fortran)
        return _checked(column, header, file.size - stream.tell())


def _members(file: SourceFile) -> dict[str, Column]:
    """Return the arrays of an archive: those that are stored as they are can be read from the middle."""
    columns: dict[str, Column] = {}
    with opened(file) as raw, _archive_errors(file.path, None), zipfile.ZipFile(raw) as archive:
        for entry in archive.infolist():
            if not entry.filename.endswith(".npy"):
                continue
            with archive.open(entry) as stream:
                header = read_header(stream)
                header_bytes = stream.tell()
            offset, there = None, entry.file_size - header_bytes
            if entry.compress_type == zipfile.ZIP_STORED:
                raw.seek(entry.header_offset)
                name_bytes, extra_bytes = struct.unpack_from("<HH", raw.read(30), 26)
                offset = entry.header_offset + 30 + name_bytes + extra_bytes + header_bytes
                there = min(there, file.size - offset)
            column = StoredArray(file, offset, header.dtype.str, header.shape, header.fortran, entry.filename)
            columns[entry.filename.removesuffix(".npy")] = _checked(column, header, there)
    if not columns:
        raise RecordsmithError("The archive contains no arrays.", path=file.path)
    return columns


def _checked(column: StoredArray, header: NpyHeader, there: int) -> StoredArray:
    if not column.shape:
        raise RecordsmithError("An array needs one entry per row.", path=column.file.path, found="a single value")
    if there < header.size:
        raise cut_short(column, f"{there} bytes of {header.size}")
    if column.fortran and column.offset is None:
        raise RecordsmithError(
            "A compressed array in Fortran order cannot be read row by row.",
            path=column.file.path,
            found=column.member,
            advice="Save it with numpy.savez instead of savez_compressed, or as numpy.ascontiguousarray(array).",
        )
    return column


def _check_lengths(columns: Mapping[str, Column]) -> None:
    if not columns:
        raise RecordsmithError(
            "No arrays were given.", expected="arrays by name, such as {'image': images, 'label': y}"
        )
    _refuse_splits(columns)
    rows = {name: _rows(column) for name, column in columns.items()}
    if len(set(rows.values())) > 1:
        raise RecordsmithError(
            "The arrays differ in length.",
            found=", ".join(f"{name!r} has {count}" for name, count in list(rows.items())[:8]),
            expected="one entry per row in each",
        )


def _refuse_splits(columns: Mapping[str, Column]) -> None:
    """Refuse arrays of several splits: row 7 of x_train and row 7 of x_test have nothing to do with each other."""
    bases: dict[str | None, set[str]] = {}
    for name in columns:
        split = split_in_name(name)
        bases.setdefault(split, set()).add(name.lower().replace(split or "", "").strip("_-. "))
    if None not in bases and len(bases) > 1 and all(found == next(iter(bases.values())) for found in bases.values()):
        raise RecordsmithError(
            "The arrays are several splits, not columns of the same rows.",
            found=list_names(columns),
            advice="Write each split separately with rs.write(folder, schema, split='train'), or give the arrays of "
            "one split by name, such as {'image': x_train, 'label': y_train}.",
        )


def _checked_name(name: Any) -> str:
    if not isinstance(name, str):
        raise RecordsmithError("An array's name must be a string.", found=repr(name))
    return name


def _stored(columns: Mapping[str, Column]) -> list[StoredArray]:
    return [column for column in columns.values() if isinstance(column, StoredArray)]


def _rows(column: Column) -> int:
    return int(column.shape[0])


def _row_bytes(column: Column) -> int:
    if isinstance(column, StoredArray):
        return column.row_bytes
    return int(column.nbytes // max(1, len(column))) if column.dtype.kind != "O" else 64


def _stem(path: str) -> str:
    return os.path.basename(path).rpartition(".")[0]


def _blocks(column: Column) -> Iterator[Array]:
    """Give an array in parts of bounded size."""
    at_once = max(1, _CHUNK_BYTES // max(1, _row_bytes(column)))
    if isinstance(column, StoredArray) and column.offset is None:
        stream = MemberStream(column)
        for start in range(0, column.shape[0], at_once):
            yield stream.next(min(at_once, column.shape[0] - start))
        return
    for start in range(0, _rows(column), at_once):
        stop = min(start + at_once, _rows(column))
        yield column.rows(start, stop) if isinstance(column, StoredArray) else column[start:stop]


def _has_large(column: Column) -> bool:
    for block in _blocks(column):
        magnitudes = np.abs(block)
        if bool((magnitudes[np.isfinite(magnitudes)] >= EXACT_IN_FLOAT32).any()):
            return True
    return False


def _label(column: Column, *, strip: bool) -> Feature:
    classes: set[str] = set()
    for block in _blocks(column):
        values = np.unique(block) if block.dtype.kind != "O" else set(block.tolist())
        words = (value.item() if isinstance(value, np.generic) else value for value in values)
        classes |= {word.decode() if isinstance(word, bytes) else str(word) for word in words}
        if len(classes) > MOST_CLASSES:
            raise too_many_classes()
    if np.dtype(column.dtype).kind == "b":
        return Label(["false", "true"])
    return label_feature(stripped(classes) if strip else classes, optional=False)


def _strings(column: Column, shape: tuple[int, ...], hint: str | None) -> Feature:
    dtype = np.dtype(column.dtype)
    if len(shape) > 1:
        raise SchemaError("Strings have at most one dimension.", found=f"an array of shape {column.shape}")
    optional = False
    text = dtype.kind in "UTM"
    if dtype.kind == "O" and isinstance(column, np.ndarray):
        kinds = {type(value) for value in column.tolist()}
        optional = type(None) in kinds
        kinds.discard(type(None))
        text = kinds == {str}
        if not text and kinds != {bytes}:
            names = sorted(kind.__name__ for kind in kinds)
            raise SchemaError(
                "An array of Python objects may hold only str or bytes.",
                found=list_names(names) + did_you_mean(names[0] if names else "", ("str", "bytes")),
                advice="Give rows of different lengths with rs.sources.rows, or pass a schema that declares them.",
            )
    if hint == "text" or (text and hint != "bytes"):
        return Text(shape, optional=optional)
    return Bytes(shape, optional=optional)


def _digest(column: Array) -> dict[str, Any]:
    digest = hashlib.blake2b(digest_size=16)
    if column.dtype.kind == "O":
        digest.update(repr(column.tolist()).encode(errors="surrogatepass"))
    else:
        for block in _blocks(column):
            digest.update(np.ascontiguousarray(block).tobytes())
    if isinstance(column, np.ma.MaskedArray):
        digest.update(np.ma.getmaskarray(column).tobytes())
    return {"dtype": str(column.dtype), "shape": list(column.shape), "digest": digest.hexdigest()}
