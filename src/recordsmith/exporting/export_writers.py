"""Files of other formats, written batch by batch: Parquet, CSV, JSON lines, and tar files of WebDataset."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np

from recordsmith.errors import SchemaError, advise, import_extra, list_names
from recordsmith.formats.exported.form import METADATA_KEY, TAR_MEMBER, ExportedForm, encoding_of
from recordsmith.formats.exported.values import plain_column
from recordsmith.formats.parquet.feature_arrays import arrow_fields, arrow_table
from recordsmith.formats.webdataset.exported_tar import EMPTY, member_of, members_of
from recordsmith.schema import Label, Scalar, Schema, Steps

__all__ = ["KINDS", "ExportWriter", "form_of", "writer_for"]

KINDS = {
    "parquet": (".parquet", ".pq"),
    "csv": (".csv", ".csv.gz"),
    "jsonl": (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz"),
    "webdataset": (".tar",),
}
_GROUP_BYTES = 64 << 20  # of a row group, decoded


class ExportWriter(ABC):
    """Writes one file."""

    @abstractmethod
    def write(self, columns: Mapping[str, Any], rows: int) -> None:
        """Write some rows, given as columns by name."""

    @abstractmethod
    def close(self) -> None:
        """Finish the file."""


def form_of(kind: str, schema: Schema) -> ExportedForm:
    """Return what goes along with a file, or refuse what the format cannot hold.

    >>> from recordsmith.schema import Bytes
    >>> form_of("jsonl", Schema({"data": Bytes()})).encodings
    {'data': 'base64'}
    """
    if kind == "csv":
        _refuse_for_csv(schema)
    if kind in ("csv", "jsonl"):
        found = {name: encoding_of(feature, kind) for name, feature in schema.items()}
        return ExportedForm(kind, schema, {name: encoding for name, encoding in found.items() if encoding is not None})
    return ExportedForm(kind, schema, members=members_of(schema) if kind == "webdataset" else {})


def writer_for(form: ExportedForm, path: str, final: str) -> ExportWriter:
    """Return the writer of a file that is written under a temporary path and meant to be called `final`."""
    if form.kind == "parquet":
        return _ParquetWriter(form, path)
    if form.kind == "webdataset":
        return _TarWriter(form, path)
    stream: Any = _Zipped(path) if final.endswith(".gz") else open(path, "wb")  # noqa: SIM115 - closed by close()
    return _CsvWriter(form, stream) if form.kind == "csv" else _JsonWriter(form, stream)


class _Zipped(gzip.GzipFile):
    """A gzip file without a name and a time in it: the same bytes each time."""

    def __init__(self, path: str) -> None:
        self._under = open(path, "wb")  # noqa: SIM115 - closed by close()
        super().__init__("", "wb", 6, self._under, mtime=0)

    def close(self) -> None:
        try:
            super().close()
        finally:
            self._under.close()


class _ParquetWriter(ExportWriter):
    """Row groups of about 64 MB."""

    def __init__(self, form: ExportedForm, path: str) -> None:
        parquet = import_extra("pyarrow.parquet", "arrow", purpose="Exporting to Parquet")
        self._schema = form.schema
        text = json.dumps(form.to_json(), ensure_ascii=False, allow_nan=False).encode()
        fields = arrow_fields(form.schema)
        self._fields = fields.with_metadata({METADATA_KEY: text})
        self._writer = parquet.ParquetWriter(path, self._fields)
        self._waiting: list[Any] = []
        self._bytes = 0

    def write(self, columns: Mapping[str, Any], rows: int) -> None:
        table = arrow_table(self._schema, columns, rows)
        self._waiting.append(table)
        self._bytes += table.nbytes
        if self._bytes >= _GROUP_BYTES:
            self._flush()

    def close(self) -> None:
        try:
            if self._waiting:
                self._flush()
        finally:
            self._writer.close()

    def _flush(self) -> None:
        arrow = import_extra("pyarrow", "arrow", purpose="Exporting to Parquet")
        table = arrow.concat_tables(self._waiting).cast(self._fields)
        self._writer.write_table(table, row_group_size=max(1, table.num_rows))
        self._waiting, self._bytes = [], 0


class _JsonWriter(ExportWriter):
    """One object a line."""

    def __init__(self, form: ExportedForm, stream: BinaryIO) -> None:
        self._schema = form.schema
        self._stream = stream

    def write(self, columns: Mapping[str, Any], rows: int) -> None:
        plain = {name: plain_column(feature, columns[name], rows) for name, feature in self._schema.items()}
        encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
        lines = [
            encode({name: values[row] for name, values in plain.items() if values[row] is not None}) + "\n"
            for row in range(rows)
        ]
        self._stream.write("".join(lines).encode())
        _let_out(self._stream)

    def close(self) -> None:
        self._stream.close()


class _CsvWriter(ExportWriter):
    """A header, and a line for each row. What is missing is an empty cell, and an empty text is a quoted one."""

    def __init__(self, form: ExportedForm, stream: BinaryIO) -> None:
        arrow = import_extra("pyarrow", "arrow", purpose="Exporting to CSV")
        self._schema = form.schema
        self._stream = stream
        header = ",".join('"' + name.replace('"', '""') + '"' for name in form.schema)
        self._stream.write(header.encode() + b"\n")
        self._arrow = arrow

    def write(self, columns: Mapping[str, Any], rows: int) -> None:
        writer = import_extra("pyarrow.csv", "arrow", purpose="Exporting to CSV")
        arrays = [self._cells(name, columns[name], rows) for name in self._schema]
        table = self._arrow.table(arrays, names=[f"{number}" for number in range(len(arrays))])
        sink = self._arrow.BufferOutputStream()
        writer.write_csv(table, sink, writer.WriteOptions(include_header=False))
        self._stream.write(sink.getvalue())
        _let_out(self._stream)

    def close(self) -> None:
        self._stream.close()

    def _cells(self, name: str, column: Any, rows: int) -> Any:
        feature = self._schema[name]
        if isinstance(feature, Scalar) and feature.dtype.kind in "biuf" and feature.dtype != np.float16:
            return self._arrow.array(np.ma.getdata(column), mask=np.ma.getmaskarray(column))
        plain = plain_column(feature, column, rows)
        if encoding_of(feature, "csv") in ("json", "base64 in json") or isinstance(feature, (Scalar, Label)):
            encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
            plain = [value if value is None or isinstance(value, str) else encode(value) for value in plain]
        return self._arrow.array(plain, self._arrow.string())


class _TarWriter(ExportWriter):
    """Samples of WebDataset, in the order of the records."""

    def __init__(self, form: ExportedForm, path: str) -> None:
        self._form = form
        self._tar = tarfile.open(path, "w", format=tarfile.USTAR_FORMAT)  # noqa: SIM115 - closed by close()
        self._rows = 0
        self._add(TAR_MEMBER, form.to_text().encode())

    def write(self, columns: Mapping[str, Any], rows: int) -> None:
        for row in range(rows):
            key = f"{self._rows:010}"
            self._rows += 1
            empty = True
            for name, feature in self._form.schema.items():
                value = feature.row(columns[name], row)
                if value is not None:
                    extension, data = member_of(self._form.members[name], feature, value)
                    self._add(f"{key}.{extension}", data)
                    empty = False
            if empty:
                self._add(f"{key}.{EMPTY}", b"{}")

    def close(self) -> None:
        self._tar.close()

    def _add(self, name: str, data: bytes) -> None:
        member = tarfile.TarInfo(name)
        member.size = len(data)
        self._tar.addfile(member, io.BytesIO(data))


def _let_out(stream: Any) -> None:
    """Give what was written to the file, whose size tells when it is large enough; gzip would compress worse by it."""
    if not isinstance(stream, gzip.GzipFile):
        stream.flush()


def _refuse_for_csv(schema: Schema) -> None:
    steps = [name for name, feature in schema.items() if isinstance(feature, Steps)]
    if steps:
        raise SchemaError(
            "A CSV file has no room for features that have steps.",
            found=list_names(steps),
            advice=advise("Export to Parquet or JSON lines, or leave these out with {drop}.", drop=...),
        )
    if len(schema) == 1 and next(iter(schema.values())).optional:
        raise SchemaError(
            "A CSV file of one column cannot tell a missing value from an empty line.",
            found=list_names(schema),
            advice="Export to Parquet or JSON lines.",
        )
