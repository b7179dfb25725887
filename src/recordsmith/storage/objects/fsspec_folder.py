"""Folders of other kinds of storage (`hf://`, `sftp://`, `hdfs://`, `memory://`, ...), through fsspec.

fsspec has no conditional writes, and only some of its kinds of storage say when a file changes.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Any

from recordsmith.errors import RecordsmithError, import_extra
from recordsmith.storage.objects.addresses import scheme_of
from recordsmith.storage.objects.object_folder import BLOCK, ObjectFacts, ObjectFolder
from recordsmith.storage.objects.store_failures import denied, failed, missing, reason

__all__ = ["FsspecFolder"]


class FsspecFolder(ObjectFolder):
    """A folder that fsspec reads and writes."""

    has_conditional_put = False

    # --- reading ---

    def walk(self, prefix: str = "") -> Iterator[ObjectFacts]:
        with self._explained(prefix):
            storage, root = self._storage
            storage.invalidate_cache()
            found = storage.find(self._path(prefix), detail=True)
        return (self._facts(_relative(path, root), facts) for path, facts in found.items())

    def contents(self) -> tuple[list[ObjectFacts], list[str]]:
        with self._explained(""):
            storage, root = self._storage
            storage.invalidate_cache()
            found = storage.ls(root, detail=True)
        files = [self._facts(_relative(one["name"], root), one) for one in found if one["type"] == "file"]
        folders = [_relative(one["name"], root) for one in found if one["type"] == "directory"]
        return sorted(files, key=lambda one: one.key), sorted(folders)

    def head(self, key: str) -> ObjectFacts:
        with self._explained(key):
            storage, _ = self._storage
            storage.invalidate_cache()
            facts = storage.info(self._path(key))
            if facts["type"] != "file":
                raise FileNotFoundError(2, "No such remote file", key)
            return self._facts(key, facts)

    def get_range(self, key: str, start: int, end: int, *, etag: str | None = None) -> memoryview:
        if etag is not None and self.head(key).etag != etag:
            raise self._changed(key)
        with self._explained(key):
            data = memoryview(self._storage[0].cat_file(self._path(key), start=start, end=end))
            if len(data) != end - start:
                raise OSError(f"the server sent {len(data)} of {end - start} bytes")
        if etag is not None and self.head(key).etag != etag:
            raise self._changed(key)
        return data

    def read(self, key: str, *, longest: int, etag: str | None = None) -> tuple[bytes, ObjectFacts]:
        facts = self.head(key)
        if facts.size is None or facts.size > longest:
            raise self._too_long(key, longest)
        return bytes(self.get_range(key, 0, facts.size, etag=etag or facts.etag)), facts

    # --- writing ---

    def put(self, key: str, data: bytes | memoryview, *, create: bool = False, etag: str | None = None) -> str | None:
        if create or etag is not None:
            raise self._unconditional(key)
        with self._explained(key):
            self._with_folders(key)
            self._storage[0].pipe_file(self._path(key), bytes(data))
        return self.head(key).etag

    def upload(self, key: str, path: str, *, advance: Callable[[int], None] | None = None) -> str | None:
        with self._explained(key):
            self._with_folders(key)
            with open(path, "rb", buffering=0) as file, self._storage[0].open(self._path(key), "wb") as remote:
                while data := file.read(BLOCK):
                    remote.write(data)
                    if advance is not None:
                        advance(len(data))
        return self.head(key).etag

    def copy(self, key: str, new: str, *, create: bool = False) -> None:
        if create:
            raise self._unconditional(new)
        with self._explained(key):
            self._with_folders(new)
            self._storage[0].cp_file(self._path(key), self._path(new))

    def delete(self, keys: Iterable[str]) -> None:
        for key in keys:
            with contextlib.suppress(FileNotFoundError), self._explained(key):
                self._storage[0].rm_file(self._path(key))

    # --- fsspec ---

    @cached_property
    def _storage(self) -> tuple[Any, str]:
        fsspec = import_extra("fsspec", extra="remote", purpose="Reading and writing remote files")
        storage, root = fsspec.core.url_to_fs(self.url)
        return storage, root.rstrip("/")

    def _path(self, key: str) -> str:
        root = self._storage[1]
        return f"{root}/{key}" if key else root

    def _with_folders(self, key: str) -> None:
        self._storage[0].makedirs(self._path(key).rpartition("/")[0], exist_ok=True)

    def _unconditional(self, key: str) -> RecordsmithError:
        return RecordsmithError(
            "This kind of remote storage has no conditional writes.",
            path=self.shown(key),
            expected="a store that can create an object only if there is none, such as S3, Google Cloud or Azure",
        )

    def _facts(self, key: str, facts: dict[str, Any]) -> ObjectFacts:
        said = next(
            (facts[name] for name in ("ETag", "etag", "mtime", "created", "LastModified") if facts.get(name)), None
        )
        return ObjectFacts(key, facts.get("size"), None if said is None else str(said))

    @contextlib.contextmanager
    def _explained(self, key: str) -> Iterator[None]:
        try:
            yield
        except RecordsmithError:
            raise
        except FileNotFoundError as error:
            raise missing(error, self.shown(key)) from None
        except PermissionError as error:
            raise denied(reason(error), self.shown(key), anonymous=False) from None
        except (ImportError, ValueError) as error:  # a package of its own for that kind of storage, or no such kind
            raise RecordsmithError(
                "This kind of remote storage cannot be used.",
                path=self.shown(key),
                found=reason(error),
                advice=f"Install the package that fsspec needs for {scheme_of(self.url)}://.",
            ) from None
        except Exception as error:  # noqa: BLE001 - packages raise what they like, and their chain may show secrets
            raise failed(f"{type(error).__name__}: {reason(error)}", self.shown(key), tried="tried once") from None


def _relative(path: str, root: str) -> str:
    return str(path).rstrip("/").removeprefix(root).lstrip("/")
