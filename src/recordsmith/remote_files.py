"""Files that lie elsewhere (`s3://`, `gs://`, `https://`, ...): fetched once, and then files like any other.

A remote file is copied whole to a folder of this machine, and again only if it has changed. What reads it has random
access then: an exact shuffle, an index, any number of epochs, without asking the network again. fsspec does the
talking, with the package that it has for each kind of storage.
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

from recordsmith.amounts import bytes_text
from recordsmith.atomic_file import write_atomically, write_text_atomically
from recordsmith.errors import RecordsmithError, import_extra
from recordsmith.parallel import in_order, thread_pool

__all__ = ["cache_folder", "fetched"]

_AT_ONCE = 4  # files that are fetched at a time
_DESCRIPTION_BYTES = 64 << 20  # of a folder's other files (a manifest, names of classes), larger ones are left


def cache_folder() -> Path:
    """Return where fetched files are kept: RECORDSMITH_CACHE, or a folder in the user's cache."""
    told = os.environ.get("RECORDSMITH_CACHE")
    usual = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "recordsmith"
    return (Path(told) if told else usual) / "remote"


def fetched(url: str, wanted: Callable[[str], bool]) -> list[str]:
    """Return the local copies of what a URL stands for: a file, the files of a glob, or a folder.

    Args:
        url: where it lies. A folder is fetched with the files that are wanted and small ones beside them.
        wanted: whether a file of a folder is to be fetched, told from its name.
    """
    fsspec = import_extra("fsspec", extra="remote", purpose="Reading remote files")
    with _told(url):
        storage, path = fsspec.core.url_to_fs(url)
        if _is_local(storage):
            return [path]
        magic = "*[" if path.startswith(("http://", "https://")) else "*?["  # there it begins the query
        if any(character in path for character in magic):
            found = sorted(name for name in storage.glob(path) if storage.isfile(name))
            if not found:
                raise FileNotFoundError(2, "No file matches the pattern", url)
            return _copies(url, storage, found)
        if not storage.isdir(path):
            return _copies(url, storage, [path])
        listed = sorted(storage.ls(path, detail=True), key=lambda entry: str(entry["name"]))
        files = [entry for entry in listed if entry["type"] == "file"]
        chosen = [
            entry["name"]
            for entry in files
            if wanted(_name(entry["name"])) or (entry.get("size") or 0) <= _DESCRIPTION_BYTES
        ]
        if not chosen:
            raise RecordsmithError("There is no file in this remote folder.", path=url)
        folder = Path(_copies(url, storage, chosen)[0]).parent
        _forget(folder, gone_from={_name(entry["name"]) for entry in files})
        return [str(folder)]


@dataclass(frozen=True)
class _Remote:
    path: str
    target: Path
    size: int | None
    version: str

    @property
    def _note(self) -> Path:
        return self.target.with_name(f".{self.target.name}.fetched.json")

    def is_here(self) -> bool:
        """Say whether this version was fetched before."""
        try:
            noted = json.loads(self._note.read_text("utf-8"))
            return bool(noted["version"] == self.version and noted["size"] == self.target.stat().st_size)
        except (OSError, ValueError, KeyError, TypeError):
            return False

    def fetch(self, storage: Any) -> int:
        """Copy the file, under another name until it is whole, and return its size."""
        self.target.parent.mkdir(parents=True, exist_ok=True)
        with write_atomically(self.target) as unfinished:
            storage.get_file(self.path, unfinished)
            size = os.path.getsize(unfinished)
            if self.size is not None and size != self.size:
                raise OSError(f"{size:,} of {self.size:,} bytes arrived")
        write_text_atomically(self._note, json.dumps({"from": self.path, "version": self.version, "size": size}))
        return size


def _copies(url: str, storage: Any, paths: Sequence[str]) -> list[str]:
    remote = []
    for path in paths:
        size = storage.info(path).get("size")
        target = _folder(url, path) / _name(path)
        remote.append(_Remote(path, target, None if size is None else int(size), str(storage.ukey(path))))
    missing = [one for one in remote if not one.is_here()]
    needed = sum(one.size or 0 for one in missing)
    cache_folder().mkdir(parents=True, exist_ok=True)
    if needed > shutil.disk_usage(cache_folder()).free:
        raise RecordsmithError(
            "There is no room for the remote files.",
            path=url,
            found=f"{bytes_text(shutil.disk_usage(cache_folder()).free)} free in {cache_folder()}",
            expected=bytes_text(needed),
            advice="Name a folder on a larger disk: RECORDSMITH_CACHE=/path.",
        )
    with _shown(needed, len(missing)) as advance, thread_pool(_AT_ONCE) as pool:
        for size in in_order(pool, lambda one: one.fetch(storage), missing, ahead=2 * _AT_ONCE):
            advance(size)
    return [str(one.target) for one in remote]


def _forget(folder: Path, *, gone_from: set[str]) -> None:
    """Remove copies of files that are not in the remote folder any more: opening it must not find them."""
    for copy in folder.iterdir():
        if copy.is_file() and not copy.name.startswith(".") and copy.name not in gone_from:
            copy.unlink(missing_ok=True)


def _folder(url: str, path: str) -> Path:
    """Return the folder of a remote folder's files; those of one folder, and of one query, stay together."""
    place, _, query = path.partition("?")
    above = f"{url.partition('://')[0]}://{os.path.dirname(place)}?{query}"
    return cache_folder() / hashlib.sha256(above.encode()).hexdigest()[:16]


def _name(path: str) -> str:
    return os.path.basename(path.rstrip("/").partition("?")[0])


def _is_local(storage: Any) -> bool:
    protocols = (storage.protocol,) if isinstance(storage.protocol, str) else storage.protocol
    return "file" in protocols


@contextlib.contextmanager
def _told(url: str) -> Iterator[None]:
    """Tell what storage says of it, with the URL."""
    try:
        yield
    except RecordsmithError:
        raise
    except FileNotFoundError as error:
        raise FileNotFoundError(2, error.strerror or "There is no such remote file or folder", url) from None
    except (ImportError, ValueError) as error:  # a package of its own for that kind of storage, or no such kind
        raise RecordsmithError(
            "This kind of remote storage cannot be read.",
            path=url,
            found=str(error),
            advice="Install what fsspec needs for it, such as s3fs for s3://, gcsfs for gs:// or aiohttp for https://.",
        ) from None
    except Exception as error:
        raise RecordsmithError(
            "A remote file could not be fetched.",
            path=url,
            found=f"{type(error).__name__}: {error}",
            advice="Check the address, the network and your credentials. What has arrived is kept, so try again.",
        ) from error


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
