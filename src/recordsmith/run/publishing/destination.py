"""Where the results of a command go: a local path, or a URL to which finished files are uploaded.

Whatever writes to a URL writes to a local folder first, its staging folder, with all that holds for local outputs: a
lock, verified files, one atomic step, and a run that can be resumed. Then the files are uploaded and put in force (see
`recordsmith.storage.objects.versions`).

    STAGING/0f3a....lock             one run at a time on this machine
    STAGING/0f3a.../out/pets/        what a local output would be, under the name that the URL ends with
    STAGING/0f3a.../upload.json      how far the upload is

STAGING is the folder that was given, or `staging` in the cache folder of recordsmith. If a URL was given, the latter is
used, and what a run finishes is also saved at the URL (see `recordsmith.run.staging.saved_staging`).
"""

from __future__ import annotations

import abc
import contextlib
import fcntl
import hashlib
import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from recordsmith.dataset.manifest import MANIFEST_NAME, load_manifest
from recordsmith.errors import RecordsmithError, advise, list_names, reason_of
from recordsmith.run.progress import OnProgress, Progress
from recordsmith.run.staging.saved_staging import SavedStaging
from recordsmith.run.staging.staging import Staging
from recordsmith.storage.atomic_file import is_url
from recordsmith.storage.objects import (
    PUBLISHED_NAME,
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
from recordsmith.storage.publication import files_in_force, unfinished_run
from recordsmith.storage.remote_files import cache_folder

__all__ = ["Destination", "open_destination", "staged_path"]

_SINGLE_REQUEST = 64 << 20  # bytes of a file that is written by one conditional request
_OUT = "out"


class Destination:
    """A local output: what is written there is published already.

    Attributes:
        path: where to write.
        place: how messages and results show it.
    """

    def __init__(self, path: str, place: str) -> None:
        self.path = path
        self.place = place

    def publish(self, on_progress: OnProgress | None = None) -> None:
        """Put in force what was written to `path`."""

    def shown(self, path: str) -> str:
        """Return how a path at `path`, or in it, is shown."""
        return path


class _RemoteDestination(Destination, abc.ABC):
    """A URL.

    Args:
        url: where the results go.
        home: the staging folder.
        overwrite: what is there may be replaced.
        allow_race: also write to a store that has no conditional writes.
    """

    def __init__(self, url: str, home: str, *, overwrite: bool, allow_race: bool) -> None:
        super().__init__(os.path.join(home, _OUT, _last_name(url)), without_secrets(url))
        self._url = url
        self._home = home
        self._overwrite = overwrite
        self._allow_race = allow_race
        self._process = os.getpid()

    @property
    def is_ours(self) -> bool:
        """Whether this process began it: a forked child's copy is its parent's."""
        return os.getpid() == self._process

    def shown(self, path: str) -> str:
        return path.replace(self.path, self.place, 1)

    @abc.abstractmethod
    def begin(self) -> None:
        """Look at what is there, and refuse what would be replaced."""

    def end(self, error: BaseException | None) -> None:  # noqa: ARG002 - for those that can be resumed
        """Remove the staging folder: what was written first, then the note of the upload that explains it."""
        shutil.rmtree(os.path.join(self._home, _OUT), ignore_errors=True)
        shutil.rmtree(self._home, ignore_errors=True)

    def _clear(self) -> None:
        shutil.rmtree(os.path.join(self._home, _OUT), ignore_errors=True)
        os.makedirs(os.path.join(self._home, _OUT))

    def _exists(self, found: Sequence[str]) -> RecordsmithError:
        return RecordsmithError(
            "There are files at the remote output already.",
            path=self.place,
            found=list_names(found),
            advice=advise("Choose another output, or give {overwrite} to replace it.", overwrite=True),
        )


class _RemoteFile(_RemoteDestination):
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
                "Several files at a URL need a folder of their own.",
                path=self.place,
                found=list_names(names),
                advice="Give the URL of a folder as the output.",
            )
        paths = [os.path.join(folder, name) for name in (*names, self._name)]
        advance = _counted(on_progress, sum(map(os.path.getsize, paths)))
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


class _RemoteFolder(_RemoteDestination):
    """The URL of a folder.

    Args:
        url: where the results go.
        home: the staging folder.
        overwrite: what is there may be replaced.
        allow_race: also write to a store that has no conditional writes.
        resume: continue what an interrupted run left.
        resumable: after an error, keep what a later run can continue with.
        adds: the run adds to the dataset that is there, whose manifest it needs.
        saved: the remote copy of the staging folder, if there is to be one.
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
        saved: SavedStaging | None,
    ) -> None:
        super().__init__(url, home, overwrite=overwrite, allow_race=allow_race)
        self._saved = saved
        self._resume = resume
        self._resumable = resumable
        self._adds = adds
        self._folder = open_folder(url)
        self._upload = FolderUpload(self._folder, os.path.join(home, "upload.json"), allow_race=allow_race)
        self._in_force: Published | None = None
        self._is_done = self._is_fetched = self._is_sending = False

    def begin(self) -> None:
        left = self._is_staged()
        is_saved = self._saved is not None and not left and self._saved.exists()
        if (left or is_saved) and self._resumable and not (self._overwrite or self._resume):
            raise unfinished_run(self.place)
        if not self._resume or not left:
            self._clear()
        if self._saved is not None and not self._resume:
            self._saved.remove()
        self._in_force = read_published(self._folder)
        if self._saved is not None and is_saved and self._resume and (self._overwrite or self._in_force is None):
            self._saved.fetch()
            left = self._is_staged()
        replacing = self._overwrite or (self._adds and self._in_force is not None)
        self._is_done = (self._resume and self._in_force is not None and not left and not replacing) or (
            self._upload.begin(self._in_force, replacing=replacing, resume=self._resume)
        )
        if not self._is_done and not replacing:
            self._refuse_existing()
        if self._saved is not None and not self._is_done:
            self._saved.begin()
        if (self._adds or self._is_done) and self._in_force is not None and self._in_force.document:
            if self._is_done:  # the killed run may have removed a part of what it wrote
                self._clear()
            self._fetch_manifest(self._in_force)

    def publish(self, on_progress: OnProgress | None = None) -> None:
        self._is_sending = True
        if self._is_done:
            self._upload.clean_up()
            if self._saved is not None:
                self._saved.remove()
            return
        files = files_in_force(self.path)
        before = self._in_force or Published()
        document, carried = self._described(files, before)
        advance = _counted(on_progress, sum(map(os.path.getsize, files.values())))
        sent = self._upload.send(files, carried, before, advance)
        self._upload.commit(replace(sent, document=document))

    def end(self, error: BaseException | None) -> None:
        """Remove the staging folder, unless a failed run can be continued with it."""
        if error is not None and self._resumable and self._is_staged() and not self._is_fetched:
            if self._is_sending:
                error.add_note(advise("Finished work is kept. Continue the upload with {resume}.", resume=True))
            if self._saved is not None and not isinstance(error, KeyboardInterrupt):
                self._saved.end(keep=True)
                if self._saved.failure is not None:
                    error.add_note(f"It is kept on this machine only: {reason_of(self._saved.failure)}")
            return
        if error is not None:
            self._upload.give_up()
        if self._saved is not None:
            self._saved.end(keep=False)
        super().end(error)

    def _is_staged(self) -> bool:
        return os.path.lexists(self.path) or Staging.exists(self.path)

    def _refuse_existing(self) -> None:
        if self._in_force is not None:
            raise self._exists([PUBLISHED_NAME])
        with contextlib.suppress(FileNotFoundError):  # a file system has folders, and this one does not exist
            found = [facts.key for facts in self._folder.contents()[0]]
            if found:
                raise self._exists(found)

    def _fetch_manifest(self, in_force: Published) -> None:
        data, _ = open_folder(in_force.url(self._url)).read(MANIFEST_NAME, longest=1 << 30)
        os.makedirs(self.path, exist_ok=True)
        Path(self.path, MANIFEST_NAME).write_bytes(data)
        self._is_fetched = True

    def _described(self, files: Mapping[str, str], before: Published) -> tuple[dict[str, Any], list[str]]:
        """Return the manifest, if there is one, and which of the files that it names stay those in force."""
        if MANIFEST_NAME not in files:
            return {}, []
        manifest = load_manifest(os.path.join(self.path, MANIFEST_NAME))
        named = {shard.name for split in manifest.splits.values() for shard in split.shards} | {*manifest.files}
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
    resumable: bool = False,
    adds: bool = False,
    allow_race: bool = False,
) -> Iterator[Destination]:
    """Give where to write to; after `publish`, or an error, nothing is left of a staging folder.

    Args:
        out: a path or a URL.
        staging: the folder for staging folders; None for one in the cache folder. For a URL, that one is used, and what
            is finished is also saved at the URL.
        is_file: one file is written, and no folder.
        overwrite: what is there may be replaced.
        resume: continue what an interrupted run left.
        resumable: after an error, keep what a later run can continue with.
        adds: the run adds to what is there.
        allow_race: also write to a store that has no conditional writes.
    """
    text = os.fsdecode(out)
    if not is_url(text):
        if staging is not None:
            raise RecordsmithError("A staging folder is for an output at a URL.", found=f"the output {text}")
        yield Destination(os.path.abspath(text), os.path.abspath(text))
        return
    home = os.path.dirname(os.path.dirname(staged_path(text, staging)))
    saved = None
    if staging is not None and is_url(os.fsdecode(staging)):
        if not resumable:
            raise RecordsmithError(
                "The staging folder must be local here: only `make`, and `copy` to a folder, can be resumed.",
                path=without_secrets(os.fsdecode(staging)),
            )
        saved = SavedStaging(open_folder(child_url(os.fsdecode(staging), os.path.basename(home))), home)
    with _locked(f"{home}.lock", without_secrets(text)):
        destination: _RemoteDestination = (
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
                saved=saved,
            )
        )
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


def staged_path(out: str, staging: str | os.PathLike[str] | None = None) -> str:
    """Return where an output is written at first: the path itself, or for a URL a path in its staging folder.

    >>> staged_path("/data/pets"), os.path.basename(staged_path("s3://bucket/pets", "/tmp"))
    ('/data/pets', 'pets')
    """
    if not is_url(out):
        return os.path.abspath(out)
    local = staging is not None and not is_url(os.fsdecode(staging))
    root = os.path.abspath(os.fsdecode(staging)) if local and staging else str(cache_folder().parent / "staging")
    return os.path.join(root, hashlib.sha256(out.rstrip("/").encode()).hexdigest()[:16], _OUT, _last_name(out))


def _last_name(url: str) -> str:
    """Return the last name in a URL, for a bucket its own."""
    return split_url(url)[1] or url.partition("://")[2].strip("/") or "data"


def _counted(report: OnProgress | None, total: int) -> Callable[[int], None]:
    """Return a function to be called with the bytes that were just sent."""
    done = 0

    def advance(size: int) -> None:
        nonlocal done
        done += size
        if report is not None:
            report(Progress("uploading", done, total, "bytes", 0, done, 0))

    return advance


@contextlib.contextmanager
def _locked(path: str, shown: str) -> Iterator[None]:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)  # it stays: removing it would be a race
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
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
