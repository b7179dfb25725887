"""recordsmith.json: the description next to the files of a dataset.

{"format": "recordsmith-dataset", "version": 1, "name": "pets",
 "schema": {...},
 "splits": {"train": {"records": 10, "bytes": 1234, "classes": {"cat": 7, "dog": 3},
                      "shards": [{"file": "pets-train.tfrecord-00000-of-00001", "records": 10, "bytes": 1234,
                                  "sha256": "..."}],
                      "fingerprint": "..."}},                     of its records, in whatever order and files
 "metadata": {"license": "CC-BY-4.0", ...},                       what people say about the dataset
 "class_weights": {"feature": "label", "weights": {"cat": 0.71, "dog": 1.67}},
 "provenance": ["filename"],                       features that say where a record comes from, not what it is
 "made": {...}}                                                   how, from what, and with which options
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

from recordsmith.dataset.descriptions.fingerprint import Fingerprint
from recordsmith.dataset.descriptions.metadata import Metadata
from recordsmith.errors import RecordsmithError, SchemaError
from recordsmith.records.described_splits import DescribedShard, DescribedSplit, check_file_name, check_split_name
from recordsmith.schema import Schema
from recordsmith.storage.json_descriptions import JsonObject, read_json_object
from recordsmith.storage.objects import PUBLISHED_NAME
from recordsmith.storage.publication import Switch, switch_in
from recordsmith.wording.visible_text import json_text

__all__ = ["MANIFEST_NAME", "Manifest", "load_manifest", "manifest_text"]

MANIFEST_NAME = PUBLISHED_NAME
_FORMAT = "recordsmith-dataset"
_VERSION = 1


@dataclass(frozen=True)
class Manifest:
    """What a manifest says, every entry of which was checked.

    Attributes:
        path: the file.
        name: the beginning of the dataset's file names.
        schema: what is in a record; None if nobody says.
        splits: the splits by name, with their files.
        label, class_weights: a weight for each class of this feature.
        provenance: features that say where a record comes from, not what it is.
        files: what else belongs to the dataset: the names of files in its folder.
        plan: how it was made, JSON-ready; None if nobody says.
        outcome: what came of making it.
        metadata: its licence, citation, homepage and the like.
        document: the whole as JSON has it, to be written again with changes.
    """

    path: str
    name: str = ""
    schema: Schema | None = None
    splits: dict[str, DescribedSplit] = field(default_factory=dict)
    label: str | None = None
    class_weights: dict[str, float] = field(default_factory=dict)
    provenance: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    plan: dict[str, Any] | None = None
    outcome: JsonObject = field(default_factory=lambda: JsonObject({}, "manifest"))
    metadata: Metadata = field(default_factory=Metadata)
    document: dict[str, Any] = field(default_factory=dict, repr=False)


def manifest_text(name: str, schema: Schema | None, splits: dict[str, dict[str, Any]], **more: Any) -> str:
    """Return the text of a manifest. Without a schema it has none: an empty one would say that records hold nothing.

    >>> from recordsmith.schema import Text
    >>> manifest_text("pets", Schema({"a": Text()}), {}).splitlines()[1:3]
    ['  "format": "recordsmith-dataset",', '  "version": 1,']
    """
    head: dict[str, Any] = {"format": _FORMAT, "version": _VERSION, "name": name}
    described = {} if schema is None else {"schema": schema.to_json()}
    document = {**head, **described, "splits": splits, **more}
    return json_text(document) + "\n"


def load_manifest(path: str) -> Manifest:
    """Read a manifest.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "recordsmith.json"
    >>> _ = file.write_text('{"format": "recordsmith-dataset", "version": 1, "splits": '
    ...                     '{"train": {"shards": [{"file": "a.tfrecord"}]}}}')
    >>> [shard.name for shard in load_manifest(str(file)).splits["train"].shards]
    ['a.tfrecord']
    """
    document = read_json_object(path, "manifest")
    if document.entries.get("format") != _FORMAT or document.entries.get("version") != _VERSION:
        raise SchemaError(
            "This manifest is not supported by this version of recordsmith.",
            path=path,
            expected=f'"format": "{_FORMAT}", "version": {_VERSION}',
            advice="Read it with the version of recordsmith that wrote it, or open the data files with a glob.",
        )
    try:
        return _manifest(document, path)
    except RecordsmithError as error:
        raise error.at(path=path) from None


def _manifest(document: JsonObject, path: str) -> Manifest:
    entries = document.entries
    document.require("splits")
    made = document.object("made")
    weights = document.object("class_weights")
    return Manifest(
        path=path,
        name=document.text("name", ""),
        schema=Schema.from_json(entries["schema"]) if "schema" in entries else None,
        splits=_splits(document, switch_in(os.path.dirname(path))),
        label=weights.optional_text("feature"),
        class_weights=weights.object("weights").numbers(),
        provenance=document.texts("provenance"),
        files=tuple(check_file_name(name) for name in made.texts("files")),
        plan=dict(made.object("plan").entries) if made.entries.get("plan") is not None else None,
        outcome=made.object("outcome"),
        metadata=Metadata.of(document.object("metadata")),
        document=dict(entries),
    )


def _splits(document: JsonObject, switch: Switch) -> dict[str, DescribedSplit]:
    splits = {}
    seen: set[str] = set()
    for name, split in document.object("splits").members():
        split.require("shards")
        shards = tuple(_shard(shard, switch) for shard in split.objects("shards"))
        for shard in shards:
            if shard.path in seen:
                raise SchemaError("The manifest lists a file twice.", found=shard.name)
            seen.add(shard.path)
        splits[check_split_name(name)] = DescribedSplit(
            shards,
            split.count("records"),
            split.count("bytes"),
            split.object("classes").tallies(),
            Fingerprint.parsed(split.optional_text("fingerprint")),
        )
    return splits


def _shard(shard: JsonObject, switch: Switch) -> DescribedShard:
    return DescribedShard(
        switch.path(check_file_name(shard.text("file"))),
        shard.count("records"),
        shard.count("bytes"),
        shard.optional_text("sha256"),
    )
