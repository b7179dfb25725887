"""What `recordsmith index` prints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from recordsmith.dataset.index_report import IndexedFile
from recordsmith.terminal.plain_table import plain_table
from recordsmith.terminal.values.short_values import middle_left_out, printable
from recordsmith.wording.numbers import bytes_text, count_text

__all__ = ["index_json", "index_line", "index_summary", "index_table"]

_MOST_LINES = 40  # files that a table lists


def index_line(file: IndexedFile) -> str:
    """Tell of one file and its index in one line.

    >>> index_line(IndexedFile("a.tfrecord", 2, 38, None, "a.tfrecord.idx", True))
    'a.tfrecord: 2 records, 38 bytes, index written to a.tfrecord.idx'
    """
    compression = f", {file.compression}" if file.compression else ""
    place = f"index {'written to' if file.written else 'already at'} {printable(file.index)}"
    return (
        f"{printable(file.path)}: {count_text(file.records, 'record')}, {bytes_text(file.bytes)}{compression}, {place}"
    )


def index_table(files: Sequence[IndexedFile], width: int) -> RenderableType:
    """Lay out all files, for a terminal of so many columns.

    >>> from rich.console import Console
    >>> files = [IndexedFile("data/a.tfrecord", 2, 38, None, "data/a.tfrecord.idx", True)]
    >>> Console(width=60).print(index_table(files, 60))
    data/
    file        records  size      index
    ...
    a.tfrecord        2  38 bytes  written
    """
    folder = _common_folder([file.path for file in files])
    table = plain_table()
    table.add_column("file", no_wrap=True)
    table.add_column("records", no_wrap=True, justify="right", style="cyan")
    table.add_column("size", no_wrap=True)
    table.add_column("index", no_wrap=True)
    for file in files[:_MOST_LINES]:
        name = middle_left_out(printable(file.path.removeprefix(folder)), max(16, width - 40))
        state = Text("written", "green") if file.written else Text("already there", "dim")
        table.add_row(Text(name), f"{file.records:,}", bytes_text(file.bytes), state)
    parts: list[RenderableType] = [Text(printable(folder), "bold")] if folder else []
    parts.append(table)
    if len(files) > _MOST_LINES:
        parts.append(Text(f"and {count_text(len(files) - _MOST_LINES, 'more file')}", "dim"))
    return Group(*parts)


def index_summary(files: Sequence[IndexedFile]) -> str:
    """Add up what was indexed, and say where the indexes are.

    >>> index_summary([IndexedFile("a.tfrecord", 2, 38, None, "a.tfrecord.idx", True)])
    '2 records in 1 file, 38 bytes. 1 index written: a.tfrecord.idx'
    """
    records, size = sum(file.records for file in files), sum(file.bytes for file in files)
    written = sum(file.written for file in files)
    state = f"{written:,} {'index' if written == 1 else 'indexes'} written"
    if written < len(files):
        state = f"{state}, {len(files) - written:,} already there" if written else "The indexes were already there"
    places = [file.index for file in files]
    place = places[0] if len(places) == 1 else _common_folder(places) or "next to the files"
    return f"{count_text(records, 'record')} in {count_text(len(files), 'file')}, {bytes_text(size)}. {state}: {place}"


def _common_folder(paths: Sequence[str]) -> str:
    """Return the folder that all files are in, as they were named, with a slash at its end; or nothing."""
    folders = {path.rpartition("/")[0] for path in paths}
    return f"{folders.pop()}/" if len(folders) == 1 and "" not in folders else ""


def index_json(files: Sequence[IndexedFile]) -> dict[str, Any]:
    """Turn what was indexed into JSON-ready values."""
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
