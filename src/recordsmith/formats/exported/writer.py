"""What the writers of all formats share; each format has its writer beside what reads it."""

from __future__ import annotations

import gzip
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, BinaryIO, ClassVar, cast

from recordsmith.formats.exported.form import ExportedForm, encoding_of
from recordsmith.schema import Schema

__all__ = ["ExportWriter", "TextWriter"]


class ExportWriter(ABC):
    """Writes one file, batch by batch.

    Attributes:
        kind: the format, as `rs.export` calls it.
        suffixes: the endings of the names of such files; the first is the usual one.
        has_sidecar: the description of the file is next to it, not in it.
    """

    kind: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]]
    has_sidecar: ClassVar[bool] = False

    @classmethod
    def form(cls, schema: Schema) -> ExportedForm:
        """Return the description of a file of such records; a schema that the format cannot hold is refused."""
        return ExportedForm(cls.kind, schema)

    @abstractmethod
    def __init__(self, form: ExportedForm, path: str) -> None:
        """Create the file."""

    @abstractmethod
    def write(self, columns: Mapping[str, Any], rows: int) -> None:
        """Write some rows, given as columns by name."""

    @abstractmethod
    def close(self) -> None:
        """Finish the file."""


class TextWriter(ExportWriter):
    """Writes lines of text, compressed if the name of the file ends in .gz."""

    has_sidecar = True

    @classmethod
    def form(cls, schema: Schema) -> ExportedForm:
        """Return the description, with the encodings of features that are not written as they are."""
        found = {name: encoding_of(feature, cls.kind) for name, feature in schema.items()}
        return ExportedForm(cls.kind, schema, {name: one for name, one in found.items() if one is not None})

    def __init__(self, form: ExportedForm, path: str) -> None:
        self._schema = form.schema
        self._file = open(path, "wb")  # noqa: SIM115 - closed by close()
        # Without a name and a time in it, the bytes are the same each time.
        self._gzip = gzip.GzipFile("", "wb", 6, self._file, mtime=0) if path.endswith(".gz") else None

    def _append(self, data: bytes) -> None:
        cast("BinaryIO", self._gzip or self._file).write(data)
        if self._gzip is None:  # a flushed gzip stream would be larger
            self._file.flush()  # the size of the file says when the next one is begun

    def close(self) -> None:
        """Finish the file."""
        try:
            if self._gzip is not None:
                self._gzip.close()
        finally:
            self._file.close()
