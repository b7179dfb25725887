"""recordsmith.json: the description that lies beside the files of a dataset.

{"format": "recordsmith-dataset", "version": 1, "name": "pets",
 "schema": {...},
 "splits": {"train": {"records": 10, "bytes": 1234, "classes": {"cat": 7, "dog": 3},
                      "shards": [{"file": "pets-train.tfrecord-00000-of-00001", "records": 10, "bytes": 1234,
                                  "sha256": "..."}]}},
 "class_weights": {"feature": "label", "weights": {"cat": 0.71, "dog": 1.67}},
 "provenance": ["filename"],                       features that say where a record comes from, not what it is
 "made": {...}}                                                   how, from what, and with which options
"""

from __future__ import annotations

import json
import os
from typing import Any

from recordsmith.errors import RecordsmithError, SchemaError
from recordsmith.publication import Switch, in_force, switch_in
from recordsmith.schema import Schema

__all__ = ["MANIFEST_NAME", "load_manifest", "manifest_text", "read_manifest"]

MANIFEST_NAME = "recordsmith.json"
_FORMAT = "recordsmith-dataset"
_VERSION = 1


def manifest_text(name: str, schema: Schema, splits: dict[str, dict[str, Any]], **more: Any) -> str:
    """Return the text of a manifest.

    >>> from recordsmith.schema import Text
    >>> manifest_text("pets", Schema({"a": Text()}), {}).splitlines()[1:3]
    ['  "format": "recordsmith-dataset",', '  "version": 1,']
    """
    head = {"format": _FORMAT, "version": _VERSION, "name": name, "schema": schema.to_json(), "splits": splits}
    return json.dumps({**head, **more}, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def load_manifest(path: str) -> dict[str, Any]:
    """Return a manifest as it stands, once it is known to be one.

    >>> load_manifest("nowhere/recordsmith.json")
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] No such file or directory: 'nowhere/recordsmith.json'
    """
    with open(in_force(path), encoding="utf-8") as file:
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
    return document


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
    document = load_manifest(path)
    try:
        schema = Schema.from_json(document["schema"]) if "schema" in document else None
        switch = switch_in(os.path.dirname(path))
        splits = {name: _files(switch, split) for name, split in document["splits"].items()}
    except RecordsmithError as error:
        raise error.at(path=path) from None
    except (KeyError, TypeError, AttributeError) as error:
        raise SchemaError(f"The manifest lacks something: {error!r}.", path=path) from None
    return schema, splits


def _files(switch: Switch, split: dict[str, Any]) -> tuple[str, ...]:
    files = []
    for shard in split["shards"]:
        name = shard["file"]
        if os.path.isabs(name) or ".." in name.split("/"):
            raise SchemaError("A manifest may only name files in its own folder.", found=name)
        files.append(switch.path(name))
    return tuple(files)
