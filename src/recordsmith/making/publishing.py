"""Giving a finished dataset to the world: every file whole and checked, moved into place, the manifest last.

The list of files is written down before the first one moves, so that a run killed in between can finish the move.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Sequence
from typing import Any

from recordsmith.atomic_file import put_in_place, write_atomically, write_text_atomically
from recordsmith.dataset.manifest import MANIFEST_NAME, load_manifest
from recordsmith.errors import RecordsmithError, advise, list_names
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
            advice=advise("Choose another folder, or give {overwrite} to replace it.", overwrite=True),
        )


def publish(
    staging: Staging, out: str, manifest: str, *, shards: Sequence[str], texts: dict[str, str], rejected: bool
) -> None:
    """Move shards, texts and the file of rejects to the output folder, write the manifest, and remove the staging."""
    for name, text in {**texts, MANIFEST_NAME: manifest}.items():
        write_text_atomically(staging.path("shards", name), text)
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
        with open(staging.path(_LIST), encoding="utf-8") as file:
            document: dict[str, Any] = json.load(file)
    except FileNotFoundError:
        return False
    if os.path.exists(staging.path("shards", MANIFEST_NAME)):
        with contextlib.suppress(FileNotFoundError):
            os.remove(os.path.join(out, MANIFEST_NAME))  # the old one: from here on the folder is in between
    for name in document["remove"]:
        with contextlib.suppress(FileNotFoundError):
            os.remove(os.path.join(out, name))
    for name in [*document["move"], MANIFEST_NAME]:
        staged = staging.path("shards", name)
        if os.path.exists(staged):
            put_in_place(staged, os.path.join(out, name), sync=name == MANIFEST_NAME)
        elif not os.path.exists(os.path.join(out, name)):
            raise RecordsmithError(
                f"The finished file {name!r} is neither in the staging folder nor in its place.",
                path=out,
                advice=advise("Start over with {overwrite}.", overwrite=True),
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
        with contextlib.suppress(RecordsmithError, KeyError, TypeError):
            document = load_manifest(manifest)
            names = [shard["file"] for split in document["splits"].values() for shard in split["shards"]]
            for name in [*names, *document.get("made", {}).get("files", [])]:
                path = os.path.join(out, os.path.basename(name))
                if os.path.isfile(path):
                    found[path] = None
    for name in _DESCRIPTIONS:
        path = os.path.join(out, name)
        if os.path.isfile(path):
            found[path] = None
    return list(found)
