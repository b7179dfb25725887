"""Sources of datasets: files of all common formats, arrays, and anything that can be iterated over.

    import recordsmith as rs

    rs.make(rs.sources.csv("irises.csv", label="species"), "data")

Each function returns a source. Only the beginning of files is read until `make` asks for more.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from recordsmith.formats.kinds import KINDS

if TYPE_CHECKING:
    from recordsmith.formats.arrays.source import arrays
    from recordsmith.formats.arrow.source import arrow
    from recordsmith.formats.audio.source import audio
    from recordsmith.formats.cifar.source import cifar
    from recordsmith.formats.csv.source import csv
    from recordsmith.formats.detection.coco import coco
    from recordsmith.formats.detection.masks import masks
    from recordsmith.formats.detection.voc import voc
    from recordsmith.formats.detection.yolo import yolo
    from recordsmith.formats.excel.source import excel
    from recordsmith.formats.hdf5.source import hdf5
    from recordsmith.formats.idx.source import idx
    from recordsmith.formats.images.source import images
    from recordsmith.formats.json_lines.source import jsonl
    from recordsmith.formats.lerobot.source import lerobot
    from recordsmith.formats.listed.source import listed
    from recordsmith.formats.mat.source import mat
    from recordsmith.formats.parquet.source import parquet
    from recordsmith.formats.scans.source import dicom, nifti, tiff
    from recordsmith.formats.sql.source import sql
    from recordsmith.formats.text_files.source import text
    from recordsmith.formats.video.source import video
    from recordsmith.formats.webdataset.source import webdataset
    from recordsmith.making.sources.rlds_episodes import rlds
    from recordsmith.making.sources.row_stream import rows
    from recordsmith.making.sources.tfrecord_files import tfrecords

# No module of this folder may be named like a function: once imported, it would take the function's place.
__all__ = [
    "arrays",
    "arrow",
    "audio",
    "cifar",
    "coco",
    "csv",
    "dicom",
    "excel",
    "hdf5",
    "idx",
    "images",
    "jsonl",
    "lerobot",
    "listed",
    "masks",
    "mat",
    "nifti",
    "parquet",
    "rlds",
    "rows",
    "sql",
    "text",
    "tfrecords",
    "tiff",
    "video",
    "voc",
    "webdataset",
    "yolo",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = KINDS[name].module if name in KINDS else "making.sources.row_stream"
    value = getattr(importlib.import_module(f"recordsmith.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
