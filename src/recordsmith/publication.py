"""One switch from the old files of a folder to the new ones: whatever fails or is killed, either set is read whole.

    pets/                                    the output folder
    ├── recordsmith.json, pets-train...      what is published there
    └── .recordsmith-making/                 the folder of the run that holds its lock: one run at a time
        ├── lock
        ├── shards/NAME                      every new file, whole, checked and synced, under its final name
        ├── commit.json                      {"new": {NAME: bytes}, "old": [NAME]}: what to move here, what to remove
        └── ...                              what a run keeps to be resumed (recordsmith.making.staging)

    the new files are written ────────► commit.json gets its name ────────► files are moved and removed ────► the folder
    the old dataset is in force               (the commit point)                the new one is in force       is removed

A failure before the commit point leaves the old files as they were. After it the switch is only ever finished, by the
next run on the folder before it does anything else (`complete`). Until then everyone who reads goes by commit.json: a
name in `new` is the file in shards/ or, once it was moved, the file in the output folder; a name in `old` is no file
any more (`in_force`, `files_in_force`). Reading never writes: the folder may be read-only. And commit.json may be
hostile: its names have to be plain names of files. Where there is one file to publish, its own rename is the commit
point.

The output may also be a file, or a file with others that belong to it (an export to data.csv has data.csv.schema.json,
or data-00000.csv and so on). Its folder is then .data.csv.recordsmith-making, beside it.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import glob
import json
import os
import re
import shutil
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from recordsmith.atomic_file import put_in_place, sync_folder, write_text_atomically
from recordsmith.errors import RecordsmithError, advise

__all__ = [
    "FOLDER",
    "INDEX_FOLDER",
    "Publication",
    "complete",
    "files_in_force",
    "in_force",
    "interrupted_folders",
    "public_path",
    "state_of",
    "switch_in",
    "unfinished_run",
]

FOLDER = ".recordsmith-making"
INDEX_FOLDER = ".recordsmith"  # where `recordsmith.index` keeps the index of NAME, as NAME.index
_NEW_FILES = "shards"
_COMMIT = "commit.json"
_PLAN = "plan.json"  # of a run that can be resumed
_LOCK = "lock"
_FORMAT = "recordsmith-publication"
_VERSION = 1
_LONGEST_COMMIT = 64 << 20  # bytes; a million names fit
_LONGEST_NAME = 255  # bytes
_PATIENCE = 10.0  # seconds that a reader waits for a run that is moving its files just now
_ATTEMPTS = 3
_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP)  # of file systems that have none
_NUMBERED = re.compile(r"-\d{5,}(?=\.|$)")
_SIDECAR = ".schema.json"


@dataclass(frozen=True, slots=True)
class Switch:
    """A switch that is committed and not finished; an empty one where there is none.

    Attributes:
        folder: where the files are published.
        hidden: the folder of the run.
        new: the bytes of each new file, by name.
        old: the names of the files that are no longer part of it.

    >>> Switch("data").path("a.tfrecord")
    'data/a.tfrecord'
    """

    folder: str
    hidden: str = ""
    new: dict[str, int] = field(default_factory=dict)
    old: frozenset[str] = frozenset()

    def path(self, name: str) -> str:
        """Return where a published file is now."""
        if name in self.new or name in self.old:
            staged = os.path.join(self.hidden, _NEW_FILES, name)
            if name in self.old or os.path.lexists(staged):
                return staged  # of an old one, there is none
        return os.path.join(self.folder, name)


def switch_in(folder: str) -> Switch:
    """Return the switch of a dataset's folder that is to be finished, or an empty one.

    >>> switch_in("/no/such/folder").new
    {}
    """
    return _read(folder, os.path.join(folder, FOLDER)) or Switch(folder)


def state_of(folder: str) -> tuple[object, ...]:
    """Return what differs once files were published in a folder: to see whether that happened while one looked at it.

    >>> state_of(".") == state_of(".")
    True
    """
    facts = os.stat(folder)
    return facts.st_ino, facts.st_mtime_ns, os.path.lexists(os.path.join(folder, FOLDER, _COMMIT))


def in_force(path: str) -> str:
    """Return where the file is that is published under this path: there, unless a switch was interrupted.

    >>> in_force("data/a.tfrecord")
    'data/a.tfrecord'
    """
    folder, name = os.path.split(path)
    stem = name.removesuffix(_SIDECAR)
    for hidden in dict.fromkeys((FOLDER, _hidden_name(stem), _hidden_name(_NUMBERED.sub("", stem)))):
        switch = _read(folder, os.path.join(folder, hidden))
        if switch is not None and (name in switch.new or name in switch.old):
            return switch.path(name)
    return path


def files_in_force(folder: str) -> dict[str, str]:
    """Return the published files of a folder: where each is now, by name, sorted. Hidden files are none.

    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for name in ("b", "a", ".hidden"): _ = (folder / name).write_bytes(b"")
    >>> list(files_in_force(str(folder)))
    ['a', 'b']
    """
    with os.scandir(folder) as scanned:
        entries = list(scanned)
    found = {entry.name: entry.path for entry in entries if not entry.name.startswith(".") and entry.is_file()}
    for hidden in (entry.path for entry in entries if entry.name.startswith(".") and entry.name.endswith(FOLDER)):
        switch = _read(folder, hidden) or Switch(folder)
        found = {name: path for name, path in found.items() if name not in switch.old}
        found |= {name: switch.path(name) for name in switch.new}
    return dict(sorted(found.items()))


def interrupted_folders(pattern: str) -> list[str]:
    """Return those of the folders that a glob stands for in which a switch is to be finished.

    >>> interrupted_folders("/no/such/fol*")
    []
    """
    commits = glob.glob(os.path.join(pattern, f".*{FOLDER[1:]}", _COMMIT), recursive=True)
    return sorted({os.path.dirname(os.path.dirname(commit)) for commit in commits})


def public_path(path: str) -> str:
    """Return the path under which a file is, or will be, published: the inverse of `in_force`.

    >>> public_path("data/.recordsmith-making/shards/a.tfrecord")
    'data/a.tfrecord'
    """
    folder, name = os.path.split(path)
    hidden, last = os.path.split(folder)
    return os.path.join(os.path.dirname(hidden), name) if last == _NEW_FILES and hidden.endswith(FOLDER) else path


def complete(out: str, *, is_file: bool = False) -> bool:
    """Finish a switch that was interrupted after its commit point; False if there is none.

    >>> complete("/no/such/folder")
    False
    """
    publication = Publication(out, is_file=is_file)
    if not publication.is_committed:
        return False
    publication.lock()
    publication.discard()
    return True


class Publication:
    """The folder of one run, and the switch at its end; use it in a with statement.

    Entering it takes the lock, finishes a switch that was interrupted, and clears away what a killed run left. If the
    block raises, nothing is left of what was written. `commit` publishes it.

    Args:
        out: the folder, or the file, that is written.
        is_file: it is a file.
        overwrite: drop a run that can be resumed, instead of refusing to.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with Publication(folder) as publication:
    ...     for name in ("a", "b"):
    ...         write_text_atomically(publication.new_file(name), "whole")
    ...     publication.commit(["a", "b"])
    >>> sorted(os.listdir(folder))
    ['a', 'b']
    """

    def __init__(self, out: str, *, is_file: bool = False, overwrite: bool = False) -> None:
        out = os.path.abspath(out)
        self.folder = os.path.dirname(out) if is_file else out
        self.hidden = os.path.join(self.folder, _hidden_name(os.path.basename(out)) if is_file else FOLDER)
        self._overwrite = overwrite
        self._descriptor: int | None = None
        self._process = os.getpid()

    def path(self, *names: str) -> str:
        """Return a path inside the run's folder."""
        return os.path.join(self.hidden, *names)

    def new_file(self, name: str) -> str:
        """Return where to write a new file that will be published under this name."""
        return self.path(_NEW_FILES, name)

    def new_names(self) -> list[str]:
        """Return the names of the new files, sorted."""
        return sorted(name for name in os.listdir(self.path(_NEW_FILES)) if not name.startswith("."))

    @property
    def is_resumable(self) -> bool:
        """Whether a run that did not end left what it needs to be resumed."""
        return os.path.exists(self.path(_PLAN))

    @property
    def is_committed(self) -> bool:
        """Whether the commit point was passed, and the switch is not finished."""
        return os.path.lexists(self.path(_COMMIT))

    # --- the lock ---

    def lock(self) -> None:
        """Take the lock, once a switch that was interrupted is finished."""
        if os.path.islink(self.hidden) or os.path.islink(self.path(_NEW_FILES)):
            raise RecordsmithError(
                "The folder for unfinished work is a link, and what it points to may be anything.",
                path=self.hidden,
                advice="Remove the link.",
            )
        while self._descriptor is None:
            os.makedirs(self.hidden, exist_ok=True)
            sync_folder(self.folder)
            with contextlib.suppress(FileNotFoundError):  # whoever had the lock has removed the folder meanwhile
                self._descriptor = _locked(self.path(_LOCK), self.hidden)
            if self._descriptor is not None and self.is_committed:
                try:
                    self._finish()  # which gives the lock back
                except BaseException:
                    self.close()
                    raise

    def close(self) -> None:
        """Give the lock back; what is in the folder stays."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            with contextlib.suppress(OSError):
                os.close(descriptor)

    def clear(self) -> None:
        """Remove all but the lock; what makes a run resumable goes first, so that no half of one is taken for it."""
        for name in sorted(os.listdir(self.hidden), key=lambda name: name != _PLAN):
            if name != _LOCK:
                _remove(self.path(name))

    def remove(self) -> None:
        """Remove the folder, and give the lock back. What cannot be removed means nothing: the next run removes it."""
        try:
            with contextlib.suppress(OSError):
                self.clear()
                # The lock goes last: whoever waits for it must not find a folder that is being emptied.
                shutil.rmtree(self.hidden)
        finally:
            self.close()

    # --- a run that is not resumed ---

    def __enter__(self) -> Self:
        os.makedirs(self.folder, exist_ok=True)
        self.lock()
        if self.is_resumable and not self._overwrite:
            self.close()
            raise unfinished_run(self.hidden)
        try:
            self.clear()
            os.mkdir(self.path(_NEW_FILES))
        except BaseException:
            self.remove()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if isinstance(error, OSError) and error.filename is None:
            error.filename = self.folder
        self.discard()

    def discard(self) -> None:
        """Give up what was not committed. What was committed stays, to be finished by the next run."""
        if self._descriptor is None or os.getpid() != self._process:  # a forked child's copy is its parent's
            return
        if self.is_committed or self.is_resumable:
            self.close()
        else:
            self.remove()

    def __del__(self) -> None:
        if getattr(self, "_descriptor", None) is not None:
            self.discard()

    # --- the switch ---

    def commit(self, new: Sequence[str], old: Iterable[str] = ()) -> None:
        """Publish the new files, the one that describes the others last, and remove old ones.

        An exception leaves everything as it was, or, with a note that says so, the new files in force.
        """
        gone = [name for name in dict.fromkeys(old) if name not in new and _is_plain(name)]
        for name in new:
            if not _is_plain(name):
                raise RecordsmithError("A file cannot have this name.", path=self.folder, found=repr(name)[:80])
            if os.path.isdir(os.path.join(self.folder, name)):
                raise RecordsmithError(
                    "A folder has the name of a file that is to be written.",
                    path=os.path.join(self.folder, name),
                    advice="Rename the folder, or choose another output.",
                )
        sync_folder(self.path(_NEW_FILES))
        if len(new) == 1 and not gone:
            put_in_place(self.new_file(new[0]), os.path.join(self.folder, new[0]))
            self.remove()
            return
        sizes = {name: os.path.getsize(self.new_file(name)) for name in new}
        document = {"format": _FORMAT, "version": _VERSION, "new": sizes, "old": gone}
        try:
            write_text_atomically(self.path(_COMMIT), json.dumps(document, indent=1))
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.remove(self.path(_COMMIT))  # it may have its name, and only the folder could not be synced
            raise
        self._finish()

    def _finish(self) -> None:
        """Move the new files to their places, and remove the old ones: all of it, or what is left of it."""
        try:
            switch = _read(self.folder, self.hidden, wait=False) or Switch(self.folder)
            for name in (*switch.new, *switch.old):
                with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                    os.remove(os.path.join(self.folder, INDEX_FOLDER, f"{name}.index"))  # of the file that goes
            for name, size in switch.new.items():
                staged, final = self.new_file(name), os.path.join(self.folder, name)
                if os.path.lexists(staged):
                    os.replace(staged, final)
                elif not os.path.isfile(final) or os.path.getsize(final) != size:
                    raise RecordsmithError(
                        "A finished file is neither in its place nor in the folder of the run.",
                        path=final,
                        expected=f"a file of {size} bytes",
                        advice=f"Remove {self.hidden}, and make the dataset again with overwrite=True (--overwrite).",
                    )
            for name in switch.old:
                with contextlib.suppress(FileNotFoundError):
                    os.remove(os.path.join(self.folder, name))
            sync_folder(self.folder)
            with contextlib.suppress(FileNotFoundError):
                os.remove(self.path(_PLAN))
            os.remove(self.path(_COMMIT))  # the run is over; what is left of its folder means nothing
        except OSError as error:
            error.add_note(
                "The new files are complete and are read from now on. The next run on this folder finishes moving them."
            )
            raise
        self.remove()


def unfinished_run(place: str) -> RecordsmithError:
    """Return the error about a run that can be resumed.

    >>> unfinished_run("data").problem
    'There is an unfinished run in the output folder.'
    """
    return RecordsmithError(
        "There is an unfinished run in the output folder.",
        path=place,
        advice=advise("Continue it with {resume}, or start over with {overwrite}.", resume=True, overwrite=True),
    )


def _hidden_name(name: str) -> str:
    """Return the name of the folder for one file.

    >>> _hidden_name("data.csv")
    '.data.csv.recordsmith-making'
    """
    return f".{os.fsencode(name)[:200].decode(errors='ignore')}{FOLDER}"


def _locked(path: str, place: str) -> int | None:
    """Open the lock and take it; None if it was removed in the meantime."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    try:
        for attempt in range(_ATTEMPTS):
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if attempt == _ATTEMPTS - 1:
                    raise _in_use(place) from None
                time.sleep(0.02)  # a reader may have it for a moment
            except OSError as error:
                if error.errno not in _NO_LOCKS:
                    raise
                break
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(descriptor), os.stat(path)):
                return descriptor
    except BaseException:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None


def _read(folder: str, hidden: str, *, wait: bool = True) -> Switch | None:
    """Read commit.json; None if there is none."""
    path = os.path.join(hidden, _COMMIT)
    if not os.path.lexists(path):
        return None
    if wait:
        _wait_while_moving(hidden)
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read(_LONGEST_COMMIT)
        document = json.loads(text)
        if document["format"] != _FORMAT or document["version"] != _VERSION:
            raise _not_ours(path)
        new, old = document["new"], document["old"]
        if not isinstance(new, dict) or not isinstance(old, list) or not all(map(_is_plain, (*new, *old))):
            raise _not_ours(path)
        if any(isinstance(size, bool) or not isinstance(size, int) or size < 0 for size in new.values()):
            raise _not_ours(path)
    except (FileNotFoundError, NotADirectoryError):
        return None  # it was finished just now
    except (ValueError, KeyError, TypeError, RecursionError):
        raise _not_ours(path) from None
    return Switch(folder, hidden, new, frozenset(old) - new.keys())


def _wait_while_moving(hidden: str) -> None:
    """Wait a moment for a run that is moving its files just now: they would be gone from where they were found."""
    until = time.monotonic() + _PATIENCE
    try:
        descriptor = os.open(os.path.join(hidden, _LOCK), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return
    try:
        while time.monotonic() < until:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(0.01)
            else:
                return
    except OSError:
        return  # of a file system that has no locks
    finally:
        os.close(descriptor)


def _is_plain(name: Any) -> bool:
    """Tell whether this is the name of a file that is not hidden, and no path."""
    return (
        isinstance(name, str)
        and 0 < len(os.fsencode(name)) <= _LONGEST_NAME
        and not name.startswith(".")
        and "/" not in name
        and "\0" not in name
    )


def _in_use(place: str) -> RecordsmithError:
    return RecordsmithError(
        "Another process is making this dataset just now.", path=place, advice="Wait until it has finished, or stop it."
    )


def _not_ours(path: str) -> RecordsmithError:
    return RecordsmithError(
        "The list of files of an interrupted run cannot be read.",
        path=path,
        expected=f'"format": "{_FORMAT}", "version": {_VERSION}, "new": {{...}}, "old": [...]',
        advice=f"Make the dataset again, or remove the folder {os.path.dirname(path)} if you do not know it.",
    )


def _remove(path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    else:
        os.remove(path)
