"""JSON lines, written batch by batch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recordsmith.formats.exported.values import compact_json, plain_column
from recordsmith.formats.exported.writer import TextWriter

__all__ = ["JsonLinesWriter"]


class JsonLinesWriter(TextWriter):
    """Writes one object a line; a missing value has no key."""

    kind = "jsonl"
    suffixes = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")

    def write(self, columns: Mapping[str, Any], rows: int) -> None:
        """Write some rows."""
        plain = {name: plain_column(feature, columns[name], rows) for name, feature in self._schema.items()}
        lines = [
            compact_json({name: values[row] for name, values in plain.items() if values[row] is not None}) + "\n"
            for row in range(rows)
        ]
        self._append("".join(lines).encode())
