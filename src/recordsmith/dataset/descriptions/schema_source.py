"""Finds the schema of a dataset, and says where it comes from."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from recordsmith.dataset.descriptions.manifest import load_manifest
from recordsmith.dataset.inference import infer_from_files
from recordsmith.dataset.layout import find_layout
from recordsmith.errors import SchemaError
from recordsmith.schema import Schema
from recordsmith.storage.json_descriptions import read_json
from recordsmith.storage.publication import in_force
from recordsmith.storage.ranged.opening import is_file

__all__ = ["FoundSchema", "find_schema", "is_schema_file"]


@dataclass(frozen=True, slots=True)
class FoundSchema:
    """A schema and its source.

    Attributes:
        schema: what is in a record.
        described_by: the file that declares it; None where it was inferred.
        looked_at: from how many records it was inferred.
        looked_at_all: these were all records.
        files: the files that it is about.
    """

    schema: Schema
    described_by: str | None
    looked_at: int
    looked_at_all: bool
    files: tuple[str, ...]


def find_schema(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    split: str | None = None,
    records: int | None = None,
    infer: bool = False,
) -> FoundSchema:
    """Return the schema that is declared next to the files, or one inferred from their records.

    Args:
        paths: a file, folder, glob, or list of them; or a file that holds a schema and nothing else.
        split: only the files of this split.
        records: look at no more than so many records of each file; None: at all.
        infer: do not take the declared schema even if there is one.

    >>> import recordsmith as rs, tempfile
    >>> path = tempfile.mkdtemp() + "/data.tfrecord"
    >>> with rs.RecordWriter(path) as writer:
    ...     writer.write_example({"label": 3})
    >>> find_schema(path).schema
    Schema({
        'label': Scalar('int64'),
    })
    """
    if isinstance(paths, (str, os.PathLike)) and is_schema_file(paths):
        return FoundSchema(_schema_in(os.fspath(paths)), os.fspath(paths), 0, False, ())
    layout = find_layout(paths).select(split)
    if layout.schema is not None and not infer:
        return FoundSchema(layout.schema, layout.described_by, 0, False, layout.files)
    schema, census = infer_from_files(layout.files, records=records)
    return FoundSchema(schema, None, census.records, census.complete, layout.files)


def is_schema_file(path: str | os.PathLike[str]) -> bool:
    """Say whether a path is a file that holds a schema, by its name: .json or .pbtxt."""
    return os.fspath(path).endswith((".json", ".pbtxt")) and is_file(in_force(os.fspath(path)))


def _schema_in(path: str) -> Schema:
    """Read a schema from a file: one of ours, a manifest, a features.json or a schema.pbtxt."""
    if path.endswith(".pbtxt"):
        return Schema.from_tfmd(os.path.abspath(path))  # a path for certain, whatever its name looks like
    document = read_json(path, "schema")
    kind = document.get("format") if isinstance(document, dict) else None
    if kind == "recordsmith-dataset":
        schema = load_manifest(path).schema
        if schema is None:
            raise SchemaError("This manifest has no schema.", path=path)
        return schema
    if isinstance(document, dict) and "featuresDict" in document:
        return Schema.from_tfds(path)
    return Schema.load(path)
