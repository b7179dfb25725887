"""Folders that TensorFlow Datasets prepared: dataset_info.json and features.json beside the shards."""

from __future__ import annotations

import json
import os
from typing import Any

from recordsmith.errors import SchemaError
from recordsmith.publication import in_force, switch_in
from recordsmith.schema import Schema
from recordsmith.schema.export.tfds import DATASET_INFO_NAME, FEATURES_NAME, FILE_TEMPLATE

__all__ = ["DATASET_INFO_NAME", "read_tfds_folder"]


def read_tfds_folder(folder: str) -> tuple[Schema | None, dict[str, tuple[str, ...]]]:
    """Read a TFDS folder: its schema where every feature is known here, else None, and the files of each split.

    >>> from recordsmith.schema import Label
    >>> from recordsmith.schema.export.tfds import write_tfds_metadata
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> _ = write_tfds_metadata(folder, {"animal": Label(["cat", "dog"])}, "pets", {"train": [8, 8]})
    >>> schema, splits = read_tfds_folder(folder)
    >>> schema["animal"], [os.path.basename(file) for file in splits["train"]]
    (Label(['cat', 'dog']), ['pets-train.tfrecord-00000-of-00002', 'pets-train.tfrecord-00001-of-00002'])
    """
    path = os.path.join(folder, DATASET_INFO_NAME)
    info = _read_json(path)
    file_format = info.get("fileFormat", "tfrecord")
    if file_format != "tfrecord":
        raise SchemaError(
            f"This TFDS dataset is stored as {file_format}, not as TFRecords.",
            path=path,
            advice="Prepare it with file_format='tfrecord'.",
        )
    try:
        splits = {split["name"]: _files(folder, info["name"], split) for split in info.get("splits", [])}
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise SchemaError(f"This TFDS description is not complete: {error!r}.", path=path) from None
    if not any(splits.values()):
        raise SchemaError(
            "This TFDS description names no files.", path=path, advice="Open the files themselves, by a glob."
        )
    return _schema(folder), splits


def _files(folder: str, dataset: str, split: dict[str, Any]) -> tuple[str, ...]:
    shards = len(split.get("shardLengths", []))
    template = split.get("filepathTemplate") or FILE_TEMPLATE
    switch = switch_in(folder)
    names = (_shard_name(template, dataset, split["name"], shard, shards) for shard in range(shards))
    return tuple(map(switch.path, names))


def _schema(folder: str) -> Schema | None:
    path = os.path.join(folder, FEATURES_NAME)
    if not os.path.isfile(in_force(path)):
        return None
    _read_json(path)  # a damaged file is an error; a feature that is not known here is none
    try:
        return Schema.from_tfds(path) or None
    except SchemaError:
        return None  # the records themselves tell what is stored


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
    with open(in_force(path), encoding="utf-8") as file:
        try:
            document = json.load(file)
        except ValueError as error:
            raise SchemaError(f"This TFDS description is not JSON: {error}", path=path) from None
    if not isinstance(document, dict):
        raise SchemaError("This TFDS description is not a JSON object.", path=path)
    return document
