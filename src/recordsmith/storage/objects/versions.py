"""Which objects of a remote folder are in force: one object decides, and one conditional write replaces it.

    s3://bucket/pets/
    ├── recordsmith.json                     the manifest, with {"published": {"folder": ..., "files": {...}}}
    ├── version-5f0c2a.../                   the files in force: all that a local folder would contain, byte for byte
    │   ├── recordsmith.json, features.json
    │   ├── .recordsmith/*.index             the positions of the records, so that no reader has to look for them
    │   └── pets-train.tfrecord-00000-of-00004, ...
    └── version-91be07.../                   of a run that is not finished, or was killed: nobody reads it

    files are uploaded to a new version and read back ────► recordsmith.json is written ────► the old version is removed
    the old version is in force                             (the commit point)                the new one is in force

Each run has a version of its own, so its files never meet those of another. recordsmith.json is written only if it is
still as the run found it at its beginning: not there, or with the same ETag. Of two runs, one succeeds, and the other
is told. A reader reads recordsmith.json once, and then the files of that version. A folder without "published" (a
dataset that was uploaded with other tools) has its files beside recordsmith.json.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
from dataclasses import dataclass, field
from typing import Any

from recordsmith.errors import RecordsmithError
from recordsmith.storage.objects.addresses import child_url
from recordsmith.storage.objects.object_folder import ObjectFolder
from recordsmith.storage.publication.switch import is_plain

__all__ = ["PUBLISHED_NAME", "Published", "PublishedFile", "is_version", "new_version", "read_published"]

PUBLISHED_NAME = "recordsmith.json"
_VERSION_NAME = re.compile(r"version-[0-9a-f]{16}")
_LONGEST = 64 << 20  # bytes: some 300,000 files


@dataclass(frozen=True)
class PublishedFile:
    """One file of a version: its size and digest."""

    bytes: int
    sha256: str

    @classmethod
    def of(cls, path: str) -> PublishedFile:
        """Return the facts of a local file."""
        with open(path, "rb") as file:
            return cls(os.path.getsize(path), hashlib.file_digest(file, "sha256").hexdigest())


@dataclass(frozen=True)
class Published:
    """What is in force in a remote folder.

    Attributes:
        folder: the folder of the version; "" if the files are in the remote folder itself.
        files: the files by name; empty if `folder` is.
        replaced: the version before, which may not have been removed yet.
        etag: of recordsmith.json.
        document: all that it says: the manifest, if the folder has one.
    """

    folder: str = ""
    files: dict[str, PublishedFile] = field(default_factory=dict)
    replaced: str = ""
    etag: str | None = None
    document: dict[str, Any] = field(default_factory=dict, repr=False)

    def url(self, folder: str) -> str:
        """Return the URL of the folder that has the files in force."""
        return child_url(folder, self.folder) if self.folder else folder

    def to_bytes(self) -> bytes:
        """Return what is written to recordsmith.json."""
        files = {name: {"bytes": one.bytes, "sha256": one.sha256} for name, one in sorted(self.files.items())}
        published = {"folder": self.folder, "replaced": self.replaced, "files": files}
        return (json.dumps({**self.document, "published": published}, indent=1) + "\n").encode()


def new_version() -> str:
    """Return a name for the folder of a new version."""
    return f"version-{secrets.token_hex(8)}"


def is_version(name: str) -> bool:
    """Say whether a name is that of a version.

    >>> is_version(new_version()), is_version("../version-0")
    (True, False)
    """
    return _VERSION_NAME.fullmatch(name) is not None


def read_published(folder: ObjectFolder) -> Published | None:
    """Read recordsmith.json of a remote folder; None if there is none."""
    try:
        data, facts = folder.read(PUBLISHED_NAME, longest=_LONGEST)
    except FileNotFoundError:
        return None
    try:
        document = json.loads(data)
        published = document.pop("published", None)
        if published is None:
            return Published(etag=facts.etag, document=document)
        files = {name: PublishedFile(one["bytes"], one["sha256"]) for name, one in published["files"].items()}
        place, replaced = published["folder"], published.get("replaced", "")
        sound = all(map(is_plain, files)) and all(map(_is_sound, files.values()))
        sound = sound and all(map(is_version, filter(None, (place, replaced or place))))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        sound = False
    if not sound:
        raise RecordsmithError(
            "The description of the remote folder cannot be read.",
            path=folder.shown(PUBLISHED_NAME),
            expected='JSON with "published": {"folder": "version-...", "files": {...}}, as recordsmith writes it',
            advice="Write the dataset again, or open its files with a glob.",
        )
    return Published(place, files, replaced, facts.etag, document)


def _is_sound(file: PublishedFile) -> bool:
    counted = isinstance(file.bytes, int) and not isinstance(file.bytes, bool) and file.bytes >= 0
    return counted and isinstance(file.sha256, str) and re.fullmatch(r"[0-9a-f]{64}", file.sha256) is not None
