"""Where datasets come from: files of every usual kind, arrays, and anything that can be iterated.

    import recordsmith as rs

    rs.make(rs.sources.csv("irises.csv", label="species"), "data")

Each function returns a source; nothing but the beginning of files is read until `make` asks for more.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recordsmith.making.sources.array_files import arrays
    from recordsmith.making.sources.csv_files import csv
    from recordsmith.making.sources.image_files import images
    from recordsmith.making.sources.json_lines import jsonl
    from recordsmith.making.sources.parquet_files import parquet
    from recordsmith.making.sources.row_stream import rows
    from recordsmith.making.sources.tfrecord_files import tfrecords
    from recordsmith.making.sources.video_files import video
    from recordsmith.making.sources.webdataset_files import webdataset

# The functions, and the modules that they are in. No module may be named like a function: once imported, it would take
# the function's place.
_MODULES = {
    "arrays": "array_files",
    "csv": "csv_files",
    "images": "image_files",
    "jsonl": "json_lines",
    "parquet": "parquet_files",
    "rows": "row_stream",
    "tfrecords": "tfrecord_files",
    "video": "video_files",
    "webdataset": "webdataset_files",
}

__all__ = ["arrays", "csv", "images", "jsonl", "parquet", "rows", "tfrecords", "video", "webdataset"]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
