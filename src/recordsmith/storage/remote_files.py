"""Downloads remote files (`s3://`, `gs://`, `https://`, ...) once, and then uses the local copies.

A remote file is copied whole to a folder of this machine, and again only if it has changed. What reads it has random
access then: an exact shuffle, an index, any number of epochs, without asking the network again. fsspec does the
talking, with the package that it has for each kind of storage.

- A copy is used again only while the storage gives the same version: what object stores list of a file, and over
  http(s) its ETag, Last-Modified and length. A server that gives neither of the first two is asked for the file again.
- The version is looked at before and after: a file that changes while it is fetched is fetched again.
- Where nothing says how long a file is, a connection that ends too soon looks like its end. Such a file is fetched
  twice, until two copies are the same, and not used again.
- Processes that want files of one remote folder take turns: one fetches, the others find what it left.
- Addresses may contain passwords and signatures. Messages and notes name them without.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recordsmith.errors import RecordsmithError, import_extra
from recordsmith.storage.atomic_file import write_atomically, write_text_atomically
from recordsmith.storage.file_lock import lock_file
from recordsmith.storage.objects import without_secrets
from recordsmith.wording.numbers import bytes_text, count_text
from recordsmith.workers.threads import in_order, thread_pool

__all__ = ["cache_folder", "fetched"]

_AT_ONCE = 4  # files that are fetched at a time
_ATTEMPTS = 3  # at a file that changes meanwhile
_HTTP_VERSION = ("ETag", "Last-Modified", "Content-MD5", "Digest")
_DESCRIPTION_BYTES = 64 << 20  # of a folder's other files (a manifest, names of classes), larger ones are left


def cache_folder() -> Path:
    """Return where fetched files are kept: RECORDSMITH_CACHE, or a folder in the user's cache."""
    chosen = os.environ.get("RECORDSMITH_CACHE")
    usual = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "recordsmith"
    return (Path(chosen) if chosen else usual) / "remote"


def fetched(url: str, wanted: Callable[[str], bool]) -> list[str]:
    """Return the local copies of what a URL stands for: a file, the files of a glob, or a folder.

    Args:
        url: the remote file or folder. Of a folder, the wanted files and the small files next to them are downloaded.
        wanted: whether a file of a folder is needed, by its name.
    """
    fsspec = import_extra("fsspec", extra="remote", purpose="Reading remote files")
    shown = without_secrets(url)
    with _errors_explained(url):
        storage, path = fsspec.core.url_to_fs(url)
        if _is_local(storage):
            return [path]
        storage.invalidate_cache()  # listings from before
        magic = "*[" if _is_http(path) else "*?["  # there it begins the query
        if any(character in path for character in magic):
            found = sorted(name for name in storage.glob(path) if storage.isfile(name))
            if not found:
                raise FileNotFoundError(2, "No file matches the pattern", shown)
            return _copies(url, storage, found)
        if not _is_folder(storage, path):
            return _copies(url, storage, [path])
        listed = sorted(storage.ls(path, detail=True), key=lambda entry: str(entry["name"]))
        files = [entry for entry in listed if entry["type"] == "file" and not _name(entry["name"]).startswith(".")]
        chosen = [
            entry["name"]
            for entry in files
            if wanted(_name(entry["name"])) or (entry.get("size") or 0) <= _DESCRIPTION_BYTES
        ]
        if not chosen:
            raise RecordsmithError("The remote folder contains no files.", path=shown)
        folder = Path(_copies(url, storage, chosen)[0]).parent
        _forget(folder, gone_from={_name(entry["name"]) for entry in files})
        return [str(folder)]


@dataclass(frozen=True)
class _Remote:
    """A remote file as it is now.

    Attributes:
        path: where it is.
        target: where its copy is, or will be.
        size: its bytes; None if nobody says.
        version: what changes when the file does; None if unknown.
    """

    path: str
    target: Path
    size: int | None
    version: str | None

    @classmethod
    def look(cls, storage: Any, path: str, target: Path) -> _Remote:
        """Ask the storage about a file."""
        facts = storage.info(path)
        size = None if facts.get("size") is None else int(facts["size"])
        if _is_http(path):  # of which fsspec assumes that files never change
            given = {name: facts[name] for name in _HTTP_VERSION if facts.get(name)}
            version = json.dumps([size, given], sort_keys=True) if given else None
        else:
            version = str(storage.ukey(path))
        return cls(path, target, size, version)

    @property
    def _note(self) -> Path:
        return self.target.with_name(f".{self.target.name}.fetched.json")

    def is_cached(self) -> bool:
        """Say whether this version was fetched before, and its copy is as it was left."""
        if self.version is None or self.size is None:
            return False
        try:
            noted = json.loads(self._note.read_text("utf-8"))
            return bool(noted == self._noted(self.target))
        except (OSError, ValueError):
            return False

    def _noted(self, copy: str | Path) -> dict[str, Any]:
        facts = os.stat(copy)
        return {
            "version": self.version,
            "size": facts.st_size,
            "inode": facts.st_ino,
            "modified": facts.st_mtime_ns,
        }

    def fetch(self, storage: Any) -> int:
        """Copy the file, under another name until it is whole, and return its size."""
        self.target.parent.mkdir(parents=True, exist_ok=True)
        with write_atomically(self.target) as unfinished:
            noted = self._downloaded(storage, unfinished)._noted(unfinished)  # noqa: SLF001 - ours
        write_text_atomically(self._note, json.dumps(noted))
        return int(noted["size"])

    def _downloaded(self, storage: Any, unfinished: str) -> _Remote:
        """Copy the file until the copy is of one state of it, and return that state."""
        remote = self
        for _ in range(_ATTEMPTS):
            storage.get_file(remote.path, unfinished)
            proven = remote.size is not None or self._is_the_same_again(storage, unfinished)
            now = _Remote.look(storage, self.path, self.target)
            if now == remote and proven:
                size = os.path.getsize(unfinished)
                if remote.size not in (None, size):
                    raise OSError(f"only {size:,} of {remote.size:,} bytes were received")
                return remote
            remote = now
        raise OSError("The file changes each time it is downloaded.")

    def _is_the_same_again(self, storage: Any, first: str) -> bool:
        """Fetch a file of unknown length once more, and say whether it is the same."""
        import filecmp
        import tempfile

        with tempfile.NamedTemporaryFile(dir=self.target.parent, prefix=".") as again:
            storage.get_file(self.path, again.name)
            return filecmp.cmp(first, again.name, shallow=False)


def _copies(url: str, storage: Any, paths: Sequence[str]) -> list[str]:
    targets = [_folder(url, path) / _name(path) for path in paths]
    if any(target.name in ("", ".", "..") for target in targets):
        raise FileNotFoundError(2, "This address does not name a file", without_secrets(url))
    with _turns({target.parent for target in targets}):
        remote = [_Remote.look(storage, path, target) for path, target in zip(paths, targets, strict=True)]
        missing = [one for one in remote if not one.is_cached()]
        needed = sum(one.size or 0 for one in missing)
        if needed > shutil.disk_usage(cache_folder()).free:
            raise RecordsmithError(
                "There is not enough disk space for the remote files.",
                path=without_secrets(url),
                found=f"{bytes_text(shutil.disk_usage(cache_folder()).free)} free in {cache_folder()}",
                expected=bytes_text(needed),
                advice="Choose a cache folder on a larger disk: RECORDSMITH_CACHE=/path.",
            )
        if missing:
            sys.stderr.write(
                f"recordsmith: {without_secrets(url)}: {count_text(len(missing), 'file')} of {bytes_text(needed)} "
                f"{'is' if len(missing) == 1 else 'are'} downloaded as a whole, because {_why(url)}.\n"
            )
        with _shown(needed, len(missing)) as advance, thread_pool(_AT_ONCE) as pool:
            for size in in_order(pool, lambda one: one.fetch(storage), missing, ahead=2 * _AT_ONCE):
                advance(size)
    return [str(target) for target in targets]


@contextlib.contextmanager
def _turns(folders: set[Path]) -> Iterator[None]:
    """Wait until no other process fetches into these folders, and let the others wait meanwhile."""
    with contextlib.ExitStack() as held:
        for folder in sorted(folders):
            folder.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(folder, os.O_RDONLY)
            held.callback(os.close, descriptor)
            with contextlib.suppress(OSError):  # not every file system has locks: then both fetch, and all is well
                lock_file(descriptor, wait=True)
        yield


def _forget(folder: Path, *, gone_from: set[str]) -> None:
    """Remove copies of files that are no longer in the remote folder: opening it must not find them."""
    for copy in folder.iterdir():
        if copy.is_file() and not copy.name.startswith(".") and copy.name not in gone_from:
            copy.unlink(missing_ok=True)


def _folder(url: str, path: str) -> Path:
    """Return the folder of a remote folder's files; those of one folder, and of one query, stay together."""
    place, _, query = path.partition("?")
    above = f"{url.partition('://')[0]}://{os.path.dirname(place)}?{query}"
    return cache_folder() / hashlib.sha256(above.encode()).hexdigest()[:16]


def _why(url: str) -> str:
    """Say why a file is not read by ranges."""
    if not _is_http(url):
        return "this kind of storage is not read by ranges"
    if "?" in url or "@" in url.partition("://")[2].partition("/")[0]:
        return "its address contains a query or a password"
    return "its server does not answer for parts of it with a strong ETag"


def _name(path: str) -> str:
    return os.path.basename(path.rstrip("/").partition("?")[0])


def _is_http(path: str) -> bool:
    return path.startswith(("http://", "https://"))


def _is_folder(storage: Any, path: str) -> bool:
    # Over http(s) fsspec would fetch all of a file to find out. A folder is a page with links.
    if _is_http(path) and storage.info(path).get("mimetype") != "text/html":
        return False
    return bool(storage.isdir(path))


def _is_local(storage: Any) -> bool:
    protocols = (storage.protocol,) if isinstance(storage.protocol, str) else storage.protocol
    return "file" in protocols


@contextlib.contextmanager
def _errors_explained(url: str) -> Iterator[None]:
    """Tell what storage says of it, with the address."""
    shown = without_secrets(url)
    try:
        yield
    except RecordsmithError:
        raise
    except FileNotFoundError as error:
        if _is_unreachable(error.__cause__):  # fsspec calls any failure of a web server so
            raise _not_downloaded(error.__cause__, shown) from None
        raise FileNotFoundError(2, error.strerror or "No such remote file or folder", shown) from None
    except (ImportError, ValueError) as error:  # a package of its own for that kind of storage, or no such kind
        raise RecordsmithError(
            "This kind of remote storage cannot be read.",
            path=shown,
            found=without_secrets(str(error)),
            advice="Install its package for fsspec, such as huggingface_hub for hf:// or paramiko for sftp://.",
        ) from None
    except Exception as error:  # noqa: BLE001 - packages raise what they like, and their chain may show secrets
        raise _not_downloaded(error, shown) from None


def _is_unreachable(cause: BaseException | None) -> bool:
    """Say whether a server could not be reached, or refused to answer: then nobody knows which files it has."""
    if isinstance(cause, OSError):
        return not isinstance(cause, FileNotFoundError)
    return getattr(cause, "status", 404) not in (404, 410)


def _not_downloaded(error: BaseException | None, shown: str) -> RecordsmithError:
    return RecordsmithError(
        "A remote file could not be downloaded.",
        path=shown,
        found=without_secrets(f"{type(error).__name__}: {error}"),
        advice="Check the address, the network and your credentials, then try again. Finished files are kept.",
    )


@contextlib.contextmanager
def _shown(size: int, files: int) -> Iterator[Callable[[int], None]]:
    """Show a bar on terminals."""
    if not files or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    columns = (TextColumn("fetching {task.fields[files]} files"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task("fetching", total=size or None, files=files)
        yield lambda amount: bars.advance(task, amount)
