"""Which files make up the dataset in a folder, and replacing them by those of a finished run."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Mapping, Sequence

from recordsmith.dataset.descriptions.manifest import MANIFEST_NAME, load_manifest
from recordsmith.errors import RecordsmithError, advise, list_names
from recordsmith.records.shards import files_in
from recordsmith.run.publishing.descriptions import TFDS_DESCRIPTIONS
from recordsmith.run.staging.staging import REJECTED_NAME, Staging
from recordsmith.storage.atomic_file import write_atomically, write_text_atomically

__all__ = ["dataset_files", "index_names", "publish", "refuse_existing", "refuse_file"]


def refuse_existing(out: str) -> None:
    """Raise if there is a dataset in a folder, or anything that could be taken for a part of one."""
    if os.path.exists(out) and not os.path.isdir(out):
        raise RecordsmithError("The output is a file, and a dataset needs a folder.", path=out)
    there = dataset_files(out)
    if there:
        raise RecordsmithError(
            "The output folder already contains a dataset.",
            path=out,
            found=list_names(there),
            advice=advise("Choose another folder, or give {overwrite} to replace it.", overwrite=True),
        )


def refuse_file(path: str) -> None:
    """Raise if there is a file that would be replaced."""
    if os.path.exists(path):
        raise RecordsmithError(
            "A file with this name already exists.",
            path=path,
            advice=advise("Choose another name, or give {overwrite} to replace it.", overwrite=True),
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
    """Replace the dataset in a folder by the staged shards, the texts, the file of rejects and the manifest.

    `modes` are those of texts that not everybody may read.
    """
    publication = staging.publication
    new = [*shards, *texts]
    if rejected:
        with write_atomically(publication.new_file(REJECTED_NAME)) as temporary:
            shutil.copyfile(staging.rejected(), temporary)
        new.append(REJECTED_NAME)
    for name, text in {**texts, MANIFEST_NAME: manifest}.items():
        write_text_atomically(publication.new_file(name), text, mode=(modes or {}).get(name, 0o666))
    publication.commit([*new, MANIFEST_NAME], dataset_files(out))


def dataset_files(out: str) -> list[str]:
    """Return the names of the files in a folder that make up a dataset, or say something about one.

    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for name in ("a.tfrecord", "a.tfrecord.idx", "features.json", "notes.txt"): _ = (folder / name).write_text("")
    >>> dataset_files(str(folder))
    ['a.tfrecord', 'features.json', 'a.tfrecord.idx']
    """
    if not os.path.isdir(out):
        return []
    found = dict.fromkeys(os.path.basename(path) for path in files_in(out))
    with contextlib.suppress(RecordsmithError, OSError):
        manifest = load_manifest(os.path.join(out, MANIFEST_NAME))
        found |= dict.fromkeys(shard.name for split in manifest.splits.values() for shard in split.shards)
        found |= dict.fromkeys(manifest.files)
    found |= dict.fromkeys((*TFDS_DESCRIPTIONS, REJECTED_NAME, MANIFEST_NAME))
    found |= dict.fromkeys(index for name in tuple(found) for index in index_names(name))
    return [name for name in found if os.path.isfile(os.path.join(out, name))]


def index_names(shard: str) -> tuple[str, str]:
    """Return the names of the text indexes of a shard, which are wrong once it is replaced.

    >>> index_names("a.tfrecord")
    ('a.tfrecord.idx', 'a.tfindex')
    """
    return f"{shard}.idx", f"{os.path.splitext(shard)[0]}.tfindex"
