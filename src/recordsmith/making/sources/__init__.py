"""The sources of datasets: files of all common kinds, arrays, and iterables.

    import recordsmith as rs

    rs.make(rs.sources.csv("irises.csv", label="species"), "data")

Each function returns a source; nothing but the beginning of files is read until `make` asks for more.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recordsmith.formats.arrays.source import arrays
    from recordsmith.formats.csv.source import csv
    from recordsmith.formats.images.source import images
    from recordsmith.formats.json_lines.source import jsonl
    from recordsmith.formats.parquet.source import parquet
    from recordsmith.formats.video.source import video
    from recordsmith.formats.webdataset.source import webdataset
    from recordsmith.making.sources.row_stream import rows
    from recordsmith.making.sources.tfrecord_files import tfrecords

# The functions, and the modules that they are in. No module of this folder may be named like a function: once imported,
# it would take the function's place.
_MODULES = {
    "arrays": "formats.arrays.source",
    "csv": "formats.csv.source",
    "images": "formats.images.source",
    "jsonl": "formats.json_lines.source",
    "parquet": "formats.parquet.source",
    "rows": "making.sources.row_stream",
    "tfrecords": "making.sources.tfrecord_files",
    "video": "formats.video.source",
    "webdataset": "formats.webdataset.source",
}

__all__ = ["arrays", "csv", "images", "jsonl", "parquet", "rows", "tfrecords", "video", "webdataset"]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"recordsmith.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
