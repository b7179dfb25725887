"""The files of an export: hidden until all of them are whole, one for each name, or several of a certain size."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from dataclasses import replace
from itertools import count, takewhile
from types import TracebackType
from typing import Any, Self

from recordsmith.formats.csv.writer import CsvWriter
from recordsmith.formats.exported.form import SIDECAR, ExportedForm
from recordsmith.formats.exported.writer import ExportWriter
from recordsmith.formats.json_lines.writer import JsonLinesWriter
from recordsmith.formats.parquet.writer import ParquetWriter
from recordsmith.formats.webdataset.writer import WebDatasetWriter
from recordsmith.run.full_disk import explained
from recordsmith.run.publishing.publishing import refuse_file
from recordsmith.storage.atomic_file import sync_file, write_text_atomically
from recordsmith.storage.publication import Publication

__all__ = ["WRITERS", "ExportFiles"]

WRITERS: dict[str, type[ExportWriter]] = {
    writer.kind: writer for writer in (ParquetWriter, CsvWriter, JsonLinesWriter, WebDatasetWriter)
}


class ExportFiles:
    """Writes the files of an export; use it in a with statement. If the block raises, nothing is left.

    Args:
        form: the format and the schema.
        out: the file to write, or the folder.
        shard_bytes: how large a file may become before the next is begun; None: there is one for each name.
        is_folder: `out` is a folder.
        overwrite: existing files may be replaced.

    Attributes:
        kind: the format, one of `WRITERS`.
        rows: how many rows each file has.
    """

    def __init__(
        self, form: ExportedForm, out: str, *, shard_bytes: int | None, is_folder: bool, overwrite: bool
    ) -> None:
        self.kind = form.kind
        self._writer = WRITERS[form.kind]
        self._form = form
        self.rows: dict[str, int] = {}
        self._shard_bytes = shard_bytes
        self._overwrite = overwrite
        self._publication = Publication(out, is_file=not is_folder, overwrite=overwrite)
        # By name: the file, where it is now, its split, its writer.
        self._open: dict[str, tuple[str, str, str | None, ExportWriter]] = {}
        self._begun: dict[str, int] = {}

    def __enter__(self) -> Self:
        self._publication.__enter__()
        return self

    def begin(self, name: str, split: str | None = None) -> None:
        """Begin the first file of a name, or the next one, with the records of a split."""
        path = self.next_path(name)
        new = self._publication.new_file(os.path.basename(path))
        form = self._form if split is None else replace(self._form, splits=(split,))
        if self._writer.has_sidecar:
            write_text_atomically(new + SIDECAR, form.to_text())
        self._open[name] = path, new, split, self._writer(form, new)
        self._begun[name] = self._begun.get(name, 0) + 1
        self.rows[path] = 0

    def next_path(self, name: str) -> str:
        """Return the path of the next file of a name, and refuse one that exists."""
        path = name if self._shard_bytes is None else _numbered(name, self._begun.get(name, 0))
        for there in (path, path + SIDECAR):
            if not self._overwrite:
                refuse_file(there)
        return path

    @property
    def attempts(self) -> str:
        """A folder for files that others write, of which some may never be used."""
        path = self._publication.path("attempts")
        os.makedirs(path, exist_ok=True)
        return path

    def adopt(self, name: str, written: Mapping[str, int]) -> None:
        """Take the files of a name that others have written, each with its number of rows, in order."""
        for new, rows in written.items():
            path = self.next_path(name)
            for ending in ("", SIDECAR) if self._writer.has_sidecar else ("",):
                os.rename(new + ending, self._publication.new_file(os.path.basename(path)) + ending)
            self._begun[name] = self._begun.get(name, 0) + 1
            self.rows[path] = rows

    def write(self, name: str, columns: Mapping[str, Any], rows: int) -> None:
        """Write some rows, and begin another file before them if the last one is large enough."""
        path, new, split, writer = self._open[name]
        if self._shard_bytes is not None and self.rows[path] and os.path.getsize(new) >= self._shard_bytes:
            self._finish(name)
            self.begin(name, split)
            path, _, _, writer = self._open[name]
        writer.write(columns, rows)
        self.rows[path] += rows

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                with explained(self._publication.folder):
                    for name in tuple(self._open):
                        self._finish(name)
                    self._publication.commit(self._publication.new_names(), self._old())
        finally:
            for _, _, _, writer in self._open.values():
                with contextlib.suppress(Exception):
                    writer.close()
            self._publication.__exit__(kind, error, traceback)

    def _finish(self, name: str) -> None:
        _, new, _, writer = self._open[name]
        writer.close()
        del self._open[name]
        sync_file(new)

    def _old(self) -> list[str]:
        """Return the later pieces of an earlier export in more pieces, which would be taken for a part of this one."""
        old = []
        for name, begun in self._begun.items() if self._overwrite and self._shard_bytes is not None else ():
            later = takewhile(os.path.isfile, (_numbered(name, number) for number in count(begun)))
            old += [os.path.basename(path) + ending for path in later for ending in ("", SIDECAR)]
        return old


def _numbered(name: str, number: int) -> str:
    """Return the name of one of several files.

    >>> _numbered("data/train.csv.gz", 3)
    'data/train-00003.csv.gz'
    """
    folder, base = os.path.split(name)
    stem, dot, endings = base.partition(".")
    return os.path.join(folder, f"{stem}-{number:05}{dot}{endings}")
