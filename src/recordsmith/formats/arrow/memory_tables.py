"""Tables in memory, as batches: DataFrames, Arrow tables and streams, datasets of Hugging Face."""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from recordsmith.errors import RecordsmithError, import_extra, list_names
from recordsmith.formats.tables.batch_source import Batch, BatchReader
from recordsmith.formats.tables.hugging_face import HUGGING_FACE_KEY

__all__ = ["is_table", "readers_of"]

_AT_ONCE = 1024  # rows of a dataset of Hugging Face
_SPLIT_NAME = re.compile(r"\w[\w.-]*")


def is_table(data: Any) -> bool:
    """Say whether an object is a table: a DataFrame, something of Arrow, a dataset of Hugging Face, or splits of these.

    >>> import pyarrow
    >>> is_table(pyarrow.table({"a": [1]})), is_table({"train": pyarrow.table({"a": [1]})}), is_table({"a": [1]})
    (True, True, False)
    """
    if isinstance(data, Mapping):
        return bool(data) and all(_is_one_table(table) for table in data.values())
    return _is_one_table(data)


def readers_of(data: Any) -> list[BatchReader]:
    """Return the readers of a table, or of each split of a mapping."""
    if not isinstance(data, Mapping):
        return [_reader(data, getattr(data, "split", None))]
    for name in data:
        if not isinstance(name, str) or not _SPLIT_NAME.fullmatch(name):
            raise RecordsmithError(
                "The keys of a mapping of tables must be split names.",
                found=repr(name),
                expected="names such as 'train'",
            )
    return [_reader(table, name) for name, table in data.items()]


def _is_one_table(data: Any) -> bool:
    package = type(data).__module__.partition(".")[0]
    if package == "recordsmith" or isinstance(data, type):
        return False
    if package == "pandas":
        return hasattr(data, "columns")
    if package == "datasets":
        # A stream whose rows were never looked at has no features: it is an iterable of rows.
        return getattr(data, "features", None) is not None and hasattr(data, "with_format")
    if package == "pyarrow" and hasattr(data, "type"):
        return False  # a column
    if package == "polars" and not hasattr(type(data), "columns"):
        return False  # the same
    return hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__") or _is_arrow_dataset(data)


def _is_arrow_dataset(data: Any) -> bool:
    """Say whether this is a dataset of pyarrow, or of Lance, which can be scanned again and again."""
    return hasattr(data, "to_batches") and hasattr(data, "scanner") and hasattr(data, "schema")


def _reader(data: Any, split: Any) -> BatchReader:
    package = type(data).__module__.partition(".")[0]
    name = str(split) if split is not None and _SPLIT_NAME.fullmatch(str(split)) else None
    if package == "datasets":
        return HuggingFaceReader(data, name)
    arrow = import_extra("pyarrow", "arrow", purpose="Reading tables")
    if package == "pandas":
        data = _arrow_of_pandas(data)
    elif isinstance(data, arrow.RecordBatchReader):
        data = data.read_all()  # which can be read only once
    elif isinstance(data, arrow.RecordBatch) or not (hasattr(data, "__arrow_c_stream__") or _is_arrow_dataset(data)):
        data = arrow.Table.from_batches([arrow.record_batch(data)])
    return MemoryReader(data, name)


class MemoryReader(BatchReader):
    """A table in memory, or anything that gives a stream of Arrow each time it is asked."""

    def __init__(self, data: Any, split: str | None) -> None:
        self._data = data
        self.name = "the table" if split is None else f"the table {split!r}"
        self.split = split

    def batches(self, fields: Any) -> Iterator[Batch]:  # noqa: ARG002 - the types are those of the table
        """Give the batches of the table."""
        arrow = import_extra("pyarrow", "arrow", purpose="Reading tables")
        try:
            for batch in self._batches(arrow):
                yield Batch(without_views(batch))
        except (arrow.ArrowException, ValueError, TypeError) as error:
            if isinstance(error, RecordsmithError):
                raise
            raise RecordsmithError(f"The table cannot be read: {str(error).partition(chr(10))[0]}") from None

    def _batches(self, arrow: Any) -> Iterable[Any]:
        if isinstance(self._data, arrow.Table):
            batches: Iterable[Any] = self._data.to_batches()
        elif _is_arrow_dataset(self._data):
            batches = self._data.to_batches()
        else:
            batches = arrow.RecordBatchReader.from_stream(self._data)
        return batches

    def metadata(self) -> dict[bytes, bytes]:
        """Return the metadata of the table's schema."""
        schema = getattr(self._data, "schema", None)
        found = getattr(schema, "metadata", None)
        return dict(found) if isinstance(found, Mapping) else {}

    def describe(self) -> Any:
        """Return a digest of the rows."""
        digest = _Digest()
        arrow = import_extra("pyarrow", "arrow", purpose="Reading tables")
        writer = None
        for batch in self.batches(None):
            writer = writer or arrow.ipc.new_stream(arrow.PythonFile(digest, "w"), batch.rows.schema)
            writer.write_batch(batch.rows)
        return {"table": type(self._data).__qualname__, "split": self.split, "digest": digest.hash.hexdigest()}


class HuggingFaceReader(BatchReader):
    """A dataset of Hugging Face, as its features store it: images and sounds stay encoded."""

    def __init__(self, data: Any, split: str | None) -> None:
        self._data = data
        self.name = "the dataset" if split is None else f"the split {split!r}"
        self.split = split

    def batches(self, fields: Any) -> Iterator[Batch]:  # noqa: ARG002 - the types are those of the features
        """Give the rows in the order of the dataset, which may be a selection of what is stored."""
        for table in self._data.with_format("arrow").iter(_AT_ONCE):
            for batch in table.to_batches():
                yield Batch(without_views(batch))

    def metadata(self) -> dict[bytes, bytes]:
        """Return the features as Hugging Face writes them into files."""
        return {HUGGING_FACE_KEY: self._data.features.arrow_schema.metadata[HUGGING_FACE_KEY]}

    def describe(self) -> Any:
        """Return the fingerprint that Hugging Face keeps of the content."""
        return {"dataset": str(getattr(self._data, "_fingerprint", type(self._data).__qualname__)), "split": self.split}


class _Digest(io.RawIOBase):
    """A file that only remembers the digest of what was written to it."""

    def __init__(self) -> None:
        self.hash = hashlib.blake2b(digest_size=16)

    def writable(self) -> bool:
        """Say that it can be written to."""
        return True

    def write(self, data: Any) -> int:
        """Take bytes."""
        self.hash.update(data)
        return len(memoryview(data))


def without_views(batch: Any) -> Any:
    """Return a batch whose strings are stored as all of Arrow's functions take them."""
    arrow = import_extra("pyarrow", "arrow", purpose="Reading tables")
    if not any("_view" in str(kind) for kind in batch.schema.types):
        return batch
    return arrow.RecordBatch.from_arrays(list(map(_without_views, batch.columns)), names=batch.schema.names)


def _without_views(array: Any) -> Any:
    arrow = import_extra("pyarrow", "arrow", purpose="Reading tables")
    if "_view" not in str(array.type):
        return array
    if arrow.types.is_dictionary(array.type):
        return arrow.DictionaryArray.from_arrays(array.indices, _without_views(array.dictionary))
    return array.cast(_type_without_views(array.type))


def _type_without_views(kind: Any) -> Any:
    """Return a type with plain strings in the place of views, at any depth.

    >>> import pyarrow
    >>> _type_without_views(pyarrow.list_(pyarrow.string_view()))
    ListType(list<item: large_string>)
    """
    arrow = import_extra("pyarrow", "arrow", purpose="Reading tables")
    types = arrow.types
    if str(kind) in ("string_view", "binary_view"):
        return arrow.large_string() if str(kind) == "string_view" else arrow.large_binary()
    if types.is_struct(kind):
        return arrow.struct([field.with_type(_type_without_views(field.type)) for field in kind])
    if types.is_fixed_size_list(kind):
        return arrow.list_(_type_without_views(kind.value_type), kind.list_size)
    if types.is_list(kind) or types.is_large_list(kind):
        return (arrow.list_ if types.is_list(kind) else arrow.large_list)(_type_without_views(kind.value_type))
    return kind


def _arrow_of_pandas(frame: Any) -> Any:
    """Return a DataFrame as an Arrow table; an index with a name is a column, one without is only row numbers."""
    arrow = import_extra("pyarrow", "arrow", purpose="Reading DataFrames")
    named = [name for name in frame.index.names if name is not None]
    if named:
        frame = frame.reset_index(level=named)
    names = ["/".join(map(str, name)) if isinstance(name, tuple) else str(name) for name in frame.columns]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise RecordsmithError("Several columns have the same name.", found=list_names(twice), advice="Rename them.")
    columns = []
    for place, name in enumerate(names):
        try:
            array = arrow.Array.from_pandas(frame.iloc[:, place])
            if isinstance(array, arrow.ExtensionArray) and array.type.extension_name.startswith("pandas."):
                # periods and intervals, of which Arrow keeps numbers that only pandas can read
                array = arrow.Array.from_pandas(frame.iloc[:, place].astype("string"))
            columns.append(array)
        except (arrow.ArrowException, TypeError, ValueError, OverflowError) as error:
            kinds = sorted({type(value).__name__ for value in frame.iloc[:, place].dropna().head(10_000)})
            raise RecordsmithError(
                "A column cannot be converted to Arrow.",
                feature=name,
                found=f"{list_names(kinds)}: {str(error).partition(chr(10))[0]}",
                advice=f"Give all its values one type, for example with df[{name!r}].astype(str), or pass rows: "
                "df.to_dict('records').",
            ) from None
    return arrow.table(columns, names=names)
