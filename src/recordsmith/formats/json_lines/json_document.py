"""A JSON file that is one object: a row among several such files, and refused where it is the only one.

As the only file, its rows are inside of it, and one row would be wrong without a word.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from recordsmith.errors import RecordsmithError
from recordsmith.formats.files.source_files import SourceFile
from recordsmith.formats.json_lines.json_text import exact_json
from recordsmith.formats.tables.lines import LONGEST_ROW, Piece, windows
from recordsmith.formats.tables.loading import shortened

__all__ = ["document_piece", "refuse_document"]

_SHOWN = 1000  # bytes


def document_piece(file: SourceFile, head: bytes) -> Piece | None:
    """Return the object that a file is, as one line; None if its first line is an object already, or it is no object.

    Args:
        file: the file.
        head: its beginning, without a mark of its encoding.
    """
    if not head.lstrip().startswith(b"{") or _is_object(head.lstrip().partition(b"\n")[0]):
        return None
    with windows(file) as source:
        data = source.read(0, LONGEST_ROW + 1)
    if len(data) > LONGEST_ROW or not _is_object(data):
        return None
    line = data.removeprefix(b"\xef\xbb\xbf").replace(b"\r", b" ").replace(b"\n", b" ").strip() + b"\n"
    return Piece(file, 0, len(line), 1, 1, plain=True, data=line, unit="object")


def refuse_document(file: SourceFile, head: bytes) -> None:
    """Refuse a `.json` file that is one object, unless it is a plain row in one line."""
    if ".json" not in os.path.splitext(os.path.basename(file.path))[1:]:
        return
    with windows(file) as source:
        data = source.read(0, LONGEST_ROW + 1)
    try:
        document = exact_json(data.removeprefix(b"\xef\xbb\xbf"))
    except (ValueError, RecursionError):
        return
    nested = isinstance(document, dict) and any(isinstance(value, (list, dict)) for value in document.values())
    if not isinstance(document, dict) or not (nested or b"\n" in data.strip()):
        return
    inside, lines = _rows_of(document, file.path)
    raise RecordsmithError(
        f"The file is one JSON object, {inside}.",
        path=file.path,
        found=shortened(head[:_SHOWN].decode(errors="backslashreplace")),
        expected="one object per line, or a list of objects",
        advice="If these are the rows, read them in Python. If the object is one row, name the file .jsonl.",
        example=lines,
    )


def _rows_of(document: Mapping[str, Any], path: str) -> tuple[str, str]:
    """Say what is in an object, and how its rows are read."""
    values = [*document.values()]
    if {"columns", "data"} <= document.keys():
        return "with its columns and data apart", _with_pandas(path, ', orient="split"')
    key = next(
        (key for key, one in document.items() if isinstance(one, list) and one and isinstance(one[0], dict)), None
    )
    if key is not None:
        lines = f'import json\nwith open({path!r}) as file:\n    rows = json.load(file)[{key!r}]\nrs.make(rows, "data")'
        return f"and {key!r} is a list of objects", lines
    if all(isinstance(value, dict) and value.keys() == values[0].keys() for value in values):
        orient = "" if len(values) < len(values[0]) or next(iter(values[0]), "").isdigit() else ', orient="index"'
        return "with an object for each column" if not orient else "with an object for each row", _with_pandas(
            path, orient
        )
    if all(isinstance(value, list) for value in values):
        return (
            "with a list for each column",
            f'import json\nwith open({path!r}) as file:\n    rs.make(json.load(file), "data")',
        )
    return (
        "and not a list of rows",
        f'import json\nwith open({path!r}) as file:\n    rs.make([json.load(file)], "data")',
    )


def _with_pandas(path: str, orient: str) -> str:
    return f'import pandas\nrs.make(pandas.read_json({path!r}{orient}), "data")'


def _is_object(data: bytes) -> bool:
    try:
        return isinstance(exact_json(data.removeprefix(b"\xef\xbb\xbf")), dict)
    except (ValueError, RecursionError):
        return False
