"""A split that is added to the dataset in a folder, or replaces one there."""

from __future__ import annotations

import os
from typing import Any

from recordsmith.dataset.descriptions.manifest import MANIFEST_NAME, Manifest, load_manifest, manifest_text
from recordsmith.dataset.descriptions.metadata import Metadata
from recordsmith.errors import RecordsmithError, list_names
from recordsmith.records.writer import RecordWriter
from recordsmith.run.publishing.descriptions import TFDS_DESCRIPTIONS, description_files
from recordsmith.run.publishing.publishing import index_names, refuse_existing
from recordsmith.schema import Schema
from recordsmith.storage.atomic_file import write_text_atomically
from recordsmith.storage.publication import Publication

__all__ = ["AddedSplit", "shard_entry"]


class AddedSplit:
    """A split to be added.

    Args:
        folder: the folder of the dataset.
        name: the start of the file names.
        split: the name of the split.
        compression: None, "gzip" or "zlib".
        by: what writes it, for the manifest.
    """

    def __init__(self, folder: str, name: str, split: str, compression: str | None, *, by: str) -> None:
        self._folder = folder
        self._name = name
        self._split = split
        self._compression = compression
        self._by = by
        self._old: Manifest | None = None

    def look(self, *, overwrite: bool) -> None:
        """Look at the dataset that is in the folder, and raise if the split may not be added to it or replaced."""
        path = os.path.join(self._folder, MANIFEST_NAME)
        self._old = None
        if not os.path.isfile(path):
            if not overwrite:
                refuse_existing(self._folder)
            return
        manifest = load_manifest(path)
        splits = manifest.splits
        if self._split in splits and not overwrite:
            raise RecordsmithError(
                f"The dataset already has a split {self._split!r}.",
                path=self._folder,
                found=f"the splits {list_names(splits)}",
                advice="Choose another split or folder, or give overwrite=True to replace it.",
            )
        if set(splits) - {self._split} and manifest.name != self._name:
            raise RecordsmithError(
                "The dataset in this folder has another name.",
                path=path,
                found=manifest.name,
                expected=self._name,
            )
        self._old = manifest

    def check_schema(self, schema: Schema) -> None:
        """Raise if the other splits of the dataset have another schema."""
        if self._old is not None and set(self._old.splits) - {self._split} and self._old.schema != schema:
            raise RecordsmithError(
                "The dataset in this folder has another schema, and all splits share one.",
                path=os.path.join(self._folder, MANIFEST_NAME),
                advice="Write to another folder, or write all splits again.",
            )

    def publish(
        self, publication: Publication, schema: Schema, shards: list[dict[str, Any]], *, description: str
    ) -> None:
        """Replace the split and the descriptions of the whole dataset, in one switch.

        Args:
            publication: has the new files.
            schema: what they hold.
            shards: their entries for the manifest.
            description: a sentence about the dataset.
        """
        facts = {
            "records": sum(shard["records"] for shard in shards),
            "bytes": sum(shard["bytes"] for shard in shards),
            "shards": shards,
        }
        before = {} if self._old is None else self._old.document["splits"]
        others = {name: split for name, split in before.items() if name != self._split}
        splits = {**others, self._split: facts}
        metadata = Metadata(description=description).over(Metadata() if self._old is None else self._old.metadata)
        texts, _ = description_files(self._name, schema, splits, metadata, compression=self._compression)
        replaced = [] if self._old is None or self._split not in before else self._old.splits[self._split].shards
        old = [name for shard in replaced for name in (shard.name, *index_names(shard.name))]
        listed = [] if self._old is None else [name for name in self._old.files if name not in texts]
        # What describes the dataset is written again; what belongs to other records, such as a vocabulary, stays.
        kept = [name for name in listed if others and name not in TFDS_DESCRIPTIONS]
        old += [name for name in (*listed, *TFDS_DESCRIPTIONS) if name not in kept]
        made = {"by": self._by, "files": sorted([*texts, *kept])}
        said = {"metadata": metadata.to_json()} if metadata != Metadata() else {}
        texts[MANIFEST_NAME] = manifest_text(self._name, schema, splits, **said, made=made)
        for file, text in texts.items():
            write_text_atomically(publication.new_file(file), text)
        publication.commit([*(shard["file"] for shard in shards), *texts], old)


def shard_entry(writer: RecordWriter, file: str) -> dict[str, Any]:
    """Return the entry of a written shard for the manifest; its writer, which is closed, has made a SHA-256."""
    size = os.path.getsize(writer.path)
    return {"file": file, "records": writer.records, "bytes": size, "sha256": writer.hexdigest}
