"""Columns that are in the names of folders, as Spark, pandas and Arrow write them: year=2024/part-0.parquet."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from recordsmith.errors import import_extra
from recordsmith.formats.files.source_files import SourceFile
from recordsmith.records.shards import split_in_name

__all__ = ["partition_columns", "partition_values"]

_FOLDER = re.compile(r"([A-Za-z_][\w.]*)=(.+)")
_MISSING = "__HIVE_DEFAULT_PARTITION__"
_WHOLE = re.compile(r"-?(0|[1-9]\d{0,17})")


def partition_values(files: Sequence[SourceFile]) -> list[dict[str, str | None]]:
    """Return the columns that the folders of each file say; none if not all files have the same. Splits are none.

    >>> partition_values([SourceFile("d/year=2024/part-0.parquet", 0, 0)])
    [{'year': '2024'}]
    """
    found = [dict(_said(part) for part in file.path.split(os.sep)[:-1] if _FOLDER.fullmatch(part)) for file in files]
    names = [name for name in found[0] if all(name in one for one in found)] if found else []
    are_splits = {name for name in names if all(split_in_name(one[name] or "") == one[name] for one in found)}
    return [{name: one[name] for name in names if name not in are_splits} for one in found]


def partition_columns(values: Sequence[Mapping[str, str | None]]) -> dict[str, Any]:
    """Return these columns as arrays with an entry for each file: integers if all values are, and otherwise text."""
    arrow = import_extra("pyarrow", "arrow", purpose="Reading Parquet")
    columns = {}
    for name in values[0] if values else ():
        texts = [one[name] for one in values]
        whole = all(text is None or _WHOLE.fullmatch(text) for text in texts)
        cells = [int(text) if text is not None and whole else text for text in texts]
        columns[name] = arrow.array(cells, arrow.int64() if whole else arrow.string())
    return columns


def _said(folder: str) -> tuple[str, str | None]:
    name, _, value = folder.partition("=")
    return name, None if value == _MISSING else unquote(value)
