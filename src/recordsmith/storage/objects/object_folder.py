"""What every kind of remote folder can do."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from recordsmith.errors import ChangedFileError, RecordsmithError
from recordsmith.storage.objects.addresses import child_url, without_secrets
from recordsmith.storage.objects.interruptible import interruptible_in_order

__all__ = ["BLOCK", "ConditionFailedError", "ObjectFacts", "ObjectFolder"]

BLOCK = 8 << 20  # bytes of one request while an object is streamed, and of one part of an upload
_AT_ONCE = 8  # requests of one `get_ranges` or `stream`


class ConditionFailedError(RecordsmithError):
    """A conditional write did not happen: the object exists already, or is no longer the one that was seen."""


@dataclass(frozen=True)
class ObjectFacts:
    """One object.

    Attributes:
        key: its name inside the folder, with slashes for what is deeper.
        size: its bytes; None if the server does not say.
        etag: what changes when the object does; None if the store has nothing like it.
    """

    key: str
    size: int | None
    etag: str | None


class ObjectFolder(abc.ABC):
    """A folder of an object store. Keys are names inside it. Messages show its URL without secrets.

    All requests are tried again after failures that may pass (see `obstore_folder`), and then raise one
    RecordsmithError. A missing object is a FileNotFoundError. An instance can be pickled and used from many threads.

    Attributes:
        url: where it is.
        has_conditional_put: whether `put` can be told to create only, or to replace one known object only.
    """

    has_conditional_put: bool

    def __init__(self, url: str) -> None:
        self.url = url

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.url,)

    def shown(self, key: str = "") -> str:
        """Return the URL of an object, or of the folder, for people: without passwords and signatures."""
        return without_secrets(child_url(self.url, key) if key else self.url)

    # --- reading ---

    @abc.abstractmethod
    def walk(self, prefix: str = "") -> Iterator[ObjectFacts]:
        """Give all objects of the folder and below, or of a folder inside it, in any order."""

    @abc.abstractmethod
    def contents(self) -> tuple[list[ObjectFacts], list[str]]:
        """Return the objects of the folder itself, and the names of the folders in it; both sorted."""

    @abc.abstractmethod
    def head(self, key: str) -> ObjectFacts:
        """Return the facts of an object."""

    @abc.abstractmethod
    def get_range(self, key: str, start: int, end: int, *, etag: str | None = None) -> memoryview:
        """Return exactly the bytes from start to end; ChangedFileError if the object has another ETag by now."""

    @abc.abstractmethod
    def read(self, key: str, *, longest: int, etag: str | None = None) -> tuple[bytes, ObjectFacts]:
        """Return a small object as a whole, and its facts; one of more than `longest` bytes is an error."""

    def get_ranges(
        self, key: str, ranges: Sequence[tuple[int, int]], *, etag: str | None = None, at_once: int = _AT_ONCE
    ) -> list[memoryview]:
        """Return several ranges of one object, several requests at a time. Nothing is merged here."""
        return list(interruptible_in_order(lambda part: self.get_range(key, *part, etag=etag), ranges, at_once=at_once))

    def stream(
        self, key: str, *, facts: ObjectFacts | None = None, block: int = BLOCK, at_once: int = _AT_ONCE
    ) -> Iterator[memoryview]:
        """Give an object from its first byte to its last, in blocks: one state of it, or ChangedFileError."""
        facts = facts or self.head(key)
        if facts.size is None:
            raise RecordsmithError(
                "The server does not report the size of the file.",
                path=self.shown(key),
                advice="Download the file, then use the local copy.",
            )
        ranges = ((start, min(start + block, facts.size)) for start in range(0, facts.size, block))
        yield from interruptible_in_order(
            lambda part: self.get_range(key, *part, etag=facts.etag), ranges, at_once=at_once
        )

    # --- writing ---

    @abc.abstractmethod
    def put(self, key: str, data: bytes | memoryview, *, create: bool = False, etag: str | None = None) -> str | None:
        """Write a small object as a whole, and return its ETag.

        Args:
            key: its name.
            data: its bytes.
            create: only if there is none; otherwise ConditionFailedError.
            etag: only if the object has this ETag; otherwise ConditionFailedError.
        """

    @abc.abstractmethod
    def upload(self, key: str, path: str, *, advance: Callable[[int], None] | None = None) -> str | None:
        """Write a local file of any size, in parts, and return the ETag. A failure leaves no parts in the store.

        Args:
            key: the object's name.
            path: the local file.
            advance: called with the number of bytes that were just sent.
        """

    @abc.abstractmethod
    def copy(self, key: str, new: str, *, create: bool = False) -> None:
        """Copy an object inside the store; with `create` only if there is none of the new name."""

    @abc.abstractmethod
    def delete(self, keys: Iterable[str]) -> None:
        """Remove objects. One that does not exist is no error."""

    def abort_uploads(self, prefix: str) -> int | None:
        """Abort the uploads in parts that killed processes left below a prefix; None where that cannot be asked."""
        del prefix
        return None

    # --- for the implementations ---

    def _changed(self, key: str) -> ChangedFileError:
        return ChangedFileError(
            "The remote file was changed while it was in use.",
            path=self.shown(key),
            advice="Open the dataset again. If it is still being written, wait until that is finished.",
        )

    def _too_long(self, key: str, longest: int) -> RecordsmithError:
        return RecordsmithError(
            "The remote file is too large for what it should contain.",
            path=self.shown(key),
            expected=f"at most {longest} bytes",
        )
