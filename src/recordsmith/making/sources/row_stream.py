"""Rows from any iterable, generator or function as a source, in the order in which they come."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from pathlib import PurePath
from typing import Any, ClassVar

import numpy as np

from recordsmith.errors import RecordsmithError, SchemaError, did_you_mean, list_names
from recordsmith.formats.source import Chunk, Loaded, Reject, Source
from recordsmith.formats.tables.columns import EXACT_IN_FLOAT32, label_feature, number_feature
from recordsmith.formats.tables.loading import shortened
from recordsmith.schema import Bytes, Feature, Image, Label, Schema, Text
from recordsmith.wording.numbers import count_text

__all__ = ["RowsSource", "rows"]

Row = Mapping[str, Any]

_LOOKED_AT = 1000  # rows from which a schema is inferred, if they can be read only once
_CHUNK_ROWS = 8192
_CHUNK_BYTES = 8 << 20
_MEASURED = 16  # of each chunk, every 16th row is measured


def rows(
    data: Iterable[Row] | Callable[[], Iterable[Row]],
    *,
    schema: Schema | None = None,
    label: str | None = None,
    declared: Mapping[str, Feature] | None = None,
    strip: bool = False,
) -> RowsSource:
    """Return the rows of an iterable as a source for `make`.

    A list, or a function that returns a new iterator at each call, can be read several times. A generator can be read
    only once: that is enough to make a dataset, but not to resume.

    Args:
        data: mappings of names to values, or a function that returns an iterator of them.
        schema: the features; None: inferred from the rows of a list, or from the first 1,000 of anything else. Later
            rows that do not fit are rejected.
        label: the feature that is the label.
        declared: features that cannot be inferred from values, such as `Packed`; the others are inferred.
        strip: remove white space around class names, so that "cat" and "cat " are the same class.

    >>> import recordsmith as rs
    >>> source = rs.sources.rows([{"text": "good", "stars": 5}, {"text": "bad", "stars": 1}])
    >>> source.schema()
    Schema({
        'text':  Text(),
        'stars': Scalar('int64'),
    })
    """
    if isinstance(data, (str, bytes, Mapping)) or not (callable(data) or isinstance(data, Iterable)):
        raise RecordsmithError(
            "Rows must be an iterable of mappings, or a function that returns one.",
            found=type(data).__name__,
            advice="For columns use rs.sources.arrays; for paths use rs.sources.csv and similar.",
        )
    return RowsSource(data, schema, label, declared, strip=strip)


@dataclass(frozen=True, slots=True)
class NumberedRows:
    """Rows by their number in the stream."""

    numbers: range | tuple[int, ...]

    def of(self, row: int) -> str:
        """Say where a row came from, such as "row 17"."""
        return f"row {self.numbers[row]}"


@dataclass(frozen=True, slots=True)
class RowsChunk(Chunk):
    """Some rows, one after the other."""

    rows: list[Any]
    first: int
    schema: Schema
    source_bytes: int
    label: str | None = None
    strip: bool = False

    def load(self) -> Loaded:
        """Turn the rows into columns; a row that lacks a feature, or has one too many, is refused."""
        kept: list[dict[str, Any]] = []
        numbers: list[int] = []
        rejects: list[Reject] = []
        required = [name for name, feature in self.schema.items() if not feature.optional]
        for number, row in enumerate(self.rows, start=self.first):
            flat = _flat(row, self.schema) if isinstance(row, Mapping) else None
            problem = _problem(flat, self.schema, required, type(row).__name__)
            if problem is None and flat is not None and isinstance(flat.get(self.label or ""), str):
                flat = {**flat, str(self.label): _class_name(flat[str(self.label)], strip=self.strip)}
            if problem is None and flat is not None:
                kept.append(flat)
                numbers.append(number)
            elif problem is not None:
                rejects.append(Reject(f"row {number}", number, problem[0], problem[1], shortened(problem[2])))
        columns = {name: [row.get(name) for row in kept] for name in self.schema}
        places = NumberedRows(range(self.first, self.first + len(kept)) if not rejects else tuple(numbers))
        return Loaded(columns, len(kept), places, rejects)


class RowsSource(Source):
    """The rows of an iterable. Made by `rs.sources.rows`."""

    kind: ClassVar[str] = "rows"
    sequential = True

    def __init__(
        self,
        data: Iterable[Row] | Callable[[], Iterable[Row]],
        schema: Schema | None,
        label: str | None,
        declared: Mapping[str, Feature] | None = None,
        *,
        strip: bool = False,
    ) -> None:
        self._data = data
        self._given_schema = schema
        self._declared = declared or {}  # features that are declared although the schema is inferred
        self._kept: list[Any] = []  # rows of a stream that were looked at and not yet handed out
        self._strip = strip
        self._stream: Iterator[Any] | None = None
        self._read = False
        labels = [name for name, feature in (schema or {}).items() if isinstance(feature, Label)]
        self.label = label or (labels[0] if len(labels) == 1 else None)

    def schema(self) -> Schema:
        """Return the schema: the given one, or the inferred one."""
        return self._schema

    def describe(self) -> dict[str, Any]:
        """Return what can be said of rows without reading them: where they come from, and the schema."""
        origin = getattr(self._data, "__qualname__", type(self._data).__name__)
        described: dict[str, Any] = {"kind": self.kind, "rows": str(origin), "label": self.label}
        if self._strip:
            described["strip"] = True
        if self.row_count is not None:
            described["count"] = self.row_count
        if self._given_schema is not None:
            described["schema"] = self._given_schema.to_json()
        return described

    def chunks(self) -> Iterator[Chunk]:
        """Give the chunks: up to 8,192 rows or about 8 MB each."""
        schema = self.schema()
        stream = self._again()
        first = 0
        while True:
            taken: list[Any] = []
            size = 0
            while len(taken) < _CHUNK_ROWS and size < _CHUNK_BYTES:
                some = list(islice(stream, _MEASURED))
                if not some:
                    break
                taken.extend(some)
                size += _row_bytes(some[0]) * len(some)
            if not taken:
                return
            label = self.label if isinstance(schema.get(self.label or ""), Label) else None
            yield RowsChunk(taken, first, schema, len(taken), label, self._strip)
            first += len(taken)

    @property
    def size_bytes(self) -> int | None:
        """Progress is counted in rows here: how many there are, if that is known."""
        return self.row_count

    @property
    def row_count(self) -> int | None:
        """How many rows there are, if the iterable knows."""
        return len(self._data) if isinstance(self._data, Sequence) else None

    def _again(self) -> Iterator[Any]:
        if callable(self._data):
            return iter(self._data())
        if isinstance(self._data, Iterator):
            if self._read:
                raise RecordsmithError(
                    "These rows can be read only once.",
                    found=type(self._data).__name__,
                    advice="Pass the generator function without calling it, or a list.",
                )
            self._read = True
            kept, self._kept = self._kept, []
            return chain(kept, self._data)
        return iter(self._data)

    @cached_property
    def _schema(self) -> Schema:
        if self._given_schema is not None:
            return self._given_schema
        if isinstance(self._data, Iterator):
            self._kept = list(islice(self._data, _LOOKED_AT))
            seen = self._kept
        else:
            seen = list(islice(self._again(), None if isinstance(self._data, Sequence) else _LOOKED_AT))
        known = [_flat(row, self._declared) for row in seen if isinstance(row, Mapping)]
        if not seen:
            raise RecordsmithError("The schema cannot be inferred without rows.", advice="Pass a schema.")
        if not known:
            raise RecordsmithError(
                "The rows must be mappings of names to values.",
                found=f"{count_text(len(seen), 'row')}, such as {shortened(repr(seen[0]))}",
                advice="Give each row as a dict.",
            )
        names = list(dict.fromkeys(name for row in known for name in row))
        if self.label is not None and self.label not in names:
            raise RecordsmithError(
                f"The rows have no feature {self.label!r}.{did_you_mean(self.label, names)}",
                found=list_names(names),
            )
        features = {}
        for name in names:
            if name in self._declared:
                features[name] = self._declared[name]
                continue
            try:
                values = [row.get(name) for row in known]
                if name == self.label:
                    values = [_class_name(value, strip=self._strip) for value in values]
                features[name] = feature_of_values(values, label=name == self.label)
            except RecordsmithError as error:
                raise error.at(feature=name) from None
        return Schema(features)


def feature_of_values(values: Sequence[Any], *, label: bool = False) -> Feature:
    """Return the feature that holds Python values; None among them makes it optional.

    >>> feature_of_values([1, 2.5]), feature_of_values(["a", None]), feature_of_values([[1, 2], [3]])
    (Scalar('float32'), Text(optional=True), Tensor('int64', (None,)))
    """
    found = [value for value in values if value is not None]
    optional = len(found) < len(values)
    if not found:
        raise SchemaError("The type cannot be inferred: there is no value.", advice="Pass a schema.")
    kinds = {type(value) for value in found}
    if label and all(issubclass(kind, (str, int, np.integer)) for kind in kinds):
        return label_feature({str(value) for value in found}, optional=optional)
    if all(issubclass(kind, (str, PurePath)) for kind in kinds):
        return Text(optional=optional)
    if all(issubclass(kind, (bytes, bytearray, memoryview)) for kind in kinds):
        return Bytes(optional=optional)
    if all(kind.__module__.startswith("PIL.") for kind in kinds):
        return Image(optional=optional)
    if any(issubclass(kind, (dt.date, dt.time, dt.timedelta)) for kind in kinds):
        raise SchemaError(
            "A TFRecord has no type for dates and times.",
            found=list_names(sorted(kind.__name__ for kind in kinds)),
            advice="Give value.isoformat() or value.timestamp().",
        )
    if _are_lists_of(found, str):
        return Text(_shape_of_lists(found), optional=optional)
    if _are_lists_of(found, bytes):
        return Bytes(_shape_of_lists(found), optional=optional)
    return _numbers(found, optional=optional)


def _numbers(found: Sequence[Any], *, optional: bool) -> Feature:
    try:
        if all(isinstance(value, (bool, int, float, np.generic)) for value in found):
            arrays = [np.asarray(found)]  # all at once: a list may have millions of rows
            if arrays[0].ndim == 1:
                return number_feature(_settled_dtype(arrays[0].dtype, arrays), (), optional=optional)
        arrays = [np.asarray(value) for value in found]
        dtype = np.result_type(*{array.dtype for array in arrays if array.size or array.dtype != np.float64})
    except (ValueError, TypeError, OverflowError, SchemaError):
        dtype = np.dtype(object)
    ranks = {array.ndim for array in arrays} if dtype.kind in "biufc" else set()
    if len(ranks) != 1:
        kinds = sorted({type(value).__name__ for value in found})
        raise SchemaError(
            "The values have no common type.",
            found=list_names(kinds),
            expected="numbers, strings, bytes, arrays, or lists of them",
            advice="Pass a schema, and values that match it.",
        )
    dtype = _settled_dtype(dtype, arrays)
    shape = tuple(_common_size(sizes) for sizes in zip(*(array.shape for array in arrays), strict=True))
    return number_feature(dtype, shape, optional=optional)


def _settled_dtype(dtype: np.dtype[Any], arrays: Sequence[np.ndarray[Any, Any]]) -> np.dtype[Any]:
    """Return the dtype to store: float64 only if float32 could not represent the values."""
    if dtype.kind not in "biufc":
        raise SchemaError("Some values are not numbers.", found=str(dtype))
    if dtype.name != "float64":
        return dtype
    magnitudes = np.abs(np.concatenate([array.reshape(-1) for array in arrays]).astype(np.float64))
    large = bool((magnitudes[np.isfinite(magnitudes)] >= EXACT_IN_FLOAT32).any())
    return np.dtype("float64" if large else "float32")


def _common_size(sizes: Sequence[int]) -> int | None:
    return sizes[0] if sizes[0] and len(set(sizes)) == 1 else None


def _are_lists_of(values: Sequence[Any], kind: type) -> bool:
    if not all(isinstance(value, (list, tuple)) for value in values):
        return False
    inner = list(chain.from_iterable(values))
    return bool(inner) and all(isinstance(value, kind) for value in inner)


def _shape_of_lists(values: Sequence[Sequence[Any]]) -> tuple[int | None]:
    lengths = {len(value) for value in values}
    length = lengths.pop()
    return (None if lengths or not length else length,)


def _flat(row: Row, whole: Collection[str] = ()) -> dict[str, Any]:
    """Return a row with nested mappings taken apart, their names joined with "/", but for those that are features."""
    if not any(isinstance(value, Mapping) for value in row.values()):
        return row if type(row) is dict else dict(row)
    flat: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, Mapping) and name not in whole:
            inside = {f"{name}/{inner}": entry for inner, entry in value.items()}
            flat.update(_flat(inside, whole))
        else:
            flat[name] = value
    return flat


def _problem(
    row: dict[str, Any] | None, schema: Schema, required: list[str], kind: str
) -> tuple[str | None, str, Any] | None:
    """Say what is wrong with the names of a row: the feature, the reason, and the value."""
    if row is None:
        return None, f"A row must be a mapping of names to values, not {kind}.", None
    if row.keys() == schema.keys():
        return None
    for name in row:
        if name not in schema:
            return str(name), f"There is no feature {name!r}.{did_you_mean(str(name), schema)}", repr(row[name])
    for name in required:
        if name not in row:
            return name, f"The feature is missing. The row has {list_names(row)}.", None
    return None


def _class_name(value: Any, *, strip: bool) -> Any:
    """Return the name of a class, without white space around it if that is asked for; an empty text is no class."""
    if not isinstance(value, str):
        return value
    return (value.strip() if strip else value) or None


def _row_bytes(row: Any) -> int:
    """Estimate how much memory a row takes."""
    if not isinstance(row, Mapping):
        return 64
    size = 0
    for value in row.values():
        size += getattr(value, "nbytes", 0) or (8 * len(value) if isinstance(value, (list, tuple)) else 0)
        size += len(value) if isinstance(value, (str, bytes)) else 16
    return size
