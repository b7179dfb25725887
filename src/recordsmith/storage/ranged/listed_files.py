"""Many small remote files, such as images, of which each is read once and as a whole.

They are listed with their versions, and read without blocks, cache and a request for their facts: what comes must have
the size and the ETag of the listing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from recordsmith.errors import ChangedFileError
from recordsmith.storage.objects import ObjectFolder, open_folder, without_secrets
from recordsmith.storage.objects.interruptible import interruptible_in_order
from recordsmith.storage.ranged.opening import folder_in_force
from recordsmith.storage.ranged.remote_object import version_of
from recordsmith.storage.ranged.requests import network_failures

__all__ = ["ListedFile", "list_files", "read_files", "read_start"]

_AT_ONCE = 32


@dataclass(frozen=True, slots=True)
class ListedFile:
    """A remote file as it was listed.

    Attributes:
        url: where it is.
        name: its path below the folder.
        size: its bytes.
        version: a number that changes when the file does.
    """

    url: str
    name: str
    size: int
    version: int


def list_files(url: str) -> list[ListedFile]:
    """Return all files below a remote folder, sorted by name; of a dataset with versions, those in force."""
    folder = folder_in_force(url)
    found = sorted((one for one in folder.walk() if one.size and one.etag), key=lambda one: one.key)
    root = folder.url.rstrip("/")
    return [
        ListedFile(f"{root}/{one.key}", one.key, one.size or 0, version_of(one.etag or "", one.size or 0))
        for one in found
    ]


def read_files(files: Iterable[tuple[str, int, int]]) -> Iterator[bytes | Exception]:
    """Give the content of files, named by URL, size and version, in order and many at a time; or why it cannot be read.

    A network that fails is raised: it says nothing about a file.
    """
    return interruptible_in_order(_content, files, at_once=_AT_ONCE)


def read_start(url: str, size: int, most: int) -> bytes:
    """Return the first bytes of a file of this size, at most so many."""
    folder, key = _place(url)
    with network_failures(url):
        return bytes(folder.get_range(key, 0, min(size, most)))


def _content(file: tuple[str, int, int]) -> bytes | Exception:
    url, size, version = file
    folder, key = _place(url)
    try:
        with network_failures(url):
            data, facts = folder.read(key, longest=max(size, 1))
    except FileNotFoundError as error:
        return error
    if version_of(facts.etag or "", len(data)) != version:
        return ChangedFileError("The remote file was changed while it was in use.", path=without_secrets(url))
    return data


def _place(url: str) -> tuple[ObjectFolder, str]:
    scheme, _, rest = url.partition("://")
    bucket, _, key = rest.partition("/")
    return open_folder(f"{scheme}://{bucket}"), key
