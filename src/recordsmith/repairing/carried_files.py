"""Copies the other files of a repaired folder, and updates its descriptions."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Sequence
from typing import Any

from recordsmith.dataset.descriptions.carried_file import carried_mode, is_carried, opened_to_carry
from recordsmith.dataset.descriptions.manifest import MANIFEST_NAME, load_manifest
from recordsmith.dataset.descriptions.tfds_folder import DATASET_INFO_NAME
from recordsmith.errors import RecordsmithError, SchemaError
from recordsmith.records.shards import looks_like_tfrecord, published_files
from recordsmith.repairing.repair_result import FileRepair
from recordsmith.storage.atomic_file import write_atomically, write_text_atomically
from recordsmith.storage.json_descriptions import read_json_object
from recordsmith.storage.publication import in_force
from recordsmith.wording.numbers import count_text
from recordsmith.wording.visible_text import json_text

__all__ = ["carried_names", "carry_files"]

_INDEXES = (".idx", ".tfindex")  # which say where records begin, and would be wrong


def carried_names(folder: str) -> list[str]:
    """Return the names of the files in a folder that go along with its records.

    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for name in ("a.tfrecord", "recordsmith.json", "README.md", "a.tfrecord.idx"):
    ...     _ = (folder / name).write_text("")
    >>> carried_names(str(folder))
    ['README.md', 'recordsmith.json']
    """
    listed = _listed(folder)
    return [
        name
        for name in published_files(folder)
        if not looks_like_tfrecord(name) and name not in listed and not name.endswith(_INDEXES)
    ]


def carry_files(folder: str, output: str, files: Sequence[FileRepair]) -> tuple[str, ...]:
    """Copy what describes a dataset to the repaired one, with the numbers that are true there; return what was done."""
    notes = []
    repaired = {os.path.basename(file.path): file for file in files}
    copied: list[str] = []
    links: list[str] = []
    for name in carried_names(folder):
        source, target = os.path.join(folder, name), os.path.join(output, name)
        if os.path.basename(source) in repaired:
            continue
        try:
            if name == MANIFEST_NAME:
                notes.append(_carry_manifest(source, target, repaired, output))
                continue
            if name == DATASET_INFO_NAME:
                notes.append(_carry_dataset_info(source, target, repaired))
                continue
        except RecordsmithError as error:
            notes.append(f"{name}: left out. {error.problem}")
            continue
        source = in_force(source)
        if not is_carried(source):
            links.append(name)
            continue
        with (
            opened_to_carry(source) as file,
            write_atomically(target, mode=carried_mode(file)) as temporary,
            open(temporary, "wb") as copy,
        ):
            shutil.copyfileobj(file, copy)
        copied.append(name)
    if links:
        notes.append(
            f"{', '.join(links)}: left out, because {'it is a link' if len(links) == 1 else 'they are links'}. The "
            "target of a link is not part of the folder."
        )
    if copied:
        notes.append(f"{', '.join(copied)}: copied unchanged.")
    return tuple(notes)


def _listed(folder: str) -> set[str]:
    try:
        splits = load_manifest(os.path.join(folder, MANIFEST_NAME)).splits
    except (RecordsmithError, OSError):
        return set()
    return {shard.name for split in splits.values() for shard in split.shards}


def _carry_manifest(source: str, target: str, repaired: dict[str, FileRepair], output: str) -> str:
    """Write the manifest with new counts, sizes and digests. What is no longer known is left out."""
    document = load_manifest(source).document
    missing = 0
    changed = []
    for name, split in document.get("splits", {}).items():
        shards = []
        for shard in split.get("shards") or ():
            file = repaired.get(os.path.basename(shard["file"]))
            if file is None:
                missing += 1
                continue
            shards.append({**shard, **_facts(os.path.join(output, os.path.basename(shard["file"])), file)})
        if [shard["sha256"] for shard in shards] != [shard.get("sha256") for shard in split.get("shards") or ()]:
            split.pop("fingerprint", None)
        if sum(shard["records"] for shard in shards) != split.get("records"):
            changed.append(name)
            split.pop("classes", None)
        split.update(
            shards=shards,
            records=sum(shard["records"] for shard in shards),
            bytes=sum(shard["bytes"] for shard in shards),
        )
    if changed:
        document.pop("class_weights", None)
    lost = sum(file.lost_records for file in repaired.values())
    document["repaired"] = {"lost_records": lost, "splits": changed}
    write_text_atomically(target, json_text(document) + "\n")
    note = f"{MANIFEST_NAME}: schema kept; records, bytes and digests are those of the repaired files."
    if changed:
        note += (
            f" Class counts of {', '.join(changed)} and class weights are left out, as the number of records changed."
        )
    if missing:
        note += f" {count_text(missing, 'missing file')} {'is' if missing == 1 else 'are'} no longer listed."
    return note


def _facts(path: str, file: FileRepair) -> dict[str, Any]:
    with open(path, "rb") as opened:
        digest = hashlib.file_digest(opened, "sha256").hexdigest()
    return {"records": file.records, "bytes": os.path.getsize(path), "sha256": digest}


def _carry_dataset_info(source: str, target: str, repaired: dict[str, FileRepair]) -> str:
    """Write TFDS' description with the new shard lengths, if all shards that it counts are at hand."""
    info = read_json_object(source, "TFDS description")
    splits = info.objects("splits")
    if not splits or not info.optional_text("name"):
        raise SchemaError("It is not a description of TensorFlow Datasets.")
    for split in splits:
        name, count = split.text("name"), len(split.counts("shardLengths"))
        ending = f"-of-{count:05}"
        shards = [
            file for shard, file in sorted(repaired.items()) if shard.endswith(ending) and f"-{name}." in f"-{shard}"
        ]
        if len(shards) != count:
            raise RecordsmithError(
                f"Its split {name!r} has {count_text(count, 'shard')}, but {len(shards)} were repaired."
            )
        split.entries["shardLengths"] = [str(file.records) for file in shards]
        split.entries["numBytes"] = str(sum(file.kept_bytes for file in shards))
    write_text_atomically(target, json_text(info.entries, indent=4) + "\n")
    return f"{DATASET_INFO_NAME}: shard lengths are those of the repaired files."
