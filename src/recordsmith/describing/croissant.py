"""A dataset as Croissant describes it (http://mlcommons.org/croissant/1.1): JSON-LD for search engines and other tools.

distribution    each file with its size and SHA-256 digest, and for each split the set of its files
recordSet       for each split its fields: one for each feature, with type and shape

Croissant has no reader for TFRecords: the fields say what is in the files, and not how a program gets it out of them.
"""

from __future__ import annotations

import glob
import hashlib
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

from recordsmith.dataset.descriptions.metadata import Metadata
from recordsmith.dataset.layout import DatasetLayout
from recordsmith.records.described_splits import DescribedShard
from recordsmith.schema import Feature, Schema
from recordsmith.storage.ranged.opening import file_size, is_ranged, pieces_of

__all__ = ["croissant_document"]

_TFRECORD = "https://www.tensorflow.org/tutorials/load_data/tfrecord"  # there is no registered type
_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "description": {"@container": "@language"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "name": {"@container": "@language"},
    **{
        name: f"cr:{name}"
        for name in (
            *("arrayShape", "citeAs", "column", "containedIn", "equivalentProperty", "extract", "field"),
            *("fileObject", "fileProperty", "fileSet", "format", "includes", "isArray", "isLiveDataset", "jsonPath"),
            *("key", "md5", "parentField", "path", "recordSet", "references", "regex", "repeated", "replace"),
            *("samplingRate", "separator", "source", "subField", "transform"),
        )
    },
}
_TYPES = {
    "bool": "sc:Boolean",
    "float16": "cr:Float16",
    "float32": "cr:Float32",
    "float64": "cr:Float64",
    **{f"int{bits}": f"cr:Int{bits}" for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": f"cr:UInt{bits}" for bits in (8, 16, 32, 64)},
}
_KINDS = {"image": "sc:ImageObject", "label": "cr:Int64", "text": "sc:Text", "bytes": "sc:Text"}
_SEPARATOR = re.compile(r"[^A-Za-z0-9_.-]+")


def croissant_document(layout: DatasetLayout) -> dict[str, Any]:
    """Return the description of a dataset, JSON-ready."""
    manifest = layout.manifest()
    said = Metadata() if manifest is None else manifest.metadata
    folder = os.path.basename(os.path.dirname(layout.files[0])) if layout.files else ""
    name = (manifest.name if manifest is not None else "") or folder or "dataset"
    said_splits = () if manifest is None else manifest.splits.values()
    described = {shard.path: shard for one in said_splits for shard in one.shards}
    files = {path: described.get(path) or DescribedShard(path) for path in layout.files}
    splits = layout.splits or {"records": layout.files}
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.1",
        "name": name,
        "description": said.description or f"The dataset {name}, as TFRecord files.",
        **({"license": said.license} if said.license else {}),
        **({"url": said.homepage} if said.homepage else {}),
        **({"citeAs": said.citation} if said.citation else {}),
        **({"version": said.version} if said.version else {}),
        "distribution": [*map(_file_object, files.values()), *(_file_set(*one) for one in splits.items())],
        "recordSet": [_record_set(split, layout.schema) for split in splits],
    }


def _file_object(shard: DescribedShard) -> dict[str, Any]:
    size = file_size(shard.path) if shard.bytes is None else shard.bytes
    return {
        "@type": "cr:FileObject",
        "@id": shard.name,
        "name": shard.name,
        "contentUrl": shard.name,
        "contentSize": f"{size} B",
        "encodingFormat": _TFRECORD,
        "sha256": shard.sha256 or _digest(shard.path),
    }


def _digest(path: str) -> str:
    if not is_ranged(path):
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    digest = hashlib.sha256()
    for piece in pieces_of(path):
        digest.update(piece)
    return digest.hexdigest()


def _file_set(split: str, files: Iterable[str]) -> dict[str, Any]:
    names = [os.path.basename(file) for file in files]
    return {
        "@type": "cr:FileSet",
        "@id": _files_of(split),
        "name": _files_of(split),
        "encodingFormat": _TFRECORD,
        "includes": [glob.escape(name) for name in names],
    }


def _record_set(split: str, schema: Schema | None) -> dict[str, Any]:
    """Return the fields of a split. Names may have any characters, and ids may not, so ids are made of both."""
    used: dict[str, None] = {}
    fields = []
    for name, feature in (schema or {}).items():
        place = f"{_id(split)}/{_unused(_id(name), used)}"
        fields.append(_field(place, name, feature, _files_of(split)))
    return {"@type": "cr:RecordSet", "@id": _id(split), "name": _id(split), "field": fields}


def _field(place: str, name: str, feature: Feature, files: str) -> dict[str, Any]:
    kind = feature.to_json()
    shape = kind.get("shape")
    is_array = isinstance(shape, list) and kind["type"] != "image" and len(shape) > 0
    sizes = [-1 if size is None else size for size in shape] if isinstance(shape, list) else []
    return {
        "@type": "cr:Field",
        "@id": place,
        "name": place,
        **({"description": feature.description} if feature.description else {}),
        "dataType": _data_type(kind),
        **({"isArray": True, "arrayShape": ",".join(map(str, sizes))} if is_array else {}),
        "source": {"fileSet": {"@id": files}, "extract": {"column": name}},
    }


def _data_type(kind: Mapping[str, Any]) -> str:
    return _KINDS.get(kind["type"]) or _TYPES.get(str(kind.get("dtype")), "sc:Text")


def _files_of(split: str) -> str:
    return f"files-of-{_id(split)}"


def _id(name: str) -> str:
    """Return a name as part of an id.

    >>> _id("image/height"), _id("ß")
    ('image-height', 'x')
    """
    return _SEPARATOR.sub("-", name).strip("-") or "x"


def _unused(name: str, used: dict[str, None]) -> str:
    found, number = name, 1
    while found in used:
        number += 1
        found = f"{name}-{number}"
    used[found] = None
    return found
