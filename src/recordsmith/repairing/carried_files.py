"""What lies beside the records of a folder: copied, with the descriptions brought up to date."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from typing import Any

from recordsmith.atomic_file import write_atomically, write_text_atomically
from recordsmith.dataset.manifest import MANIFEST_NAME, load_manifest
from recordsmith.dataset.tfds_folder import DATASET_INFO_NAME
from recordsmith.errors import RecordsmithError
from recordsmith.publication import files_in_force, in_force
from recordsmith.repairing.repair_result import FileRepair
from recordsmith.shards import looks_like_tfrecord

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
    listed = {os.path.basename(name) for name in _listed(folder)}
    return [
        name
        for name in files_in_force(folder)
        if not looks_like_tfrecord(name) and name not in listed and not name.endswith(_INDEXES)
    ]


def carry_files(folder: str, output: str, files: Sequence[FileRepair]) -> tuple[str, ...]:
    """Copy what describes a dataset to the repaired one, with the numbers that are true there; return what was done."""
    notes = []
    repaired = {os.path.basename(file.path): file for file in files}
    copied = []
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
        except (RecordsmithError, KeyError, TypeError, AttributeError, ValueError) as error:
            problem = error.problem if isinstance(error, RecordsmithError) else repr(error)
            notes.append(f"{name}: left out, because it cannot be read: {problem}")
            continue
        with write_atomically(target) as temporary:
            shutil.copyfile(in_force(source), temporary)
        copied.append(name)
    if copied:
        notes.append(f"{', '.join(copied)}: copied as {'it is' if len(copied) == 1 else 'they are'}.")
    return tuple(notes)


def _listed(folder: str) -> Iterator[str]:
    try:
        document = load_manifest(os.path.join(folder, MANIFEST_NAME))
        for split in document["splits"].values():
            yield from (shard["file"] for shard in split["shards"])
    except (RecordsmithError, OSError, KeyError, TypeError, AttributeError):
        return


def _carry_manifest(source: str, target: str, repaired: dict[str, FileRepair], output: str) -> str:
    """Write the manifest with new counts, sizes and digests. What is no longer known is left out."""
    document = load_manifest(source)
    missing = 0
    changed = []
    for name, split in document["splits"].items():
        shards = []
        for shard in split["shards"]:
            file = repaired.get(os.path.basename(shard["file"]))
            if file is None:
                missing += 1
                continue
            shards.append({**shard, **_facts(os.path.join(output, os.path.basename(shard["file"])), file)})
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
    write_text_atomically(target, json.dumps(document, indent=2, ensure_ascii=False) + "\n")
    note = f"{MANIFEST_NAME}: schema kept; records, bytes and digests are those of the repaired files."
    if changed:
        note += f" Class counts of {', '.join(changed)} and class weights are left out, as records are missing."
    if missing:
        note += f" {missing} listed files were not there and are not listed any more."
    return note


def _facts(path: str, file: FileRepair) -> dict[str, Any]:
    with open(path, "rb") as opened:
        digest = hashlib.file_digest(opened, "sha256").hexdigest()
    return {"records": file.records, "bytes": os.path.getsize(path), "sha256": digest}


def _carry_dataset_info(source: str, target: str, repaired: dict[str, FileRepair]) -> str:
    """Write TFDS' description with the new shard lengths, if all shards that it counts are at hand."""
    with open(in_force(source), encoding="utf-8") as opened:
        document = json.load(opened)
    for split in document.get("splits", []):
        count = len(split["shardLengths"])
        ending = f"-of-{count:05}"
        shards = [
            file
            for name, file in sorted(repaired.items())
            if name.endswith(ending) and f"-{split['name']}." in f"-{name}"
        ]
        if len(shards) != count:
            raise RecordsmithError(f"its split {split['name']!r} has {count} shards, and {len(shards)} were repaired.")
        split["shardLengths"] = [str(file.records) for file in shards]
        split["numBytes"] = str(sum(file.kept_bytes for file in shards))
    write_text_atomically(target, json.dumps(document, indent=4, ensure_ascii=False) + "\n")
    return f"{DATASET_INFO_NAME}: shard lengths are those of the repaired files."
