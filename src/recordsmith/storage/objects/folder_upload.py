"""Uploads files to a new version of a remote folder, verifies them, and puts them in force in one step.

A note on this machine says which version is being written and what of it is finished, so that a killed upload
continues (see `versions` for what is in the remote folder).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from recordsmith.errors import RecordsmithError, advise
from recordsmith.storage.atomic_file import write_text_atomically
from recordsmith.storage.json_descriptions import read_json_object
from recordsmith.storage.objects.interruptible import interruptible_in_order
from recordsmith.storage.objects.object_folder import ConditionFailedError, ObjectFacts, ObjectFolder
from recordsmith.storage.objects.versions import (
    PUBLISHED_NAME,
    Published,
    PublishedFile,
    new_version,
    read_published,
)
from recordsmith.storage.publication import INDEX_FOLDER

__all__ = [
    "FolderUpload",
    "OtherBytesError",
    "check_conditional",
    "obeys_conditions",
    "remove_version",
    "upload_verified",
    "verified_blocks",
    "verify",
]

_FILES_AT_ONCE = 2
_PROBE = ".conditional-write"

OnBytes = Callable[[int], None]


class OtherBytesError(RecordsmithError):
    """An object is not the file that was uploaded."""


@dataclass(frozen=True)
class _Note:
    """What is known of an upload: all that a later process needs to continue it.

    Attributes:
        version: the folder that is being written.
        seen: the ETag of recordsmith.json when the run began; None if there was none.
        replaces: the versions that go when this one is in force.
        done: the ETags of the files that were uploaded and verified.
    """

    version: str
    seen: str | None = None
    replaces: tuple[str, ...] = ()
    done: dict[str, str | None] = field(default_factory=dict)


class FolderUpload:
    """One upload to a remote folder.

    Args:
        folder: the remote folder.
        note: the path of the local note.
        allow_race: also write to a store that has no conditional writes.

    Attributes:
        is_conditional: whether the store has them.
    """

    def __init__(self, folder: ObjectFolder, note: str, *, allow_race: bool = False) -> None:
        self._folder = folder
        self._path = note
        self._allow_race = allow_race
        self._note: _Note | None = None
        self.is_conditional = True
        self._lock = threading.Lock()

    def begin(self, now: Published | None, *, replacing: bool, resume: bool) -> bool:
        """Choose a version, or continue the noted one; True if that one is in force already.

        Args:
            now: what is in force.
            replacing: what is in force may be replaced.
            resume: continue the noted upload. Otherwise it is given up, and what it left is removed.
        """
        noted = self._read_note()
        if noted is not None and now is not None and now.folder == noted.version:
            self._note = noted
            if resume:
                return True
            self.clean_up()
            noted = None
        if noted is not None and not resume:
            remove_version(self._folder, noted.version)
            noted = None
        seen = None if now is None else now.etag
        replaces = () if now is None else tuple(name for name in (now.folder, now.replaced) if name)
        if noted is None:
            self._note = _Note(new_version(), seen if replacing else None, replaces)
        else:
            self._folder.abort_uploads(f"{noted.version}/")
            self._note = replace(noted, seen=seen, replaces=replaces) if replacing else noted
        self._write_note()
        probe = f"{self._noted().version}/{_PROBE}"
        self.is_conditional = check_conditional(self._folder, probe, allow_race=self._allow_race)
        return False

    def continue_version(self, version: str, now: Published | None, *, replacing: bool, is_conditional: bool) -> None:
        """Put a version in force that other machines write to as well.

        Args:
            version: its folder.
            now: what is in force.
            replacing: what is in force may be replaced.
            is_conditional: it is known that the store has conditional writes; otherwise that is tried.
        """
        replaces = () if now is None else tuple({now.folder, now.replaced} - {"", version})
        self._note = _Note(version, now.etag if replacing and now is not None else None, replaces)
        probe = f"{version}/{_PROBE}-{secrets.token_hex(4)}"  # others may do the same
        self.is_conditional = is_conditional or check_conditional(self._folder, probe, allow_race=self._allow_race)

    def send(
        self,
        files: Mapping[str, str],
        carried: Iterable[str],
        before: Published,
        advance: OnBytes,
        *,
        uploaded: Callable[[str, str, str | None], None] | None = None,
    ) -> Published:
        """Upload files, given with their paths, and copy others from the version that is in force; return all.

        Args:
            files: the paths of the files by name.
            carried: the names of those that are copied.
            before: what is in force.
            advance: called with the bytes that were just sent.
            uploaded: called with the key, the path and the ETag of each file that was uploaded.
        """
        note = self._noted()

        def one(item: tuple[str, str]) -> tuple[str, PublishedFile]:
            name, path = item
            facts = PublishedFile.of(path)
            key = f"{note.version}/{name}"
            if name in note.done and self._is_there(key, facts.bytes, note.done[name]):
                advance(facts.bytes)
            else:
                self._done(name, upload_verified(self._folder, key, path, facts, advance_unless_stopped))
            if uploaded is not None:
                uploaded(key, path, note.done[name])
            return name, facts

        stopped = threading.Event()

        def advance_unless_stopped(size: int) -> None:
            if stopped.is_set():  # an error here ends the upload, and its parts are aborted
                raise RuntimeError("the run has ended")
            advance(size)

        try:
            sent = dict(interruptible_in_order(one, files.items(), at_once=_FILES_AT_ONCE))
        finally:
            stopped.set()
        for name in carried:
            self._copy(before, name)
            with contextlib.suppress(RecordsmithError, FileNotFoundError):  # it has none, which readers can build
                self._copy(before, f"{INDEX_FOLDER}/{name}.index")
            sent[name] = before.files[name]
        return Published(note.version, sent, before.folder)

    def commit(self, published: Published) -> None:
        """Put the version in force, unless another run has put one there; then remove the old one."""
        note = self._noted()
        create, etag = (note.seen is None, note.seen) if self.is_conditional else (False, None)
        try:
            self._folder.put(PUBLISHED_NAME, published.to_bytes(), create=create, etag=etag)
        except ConditionFailedError:
            now = read_published(self._folder)
            if now is not None and now.folder == note.version:  # another machine of the same run was first
                self.clean_up()
                return
            remove_version(self._folder, note.version)
            raise RecordsmithError(
                "Another run has written to this output in the meantime. Its files are kept.",
                path=self._folder.shown(),
                advice=advise("Choose another output, or give {overwrite} to replace what is there.", overwrite=True),
            ) from None
        self.clean_up()

    def clean_up(self) -> None:
        """Remove the versions that are replaced. The note stays: it tells a later run that this one was finished."""
        for version in () if self._note is None else self._note.replaces:
            remove_version(self._folder, version)

    def give_up(self) -> None:
        """Remove what was uploaded, as far as that succeeds."""
        if self._note is not None:
            with contextlib.suppress(RecordsmithError, OSError):
                remove_version(self._folder, self._note.version)
            self._note = None
            with contextlib.suppress(FileNotFoundError):
                os.remove(self._path)

    # --- inside ---

    def _copy(self, before: Published, name: str) -> None:
        self._folder.copy(f"{before.folder}/{name}" if before.folder else name, f"{self._noted().version}/{name}")

    def _is_there(self, key: str, size: int, etag: str | None) -> bool:
        try:
            facts = self._folder.head(key)
        except FileNotFoundError:
            return False
        return (facts.size, facts.etag) == (size, etag)

    def _done(self, name: str, etag: str | None) -> None:
        with self._lock:
            self._noted().done[name] = etag
            self._write_note()

    def _noted(self) -> _Note:
        if self._note is None:
            raise RuntimeError("begin was not called")
        return self._note

    def _write_note(self) -> None:
        write_text_atomically(self._path, json.dumps(asdict(self._noted())))

    def _read_note(self) -> _Note | None:
        if not os.path.exists(self._path):
            return None
        entries: Any = read_json_object(self._path, "note of an upload").entries
        with contextlib.suppress(KeyError, TypeError):
            return _Note(entries["version"], entries["seen"], tuple(entries["replaces"]), dict(entries["done"]))
        return None


def upload_verified(folder: ObjectFolder, key: str, path: str, facts: PublishedFile, advance: OnBytes) -> str | None:
    """Upload a file, read it back by ranges, compare the digests, and return its ETag."""
    etag = folder.upload(key, path, advance=advance)
    verify(folder, key, facts, etag)
    return etag


def verify(folder: ObjectFolder, key: str, facts: PublishedFile, etag: str | None) -> None:
    """Read an object back by ranges, and raise unless it is the file that was uploaded."""
    for _ in verified_blocks(folder, key, facts, etag):
        pass


def verified_blocks(folder: ObjectFolder, key: str, facts: PublishedFile, etag: str | None) -> Iterator[memoryview]:
    """Give the bytes of an object, and raise at the end unless they are those of the file that was uploaded."""
    digest = hashlib.sha256()
    for block in folder.stream(key, facts=ObjectFacts(key, facts.bytes, etag), at_once=4):
        digest.update(block)
        yield block
    if digest.hexdigest() != facts.sha256:
        raise OtherBytesError(
            "The bytes read back from the remote storage differ from those that were uploaded.",
            path=folder.shown(key),
            found=f"sha256 {digest.hexdigest()}",
            expected=f"sha256 {facts.sha256}",
            advice="Check the storage and the network, then try again.",
        )


def check_conditional(folder: ObjectFolder, probe: str, *, allow_race: bool) -> bool:
    """Say whether a store can be told to create an object only if there is none; if not, that must be allowed.

    Args:
        folder: the remote folder.
        probe: the name of an object for a trial: some servers ignore the condition, and answer that all is well.
        allow_race: whether a store without conditional writes is accepted.
    """
    if obeys_conditions(folder, probe):
        return True
    if not allow_race:
        raise RecordsmithError(
            "This remote storage has no conditional writes, so two runs could overwrite each other's output.",
            path=folder.shown(),
            advice=advise("If you are sure that nobody else writes there, give {allow_race}.", allow_race=True),
        )
    return False


def remove_version(folder: ObjectFolder, version: str) -> None:
    """Remove a version, and what is left of unfinished uploads to it."""
    folder.abort_uploads(f"{version}/")
    folder.delete([facts.key for facts in folder.walk(version)])


def obeys_conditions(folder: ObjectFolder, probe: str) -> bool:
    """Try whether a store creates an object only if there is none; `probe` is the name of an object for that."""
    if not folder.has_conditional_put:
        return False
    try:
        folder.put(probe, b"first")
        folder.put(probe, b"second", create=True)
    except ConditionFailedError:
        return True
    except RecordsmithError as error:
        if "501" not in str(error.found):  # not implemented
            raise
    finally:
        folder.delete([probe])
    return False
