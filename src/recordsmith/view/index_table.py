"""What `recordsmith index` prints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from recordsmith.facts import IndexedFile
from recordsmith.view.amounts import bytes_text, count_text
from recordsmith.view.short_values import printable

__all__ = ["index_json", "index_line", "index_summary"]


def index_line(file: IndexedFile) -> RenderableType:
    """Tell of one file and its index.

    >>> print(index_line(IndexedFile("a.tfrecord", 2, 38, None, "a.tfrecord.idx", True)))
    a.tfrecord  2 records, 38 bytes → a.tfrecord.idx
    """
    text = Text(printable(file.path), "bold")
    text.append(f"  {count_text(file.records, 'record')}", "not bold cyan")
    text.append(f", {bytes_text(file.bytes)}", "not bold")
    if file.compression:
        text.append(f", {file.compression}", "not bold")
    return text.append(f" → {printable(file.index)}" if file.written else f" = {printable(file.index)}", "not bold dim")


def index_summary(files: Sequence[IndexedFile]) -> RenderableType:
    """Add up what was indexed.

    >>> print(index_summary([IndexedFile("a.tfrecord", 2, 38, None, "a.tfrecord.idx", True)]))
    2 records in 1 file, 38 bytes; 1 index written.
    """
    records, size = sum(file.records for file in files), sum(file.bytes for file in files)
    written = sum(file.written for file in files)
    plural = "index" if written == 1 else "indexes"
    text = f"{count_text(records, 'record')} in {count_text(len(files), 'file')}, {bytes_text(size)}; "
    if written:
        text += f"{written:,} {plural} written"
    if written < len(files):
        text += (", " if written else "") + f"{len(files) - written:,} already there"
    return Text(f"{text}.")


def index_json(files: Sequence[IndexedFile]) -> dict[str, Any]:
    """Turn what was indexed into JSON-ready values.

    >>> index_json([IndexedFile("a.tfrecord", 2, 38, None, "a.tfrecord.idx", True)])["records"]
    2
    """
    return {
        "records": sum(file.records for file in files),
        "bytes": sum(file.bytes for file in files),
        "files": [
            {
                "path": file.path,
                "records": file.records,
                "bytes": file.bytes,
                "compression": file.compression,
                "index": file.index,
                "written": file.written,
            }
            for file in files
        ],
    }
