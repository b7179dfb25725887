"""Parquet files, written batch by batch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recordsmith.errors import RecordsmithError, import_extra
from recordsmith.formats.exported.form import METADATA_KEY, ExportedForm
from recordsmith.formats.exported.values import compact_json
from recordsmith.formats.exported.writer import ExportWriter
from recordsmith.formats.parquet.feature_arrays import arrow_fields, arrow_table
from recordsmith.formats.parquet.hugging_face import hugging_face_metadata
from recordsmith.formats.tables.hugging_face import HUGGING_FACE_KEY

__all__ = ["ParquetWriter"]

_GROUP_BYTES = 64 << 20  # of a row group, decoded


class ParquetWriter(ExportWriter):
    """Writes row groups of about 64 MB."""

    kind = "parquet"
    suffixes = (".parquet", ".pq")

    def __init__(self, form: ExportedForm, path: str) -> None:
        parquet = import_extra("pyarrow.parquet", "arrow", purpose="Exporting to Parquet")
        self._schema = form.schema
        metadata = {
            METADATA_KEY: compact_json(form.to_json()).encode(),
            HUGGING_FACE_KEY: hugging_face_metadata(form.schema, arrow_fields(form.schema)),
        }
        self._fields = arrow_fields(form.schema, extension_types=form.extension_types).with_metadata(metadata)
        self._writer = parquet.ParquetWriter(path, self._fields)
        self._waiting: list[Any] = []
        self._bytes = 0

    def write(self, columns: Mapping[str, Any], rows: int) -> None:
        """Write some rows."""
        table = arrow_table(self._schema, columns, rows, self._fields)
        self._waiting.append(table)
        self._bytes += table.nbytes
        if self._bytes >= _GROUP_BYTES:
            self._flush()

    def close(self) -> None:
        """Finish the file."""
        try:
            if self._waiting:
                self._flush()
        finally:
            self._writer.close()

    def _flush(self) -> None:
        arrow = import_extra("pyarrow", "arrow", purpose="Exporting to Parquet")
        table = arrow.concat_tables(self._waiting).cast(self._fields)
        try:
            self._writer.write_table(table, row_group_size=max(1, table.num_rows))
        except arrow.ArrowNotImplementedError as error:  # such as missing tensors of one shape, up to pyarrow 25
            raise RecordsmithError(
                "This version of pyarrow cannot write a feature to Parquet.",
                found=f"pyarrow {arrow.__version__}: {error}",
                advice="Try a newer pyarrow. If you export with extension_types (--extension-types), leave it out.",
            ) from error
        self._waiting, self._bytes = [], 0
