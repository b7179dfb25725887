"""Opens remote objects by URL, and finds those of a folder or a pattern."""

from __future__ import annotations

import contextlib
import fnmatch
import glob
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future

from recordsmith.errors import RecordsmithError, list_names
from recordsmith.storage.atomic_file import is_url
from recordsmith.storage.objects import (
    PUBLISHED_NAME,
    ObjectFacts,
    ObjectFolder,
    child_url,
    open_folder,
    read_published,
    split_url,
    without_secrets,
)
from recordsmith.storage.objects.addresses import OBSTORE_SCHEMES, scheme_of
from recordsmith.storage.objects.interruptible import begun
from recordsmith.storage.ranged.block_cache import BLOCK, cache_limit
from recordsmith.storage.ranged.remote_object import RemoteObject
from recordsmith.storage.ranged.requests import network_failures
from recordsmith.storage.ranged.web_files import facts_of_web_file, is_web

__all__ = [
    "RemoteFolder",
    "announce_starts",
    "file_size",
    "folder_in_force",
    "is_file",
    "is_folder",
    "is_ranged",
    "known_object",
    "listed_folder",
    "open_object",
    "pieces_of",
    "read_remote",
    "record_bytes",
    "resolve",
    "walk_folder",
]

_objects: dict[str, RemoteObject] = {}
_folders: dict[str, RemoteFolder] = {}
_lock = threading.Lock()
_PIECE = 4 << 20
_ATTEMPTS = 3


def is_ranged(path: str) -> bool:
    """Say whether a path is the URL of something that is read by ranges.

    Of what a web server has, this is true of the names of files only: `resolve` finds out which of them can be.

    >>> is_ranged("s3://bucket/data"), is_ranged("hf://datasets/x"), is_ranged("/data")
    (True, False, False)
    """
    return is_url(path) and scheme_of(path) in OBSTORE_SCHEMES


def open_object(url: str) -> RemoteObject:
    """Return the object of a URL, in the version that was last seen; a store is asked only where none was.

    The core calls it for every URL that it opens.
    """
    with _lock:
        known = _objects.get(url)
    if known is not None:
        return known
    with network_failures(url):
        return _refreshed(url)


def known_object(url: str, size: int, etag: str) -> RemoteObject:
    """Return an object in a version that is known, such as from whoever has written it. Nothing is asked for."""
    above, key = split_url(url)
    return _known(open_folder(above), ObjectFacts(key, size, etag))


def read_remote(url: str, most: int) -> bytes:
    """Return the first bytes of an object, at most so many."""
    return open_object(url).read(0, most)


def announce_starts(paths: Iterable[str], most: int) -> None:
    """Begin to fetch the first bytes of all remote files among some: they are read one after the other soon."""
    for path in paths:
        if is_ranged(path):
            remote = open_object(path)
            remote.announce([(0, min(most, remote.size))])


@contextlib.contextmanager
def record_bytes(path: str) -> Iterator[Callable[[int, int], bytes]]:
    """Give a function that reads so many bytes from an offset on, of a file or of a remote object.

    >>> with record_bytes(__file__) as read:
    ...     read(3, 5)
    b'Opens'
    """
    if is_ranged(path):
        remote = open_object(path)
        yield remote.read
        return
    with open(path, "rb") as file:

        def read(offset: int, size: int) -> bytes:
            file.seek(offset)
            return file.read(size)

        yield read


def pieces_of(url: str) -> Iterator[bytes]:
    """Give an object from its first byte to its last, in pieces."""
    remote = open_object(url)
    for begin in range(0, remote.size, _PIECE):
        yield remote.read(begin, _PIECE)


def file_size(path: str) -> int:
    """Return the size of a file, or of a remote object.

    >>> file_size(__file__) > 100
    True
    """
    return open_object(path).size if is_ranged(path) else os.stat(path).st_size


def is_file(path: str) -> bool:
    """Say whether a path is that of a file, or of a remote object.

    >>> is_file(__file__), is_file("/no/such/file")
    (True, False)
    """
    if not is_ranged(path):
        return os.path.isfile(path)
    with _lock:
        if path in _objects:
            return True
        folder = _folders.get(os.path.dirname(path))
    if folder is not None and os.path.basename(path):
        return os.path.basename(path) in folder.files and bool(folder.open(os.path.basename(path)))
    try:
        return bool(os.path.basename(path)) and _refreshed(path) is not None
    except FileNotFoundError:
        return False


def is_folder(path: str) -> bool:
    """Say whether a path is that of a folder: a remote one was listed when it was resolved.

    >>> is_folder("/"), is_folder(__file__)
    (True, False)
    """
    return listed_folder(path) is not None if is_ranged(path) else os.path.isdir(path)


def folder_in_force(url: str) -> ObjectFolder:
    """Return the remote folder that has the files of a URL: that of the version in force, if there are versions."""
    return _in_force(open_folder(url.rstrip("/")))[0]


def walk_folder(url: str) -> list[tuple[str, str]]:
    """Return the URLs of all files below a remote folder, and their names in it, sorted; each in its version of now.

    Of a dataset with versions, it is the version in force (see `recordsmith.storage.objects.versions`).
    """
    folder = folder_in_force(url)
    found = sorted((one for one in folder.walk() if one.size), key=lambda one: one.key)
    return [(_known(folder, one).url, one.key) for one in found]


def _refreshed(url: str) -> RemoteObject:
    """Ask the store for the version of an object now."""
    above, key = split_url(url)
    folder = open_folder(above)
    return _known(folder, folder.head(key))


def _known(folder: ObjectFolder, facts: ObjectFacts) -> RemoteObject:
    if facts.etag is None or facts.size is None:
        raise RecordsmithError(
            "The remote storage gives no ETag for the file, so changes of the file cannot be detected.",
            path=folder.shown(facts.key),
            advice="Download the file, then use the local copy.",
        )
    url = child_url(folder.url, facts.key)
    with _lock:
        before = _objects.get(url)
        if before is None or (before.etag, before.size) != (facts.etag, facts.size):
            before = _objects[url] = RemoteObject(folder, facts.key, facts.size, facts.etag)
        return before


class RemoteFolder:
    """A remote folder as it was listed.

    Attributes:
        url: where it is, without a slash at the end.
        files: the URLs of its files by name.
        folders: the names of the folders in it.
    """

    def __init__(self, folder: ObjectFolder, facts: Sequence[ObjectFacts], folders: Sequence[str]) -> None:
        self.url = folder.url.rstrip("/")
        self.files = {one.key: child_url(folder.url, one.key) for one in facts if not one.key.startswith(".")}
        self.folders = list(folders)
        self._folder = folder
        self._facts = {one.key: one for one in facts}

    def open(self, name: str) -> str:
        """Return the URL of a file, which from now on is read in the version that was listed."""
        _known(self._folder, self._facts[name])
        return self.files[name]

    def read(self, name: str, longest: int) -> bytes:
        """Return a small file, in the version that was listed."""
        return self._folder.read(name, longest=longest, etag=self._facts[name].etag)[0]


def resolve(url: str) -> list[str] | RemoteFolder | None:
    """Return what a URL stands for: files, by their URLs, or a folder; None if it has to be downloaded."""
    cache_limit()  # a wrong setting is an error of its own, not one of the data
    if glob.has_magic(url) and not is_web(url):
        return _matching(url)
    name = split_url(url)[1]
    if is_web(url):
        file = facts_of_web_file(url, name)
        return None if file is None else [_known(open_folder(split_url(url)[0]), file).url]
    given = open_folder(url.rstrip("/"))
    listing = begun(lambda _: _in_force(given), None)  # at the same time: it may be a file, or a folder
    if name and not url.endswith("/"):
        try:
            return [_refreshed_url(url)]
        except FileNotFoundError:
            pass  # it may be a folder, or a file of a version
    folder, facts, folders = listing.result()
    if not facts and not folders:
        if name:
            above, siblings, _ = _in_force(open_folder(split_url(url)[0]))
            for one in siblings:
                if one.key == name and above.url != split_url(url)[0]:
                    _known(above, one)
                    return [child_url(above.url, name)]
        raise FileNotFoundError(2, "No such remote file or folder", without_secrets(url))
    found = RemoteFolder(folder, facts, folders)
    with _lock:
        _folders[found.url] = _folders[given.url.rstrip("/")] = found
    return found


def _in_force(folder: ObjectFolder) -> tuple[ObjectFolder, list[ObjectFacts], list[str]]:
    """Return the folder that has the files in force (see `recordsmith.storage.objects.versions`), and what is in it."""
    for _ in range(_ATTEMPTS):  # a version may be replaced, and removed, between two requests
        reading = begun(read_published, folder)  # at the same time, as the manifest is below
        facts, folders = folder.contents()
        is_described = any(one.key == PUBLISHED_NAME for one in facts)
        published = reading.result() or read_published(folder) if is_described else None
        if published is None or not published.folder:
            return folder, facts, folders
        version = open_folder(published.url(folder.url))
        manifest = begun(lambda one: one.read(PUBLISHED_NAME, longest=BLOCK), version)
        listed, below = version.contents()
        sizes = {one.key: one.size for one in listed}
        missing = [name for name, file in published.files.items() if sizes.get(name) != file.bytes]
        if not missing:
            _keep_manifest(version, listed, manifest)
            return version, listed, below
    raise RecordsmithError(
        "Files of the remote dataset are missing, or have another size than its recordsmith.json says.",
        path=version.shown(),
        found=list_names(missing),
        advice="Write the dataset again, or restore these files.",
    )


def _keep_manifest(
    folder: ObjectFolder, listed: Sequence[ObjectFacts], reading: Future[tuple[bytes, ObjectFacts]]
) -> None:
    """Keep the manifest of a version in memory: whoever lists the files reads it next."""
    facts = next((one for one in listed if one.key == PUBLISHED_NAME), None)
    if facts is not None and facts.size:
        with contextlib.suppress(RecordsmithError, OSError):  # it is too large, or whoever reads it is told
            data, read = reading.result()
            if read.etag == facts.etag:
                _known(folder, facts).offer(data)


def listed_folder(url: str) -> RemoteFolder | None:
    """Return a folder as it was last listed; None if a URL is not that of a folder."""
    with _lock:
        return _folders.get(url.rstrip("/"))


def _refreshed_url(url: str) -> str:
    _refreshed(url)
    return url


def _matching(pattern: str) -> list[str]:
    """Return the URLs that match a pattern: below the last folder without wildcards, all objects are looked at."""
    scheme, _, rest = pattern.partition("://")
    parts = rest.split("/")
    plain = next(i for i, part in enumerate(parts) if glob.has_magic(part))
    folder = open_folder(f"{scheme}://{'/'.join(parts[:plain])}")
    deep = "**" in parts[plain:]
    wanted = "/".join(parts[plain:])
    matches: Callable[[str], bool] = (
        (lambda key: fnmatch.fnmatchcase(key, wanted.replace("**/", "*")))
        if deep
        else (lambda key: key.count("/") == wanted.count("/") and fnmatch.fnmatchcase(key, wanted))
    )
    found = sorted((one for one in folder.walk() if matches(one.key)), key=lambda one: one.key)
    if not found and len(parts) == plain + 1:  # files of a version
        folder, facts, _ = _in_force(folder)
        found = [one for one in facts if matches(one.key)]
    if not found:
        raise FileNotFoundError(2, "No file matches the pattern", without_secrets(pattern))
    return [child_url(folder.url, _known(folder, one).key) for one in found]
