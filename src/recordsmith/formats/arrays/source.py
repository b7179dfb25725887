"""Arrays as a source: a dict of arrays, `.npy` files and `.npz` archives, read some rows at a time."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from recordsmith.errors import RecordsmithError, SchemaError, list_names
from recordsmith.formats.arrays.array_features import Column, blocks, bytes_per_row, feature_of, values_for
from recordsmith.formats.arrays.stored_arrays import Array, MemberStream, StoredArray, arrays_in_files, stored_array
from recordsmith.formats.files.source_files import PathLike, SourceFile, describe_files
from recordsmith.formats.source import Chunk, Loaded, NumberedRows, Source
from recordsmith.formats.tables.options import TableOptions, table_options
from recordsmith.records.shards import split_in_name
from recordsmith.schema import Schema

__all__ = ["ArraysSource", "arrays"]

_CHUNK_BYTES = 8 << 20
_CHUNK_ROWS = 65_536


def arrays(
    data: Mapping[str, Any] | PathLike | Iterable[PathLike],
    *,
    label: str | None = None,
    types: Mapping[str, Any] | None = None,
    schema: Schema | None = None,
    floats: str = "auto",
    strip: bool = False,
) -> ArraysSource:
    """Return arrays as a source for `make`. Row i of the dataset has entry i of each array.

    Args:
        data: arrays by name, or the paths of `.npy` files by name; or a `.npz` archive, a `.npy` file, or a folder of
            `.npy` files, named after the files.
        label: the array with the class.
        types: the types of arrays, by name: a feature, a dtype, "text", "bytes" or "label".
        schema: the features. Other arrays are left out.
        floats: the dtype that float64 is stored as: "float32", "float64", or "auto": float32, unless a value is at
            least 2**24.
        strip: remove white space around class names, so that "cat" and "cat " are the same class.

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
        types=types,
        schema=schema,
        floats=floats,
        strip=strip,
    )
    if isinstance(data, Mapping):
        found: Mapping[str, Column] = {_checked_name(name): _column(name, value) for name, value in data.items()}
    else:
        found = arrays_in_files(data)
    return ArraysSource(found, options)


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
            ready[name] = values_for(part, self.schema[name], strip=self.strip)
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
        row_bytes = sum(bytes_per_row(column) for column in self._columns.values())
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
        return sum(bytes_per_row(column) for column in self._columns.values()) * (self.row_count or 0)

    @property
    def row_count(self) -> int | None:
        """How many entries each array has."""
        return int(next(iter(self._columns.values())).shape[0])

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
                features[name] = self._options.declared(name) or feature_of(name, column, self._options)
            except SchemaError as error:
                raise error.at(feature=name) from None
        return Schema(features)


def _column(name: str, value: Any) -> Column:
    if isinstance(value, (str, os.PathLike)):
        return stored_array(SourceFile.at(value))
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


def _check_lengths(columns: Mapping[str, Column]) -> None:
    if not columns:
        raise RecordsmithError(
            "No arrays were given.", expected="arrays by name, such as {'image': images, 'label': y}"
        )
    _refuse_splits(columns)
    rows = {name: int(column.shape[0]) for name, column in columns.items()}
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


def _digest(column: Array) -> dict[str, Any]:
    digest = hashlib.blake2b(digest_size=16)
    if column.dtype.kind == "O":
        digest.update(repr(column.tolist()).encode(errors="surrogatepass"))
    else:
        for block in blocks(column):
            digest.update(np.ascontiguousarray(block).tobytes())
    if isinstance(column, np.ma.MaskedArray):
        digest.update(np.ma.getmaskarray(column).tobytes())
    return {"dtype": str(column.dtype), "shape": list(column.shape), "digest": digest.hexdigest()}
