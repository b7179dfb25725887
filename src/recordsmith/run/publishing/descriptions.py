"""The files next to the shards that describe them to other tools: TFDS' description, and the class names."""

from __future__ import annotations

from typing import Any

from recordsmith.dataset.descriptions.metadata import Metadata
from recordsmith.errors import SchemaError
from recordsmith.schema import Image, Label, Schema
from recordsmith.schema.export.tfds import (
    DATASET_INFO_NAME,
    FEATURES_NAME,
    dataset_info,
    tfds_features,
    tfds_label_files,
)
from recordsmith.wording.visible_text import json_text

__all__ = ["TFDS_DESCRIPTIONS", "description_files"]

TFDS_DESCRIPTIONS = (FEATURES_NAME, DATASET_INFO_NAME)


def description_files(
    name: str, schema: Schema, splits: dict[str, dict[str, Any]], metadata: Metadata, *, compression: str | None
) -> tuple[dict[str, str], str | None]:
    """Return the texts of the description files by name, and why TFDS cannot open the folder, if it cannot."""
    try:
        labels = tfds_label_files(schema)
    except SchemaError as error:
        return {}, f"There are no files for TFDS: {error.problem} Found: {error.found} in {error.feature!r}."
    if compression is not None:
        return labels, f"TFDS does not read {compression} files, so there is no features.json."
    try:
        features = tfds_features(schema)
    except SchemaError as error:
        cause = "" if error.feature is None else f" because of feature {error.feature!r}"
        return labels, f"There is no features.json for TFDS{cause}: {error.problem}"
    info = dataset_info(
        name,
        {split: [shard["records"] for shard in facts["shards"]] for split, facts in splits.items()},
        split_bytes={split: facts["bytes"] for split, facts in splits.items()},
        version=metadata.version or "1.0.0",
        description=metadata.description,
        citation=metadata.citation,
        license=metadata.license,
        homepage=metadata.homepage,
        supervised=metadata.supervised_keys or _supervised(schema),
    )
    return {**labels, FEATURES_NAME: _text(features), DATASET_INFO_NAME: _text(info)}, None


def _supervised(schema: Schema) -> tuple[str, str] | None:
    """Return the input and the label, if it is clear which they are: the only image, or the only feature besides it."""
    labels = [name for name, feature in schema.items() if isinstance(feature, Label)]
    others = [name for name in schema if name not in labels]
    images = [name for name in others if isinstance(schema[name], Image)]
    inputs = images if len(images) == 1 else others
    return (inputs[0], labels[0]) if len(labels) == 1 and len(inputs) == 1 else None


def _text(document: dict[str, Any]) -> str:
    return json_text(document) + "\n"
