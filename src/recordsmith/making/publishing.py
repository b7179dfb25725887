"""Giving a finished dataset to the world: every file whole and checked, moved into place, the manifest last.

The list of files is written down before the first one moves, so that a run killed in between can finish the move.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Mapping, Sequence

from recordsmith.atomic_file import put_in_place, write_atomically, write_text_atomically
from recordsmith.dataset.described_splits import check_file_name
from recordsmith.dataset.manifest import MANIFEST_NAME, load_manifest
from recordsmith.errors import RecordsmithError, list_names
from recordsmith.json_descriptions import read_json_object
from recordsmith.making.staging import Staging
from recordsmith.shards import files_in

__all__ = ["REJECTED_NAME", "finish_publishing", "publish", "refuse_existing"]

REJECTED_NAME = "rejected.jsonl"
_LIST = "publishing.json"
_DESCRIPTIONS = ("features.json", "dataset_info.json", REJECTED_NAME)


def refuse_existing(out: str) -> None:
    """Raise if there is a dataset in a folder, or anything that could be taken for a part of one.

    >>> import tempfile
    >>> refuse_existing(tempfile.mkdtemp())
    """
    if os.path.exists(out) and not os.path.isdir(out):
        raise RecordsmithError("The output is a file, and a dataset needs a folder.", path=out)
    there = _dataset_files(out)
    if there:
        raise RecordsmithError(
            "There is a dataset in the output folder already.",
            path=out,
            found=list_names([os.path.basename(path) for path in there]),
            advice="Choose another folder, or give overwrite=True (--overwrite) to replace it.",
        )


def publish(
    staging: Staging,
    out: str,
    manifest: str,
    *,
    shards: Sequence[str],
    texts: dict[str, str],
    rejected: bool,
    modes: Mapping[str, int] | None = None,
) -> None:
    """Move shards, texts and the file of rejects to the output folder, write the manifest, and remove the staging.

    `modes` are those of texts that not everybody may read.
    """
    for name, text in {**texts, MANIFEST_NAME: manifest}.items():
        write_text_atomically(staging.path("shards", name), text, mode=(modes or {}).get(name, 0o666))
    new = [*shards, *texts]
    if rejected:
        with write_atomically(staging.path("shards", REJECTED_NAME)) as temporary:
            shutil.copyfile(staging.path(REJECTED_NAME), temporary)
        new.append(REJECTED_NAME)
    old = [name for name in map(os.path.basename, _dataset_files(out)) if name != MANIFEST_NAME]
    document = {"move": new, "remove": [name for name in old if name not in new]}
    write_text_atomically(staging.path(_LIST), json.dumps(document))
    finish_publishing(staging, out)


def finish_publishing(staging: Staging, out: str) -> bool:
    """Do what is left of moving files into place; False if that had not begun."""
    try:
        document = read_json_object(staging.path(_LIST), "list of files to publish")
    except FileNotFoundError:
        return False
    moved, removed = (tuple(map(check_file_name, document.texts(name))) for name in ("move", "remove"))
    if os.path.exists(staging.path("shards", MANIFEST_NAME)):
        with contextlib.suppress(FileNotFoundError):
            os.remove(os.path.join(out, MANIFEST_NAME))  # the old one: from here on the folder is in between
    for name in removed:
        with contextlib.suppress(FileNotFoundError):
            os.remove(os.path.join(out, name))
    for name in [*moved, MANIFEST_NAME]:
        staged = staging.path("shards", name)
        if os.path.exists(staged):
            put_in_place(staged, os.path.join(out, name), sync=name == MANIFEST_NAME)
        elif not os.path.exists(os.path.join(out, name)):
            raise RecordsmithError(
                f"The finished file {name!r} is neither in the staging folder nor in its place.",
                path=out,
                advice="Start over with overwrite=True (--overwrite).",
            )
    os.remove(staging.path("plan.json"))  # the run is over; what is left of its folder means nothing
    staging.remove()
    return True


def _dataset_files(out: str) -> list[str]:
    """Return the files of a folder that make up a dataset, or say something about one."""
    if not os.path.isdir(out):
        return []
    found = dict.fromkeys(files_in(out))
    manifest = os.path.join(out, MANIFEST_NAME)
    if os.path.isfile(manifest):
        found[manifest] = None
        with contextlib.suppress(RecordsmithError):
            described = load_manifest(manifest)
            shards = [shard.name for split in described.splits.values() for shard in split.shards]
            for name in [*shards, *described.files]:
                path = os.path.join(out, name)
                if os.path.isfile(path):
                    found[path] = None
    for name in _DESCRIPTIONS:
        path = os.path.join(out, name)
        if os.path.isfile(path):
            found[path] = None
    return list(found)
