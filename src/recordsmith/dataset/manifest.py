"""recordsmith.json: the description that lies beside the files of a dataset.

{"format": "recordsmith-dataset", "version": 1, "name": "pets",
 "schema": {...},
 "splits": {"train": {"shards": [{"file": "pets-train.tfrecord-00000-of-00002", "records": 10, "bytes": 1234}]}}}
"""

from __future__ import annotations

import json
import os
from typing import Any

from recordsmith.errors import RecordsmithError, SchemaError
from recordsmith.schema import Schema

__all__ = ["MANIFEST_NAME", "read_manifest"]

MANIFEST_NAME = "recordsmith.json"
_FORMAT = "recordsmith-dataset"
_VERSION = 1


def read_manifest(path: str) -> tuple[Schema | None, dict[str, tuple[str, ...]]]:
    """Read a manifest: the schema, and the files of each split.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "recordsmith.json"
    >>> _ = file.write_text('{"format": "recordsmith-dataset", "version": 1, "splits": '
    ...                     '{"train": {"shards": [{"file": "a.tfrecord"}]}}}')
    >>> schema, splits = read_manifest(str(file))
    >>> [os.path.basename(name) for name in splits["train"]]
    ['a.tfrecord']
    """
    with open(path, encoding="utf-8") as file:
        try:
            document = json.load(file)
        except ValueError as error:
            raise SchemaError(f"The manifest is not JSON: {error}", path=path) from None
    if not isinstance(document, dict) or document.get("format") != _FORMAT or document.get("version") != _VERSION:
        raise SchemaError(
            "This manifest is not one that this recordsmith knows.",
            path=path,
            expected=f'"format": "{_FORMAT}", "version": {_VERSION}',
            advice="Read it with the recordsmith that wrote it, or open the files themselves by a glob.",
        )
    try:
        schema = Schema.from_json(document["schema"]) if "schema" in document else None
        splits = {name: _files(os.path.dirname(path), split) for name, split in document["splits"].items()}
    except RecordsmithError as error:
        raise error.at(path=path) from None
    except (KeyError, TypeError, AttributeError) as error:
        raise SchemaError(f"The manifest lacks something: {error!r}.", path=path) from None
    return schema, splits


def _files(folder: str, split: dict[str, Any]) -> tuple[str, ...]:
    files = []
    for shard in split["shards"]:
        name = shard["file"]
        if os.path.isabs(name) or ".." in name.split("/"):
            raise SchemaError("A manifest may only name files in its own folder.", found=name)
        files.append(os.path.join(folder, name))
    return tuple(files)
