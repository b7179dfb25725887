"""Folders of S3, Google Cloud Storage, Azure and http(s) servers, through obstore.

A request is repeated after 5xx and 429 answers, connections that break or stall, and bodies that are too short, with
growing pauses, until RECORDSMITH_REMOTE_TIMEOUT seconds have passed (120 by default). obstore repeats single
requests; what it does not repeat (a body that breaks off, a write that was not answered) is repeated here.

A conditional write that was not answered may have happened. If it fails on its condition, the object is looked at: if
it is the one that was to be written, the write has succeeded; if the condition holds, another write was under way, and
it is tried again.
"""

from __future__ import annotations

import logging
import os
import random
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from functools import cached_property
from typing import Any, TypeVar
from urllib.parse import unquote

from recordsmith.errors import RecordsmithError
from recordsmith.storage.objects.addresses import scheme_of
from recordsmith.storage.objects.interruptible import interruptible
from recordsmith.storage.objects.object_folder import BLOCK, ConditionFailedError, ObjectFacts, ObjectFolder
from recordsmith.storage.objects.obstore_library import keep_of_parent, obstore_part
from recordsmith.storage.objects.s3_uploads import UnfinishedUploads
from recordsmith.storage.objects.store_failures import (
    denied,
    failed,
    is_missing,
    is_passing,
    missing,
    not_opened,
    reason,
)
from recordsmith.storage.objects.store_settings import Settings, settings_for

__all__ = ["ObstoreFolder", "time_limit"]

_LOG = logging.getLogger("recordsmith")


Result = TypeVar("Result")

_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 10.0
_UNSEEN_TRIES = 10.0  # seconds in which obstore tries again by itself, without a word
_QUIET_SECONDS = 5.0
_PARTS_AT_ONCE = 4
_SAME_AGAIN = 6  # attempts at a conditional write that fails although its condition holds


def time_limit() -> float:
    """Return for how many seconds a request is tried: RECORDSMITH_REMOTE_TIMEOUT, or 120."""
    text = os.environ.get("RECORDSMITH_REMOTE_TIMEOUT") or "120"
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 1e6:
        raise RecordsmithError(
            "RECORDSMITH_REMOTE_TIMEOUT is not a time.", found=text, expected="a number of seconds, such as 120"
        )
    return seconds


class ObstoreFolder(ObjectFolder):
    """A folder that obstore reads and writes."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.has_conditional_put = scheme_of(url) not in ("http", "https")
        self._warned = -60.0  # when a user was last told that a request is tried again
        self._opened: tuple[int, Any] | None = None  # the process, and its store

    # --- reading ---

    def walk(self, prefix: str = "") -> Iterator[ObjectFacts]:
        found = self._tried(prefix, lambda: [one for part in self._store.list(prefix or None) for one in part])
        return (_facts(one) for one in found)

    def contents(self) -> tuple[list[ObjectFacts], list[str]]:
        found = self._tried("", self._store.list_with_delimiter)
        objects = sorted(map(_facts, found["objects"]), key=lambda one: one.key)
        return objects, sorted(name.rstrip("/") for name in found["common_prefixes"])

    def head(self, key: str) -> ObjectFacts:
        return _facts(self._tried(key, lambda: self._store.head(self._name(key))), key)

    def get_range(self, key: str, start: int, end: int, *, etag: str | None = None) -> memoryview:
        if start == end:
            return memoryview(b"")
        options: dict[str, Any] = {"range": (start, end), **({"if_match": etag} if etag else {})}

        def get() -> memoryview:
            result = self._store.get(self._name(key), options=options)
            if etag is not None and result.meta["e_tag"] != etag:
                raise self._changed(key)
            data = memoryview(result.bytes())
            if len(data) != end - start:
                raise OSError(f"the server sent {len(data)} of {end - start} bytes")
            return data

        return self._tried(key, get)

    def read(self, key: str, *, longest: int, etag: str | None = None) -> tuple[bytes, ObjectFacts]:
        def get() -> tuple[bytes, ObjectFacts]:
            result = self._store.get(self._name(key), options={"if_match": etag} if etag else None)
            facts = _facts(result.meta, key)
            if facts.size is not None and facts.size > longest:
                raise self._too_long(key, longest)
            data = bytes(result.bytes())
            if facts.size is not None and len(data) != facts.size:
                raise OSError(f"the server sent {len(data)} of {facts.size} bytes")
            return data, facts

        return self._tried(key, get)

    # --- writing ---

    def put(self, key: str, data: bytes | memoryview, *, create: bool = False, etag: str | None = None) -> str | None:
        mode: Any = "create" if create else {"e_tag": etag} if etag is not None else "overwrite"

        left = _SAME_AGAIN

        def put() -> str | None:
            nonlocal left
            try:
                answer: str | None = self._store.put(key, data, mode=mode, use_multipart=False)["e_tag"]
            except (errors.AlreadyExistsError, errors.PreconditionError):
                try:
                    facts = self.head(key)
                except FileNotFoundError:
                    facts = None
                if facts is not None and facts.size == len(data) and self.read(key, longest=len(data))[0] == data:
                    return facts.etag
                left -= 1
                if left and (facts is None if create else facts is not None and facts.etag == etag):
                    raise OSError("another write of the same object was under way") from None
                raise
            return answer

        errors = self._errors
        return self._tried(key, put)

    def upload(self, key: str, path: str, *, advance: Callable[[int], None] | None = None) -> str | None:
        size = os.path.getsize(path)
        part = max(BLOCK, -(-size // 9_000))  # a store takes 10,000 parts
        sent = 0

        def parts(file: Any) -> Iterator[bytes]:
            nonlocal sent
            while data := file.read(part):
                yield data
                sent += len(data)
                if advance is not None:
                    advance(len(data))

        def put() -> str | None:
            nonlocal sent
            if sent and advance is not None:
                advance(-sent)  # it starts again
            sent = 0
            with open(path, "rb", buffering=0) as file:
                if size <= part:
                    answer = self._store.put(key, b"".join(parts(file)), use_multipart=False)
                else:
                    answer = self._store.put(key, parts(file), chunk_size=part, max_concurrency=_PARTS_AT_ONCE)
            etag: str | None = answer["e_tag"]
            return etag

        return self._tried(key, put)

    def copy(self, key: str, new: str, *, create: bool = False) -> None:
        self._tried(new, lambda: self._store.copy(key, new, overwrite=not create))

    def delete(self, keys: Iterable[str]) -> None:
        every = list(keys)
        for first in range(0, len(every), 1000):
            part = every[first : first + 1000]
            try:
                self._tried(part[0], lambda part=part: self._store.delete(part))  # type: ignore[misc]
            except FileNotFoundError:  # some stores say so: then one after the other
                for key in part:
                    self._delete_one(key)

    def _delete_one(self, key: str) -> None:
        try:
            self._tried(key, lambda: self._store.delete(key))
        except FileNotFoundError:
            return

    def abort_uploads(self, prefix: str) -> int | None:
        uploads = UnfinishedUploads.of(self.url, self._settings)
        return None if uploads is None else self._tried(prefix, lambda: uploads.abort(prefix))

    # --- obstore ---

    @property
    def _errors(self) -> Any:
        return obstore_part("exceptions")

    @cached_property
    def _settings(self) -> Settings:
        return settings_for(scheme_of(self.url))

    @property
    def _store(self) -> Any:
        process = os.getpid()
        if self._opened is None or self._opened[0] != process:  # a forked process opens its own
            keep_of_parent(self._opened)
            self._opened = process, self._open()
        return self._opened[1]

    def _open(self) -> Any:
        stores = obstore_part("store")
        limit = time_limit()
        settings = self._settings
        options: dict[str, Any] = {
            "client_options": {
                "allow_http": settings.allow_http,
                "connect_timeout": timedelta(seconds=min(10, limit / 2)),
                "read_timeout": timedelta(seconds=min(20, limit / 2)),  # a connection that stalls
                "timeout": timedelta(seconds=limit),
            },
            "retry_config": {
                "max_retries": 10,
                "retry_timeout": timedelta(seconds=min(_UNSEEN_TRIES, limit)),
                "backoff": {
                    "init_backoff": timedelta(seconds=_FIRST_PAUSE),
                    "max_backoff": timedelta(seconds=_LONGEST_PAUSE),
                    "base": 2,
                },
            },
        }
        try:
            if scheme_of(self.url) in ("http", "https"):  # also where the server is Amazon's: the URL may be signed
                return stores.HTTPStore(self.url, **options)
            return stores.from_url(self.url, **settings.options, **options)
        except Exception as error:  # noqa: BLE001 - obstore raises many kinds, and its chain may show secrets
            raise not_opened(reason(error, settings.secrets()), self.shown()) from None

    def _name(self, key: str) -> str:
        """Return the name that obstore takes: of web servers, the URL has it in percent encoding."""
        return key if self.has_conditional_put else unquote(key)

    def _tried(self, key: str, request: Callable[[], Result]) -> Result:
        """Make a request, again where a failure may pass, and return its result or raise one error about it."""
        errors = self._errors
        begun, limit, attempts = time.monotonic(), time_limit(), 0
        while True:
            attempts += 1
            try:
                return interruptible(request)
            except FileNotFoundError as error:
                raise missing(error, self.shown(key)) from None
            except errors.AlreadyExistsError:
                raise self._condition_failed(key) from None
            except errors.PreconditionError as error:
                raise (self._condition_failed(key) if " PUT " in str(error) else self._changed(key)) from None
            except (errors.PermissionDeniedError, errors.UnauthenticatedError) as error:
                found = reason(error, self._settings.secrets())
                raise denied(found, self.shown(key), anonymous=self._settings.anonymous) from None
            except (errors.BaseError, OSError) as error:
                if is_missing(error):  # a listing says so in another way
                    raise missing(error, self.shown(key)) from None
                spent = time.monotonic() - begun
                pause = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2**attempts) * random.uniform(0.5, 1)  # noqa: S311 - a pause
                found = reason(error, self._settings.secrets())
                if isinstance(error, (errors.NotSupportedError, errors.InvalidPathError)) or not is_passing(error):
                    raise failed(found, self.shown(key), tried=f"given up after {spent:.0f} s") from None
                if spent + pause > limit:
                    tried = f"given up after {spent:.0f} s, the limit is {limit:g} s"
                    raise failed(found, self.shown(key), tried=tried) from None
                _LOG.log(
                    self._level(spent), "%s: %s; trying again for up to %.0f s", self.shown(key), found, limit - spent
                )
                time.sleep(pause)

    def _level(self, spent: float) -> int:
        """Return how loudly to say that a request is tried again: once a minute, so that users know what takes long."""
        now = time.monotonic()
        if spent < _QUIET_SECONDS or now - self._warned < 60:
            return logging.INFO
        self._warned = now
        return logging.WARNING

    def _condition_failed(self, key: str) -> ConditionFailedError:
        return ConditionFailedError(
            "Another program has written this remote file in the meantime.", path=self.shown(key)
        )


def _facts(meta: Any, key: str | None = None) -> ObjectFacts:
    etag = meta["e_tag"]
    if etag and not etag.endswith('"'):
        etag = f'"{etag}"'  # Azure's listings leave the quotes out
    return ObjectFacts(meta["path"] if key is None else key, meta["size"], etag)
