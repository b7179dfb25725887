"""Where the results of a command go: a local path, or a URL to which finished files are uploaded.

Whatever writes to a URL writes to a local folder first, its staging folder, with all that holds for local outputs: a
lock, verified files, one atomic step, and a run that can be resumed. Then the files are uploaded and put in force (see
`recordsmith.storage.objects.versions`).

    STAGING/0f3a....lock             one run at a time on this machine
    STAGING/0f3a.../out/pets/        what a local output would be, under the name that the URL ends with
    STAGING/0f3a.../upload.json      how far the upload is

STAGING is the folder that was given, or `staging` in the cache folder of recordsmith. If a URL was given, or if several
machines do the work and no folder was given, they share what they finish in object storage instead (see
`recordsmith.run.staging.run_in_store`).
"""

from __future__ import annotations

import contextlib
import glob
import hashlib
import os
import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from recordsmith.dataset.descriptions.manifest import MANIFEST_NAME, load_manifest
from recordsmith.errors import RecordsmithError, advise, list_names
from recordsmith.records.uploaded_index import index_uploaded
from recordsmith.run.engines.execution import Execution
from recordsmith.run.progress import OnProgress
from recordsmith.run.publishing.remote_destination import Destination, RemoteDestination, counted, last_name
from recordsmith.run.publishing.store_destination import StoreDestination
from recordsmith.run.staging.run_in_store import RunInStore
from recordsmith.run.staging.scratch import new_scratch_folder, staging_root
from recordsmith.run.staging.staging import Staging
from recordsmith.storage.atomic_file import is_url
from recordsmith.storage.file_lock import lock_file
from recordsmith.storage.objects import (
    ConditionFailedError,
    Published,
    child_url,
    open_folder,
    read_published,
    split_url,
    without_secrets,
)
from recordsmith.storage.objects.folder_upload import FolderUpload, check_conditional, upload_verified, verify
from recordsmith.storage.objects.versions import PublishedFile
from recordsmith.storage.publication import FOLDER, files_in_force, unfinished_run

__all__ = ["Destination", "open_destination", "shared_staging", "staged_path"]

_SINGLE_REQUEST = 64 << 20  # bytes of a file that is written by one conditional request


class _RemoteFile(RemoteDestination):
    """The URL of a file. Files that belong to it (a CSV file has its schema in another one) are written before it."""

    def begin(self) -> None:
        self._clear()
        parent, self._name = split_url(self._url)
        self._folder = open_folder(parent)
        if not self._overwrite:
            with contextlib.suppress(FileNotFoundError):
                self._folder.head(self._name)
                raise self._exists([self._name])
        self._temporary = f".{self._name}.{secrets.token_hex(8)}.partial"
        conditional = check_conditional(self._folder, self._temporary, allow_race=self._allow_race)
        self._create = conditional and not self._overwrite

    def publish(self, on_progress: OnProgress | None = None) -> None:
        folder = os.path.dirname(self.path)
        names = [name for name in sorted(os.listdir(folder)) if not name.startswith(".") and name != self._name]
        if not os.path.exists(self.path):
            raise RecordsmithError(
                "Several files can be written only to the URL of a folder.",
                path=self.place,
                found=list_names(names),
                advice="Give the URL of a folder as the output.",
            )
        paths = [os.path.join(folder, name) for name in (*names, self._name)]
        advance = counted(on_progress, sum(map(os.path.getsize, paths)))
        for path in paths:
            try:
                self._send(os.path.basename(path), path, advance)
            except ConditionFailedError:
                raise RecordsmithError(
                    "Another run has written this file in the meantime.",
                    path=self._folder.shown(os.path.basename(path)),
                    advice=advise("Choose another name, or give {overwrite} to replace it.", overwrite=True),
                ) from None

    def _send(self, name: str, path: str, advance: Callable[[int], None]) -> None:
        facts = PublishedFile.of(path)
        if self._create and facts.bytes <= _SINGLE_REQUEST:
            etag = self._folder.put(name, Path(path).read_bytes(), create=True)
            verify(self._folder, name, facts, etag)
            advance(facts.bytes)
            return
        try:
            upload_verified(self._folder, self._temporary, path, facts, advance)
            self._folder.copy(self._temporary, name, create=self._create)
        finally:
            self._folder.delete([self._temporary])


class _RemoteFolder(RemoteDestination):
    """The URL of a folder.

    Args:
        url: where the results go.
        home: the staging folder.
        overwrite: what is there may be replaced.
        allow_race: also write to a store that has no conditional writes.
        resume: continue what an interrupted run left.
        resumable: after an error, keep what a later run can continue with.
        adds: the run adds to the dataset that is there, whose manifest it needs.
    """

    def __init__(
        self,
        url: str,
        home: str,
        *,
        overwrite: bool,
        allow_race: bool,
        resume: bool,
        resumable: bool,
        adds: bool,
    ) -> None:
        super().__init__(url, home, overwrite=overwrite, allow_race=allow_race)
        self._resume = resume
        self._resumable = resumable
        self._adds = adds
        self._folder = open_folder(url)
        self._upload = FolderUpload(self._folder, os.path.join(home, "upload.json"), allow_race=allow_race)
        self._in_force: Published | None = None
        self._is_done = self._is_fetched = self._is_sending = False
        self._shards: set[str] = set()

    def begin(self) -> None:
        left = self._is_staged()
        if left and self._resumable and not (self._overwrite or self._resume):
            raise unfinished_run(self.place)
        if not self._resume or not left:
            self._clear()
        self._in_force = read_published(self._folder)
        replacing = self._overwrite or (self._adds and self._in_force is not None)
        self._is_done = (self._resume and self._in_force is not None and not left and not replacing) or (
            self._upload.begin(self._in_force, replacing=replacing, resume=self._resume)
        )
        if not self._is_done and not replacing:
            self._refuse_existing(self._in_force)
        if (self._adds or self._is_done) and self._in_force is not None and self._in_force.document:
            if self._is_done:  # the killed run may have removed a part of what it wrote
                self._clear()
            self._fetch_manifest(self._in_force)
            self._is_fetched = True

    def publish(self, on_progress: OnProgress | None = None) -> None:
        self._is_sending = True
        if self._is_done:
            self._upload.clean_up()
            return
        files = files_in_force(self.path)
        before = self._in_force or Published()
        document, carried = self._described(files, before)
        advance = counted(on_progress, sum(map(os.path.getsize, files.values())))
        sent = self._upload.send(files, carried, before, advance, uploaded=self._index)
        self._upload.commit(replace(sent, document=document))

    def end(self, error: BaseException | None) -> None:
        """Remove the staging folder, unless a failed run can be continued with it."""
        if error is not None and self._resumable and self._is_staged() and not self._is_fetched:
            if self._is_sending:
                error.add_note(advise("Finished work is kept. Continue the upload with {resume}.", resume=True))
            return
        if error is not None:
            self._upload.give_up()
        super().end(error)

    def _index(self, key: str, path: str, etag: str | None) -> None:
        if os.path.basename(key) in self._shards:
            index_uploaded(path, child_url(self._url, key), etag)

    def _is_staged(self) -> bool:
        return os.path.lexists(self.path) or Staging.exists(self.path)

    def _described(self, files: Mapping[str, str], before: Published) -> tuple[dict[str, Any], list[str]]:
        """Return the manifest, if there is one, and which of the files that it names stay those in force."""
        if MANIFEST_NAME not in files:
            return {}, []
        manifest = load_manifest(os.path.join(self.path, MANIFEST_NAME))
        self._shards = {shard.name for split in manifest.splits.values() for shard in split.shards}
        named = self._shards | {*manifest.files}
        carried = sorted(name for name in named - files.keys() if name in before.files)
        missing = sorted(named - files.keys() - {*carried})
        if missing:
            raise RecordsmithError(
                "Splits can be added only to a remote dataset that recordsmith has written there.",
                path=self.place,
                found=f'files that are not listed under "published": {list_names(missing)}',
                advice="Write all splits to another folder.",
            )
        return manifest.document, carried


@contextlib.contextmanager
def open_destination(
    out: str | os.PathLike[str],
    *,
    staging: str | os.PathLike[str] | None = None,
    is_file: bool = False,
    overwrite: bool = False,
    resume: bool = False,
    adds: bool = False,
    allow_race: bool = False,
    execution: Execution | None = None,
) -> Iterator[Destination]:
    """Give where to write to; after `publish`, or an error, nothing is left of a staging folder.

    Args:
        out: a path or a URL.
        staging: the folder for staging folders; None for one in the cache folder. Or the URL of what several machines
            share; if several do the work, None means a folder at the output.
        is_file: one file is written, and no folder.
        overwrite: what is there may be replaced.
        resume: continue what an interrupted run left.
        adds: the run adds to what is there.
        allow_race: also write to a store that has no conditional writes.
        execution: who does the work of a run; after an error, what a later run can continue with is kept.
    """
    text = os.fsdecode(out)
    if not is_url(text):
        if staging is not None:
            raise RecordsmithError("A staging folder is for an output at a URL.", found=f"the output {text}")
        yield Destination(os.path.abspath(text), os.path.abspath(text))
        return
    if glob.has_magic(text):
        raise RecordsmithError(
            "The output URL contains one of the characters *, ? and [, so it could not be opened again.",
            path=without_secrets(text),
            expected="a URL without them: where data are read, they stand for several files",
            advice="Choose another name.",
        )
    resumable = execution is not None and not is_file
    shared = shared_staging(text, staging, execution if resumable else None)
    if shared is not None:
        with _ended(
            StoreDestination(
                RunInStore(shared, text),
                new_scratch_folder(),
                overwrite=overwrite,
                allow_race=allow_race,
                resume=resume,
                in_parts=execution is not None and execution.in_parts,
            )
        ) as destination:
            yield destination
        return
    home = os.path.dirname(os.path.dirname(staged_path(text, staging)))
    with _locked(f"{home}.lock", without_secrets(text)):
        remote: RemoteDestination = (
            _RemoteFile(text, home, overwrite=overwrite, allow_race=allow_race)
            if is_file
            else _RemoteFolder(
                text,
                home,
                overwrite=overwrite,
                allow_race=allow_race,
                resume=resume,
                resumable=resumable,
                adds=adds,
            )
        )
        with _ended(remote) as destination:
            yield destination


@contextlib.contextmanager
def _ended(destination: RemoteDestination) -> Iterator[Destination]:
    """Begin a destination, give it, and end it, whatever happens."""
    try:
        destination.begin()
        yield destination
    except BaseException as error:
        if isinstance(error, RecordsmithError) and error.path is not None:
            error.path = destination.shown(error.path)
        if destination.is_ours:
            destination.end(error)
        raise
    destination.end(None)


def shared_staging(out: str, staging: str | os.PathLike[str] | None, execution: Execution | None) -> str | None:
    """Return the URL of what the machines of a run share; None if they share a folder, or if there is one machine.

    `execution` says who does the work; None if it cannot be resumed.

    >>> shared_staging("s3://bucket/pets", None, Execution(engine="ray"))
    's3://bucket/pets/.recordsmith-making'
    """
    given = None if staging is None else os.fsdecode(staging)
    if not is_url(out):
        return None
    if given is None:
        beside = child_url(out, FOLDER)
        is_shared = execution is not None and (execution.is_shared or _is_begun(beside, out))
        return beside if is_shared else None
    if is_url(given):
        if execution is None:
            raise RecordsmithError(
                "The staging folder must be local here: only `make`, and `copy` to a folder, can be resumed.",
                path=without_secrets(given),
            )
        return child_url(given, _digest(out))
    if execution is not None and execution.in_parts:
        raise RecordsmithError(
            "With parts, an output at a URL is staged in object storage, not in a folder.",
            path=given,
            expected="no staging, or a URL such as s3://bucket/staging",
            advice=advise("Leave {staging} out to use a folder at the output.", staging=...),
        )
    return None


def _is_begun(staging: str, out: str) -> bool:
    """Say whether several machines have begun a run in a folder at the output, which one machine can finish as well."""
    return open_folder(out).has_conditional_put and RunInStore(staging, out).begun() is not None


def staged_path(out: str, staging: str | os.PathLike[str] | None = None) -> str:
    """Return where an output is written at first: the path itself, or for a URL a path in its staging folder.

    >>> staged_path("/data/pets"), os.path.basename(staged_path("s3://bucket/pets", "/tmp"))
    ('/data/pets', 'pets')
    """
    if not is_url(out):
        return os.path.abspath(out)
    local = staging is not None and not is_url(os.fsdecode(staging))
    root = os.path.abspath(os.fsdecode(staging)) if local and staging else staging_root()
    return os.path.join(root, _digest(out), "out", last_name(out))


def _digest(url: str) -> str:
    return hashlib.sha256(url.rstrip("/").encode()).hexdigest()[:16]


@contextlib.contextmanager
def _locked(path: str, shown: str) -> Iterator[None]:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)  # it stays: removing it would be a race
    try:
        lock_file(descriptor)
    except BlockingIOError:
        os.close(descriptor)
        raise RecordsmithError(
            "Another run on this machine is writing to this output.",
            path=shown,
            advice="Wait until it has finished, or stop it.",
        ) from None
    try:
        yield
    finally:
        os.close(descriptor)
