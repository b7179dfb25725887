"""Folders that TensorFlow Datasets prepared: dataset_info.json and features.json beside the shards."""

from __future__ import annotations

import json
import os
from typing import Any

from recordsmith.errors import SchemaError
from recordsmith.schema import Bytes, Feature, Scalar, Schema, Tensor, Text

__all__ = ["DATASET_INFO_NAME", "read_tfds_folder"]

DATASET_INFO_NAME = "dataset_info.json"
_FEATURES_NAME = "features.json"
_DEFAULT_TEMPLATE = "{DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_X_OF_Y}"


def read_tfds_folder(folder: str) -> tuple[Schema | None, dict[str, tuple[str, ...]]]:
    """Read a TFDS folder: its schema where every feature is known here, else None, and the files of each split."""
    info = _read_json(os.path.join(folder, DATASET_INFO_NAME))
    file_format = info.get("fileFormat", "tfrecord")
    if file_format != "tfrecord":
        raise SchemaError(
            f"This TFDS dataset is stored as {file_format}, not as TFRecords.",
            path=os.path.join(folder, DATASET_INFO_NAME),
            advice="Prepare it with file_format='tfrecord'.",
        )
    splits = {}
    for split in info.get("splits", []):
        shards = len(split.get("shardLengths", []))
        template = split.get("filepathTemplate") or _DEFAULT_TEMPLATE
        splits[split["name"]] = tuple(
            os.path.join(folder, _shard_name(template, info["name"], split["name"], shard, shards))
            for shard in range(shards)
        )
    features = os.path.join(folder, _FEATURES_NAME)
    schema = _schema(_read_json(features)) if os.path.isfile(features) else None
    return schema, splits


def _shard_name(template: str, dataset: str, split: str, shard: int, shards: int) -> str:
    return os.path.basename(
        template.format(
            DATASET=dataset,
            SPLIT=split,
            FILEFORMAT="tfrecord",
            SHARD_INDEX=f"{shard:05}",
            NUM_SHARDS=f"{shards:05}",
            SHARD_X_OF_Y=f"{shard:05}-of-{shards:05}",
        )
    )


def _read_json(path: str) -> dict[str, Any]:
    with open(path, encoding="utf-8") as file:
        try:
            document = json.load(file)
        except ValueError as error:
            raise SchemaError(f"This TFDS description is not JSON: {error}", path=path) from None
    if not isinstance(document, dict):
        raise SchemaError("This TFDS description is not a JSON object.", path=path)
    return document


def _schema(document: dict[str, Any]) -> Schema | None:
    found: dict[str, Feature | None] = {}
    _collect(document, "", found)
    features = {name: feature for name, feature in found.items() if feature is not None}
    return Schema(features) if len(features) == len(found) and features else None


def _collect(node: dict[str, Any], name: str, found: dict[str, Feature | None]) -> None:
    """Walk the tree of features; nested names are joined with "/", as TFDS stores them."""
    if "featuresDict" in node:
        for key, child in node["featuresDict"].get("features", {}).items():
            _collect(child, f"{name}/{key}" if name else key, found)
    elif "classLabel" in node:
        found[name] = Scalar("int64")
    elif "image" in node:
        found[name] = Bytes()
    elif "text" in node:
        found[name] = Text()
    elif "tensor" in node or "scalar" in node:
        found[name] = _tensor(node["tensor"] if "tensor" in node else node["scalar"])
    else:
        found[name] = None  # sequences, videos and the rest: what is stored tells


def _tensor(tensor: dict[str, Any]) -> Feature | None:
    if tensor.get("encoding", "none") not in ("none", ""):
        return None
    sizes = [int(size) for size in tensor.get("shape", {}).get("dimensions", [])]
    shape = tuple(None if size < 0 else size for size in sizes)
    dtype = tensor.get("dtype", "")
    if shape.count(None) > 1 or 0 in shape:
        return None
    if dtype in ("string", "object", "bytes"):
        return Bytes(shape) if len(shape) <= 1 else None
    # TFDS keeps every integer and bool in an int64 list, and every float in a float list.
    if dtype in ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"):
        return _numbers(dtype, shape, "list" if dtype != "int64" else None)
    if dtype in ("float16", "float32", "float64", "bfloat16"):
        return _numbers("float32", shape, None)
    return None


def _numbers(dtype: str, shape: tuple[int | None, ...], storage: Any) -> Feature:
    return Tensor(dtype, shape, storage=storage) if shape else Scalar(dtype, storage=storage)
