"""CSV files, written batch by batch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recordsmith.errors import SchemaError, advise, import_extra, list_names
from recordsmith.formats.csv.feature_cells import cells_of
from recordsmith.formats.exported.form import ExportedForm
from recordsmith.formats.exported.writer import TextWriter
from recordsmith.schema import Schema, Steps

__all__ = ["CsvWriter"]


class CsvWriter(TextWriter):
    """Writes a header, and a line for each row. A missing value is an empty cell, and an empty text is a quoted one."""

    kind = "csv"
    suffixes = (".csv", ".csv.gz")

    @classmethod
    def form(cls, schema: Schema) -> ExportedForm:
        """Return the description; features with steps, and a single column with missing values, are refused.

        >>> from recordsmith.schema import Bytes
        >>> CsvWriter.form(Schema({"data": Bytes()})).encodings
        {'data': 'base64'}
        """
        steps = [name for name, feature in schema.items() if isinstance(feature, Steps)]
        if steps:
            raise SchemaError(
                "A CSV file cannot store features with steps.",
                found=list_names(steps),
                advice=advise("Export to Parquet or JSON lines, or leave these out with {drop}.", drop=...),
            )
        if len(schema) == 1 and next(iter(schema.values())).optional:
            raise SchemaError(
                "In a CSV file with one column, a missing value looks like an empty line.",
                found=list_names(schema),
                advice="Export to Parquet or JSON lines.",
            )
        return super().form(schema)

    def __init__(self, form: ExportedForm, path: str) -> None:
        self._arrow = import_extra("pyarrow", "arrow", purpose="Exporting to CSV")
        self._csv = import_extra("pyarrow.csv", "arrow", purpose="Exporting to CSV")
        super().__init__(form, path)
        self._append(",".join('"' + name.replace('"', '""') + '"' for name in form.schema).encode() + b"\n")

    def write(self, columns: Mapping[str, Any], rows: int) -> None:
        """Write some rows."""
        cells = [cells_of(feature, columns[name], rows) for name, feature in self._schema.items()]
        table = self._arrow.table(cells, names=[f"{number}" for number in range(len(cells))])
        sink = self._arrow.BufferOutputStream()
        self._csv.write_csv(table, sink, self._csv.WriteOptions(include_header=False))
        self._append(sink.getvalue())
