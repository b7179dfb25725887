"""Where shards are written, and where they are when they are read back: in a folder, or in object storage.

A finished shard has a description: its entry for the manifest, and notes that the manifest does not have.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from recordsmith.dataset.descriptions.fingerprint import Fingerprint
from recordsmith.errors import RecordsmithError
from recordsmith.records.described_splits import check_file_name
from recordsmith.records.uploaded_index import index_uploaded
from recordsmith.run.staging.scratch import scratch_folder
from recordsmith.storage.json_descriptions import JsonObject, read_json_object
from recordsmith.storage.objects import child_url, open_folder
from recordsmith.storage.objects.folder_upload import OtherBytesError, verified_blocks
from recordsmith.storage.objects.versions import PublishedFile

__all__ = [
    "CHECKED",
    "ETAG",
    "FINGERPRINT",
    "FolderShards",
    "ShardPlaces",
    "StoreShards",
    "described_shard",
    "without_notes",
    "written_shard",
]

CHECKED = "checked"  # it was read back
ETAG = "etag"  # the version of the object
FINGERPRINT = "fingerprint"  # of its records, once it was read back


class ShardPlaces(ABC):
    """Gives shards their places. It can be sent to other machines."""

    @abstractmethod
    def begin(self, file: str) -> str:
        """Return the path of a new file, for an attempt at a shard."""

    @abstractmethod
    def keep(self, entry: dict[str, Any], attempt: str) -> tuple[dict[str, Any], str]:
        """Take a finished attempt to where all machines see it; return its description, and where it is."""

    @abstractmethod
    def opened(self, entry: dict[str, Any]) -> contextlib.AbstractContextManager[str]:
        """Give the path of a finished shard, to be read back."""

    @abstractmethod
    def remove(self, file: str) -> None:
        """Remove a finished shard, so that it is written again."""


@dataclass(frozen=True)
class FolderShards(ShardPlaces):
    """Shards in a folder.

    Attributes:
        attempts: the folder of those that are being written.
        shards: the folder of the finished ones.
    """

    attempts: str
    shards: str

    def begin(self, file: str) -> str:
        """Return a path that no other attempt has."""
        return os.path.join(self.attempts, f"{file}.{secrets.token_hex(4)}")

    def keep(self, entry: dict[str, Any], attempt: str) -> tuple[dict[str, Any], str]:
        """Leave it where it is: it gets its name from whoever started the run."""
        return entry, attempt

    @contextlib.contextmanager
    def opened(self, entry: dict[str, Any]) -> Iterator[str]:
        """Give the file itself."""
        yield os.path.join(self.shards, entry["file"])

    def remove(self, file: str) -> None:
        """Remove the file."""
        os.remove(os.path.join(self.shards, file))


@dataclass(frozen=True)
class StoreShards(ShardPlaces):
    """Shards in object storage. Two attempts at one shard upload the same bytes.

    Attributes:
        url: the remote folder.
    """

    url: str

    def begin(self, file: str) -> str:
        """Return a path in the folder of this process."""
        return os.path.join(scratch_folder(), f"{file}.{secrets.token_hex(4)}")

    def keep(self, entry: dict[str, Any], attempt: str) -> tuple[dict[str, Any], str]:
        """Upload it."""
        try:
            etag = open_folder(self.url).upload(entry["file"], attempt)
        finally:
            os.remove(attempt)
        return {**entry, ETAG: etag or ""}, child_url(self.url, entry["file"])

    @contextlib.contextmanager
    def opened(self, entry: dict[str, Any]) -> Iterator[str]:
        """Download it, compare its digest with that of what was uploaded, and give the copy."""
        path = self.begin(entry["file"])
        facts = PublishedFile(entry["bytes"], entry["sha256"])
        try:
            with open(path, "wb") as file:
                file.writelines(verified_blocks(open_folder(self.url), entry["file"], facts, entry[ETAG]))
            index_uploaded(path, child_url(self.url, entry["file"]), entry[ETAG])
            yield path
        except OtherBytesError:
            self.remove(entry["file"])  # so that it is written again
            raise
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.remove(path)

    def remove(self, file: str) -> None:
        """Remove the object."""
        open_folder(self.url).delete([file])


def without_notes(entry: dict[str, Any]) -> dict[str, Any]:
    """Return the entry of a shard as the manifest has it.

    >>> without_notes({"file": "a.tfrecord", "checked": True})
    {'file': 'a.tfrecord'}
    """
    return {name: value for name, value in entry.items() if name not in (CHECKED, ETAG, FINGERPRINT)}


def described_shard(entry: JsonObject) -> dict[str, Any]:
    """Return what a description says, every entry of which is checked."""
    check_file_name(entry.text("file"))
    entry.text("sha256")
    return {
        **entry.entries,
        "records": entry.count("records"),
        "bytes": entry.count("bytes"),
        CHECKED: entry.entries.get(CHECKED) is True and Fingerprint.parsed(entry.text(FINGERPRINT, "")) is not None,
    }


def written_shard(folder: str, described: str, *, thorough: bool) -> dict[str, Any] | None:
    """Return the description of a finished shard in a folder; None if it or its file is damaged.

    Args:
        folder: where the finished shards are.
        described: the file of the description.
        thorough: compare its digest. Otherwise one that was read back counts if it has its size.
    """
    with contextlib.suppress(RecordsmithError, OSError):
        entry = described_shard(read_json_object(described, "description of a shard"))
        path = os.path.join(folder, entry["file"])
        if not thorough and entry[CHECKED]:
            return entry if os.path.getsize(path) == entry["bytes"] else None
        with open(path, "rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() == entry["sha256"]:
                return entry
    return None
