"""Arrays as a source: a dict of arrays, `.npy` files and `.npz` archives, read some rows at a time."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from recordsmith import _core
from recordsmith.errors import RecordsmithError, SchemaError, list_names
from recordsmith.formats.arrays.array_features import Column, blocks, bytes_per_row, feature_of, values_for
from recordsmith.formats.arrays.stored_arrays import Array, MemberStream, StoredArray, arrays_in_files, stored_array
from recordsmith.formats.files.file_splits import in_split_order, splits_by_name
from recordsmith.formats.files.source_files import PathLike, SourceFile, describe_files
from recordsmith.formats.source import Chunk, Loaded, NumberedRows, Source
from recordsmith.formats.tables.options import TableOptions, table_options
from recordsmith.records.shards import split_in_name
from recordsmith.schema import Schema

__all__ = ["ArraysSource", "arrays", "base_name", "by_split", "tables_of_files"]

_CHUNK_BYTES = 8 << 20
_CHUNK_ROWS = 65_536


def arrays(
    data: Mapping[str, Any] | PathLike | Iterable[PathLike],
    *,
    label: str | None = None,
    columns: str | Iterable[str] | None = None,
    types: Mapping[str, Any] | None = None,
    schema: Schema | None = None,
    floats: str = "auto",
    strip: bool = False,
) -> ArraysSource:
    """Return arrays as a source for `make`. Row i of the dataset has entry i of each array.

    Arrays named x_train, y_train, x_test and y_test are two splits of x and y.

    Args:
        data: arrays by name, or the paths of `.npy` files by name; or a `.npz` archive, a `.npy` file, or a folder of
            `.npy` files, named after the files.
        label: the array with the class.
        columns: use only these arrays.
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
        columns=columns,
        types=types,
        schema=schema,
        floats=floats,
        strip=strip,
    )
    if isinstance(data, Mapping):
        found: Mapping[str, Column] = {_checked_name(name): _column(name, value) for name, value in data.items()}
    else:
        files = arrays_in_files(data)
        names = [name for _, arrays in files for name in arrays]
        if len(files) > 1 and len(set(names)) < len(names):
            return ArraysSource(tables_of_files(files, ".npz"), options)
        found = {name: column for _, arrays in files for name, column in arrays.items()}
    return ArraysSource(by_split(found), options)


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
    split: str | None = None

    def load(self) -> Loaded:
        """Read the rows."""
        ready = {}
        for name, column in self.columns.items():
            part = column.rows(self.start, self.stop) if isinstance(column, StoredArray) else column
            ready[name] = values_for(part, self.schema[name], strip=self.strip)
        return Loaded(ready, self.stop - self.start, NumberedRows(self.name, self.start))


class ArraysSource(Source):
    """Arrays of equal length, in one or several splits. Made by `rs.sources.arrays`."""

    kind: ClassVar[str] = "arrays"

    def __init__(
        self, tables: Mapping[str | None, Mapping[str, Column]], options: TableOptions, lost: tuple[str, ...] = ()
    ) -> None:
        self._options = options
        self._lost = lost
        self.label = options.label_name()
        first = next(iter(tables.values()), {})
        names = options.wanted(list(first), next((place.file.path for place in _stored(first)), "the arrays"))
        for split, columns in tables.items():
            missing = [name for name in names if name not in columns]
            if missing:
                raise RecordsmithError(
                    f"The split {split!r} lacks arrays that another one has.",
                    found=list_names(columns),
                    expected=list_names(names),
                    advice="Choose arrays that all splits have with columns=[...].",
                )
        self._tables = {split: {name: columns[name] for name in names} for split, columns in tables.items()}
        for columns in self._tables.values():
            _check_lengths(columns, self.kind)
        every = [column for table in self._tables.values() for column in table.values()]
        self._files = {column.file.path: column.file for column in every if isinstance(column, StoredArray)}
        self.sequential = not all(isinstance(column, StoredArray) and column.offset is not None for column in every)

    def schema(self) -> Schema:
        """Return the schema: dtypes and shapes are those of the arrays."""
        return self._schema

    def describe(self) -> dict[str, Any]:
        """Return what the source is: files with size and time, and the dtype, shape and digest of what is in memory."""
        described: dict[str, Any] = {"kind": self.kind, "options": self._options.describe()}
        if self._files:
            described["files"] = describe_files(list(self._files.values()))
        in_memory = {
            name if split is None else f"{split}/{name}": _digest(column)
            for split, columns in self._tables.items()
            for name, column in columns.items()
            if isinstance(column, np.ndarray)
        }
        if in_memory:
            described["arrays"] = in_memory
        return described

    def chunks(self) -> Iterator[Chunk]:
        """Give the chunks: rows of about 8 MB in all, and at most 65,536."""
        for split, columns in self._tables.items():
            yield from self._chunks_of(split, columns)

    def _chunks_of(self, split: str | None, columns: Mapping[str, Column]) -> Iterator[Chunk]:
        schema = self.schema()
        rows = _rows(columns)
        row_bytes = _row_bytes(columns)
        at_once = max(1, min(_CHUNK_ROWS, _CHUNK_BYTES // max(1, row_bytes)))
        name = next((place.file.path for place in _stored(columns)), "arrays")
        streams = {
            key: MemberStream(column)
            for key, column in columns.items()
            if isinstance(column, StoredArray) and column.offset is None
        }
        for start in range(0, rows, at_once):
            stop = min(start + at_once, rows)
            parts: dict[str, Column] = {}
            for key, column in columns.items():
                if key in streams:
                    parts[key] = streams[key].next(stop - start)
                else:
                    parts[key] = column if isinstance(column, StoredArray) else column[start:stop]
            size = row_bytes * (stop - start)
            yield ArraysChunk(parts, schema, start, stop, name, size, self._options.strip, split)

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits that the arrays are, the training split first."""
        return in_split_order(split for split in self._tables if split is not None)

    def split_of(self, chunk: Chunk) -> str | None:
        """Return the split of the arrays that a chunk comes from."""
        return chunk.split if isinstance(chunk, ArraysChunk) else None

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was left out or changed when the arrays were found."""
        return self._lost

    @property
    def size_bytes(self) -> int | None:
        """How many bytes the arrays have."""
        return sum(_row_bytes(columns) * _rows(columns) for columns in self._tables.values())

    @property
    def row_count(self) -> int | None:
        """How many entries each array has."""
        return sum(map(_rows, self._tables.values()))

    @cached_property
    def _schema(self) -> Schema:
        if self._options.schema is not None:
            return self._options.schema
        features = {}
        for name in next(iter(self._tables.values())):
            parts = [columns[name] for columns in self._tables.values()]
            try:
                features[name] = self._options.declared(name) or feature_of(name, parts, self._options)
            except SchemaError as error:
                raise error.at(feature=name) from None
        return Schema(features)


def by_split(columns: Mapping[str, Column]) -> dict[str | None, dict[str, Column]]:
    """Divide arrays into splits, if the name of each has one, and all splits have the same arrays.

    >>> by_split({"x_train": np.zeros(2), "x_test": np.zeros(1)})
    {'train': {'x': array([0., 0.])}, 'test': {'x': array([0.])}}
    """
    tables: dict[str | None, dict[str, Column]] = {}
    for name, column in columns.items():
        split = split_in_name(name)
        tables.setdefault(split, {})[base_name(name)] = column
    same = len({tuple(sorted(table)) for table in tables.values()}) == 1
    return tables if None not in tables and len(tables) > 1 and same else {None: dict(columns)}


def tables_of_files(
    files: Sequence[tuple[SourceFile, Mapping[str, Column]]], kind: str
) -> dict[str | None, dict[str, Column]]:
    """Return arrays by split: by the names of arrays in one file, and by the names of several files."""
    if len(files) == 1:
        return by_split(files[0][1])
    splits = splits_by_name([file.path for file, _ in files])
    if len(set(splits.values())) < len(files):
        raise RecordsmithError(
            f"Several {kind} files must be named after splits.",
            found=list_names([file.path for file, _ in files], 4),
            expected=f"names such as train{kind} and test{kind}",
            advice="Make a dataset of one file. For more, read them in Python, and pass their rows to rs.make.",
        )
    tables: dict[str | None, dict[str, Column]] = {splits[file.path]: dict(columns) for file, columns in files}
    if len({frozenset(table) for table in tables.values()}) > 1:  # x_train in train.h5, and x_test in test.h5
        tables = {split: {base_name(name): one for name, one in table.items()} for split, table in tables.items()}
    return tables


def base_name(name: str) -> str:
    """Return the name of an array without the split that is part of it.

    >>> base_name("X_train"), base_name("test"), base_name("image")
    ('X', 'data', 'image')
    """
    split = split_in_name(name)
    if split is None:
        return name
    return re.sub(re.escape(split), "", name, count=1, flags=re.IGNORECASE).strip("_-. /") or "data"


def _rows(columns: Mapping[str, Column]) -> int:
    return int(next(iter(columns.values())).shape[0])


def _row_bytes(columns: Mapping[str, Column]) -> int:
    return sum(bytes_per_row(column) for column in columns.values())


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


def _check_lengths(columns: Mapping[str, Column], kind: str) -> None:
    path = next((place.file.path for place in _stored(columns)), None)
    choosing = f"rs.sources.{kind}(..., columns=[...])"
    if not columns:
        raise RecordsmithError(
            "No arrays were given.", expected="arrays by name, such as {'image': images, 'label': y}"
        )
    single = [name for name, column in columns.items() if not column.shape]
    if single:
        raise RecordsmithError(
            "An array needs one entry per row.",
            path=path,
            found=f"{list_names(single)}: a single value",
            advice=f"Choose the other arrays with {choosing}.",
        )
    rows = {name: int(column.shape[0]) for name, column in columns.items()}
    if len(set(rows.values())) > 1:
        raise RecordsmithError(
            "The arrays differ in length.",
            path=path,
            found=", ".join(f"{name!r} has {count}" for name, count in list(rows.items())[:8]),
            expected="one entry per row in each",
            advice=f"Choose those that belong together with {choosing}.",
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
            digest.update(_core.digest_bytes(np.ascontiguousarray(block).reshape(-1).view(np.uint8)))
    if isinstance(column, np.ma.MaskedArray):
        digest.update(np.ma.getmaskarray(column).tobytes())
    return {"dtype": str(column.dtype), "shape": list(column.shape), "digest": digest.hexdigest()}
