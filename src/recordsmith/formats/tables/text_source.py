"""What CSV files and JSON lines have in common as sources."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from recordsmith.formats.files.file_splits import FileSource
from recordsmith.formats.files.source_files import SourceFile, describe_files
from recordsmith.formats.tables.loading import LoadingRules
from recordsmith.formats.tables.options import TableOptions
from recordsmith.schema import Schema

__all__ = ["TextSource", "TextTableSource"]


class TextSource(FileSource):
    """Files of lines. If one is compressed, they can only be read in order."""

    def __init__(self, files: Sequence[SourceFile]) -> None:
        self._files = files
        self.sequential = any(file.compression() for file in files)

    @property
    def size_bytes(self) -> int | None:
        """The size of all files; None if they are compressed, because progress is counted in decompressed bytes."""
        return None if self.sequential else super().size_bytes


class TextTableSource(TextSource):
    """Files of lines whose types are declared by the caller or inferred from the values."""

    def __init__(self, files: Sequence[SourceFile], options: TableOptions) -> None:
        super().__init__(files)
        self._options = options
        self._rows: int | None = None
        self.label = options.label_name()

    def describe(self) -> dict[str, Any]:
        """Return what the source is: its files with size and time, and the options."""
        return {"kind": self.kind, "options": self._options.describe(), "files": describe_files(self._files)}

    @property
    def row_count(self) -> int | None:
        """How many rows there are; None before the types were inferred."""
        return self._rows

    def _loading_rules(self, schema: Schema, missing: tuple[str, ...] = ()) -> LoadingRules:
        options = self._options
        return LoadingRules(schema, options.preparation, missing, strip=options.strip, times=options.times())
