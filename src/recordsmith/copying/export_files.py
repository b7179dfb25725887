"""The files of an export: hidden until all of them are whole, one for each name, or several of a certain size."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

from recordsmith.atomic_file import write_atomically
from recordsmith.copying.export_writers import ExportWriter, writer_for
from recordsmith.errors import RecordsmithError, advise
from recordsmith.making.sources.exported_form import SIDECAR, ExportedForm

__all__ = ["ExportFiles"]


class ExportFiles:
    """Writes the files of an export; use it in a with statement. If the block raises, nothing is left.

    Args:
        form: what goes along with each file.
        shard_bytes: how large a file may become before the next is begun; None: there is one for each name.
        overwrite: files that are there may be replaced.

    Attributes:
        form: as it was given.
        rows: how many rows each file has.
    """

    def __init__(self, form: ExportedForm, shard_bytes: int | None, *, overwrite: bool) -> None:
        self.form = form
        self.rows: dict[str, int] = {}
        self._shard_bytes = shard_bytes
        self._overwrite = overwrite
        self._stack = contextlib.ExitStack()
        # By name: the file, its temporary name, its split, its writer.
        self._open: dict[str, tuple[str, str, str | None, ExportWriter]] = {}
        self._begun: dict[str, int] = {}

    def __enter__(self) -> Self:
        return self

    def begin(self, name: str, split: str | None = None) -> None:
        """Begin the first file of a name, or the next one, with the records of a split."""
        number = self._begun.get(name, 0)
        path = name if self._shard_bytes is None else _numbered(name, number)
        for there in (path, path + SIDECAR):
            if os.path.exists(there) and not self._overwrite:
                raise RecordsmithError(
                    "There is a file of this name already.",
                    path=there,
                    advice=advise("Choose another name, or give {overwrite} to replace it.", overwrite=True),
                )
        os.makedirs(os.path.dirname(path), exist_ok=True)
        form = self.form if split is None else replace(self.form, splits=(split,))
        temporary = self._stack.enter_context(write_atomically(path))
        if self.form.kind in ("csv", "jsonl"):
            # It gets its name before the file does: a description of nothing harms nobody.
            sidecar = self._stack.enter_context(write_atomically(path + SIDECAR))
            with open(sidecar, "w", encoding="utf-8", newline="") as file:
                file.write(form.to_text())
        self._open[name] = path, temporary, split, writer_for(form, temporary, path)
        self._begun[name] = number + 1
        self.rows[path] = 0

    def write(self, name: str, columns: Mapping[str, Any], rows: int) -> None:
        """Write some rows, and begin another file before them if the last one is large enough."""
        path, temporary, split, writer = self._open[name]
        if self._shard_bytes is not None and self.rows[path] and os.path.getsize(temporary) >= self._shard_bytes:
            del self._open[name]
            writer.close()
            self.begin(name, split)
            path, temporary, split, writer = self._open[name]
        writer.write(columns, rows)
        self.rows[path] += rows

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            for _, _, _, writer in self._open.values():
                with contextlib.nullcontext() if kind is None else contextlib.suppress(Exception):
                    writer.close()
        except BaseException as failed:
            self._stack.__exit__(type(failed), failed, failed.__traceback__)
            raise
        self._stack.__exit__(kind, error, traceback)


def _numbered(name: str, number: int) -> str:
    """Return the name of one of several files.

    >>> _numbered("data/train.csv.gz", 3)
    'data/train-00003.csv.gz'
    """
    folder, base = os.path.split(name)
    stem, dot, endings = base.partition(".")
    return os.path.join(folder, f"{stem}-{number:05}{dot}{endings}")
